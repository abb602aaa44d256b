"""Limits the threads of libraries, which would compete with worker processes for the same cores."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import cv2
from threadpoolctl import ThreadpoolController


@contextmanager
def using_one_thread() -> Iterator[None]:
    """Let linear algebra use one thread inside the ``with`` block, and OpenCV from now on."""
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
