"""Starts the command line."""

import os
import sys

# `python -m` looks for all modules in the current folder first, and what lies there may
# be a stranger's. In a checkout leafid itself does.
if (
    __name__ == "__main__"
    and not sys.flags.safe_path
    and __file__ != f"{sys.path[0]}/leafid/__main__.py"
):
    del sys.path[0]

import signal


def run() -> None:
    """Run the command of this process and end it.

    What goes wrong while modules are imported prints one line, too.
    """
    # Nor do workers look there.
    os.environ["PYTHONSAFEPATH"] = "1"
    handler = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, _exit_at_once if callable(handler) else handler)
    # All else is imported here, where Ctrl-C prints no traceback.
    try:
        import mmap
        import resource

        # NumPy, SciPy and OpenCV take 550 MiB of address space, and each thread of
        # OpenBLAS 200 MiB: without room for them (`ulimit -v`), it would end the
        # process.
        if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            mmap.mmap(-1, 550 << 20, mmap.MAP_PRIVATE, mmap.PROT_READ).close()
        from leafid.cli.main import main
    except Exception as error:
        from leafid.errors import is_out_of_memory

        if not is_out_of_memory(error):
            raise
        sys.exit(
            "leafid: error: out of memory while the program starts; raise the limit "
            "(ulimit -v)"
        )
    signal.signal(signal.SIGINT, handler)
    # As after Ctrl-C, temporary files are removed and workers ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    status = main()
    # Ctrl-C while the interpreter ends would print a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)


def _exit_at_once(*_: object) -> None:
    """End the process as after an interruption.

    The import of a compiled module may turn an exception into another one.
    """
    os.write(2, b"leafid: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    run()
