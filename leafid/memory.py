"""How the process deals with memory that it has freed."""

import ctypes

# Parameters of glibc's mallopt, and sizes in bytes.
_M_TRIM_THRESHOLD, _TRIM_THRESHOLD = -1, 2**26
_M_MMAP_THRESHOLD, _MMAP_THRESHOLD = -3, 2**25


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
