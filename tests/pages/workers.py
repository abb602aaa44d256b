"""Starts workers for the site."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leafid.pages.model_workers import ModelWorkers, warm_up
from leafid.parallel.pool import WorkerPool


@contextmanager
def start_worker(model: Path) -> Iterator[ModelWorkers]:
    """Start a worker that has read a model."""
    workers = WorkerPool(1)
    workers.submit(warm_up, str(model)).result()
    yield ModelWorkers(workers, str(model))
    workers.close()
