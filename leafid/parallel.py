"""Runs one function over many items, in order, on as many processes as asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item], jobs: int = 1) -> Iterator[Result]:
    """Yield ``function(item)`` for every item, in the items' order.

    No backend is named: inside ``joblib.parallel_config(backend="dask")`` the same work runs on a cluster.

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
    if jobs == 1:
        _single_threaded_opencv()
        yield from map(function, items)
        return
    from joblib import Parallel, delayed

    task = delayed(_in_worker)
    # Without memory mapping, a read-only view of a large codebook would make in-place arithmetic fail in workers only.
    yield from Parallel(n_jobs=jobs, return_as="generator", max_nbytes=None)(task(function, item) for item in items)


def _in_worker(function: Callable[[Item], Result], item: Item) -> Result:
    _single_threaded_opencv()
    return function(item)


def _single_threaded_opencv() -> None:
    import cv2

    # The parallelism is over pictures; OpenCV's own threads would only fight for the same cores.
    if cv2.getNumThreads() != 1:
        cv2.setNumThreads(1)
