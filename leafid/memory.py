"""How the process deals with a limit of its memory, and with memory that it has freed."""

import ctypes
import mmap
import os
import resource

# Parameters of glibc's mallopt, and sizes in bytes.
_M_TRIM_THRESHOLD, _TRIM_THRESHOLD = -1, 2**26
_M_MMAP_THRESHOLD, _MMAP_THRESHOLD = -3, 2**25
# Address space that NumPy, SciPy and OpenCV take, in bytes.
_LIBRARIES = 450 << 20


def check_address_space() -> None:
    """Raise an `OSError` where a limit of the address space (``ulimit -v``) leaves no room for the libraries.

    OpenBLAS would end or interrupt the process. Where there is a limit, it gets one thread: each takes 200 MiB.
    """
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        mmap.mmap(-1, _LIBRARIES, mmap.MAP_PRIVATE, mmap.PROT_READ).close()
        import numpy as np

        # With the first product OpenBLAS takes a buffer that it keeps.
        np.dot(np.ones((64, 64)), np.ones((64, 64)))


def keep_freed_memory() -> None:
    """Keep up to 64 MiB of freed memory, where the C library is glibc.

    Every picture needs arrays of the same sizes, of some megabytes. glibc gives such memory back to the system at once,
    and to get it again takes a quarter of the time of an answer.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(_M_TRIM_THRESHOLD, _TRIM_THRESHOLD)
    mallopt(_M_MMAP_THRESHOLD, _MMAP_THRESHOLD)
