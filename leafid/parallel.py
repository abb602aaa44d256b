"""Maps a function over many items, in order, on worker processes or on a cluster."""

import os
import re
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from leafid.errors import LeafidError
from leafid.worker_calls import Log, call_and_record_log, call_single_threaded, replay_log, watch_parent

Item = TypeVar("Item")
Result = TypeVar("Result")
#: Maximum time for an item that `ordered_map` can leave out, in seconds. A picture takes a few, on slow machines too.
ITEM_SECONDS = 300
# Descriptors that joblib needs while it starts workers, beside those of each.
_POOL_DESCRIPTORS = 20
# The exit status of faulthandler.
_TIMEOUT_STATUS = 1
# What silences the helper processes of `multiprocessing` and joblib, as an option of the interpreter.
_TRACKER_WARNINGS = "ignore:resource_tracker:UserWarning"


_map_on_workers: ContextVar[Callable[..., Iterator[Any]] | None] = ContextVar("map_on_workers", default=None)


@contextmanager
def use_workers(map_on_workers: Callable[..., Iterator[Any]]) -> Iterator[None]:
    """Let other workers do the work of every call of `ordered_map` inside the ``with`` block, whatever its ``jobs``.

    `map_on_workers` takes the function, the items and `make_failure`, and yields what `ordered_map` does, each result
    computed by `call_in_worker`.
    """
    token = _map_on_workers.set(map_on_workers)
    try:
        yield
    finally:
        _map_on_workers.reset(token)


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    jobs: int = 1,
    make_failure: Callable[[Item, str], Result] | None = None,
) -> Iterator[Result]:
    """Return an iterator over ``function(item)`` for every item, in the items' order.

    Where the work is done is decided when this function is called, not when the results are read: on the workers of
    `use_workers` if it is called inside such a block, otherwise in `jobs` processes of joblib (-1: one for every core),
    which honour ``joblib.parallel_config`` and need a picklable function. With one job, each item is computed in this
    process when its result is requested.

    If a worker process is killed, for example because the system is out of memory, the items in progress are tried once
    more, one at a time. The result of an item whose worker is killed again is ``make_failure(item, reason)``; without
    `make_failure` a killed worker raises a `LeafidError`. With `make_failure`, a worker ends itself if an item takes
    longer than `ITEM_SECONDS`.
    """
    if (map_on_workers := _map_on_workers.get()) is not None:
        return map_on_workers(function, items, make_failure)
    if jobs == 1:
        return (call_single_threaded(function, item) for item in items)
    return _map_in_processes(function, items, jobs, make_failure)


def _map_in_processes(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    jobs: int,
    make_failure: Callable[[Item, str], Result] | None,
) -> Iterator[Result]:
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    remaining = iter(items)
    pending: deque[Item] = deque()
    seconds = None if make_failure is None else ITEM_SECONDS

    def take() -> Iterator[Item]:
        for item in remaining:
            pending.append(item)
            yield item

    while True:
        try:
            for result in _run_in_pool(function, take(), jobs, seconds):
                pending.popleft()
                yield result
            return
        except TerminatedWorkerError as error:
            if make_failure is None:
                raise LeafidError(_describe_killed_worker(error)) from error
        while pending:
            item = pending.popleft()
            try:
                [result] = _run_in_pool(function, [item], 2, seconds)
            except TerminatedWorkerError as error:
                yield make_failure(item, _describe_killed_worker(error))
                break
            yield result
        # The item that killed its worker has been found, so that the others can be computed in parallel again.
        remaining, pending = chain(pending, remaining), deque()


def _describe_killed_worker(error: Exception) -> str:
    # The message of joblib has several lines, of which one holds the reason, as in {SIGKILL(-9)}.
    reason = ", ".join(re.findall(r"SIG[A-Z]+|EXIT\(\d+\)", str(error))) or "reason unknown"
    if reason == f"EXIT({_TIMEOUT_STATUS})":
        return f"a worker process took more than {ITEM_SECONDS} s and was ended"
    return f"a worker process was killed ({reason}), maybe out of memory; use fewer --jobs"


def _run_in_pool(
    function: Callable[[Item], Result], items: Iterable[Item], jobs: int, seconds: float | None
) -> Iterator[Result]:
    from joblib import Parallel, delayed, effective_n_jobs

    task = delayed(call_and_record_log)
    parent, folder = os.getpid(), Path.cwd()
    tasks = (task(parent, folder, function, item, seconds) for item in items)
    results: Generator[tuple[Result, Log], None, None] | None = None
    _check_descriptors(effective_n_jobs(jobs))
    try:
        with deferring_interrupts():
            # Memory mapping would make large arrays read-only, so that in-place arithmetic would fail in workers only.
            results = Parallel(n_jobs=jobs, return_as="generator", max_nbytes=None, **_choose_pool_options())(tasks)
        yield from map(replay_log, results)
    finally:
        if results is not None:
            with _silencing_joblib():
                results.close()


def _check_descriptors(n_processes: int) -> None:
    """Raise before processes are started: a worker that gets too few descriptors prints a traceback to stdout."""
    descriptors = []
    try:
        for _ in range(_POOL_DESCRIPTORS + n_processes):
            descriptors.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        raise LeafidError(
            f"{n_processes} worker processes can't be started: {error.strerror}; use --jobs 1, or raise ulimit -n"
        ) from error
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _choose_pool_options() -> dict[str, Any]:
    """Let processes of joblib end with this process even if they have no work yet."""
    from joblib._parallel_backends import LokyBackend
    from joblib.parallel import get_active_backend

    is_loky = isinstance(get_active_backend()[0], LokyBackend)
    return {"initializer": watch_parent, "initargs": (os.getpid(),)} if is_loky else {}


@contextmanager
def deferring_interrupts() -> Iterator[None]:
    """Defer a Ctrl-C to the end of the ``with`` block; processes started inside ignore Ctrl-C.

    Ctrl-C goes to every process of the terminal. This process ends its workers; an interrupted worker would only print
    a traceback, possibly from the middle of its start. And joblib can't clean up a pool that is half started.
    """
    if os.name != "posix":
        yield
        return
    _start_resource_trackers()
    is_main_thread = threading.current_thread() is threading.main_thread()
    was_interrupted = False

    def note_interrupt(_number: int, _frame: object) -> None:
        nonlocal was_interrupted
        was_interrupted = True

    # New processes inherit the mask. As it holds for this thread only, a thread of a library may still get the signal.
    handler = signal.signal(signal.SIGINT, note_interrupt) if is_main_thread else None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if is_main_thread:
            signal.signal(signal.SIGINT, handler)
        if was_interrupted:
            signal.raise_signal(signal.SIGINT)


def _start_resource_trackers() -> None:
    """Start the helper processes of `multiprocessing` and joblib early: starting them unblocks SIGINT."""
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as joblib_resource_tracker

    # An interrupted process may leave a semaphore to them: no need to warn of what they then clean up.
    if _TRACKER_WARNINGS not in sys.warnoptions:
        sys.warnoptions.append(_TRACKER_WARNINGS)
    resource_tracker.ensure_running()
    joblib_resource_tracker.ensure_running()


@contextmanager
def _silencing_joblib() -> Iterator[None]:
    """Suppress the messages of joblib about unfinished tasks: the caller stopped on purpose, or reports an error."""
    hook = threading.excepthook
    threading.excepthook = lambda _arguments: None  # the pool's own thread fails for tasks that were cancelled
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # "tasks which were still being processed"
            yield
    finally:
        threading.excepthook = hook
