"""Worker processes on this machine.

Only what starts them imports this file: that takes longer than to identify a picture.
"""

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from multiprocessing import resource_tracker, util
from typing import Any

import joblib
from pebble import ProcessPool


class WorkerPool:
    """Worker processes that start with the first call.

    One that is killed or takes too long costs that call.
    """

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        # By the process that started them: a forked process can't use the workers of
        # its parent.
        self._pools: dict[int, ProcessPool] = {}

    def submit(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        seconds: float | None = None,
    ) -> Future[Any]:
        """Queue a call in a worker, as `leafid.parallel.mapping.Executor` does."""
        if pool := self._pools.get(os.getpid()):
            try:
                return pool.schedule(function, arguments, timeout=seconds)
            except RuntimeError:
                # A worker was killed while none had work, which ends a pool of pebble.
                self.close()
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            # A worker that runs the script of its parent, which says what the script
            # lacks.
            os._exit(1)
        # A forked process would inherit locks that threads of this one hold.
        context = multiprocessing.get_context("spawn")
        pool = self._pools[os.getpid()] = ProcessPool(
            self.n_workers, initializer=_start_worker, context=context
        )
        # Before it ends, a process waits for its children.
        util.Finalize(None, self.close, exitpriority=1)
        with _deferring_interrupts():
            return pool.schedule(function, arguments, timeout=seconds)

    def close(self) -> None:
        """End the workers; calls that wait or are in progress are cancelled."""
        if pool := self._pools.pop(os.getpid(), None):
            pool.stop()
            pool.join()


@contextmanager
def _deferring_interrupts() -> Iterator[None]:
    """Let signals wait while workers start.

    After Ctrl-C, a worker that starts would print a traceback.
    """
    # Workers inherit the mask of this thread. The tracker of resources would lift it
    # when it starts.
    resource_tracker.ensure_running()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    # Another thread, of a library, may get the signal, too.
    deferred = []
    if threading.current_thread() is threading.main_thread():
        deferred = [signal.SIGINT, signal.SIGTERM]
    received: list[int] = []

    def receive(number: int, _: object) -> None:
        received.append(number)

    handlers = {number: signal.signal(number, receive) for number in deferred}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if received:
            signal.raise_signal(received[0])


#: Counts the worker processes that a number of jobs means: -1 is one for every core
#: that this process may use.
count_workers = joblib.effective_n_jobs
#: Gets the pool of earlier calls with this number of workers.
get_pool = cache(WorkerPool)


def _start_worker() -> None:
    # Names of uploaded files, and what is logged anyway, don't get to the terminal.
    logging.getLogger("leafid").addHandler(logging.NullHandler())
    threading.Thread(
        target=_end_with_parent, args=(multiprocessing.parent_process(),), daemon=True
    ).start()


def _end_with_parent(parent: Any) -> None:
    """End this worker when its parent process has ended, even if it was killed."""
    parent.join()
    os._exit(1)
