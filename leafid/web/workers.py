"""Worker processes that hold the model: one that is killed or takes too long costs one request, and is replaced."""

from __future__ import annotations

import logging
import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from leafid.errors import LeafidError
from leafid.parallel import deferring_interrupts

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from leafid.model.model import Model

# Time for a worker to start and to read its model, in seconds.
_START_SECONDS = 120.0
_ENDING = "the server ends"
_KILLED = "the worker process was killed, maybe out of memory"
_log = logging.getLogger(__name__)


class WorkerError(LeafidError):
    """A worker process was killed, or took too long."""


class WorkerPool:
    """Calls functions of the form ``function(model, *arguments)`` in worker processes, which answer one call at a time.

    Each worker reads the model from its file. `seconds` is the limit for one call.
    """

    def __init__(self, model_file: str, n_workers: int = 1, seconds: float = 60.0) -> None:
        self.model_file = model_file
        self._seconds = seconds
        self._workers = [_Worker(model_file) for _ in range(n_workers)]
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)
        # A thread waits for each busy worker; the queue of the threads is that of the calls.
        self._threads = ThreadPoolExecutor(n_workers, "leafid-worker")

    def start(self) -> None:
        """Wait until the workers have read the model; raises `LeafidError` where they can't."""
        try:
            for worker in self._workers:
                worker.wait_for_start()
        except BaseException:
            self.close()
            raise

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Queue a call; `function` and its arguments are pickled.

        The future raises `WorkerError` if the worker was killed or took too long, and the function's own `LeafidError`.
        """
        try:
            return self._threads.submit(self._call, function, arguments)
        except RuntimeError as error:
            raise WorkerError(_ENDING) from error

    def close(self) -> None:
        """Kill the workers; calls that wait are cancelled, those in progress fail."""
        for worker in self._workers:
            worker.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        worker = self._idle.get()
        try:
            return worker.call(function, arguments, self._seconds)
        finally:
            self._idle.put(worker)


class _Worker:
    """A worker process, and the next one when it is lost."""

    def __init__(self, model_file: str) -> None:
        self._model_file = model_file
        self._lock = threading.Lock()
        self._is_closed = False
        self._has_started = False
        self._start()

    def wait_for_start(self) -> None:
        if not self._has_started:
            self._limit(_START_SECONDS, self._receive)
            self._has_started = True

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float) -> Any:
        def send_and_receive() -> Any:
            self._connection.send((function, arguments))
            return self._receive()

        self.wait_for_start()
        return self._limit(seconds, send_and_receive)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._process.kill()

    def _start(self) -> None:
        # A forked process would inherit locks that threads of this one hold.
        context = multiprocessing.get_context("spawn")
        self._connection, far_end = context.Pipe()
        self._process = context.Process(target=_work, args=(far_end, self._model_file), daemon=True)
        self._has_started = False
        with deferring_interrupts():
            self._process.start()
        far_end.close()

    def _limit(self, seconds: float, talk: Callable[[], Any]) -> Any:
        """Talk to the process, which is killed after some seconds, and replaced if it is lost."""
        # Sending blocks, too, while a process doesn't read.
        timer = threading.Timer(seconds, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            return talk()
        except (EOFError, OSError) as error:
            is_late = timer.finished.is_set()
            self._replace()
            reason = _ENDING if self._is_closed else _KILLED
            reason = f"the answer took longer than {seconds:g} seconds" if is_late else reason
            raise WorkerError(reason) from error
        finally:
            timer.cancel()

    def _receive(self) -> Any:
        is_result, value = self._connection.recv()
        if not is_result:
            raise LeafidError(value)
        return value

    def _replace(self) -> None:
        with self._lock:
            self._process.kill()
            self._process.join()
            self._connection.close()
            if not self._is_closed:
                _log.warning("a worker process was lost; another one takes its place")
                self._start()


def _work(connection: Connection, model_file: str) -> None:
    """Answer calls until the other end of the connection is closed."""
    from leafid.model.modelfile import read_model
    from leafid.worker_calls import call_single_threaded

    # Names of uploaded files don't get to the terminal.
    logging.getLogger("leafid").addHandler(logging.NullHandler())
    with suppress(EOFError, OSError):
        try:
            model = read_model(model_file)
            call_single_threaded(_warm_up, model)
        except LeafidError as error:
            connection.send((False, str(error)))
            return
        connection.send((True, None))
        while True:
            function, arguments = connection.recv()
            try:
                result = call_single_threaded(lambda call: call[0](model, *call[1]), (function, arguments))
                outcome = True, result
            except LeafidError as error:
                outcome = False, str(error)
            except Exception as error:
                outcome = False, f"unexpected {type(error).__name__}: {error}; this is a bug, please report it"
            connection.send(outcome)


def _warm_up(model: Model) -> None:
    """Identify a drawn leaf as each type, so that libraries are loaded before the first request."""
    import cv2
    import numpy as np

    image = np.full((400, 300, 3), 250, np.uint8)
    cv2.ellipse(image, (150, 200), (60, 150), 0, 0, 360, (40, 160, 50), -1)
    for type_ in (None, *model.identifiers):
        next(model.identify(image, assume_type=type_))
