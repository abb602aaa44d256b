"""Runs one function over many items, in order, on as many processes as asked for, or on a cluster."""

from __future__ import annotations

import importlib
import logging
import os
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from leafid.errors import LeafidError

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")
#: What was logged: the logger's name, the level, the message.
Log = list[tuple[str, int, str]]


class Workers(Protocol):
    """Processes elsewhere that do the work of `ordered_map`, see `use_workers`."""

    def ordered_map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` for every item, in the items' order.

        Each call by `call_in_worker`, or by `call_in_worker_with_log` and `replay_log`.
        """


_elsewhere: ContextVar[Workers | None] = ContextVar("workers", default=None)


@contextmanager
def use_workers(workers: Workers) -> Iterator[None]:
    """Let every `ordered_map` inside the ``with`` block work on these workers, whatever its ``jobs``."""
    token = _elsewhere.set(workers)
    try:
        yield
    finally:
        _elsewhere.reset(token)


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item], jobs: int = 1) -> Iterator[Result]:
    """Yield ``function(item)`` for every item, in the items' order.

    Inside `use_workers` the work is done there. Otherwise no joblib backend is named: inside
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

    Raises
    ------
    LeafidError
        When a worker process was ended from outside, as by a system that is out of memory.
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
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    task = delayed(call_in_worker_with_log)
    # Without memory mapping, a read-only view of a large codebook would make in-place arithmetic fail in workers only.
    parent, folder = os.getpid(), Path.cwd()
    work = (task(parent, folder, function, item) for item in items)
    results: Generator[tuple[Result, Log], None, None] | None = None
    try:
        with _interrupts_held_back():
            results = Parallel(n_jobs=jobs, return_as="generator", max_nbytes=None)(work)
        yield from map(replay_log, results)
    except TerminatedWorkerError as error:
        # joblib's own message has several lines; what it knows of the end is in one of them, like {SIGKILL(-9)}.
        how = ", ".join(re.findall(r"SIG[A-Z]+|EXIT\(\d+\)", str(error))) or "how is not known"
        raise LeafidError(f"a worker process was ended ({how}), maybe for want of memory; use fewer --jobs") from error
    finally:
        if results is not None:
            with _no_complaints():
                results.close()


def _start_trackers() -> None:
    """Start what `multiprocessing` and joblib keep beside the workers: doing so lets a held-back Ctrl-C through."""
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as resource_tracker_of_joblib

    resource_tracker.ensure_running()
    resource_tracker_of_joblib.ensure_running()


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hear of a Ctrl-C only when the ``with`` block is left; processes started inside never hear of one.

    Ctrl-C goes to every process of the terminal. To end the workers is this process's affair: each of them would only
    print a traceback of wherever it was, be it half-way through the start of its interpreter. And joblib can't tidy up
    a pool that is half started.
    """
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        yield
        return
    _start_trackers()
    heard = False

    def hear(_number: int, _frame: object) -> None:
        nonlocal heard
        heard = True

    # The mask is what new processes inherit. It holds for this thread only: those of libraries hear for the process.
    handler = signal.signal(signal.SIGINT, hear)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        if heard:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _no_complaints() -> Iterator[None]:
    """Let joblib end what is left half-way without a word: whoever stops there knows it, or reports an error."""
    hook = threading.excepthook
    threading.excepthook = lambda _arguments: None  # the pool's own thread trips over tasks that were taken from it
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # "tasks which were still being processed"
            yield
    finally:
        threading.excepthook = hook


def call_in_worker(parent: int, folder: Path, function: Callable[[Item], Result], item: Item) -> Result:
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


def call_in_worker_with_log(
    parent: int, folder: Path, function: Callable[[Item], Result], item: Item
) -> tuple[Result, Log]:
    """Call the function as `call_in_worker` does, and give what it logged beside its result.

    In a worker nobody has said what is to become of warnings; `replay_log` logs them where somebody has.
    """
    if os.getpid() == parent:
        return call_in_worker(parent, folder, function, item), []
    handler = LogRecorder()
    logger = logging.getLogger("leafid")
    logger.addHandler(handler)
    try:
        return call_in_worker(parent, folder, function, item), handler.log
    finally:
        logger.removeHandler(handler)


def replay_log(outcome: tuple[Result, Log]) -> Result:
    """Log what a worker logged as if it had been done in this process, and give the result."""
    result, log = outcome
    for name, level, message in log:
        logging.getLogger(name).log(level, "%s", message)
    return result


class LogRecorder(logging.Handler):
    """Keeps what is logged, in `log`."""

    def __init__(self) -> None:
        super().__init__()
        self.log: Log = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self.log.append((record.name, record.levelno, record.getMessage()))


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
    with get_blas_controller().limit(limits=1):
        return function(item)


@cache
def get_blas_controller() -> ThreadpoolController:
    """Find the libraries for linear algebra, to bound their threads: ``with get_blas_controller().limit(limits=1)``."""
    from threadpoolctl import ThreadpoolController

    # A controller knows the libraries that are loaded when it is made, and looking for them takes long.
    importlib.import_module("scipy.linalg")
    return ThreadpoolController()
