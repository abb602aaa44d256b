"""Starts the command line."""

import os
import signal
import sys

# Address space that NumPy, SciPy and OpenCV take, in bytes.
_LIBRARIES = 450 << 20


def run() -> None:
    """Run the command of this process and end it; what goes wrong while modules are imported prints one line, too."""
    # All else is imported here, where Ctrl-C prints no traceback.
    try:
        handler = signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, _exit_at_once if callable(handler) else handler)
        _check_address_space()
        from leafid.cli.main import main

        signal.signal(signal.SIGINT, handler)
        # As after Ctrl-C, temporary files are removed and workers ended.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        status = main()
    except KeyboardInterrupt:
        sys.stderr.write("leafid: interrupted\n")
        status = 130
    except Exception as error:
        from leafid.errors import is_out_of_memory

        if not is_out_of_memory(error):
            raise
        sys.stderr.write("leafid: error: out of memory while the program starts; raise the limit (ulimit -v)\n")
        status = 1
    # Ctrl-C while the interpreter ends would print a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)


def _check_address_space() -> None:
    """Raise an `OSError` where a limit of the address space (``ulimit -v``) leaves no room for the libraries.

    OpenBLAS would end or interrupt the process. Where there is a limit, it gets one thread: each takes 200 MiB.
    """
    import mmap
    import resource

    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        mmap.mmap(-1, _LIBRARIES, mmap.MAP_PRIVATE, mmap.PROT_READ).close()
        import numpy as np

        # With the first product OpenBLAS takes a buffer that it keeps.
        np.dot(np.ones((64, 64)), np.ones((64, 64)))


def _exit_at_once(*_: object) -> None:
    """End the process as after an interruption: the import of a compiled module may turn an exception into another."""
    os.write(2, b"leafid: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    run()
