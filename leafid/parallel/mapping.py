"""Maps a function over items in order: in this process, in workers, or on a cluster."""

import logging
import os
import pickle
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from itertools import chain, islice
from logging.handlers import QueueHandler
from numbers import Integral
from pathlib import Path
from typing import Any, Protocol, TypeVar

import cv2
from threadpoolctl import ThreadpoolController

from leafid.errors import InputError, LeafidError
from leafid.parallel import MAX_JOBS

Item = TypeVar("Item")
Result = TypeVar("Result")
Log = list[logging.LogRecord]

#: Maximum time for an item that `ordered_map` can leave out, in seconds. A picture
#: takes a few, on slow machines too.
ITEM_SECONDS = 300
#: The number of pictures that this process describes sooner than workers, which have to
#: start.
N_FEW = 16
#: The same number for pictures that are only read.
N_FEW_READ = 80
#: Number of items in progress for each worker: a result waits for the results before
#: it.
_AHEAD = 16
_NOT_STARTED = (
    "the worker processes could not start: save the script in a file, and write what "
    "uses them below the line "
    'if __name__ == "__main__": (where that is so, there is too little memory for '
    "them: use fewer jobs)"
)
_ENDED = "a worker process ended, maybe out of memory; use fewer jobs"
_CLUSTER_ENDED = "a worker of the cluster ended while computing it, maybe out of memory"
# What the errors of pools and of Dask mean. Classes are known by name, as their
# packages take time to import, or may not be installed.
_LOST_WORKERS = {
    "TimeoutError": "a worker process took too long and was ended",
    "ProcessExpired": _ENDED,
    "BrokenProcessPool": _ENDED,
    "KilledWorker": _CLUSTER_ENDED,
}


class WorkerError(LeafidError):
    """A worker process was killed, or took too long."""


class Shared(bytes):
    """Bytes that are an argument of many calls: a cluster sends them only once."""


class Executor(Protocol):
    """Workers that compute calls: processes on this machine, or on a cluster."""

    n_workers: int

    def submit(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        seconds: float | None = None,
    ) -> Future[Any]:
        """Queue a call in a worker, with a limit of time.

        `reporting_lost_workers` converts errors of its future.
        """


#: What computes the calls of `ordered_map`; None: worker processes, as many as there
#: are jobs.
current_executor: ContextVar[Executor | None] = ContextVar(
    "current_executor", default=None
)


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    jobs: int = 1,
    make_failure: Callable[[Item, str], Result] | None = None,
    n_few: int = N_FEW,
) -> Iterator[Result]:
    """Return an iterator over ``function(item)`` for every item, in the items' order.

    Where the work is done is decided when this function is called: by the
    `current_executor` if there is one, otherwise in `jobs` worker processes (-1: one
    for every core), which are kept for later calls. They need a picklable function, and
    a script that is started with ``if __name__ == "__main__":``. No process is started
    for `n_few` items, and none with one job; then each item is computed when its result
    is requested.

    The result of an item whose worker is killed, or takes longer than `ITEM_SECONDS`,
    is ``make_failure(item, reason)``; without `make_failure` there is no such limit,
    and a killed worker raises a `WorkerError`.
    """
    check_jobs(jobs)
    executor = current_executor.get()
    if executor is None:
        remaining = iter(items)
        first = list(islice(remaining, 0 if jobs == 1 else n_few + 1))
        items = chain(first, remaining)
        if len(first) > n_few:
            from leafid.parallel.pool import count_workers, get_pool

            executor = get_pool(count_workers(jobs))
        if executor is None or executor.n_workers == 1:
            return map(using_one_thread()(function), items)
        # Workers can't read again what comes from standard input.
        if getattr(sys.modules["__main__"], "__file__", None) == "<stdin>":
            raise LeafidError(_NOT_STARTED)
    return _map_ahead(executor, function, items, make_failure)


def check_jobs(jobs: object) -> None:
    """Raise an `InputError` unless it is a number of jobs, as for `ordered_map`."""
    is_whole = isinstance(jobs, Integral) and not isinstance(jobs, bool)
    if not (is_whole and jobs and jobs in range(-MAX_JOBS, MAX_JOBS + 1)):
        raise InputError(
            f"jobs: expected a whole number of processes up to {MAX_JOBS}, or -1 for "
            f"one a core, found {jobs!r:.60}"
        )


def _map_ahead(
    executor: Executor,
    function: Callable[[Item], Result],
    items: Iterable[Item],
    make_failure: Callable[[Item, str], Result] | None,
) -> Iterator[Result]:
    """Keep some items a worker in progress."""
    seconds = None if make_failure is None else ITEM_SECONDS
    # The function is pickled once, and workers keep what they unpickle.
    call = Shared(pickle.dumps(function))
    folder = Path.cwd()
    remaining = iter(items)
    pending: deque[tuple[Item, Future[tuple[Result, Log]]]] = deque()
    try:
        while True:
            for item in islice(remaining, _AHEAD * executor.n_workers - len(pending)):
                future = executor.submit(
                    _call_pickled, folder, call, pickle.dumps(item), seconds=seconds
                )
                pending.append((item, future))
            if not pending:
                return
            result, log = _wait_for_result(*pending[0], make_failure)
            pending.popleft()
            for record in log:
                logging.getLogger(record.name).handle(record)
            yield result
    finally:
        for _, future in pending:
            future.cancel()


def _wait_for_result(
    item: Item,
    future: Future[tuple[Result, Log]],
    make_failure: Callable[[Item, str], Result] | None,
) -> tuple[Result, Log]:
    try:
        with reporting_lost_workers():
            return future.result()
    except WorkerError as error:
        if type(error.__cause__).__name__ == "BrokenProcessPool":
            raise LeafidError(_NOT_STARTED) from None
        if make_failure is None:
            raise
        return make_failure(item, str(error)), []


@contextmanager
def reporting_lost_workers() -> Iterator[None]:
    """Convert the errors of processes and of Dask into a `WorkerError`.

    Errors of the work pass unchanged.
    """
    try:
        yield
    except Exception as error:
        if reason := _LOST_WORKERS.get(type(error).__name__):
            raise WorkerError(reason) from error
        raise


@contextmanager
def using_one_thread() -> Iterator[None]:
    """Let linear algebra use one thread inside the block, and OpenCV from now on.

    More threads would compete with worker processes for the same cores.
    """
    cv2.setNumThreads(1)
    with _find_libraries("scipy.linalg" in sys.modules).limit(limits=1):
        yield


@cache
def _find_libraries(has_scipy: bool) -> ThreadpoolController:
    """Find the loaded linear algebra libraries: NumPy's, and later SciPy's."""
    return ThreadpoolController()


@contextmanager
def recording_log(name: str = "leafid", *, propagate: bool = True) -> Iterator[Log]:
    """Collect what is logged; without `propagate`, it is logged nowhere else."""
    log: Log = []
    # It makes messages of arguments, which may be nothing that can be sent from a
    # worker.
    handler = QueueHandler(log)  # type: ignore[arg-type]  # instead of a class for one use
    handler.enqueue = log.append  # type: ignore[assignment, method-assign]
    logger = logging.getLogger(name)
    before = logger.propagate
    logger.propagate = propagate
    logger.addHandler(handler)
    try:
        yield log
    finally:
        logger.removeHandler(handler)
        logger.propagate = before


def _call_pickled(folder: Path, call: bytes, item: bytes) -> tuple[Any, Log]:
    """Call a function in a worker, in the folder of the caller.

    Return its result with what it logged.
    """
    # Workers outlive the call, so a relative path has to mean what it means to the
    # caller now.
    if Path.cwd() != folder and folder.is_dir():
        os.chdir(folder)
    with recording_log() as log, using_one_thread():
        return _unpickle(call)(pickle.loads(item)), log


_unpickle = lru_cache(maxsize=4)(pickle.loads)
