"""Runs one function over many items, in order, on as many processes as asked for, or on a cluster."""

from __future__ import annotations

import importlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


class Workers(Protocol):
    """Processes elsewhere that do the work of `ordered_map`, see `working_on`."""

    def ordered_map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` for every item, in the items' order; each call by `in_worker`."""


_elsewhere: ContextVar[Workers | None] = ContextVar("workers", default=None)


@contextmanager
def working_on(workers: Workers) -> Iterator[None]:
    """Let every `ordered_map` inside the ``with`` block work on these workers, whatever its ``jobs``."""
    token = _elsewhere.set(workers)
    try:
        yield
    finally:
        _elsewhere.reset(token)


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item], jobs: int = 1) -> Iterator[Result]:
    """Yield ``function(item)`` for every item, in the items' order.

    Inside `working_on` the work is done there. Otherwise no joblib backend is named: inside
    ``joblib.parallel_config(backend=…)`` that one is used.

    Parameters
    ----------
    function : callable
        Picklable when ``jobs`` is not 1.
    items : iterable
    jobs : int, default 1
        Worker processes; 1 works in this process, -1 uses every core.

    Yields
    ------
    result
    """
    workers = _elsewhere.get()
    if workers is not None:
        yield from workers.ordered_map(function, items)
        return
    if jobs == 1:
        for item in items:
            yield _single_threaded(function, item)
        return
    from joblib import Parallel, delayed

    task = delayed(in_worker)
    # Without memory mapping, a read-only view of a large codebook would make in-place arithmetic fail in workers only.
    parent, folder = os.getpid(), Path.cwd()
    work = (task(parent, folder, function, item) for item in items)
    yield from Parallel(n_jobs=jobs, return_as="generator", max_nbytes=None)(work)


def in_worker(parent: int, folder: Path, function: Callable[[Item], Result], item: Item) -> Result:
    """Call the function in a worker process as it would be called in the process that the worker works for.

    Parameters
    ----------
    parent : int
        The id of that process.
    folder : Path
        The folder that it is in.
    function : callable
    item : object

    Returns
    -------
    result
    """
    _end_with(parent)
    # Workers are kept for the next call: a relative path means then what it means to the caller now.
    if Path.cwd() != folder and folder.is_dir():
        os.chdir(folder)
    return _single_threaded(function, item)


@cache
def _end_with(parent: int) -> None:
    """End this worker process soon after the process that it works for, even where that was killed outright."""
    if os.getpid() == parent or os.name != "posix":
        return
    own_parent = os.getppid()
    if own_parent != parent:  # a worker on another machine, or of another scheduler: not ours to end
        return

    def watch() -> None:
        while os.getppid() == own_parent:
            time.sleep(2)
        os._exit(1)

    threading.Thread(target=watch, name="leafid-parent-watch", daemon=True).start()


def _single_threaded(function: Callable[[Item], Result], item: Item) -> Result:
    """Call the function with one thread for OpenCV and for linear algebra.

    The parallelism is over items; threads of libraries would only fight for the same cores. And sums are added up in
    another order on another number of threads: the last bit of a result would depend on the number of processes.
    """
    import cv2

    if cv2.getNumThreads() != 1:
        cv2.setNumThreads(1)
    with _linear_algebra().limit(limits=1):
        return function(item)


@cache
def _linear_algebra() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    # A controller knows the libraries that are loaded when it is made, and looking for them takes long.
    importlib.import_module("scipy.linalg")
    return ThreadpoolController()
