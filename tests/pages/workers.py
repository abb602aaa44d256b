"""Starts workers for the site."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leafid.pages.model_workers import warm_up
from leafid.parallel.pool import WorkerPool


@contextmanager
def start_worker(model: Path) -> Iterator[tuple[WorkerPool, Path]]:
    """Start a worker that has read a model."""
    workers = WorkerPool(1)
    workers.submit(warm_up, model).result()
    yield workers, model
    workers.close()
