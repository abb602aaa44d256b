"""What all workers share: how calls are submitted, lost workers, and limits of threads."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

import cv2
from threadpoolctl import ThreadpoolController

from leafid.errors import LeafidError


class WorkerError(LeafidError):
    """A worker process was killed, or took too long."""


class Shared(bytes):
    """Bytes that are an argument of many calls: a cluster sends them only once."""


class Executor(Protocol):
    """Workers that compute calls: processes on this machine, or those of a cluster."""

    n_workers: int

    def submit(self, function: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> Future[Any]:
        """Queue a call in a worker, with a limit of time; `reporting_lost_workers` converts errors of its future."""


@contextmanager
def reporting_lost_workers(hint: str = "") -> Iterator[None]:
    """Convert the errors of processes and of Dask into a `WorkerError`; errors of the work pass unchanged."""
    try:
        yield
    except TimeoutError as error:
        raise WorkerError("a worker process took too long and was ended") from error
    except Exception as error:
        # Classes are known by name, as their packages take time to import, or may not be installed.
        if type(error).__name__ in {"ProcessExpired", "BrokenProcessPool"}:
            raise WorkerError(f"a worker process ended, maybe out of memory{hint}") from error
        if type(error).__name__ == "KilledWorker":
            raise WorkerError("a worker of the cluster ended while computing it, maybe out of memory") from error
        raise


@contextmanager
def using_one_thread() -> Iterator[None]:
    """Let linear algebra use one thread inside the ``with`` block, and OpenCV from now on.

    More threads would compete with worker processes for the same cores.
    """
    if cv2.getNumThreads() != 1:
        cv2.setNumThreads(1)
    with get_blas_controller().limit(limits=1):
        yield


def get_blas_controller() -> ThreadpoolController:
    """Return the controller of the linear algebra libraries: ``with get_blas_controller().limit(limits=1)``."""
    return _find_libraries("scipy.linalg" in sys.modules)


@cache
def _find_libraries(has_scipy: bool) -> ThreadpoolController:
    """Find the libraries that are loaded: that of NumPy, and later that of SciPy."""
    return ThreadpoolController()
