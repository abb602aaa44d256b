"""Calls a function as workers do: in one thread, in the folder of the parent process, with what it logs recorded."""

from __future__ import annotations

import faulthandler
import importlib
import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")
#: Logged messages: the logger's name, the level and the message of each.
Log = list[tuple[str, int, str]]


def call_in_worker(folder: Path, function: Callable[[Item], Result], item: Item) -> Result:
    """Call the function in a worker as its parent process, whose working folder is given, would call it."""
    # Workers outlive the call, so a relative path has to mean what it means to the parent now.
    if Path.cwd() != folder and folder.is_dir():
        os.chdir(folder)
    return call_single_threaded(function, item)


def call_and_record_log(
    parent: int, folder: Path, function: Callable[[Item], Result], item: Item, seconds: float | None = None
) -> tuple[Result, Log]:
    """Call the function as `call_in_worker` does, and return its result with what it logged, for `replay_log`.

    A worker process that takes longer than `seconds` ends itself, even from within a C library.
    """
    if os.getpid() == parent:
        return call_in_worker(folder, function, item), []
    recorder = LogRecorder()
    logger = logging.getLogger("leafid")
    logger.addHandler(recorder)
    try:
        # Importing libraries takes seconds on a busy machine, which are not the item's.
        call_single_threaded(bool, None)
        if seconds is not None:
            # Its thread needs no interpreter; its traceback is of no use. Without memory for it there is no limit.
            with suppress(RuntimeError):
                faulthandler.dump_traceback_later(seconds, exit=True, file=_open_devnull())
        return call_in_worker(folder, function, item), recorder.log
    finally:
        faulthandler.cancel_dump_traceback_later()
        logger.removeHandler(recorder)


@cache
def _open_devnull() -> IO[str]:
    return Path(os.devnull).open("w")


def replay_log(outcome: tuple[Result, Log]) -> Result:
    """Log in this process, where handlers are set up, what a worker logged, and return the result."""
    result, log = outcome
    for name, level, message in log:
        logging.getLogger(name).log(level, "%s", message)
    return result


class LogRecorder(logging.Handler):
    """Collects what is logged, in `log`."""

    def __init__(self) -> None:
        super().__init__()
        self.log: Log = []

    def emit(self, record: logging.LogRecord) -> None:
        """Add a record to the log."""
        self.log.append((record.name, record.levelno, record.getMessage()))


def watch_parent(parent: int) -> None:
    """End this process soon after its parent process, or at once if that is gone already."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(2)
        os._exit(1)

    threading.Thread(target=watch, name="leafid-parent-watch", daemon=True).start()


def call_single_threaded(function: Callable[[Item], Result], item: Item) -> Result:
    """Call the function with one thread for OpenCV and for linear algebra.

    Items are computed in parallel, so that threads of libraries would only compete for the same cores. And the order of
    additions depends on the number of threads, so that the last bit of a result would depend on ``jobs``.
    """
    import cv2

    if cv2.getNumThreads() != 1:
        cv2.setNumThreads(1)
    with get_blas_controller().limit(limits=1):
        return function(item)


@cache
def get_blas_controller() -> ThreadpoolController:
    """Return the controller of the linear algebra libraries: ``with get_blas_controller().limit(limits=1)``."""
    from threadpoolctl import ThreadpoolController

    # A controller knows only libraries that are loaded before it; it is cached because finding them is slow.
    importlib.import_module("scipy.linalg")
    return ThreadpoolController()
