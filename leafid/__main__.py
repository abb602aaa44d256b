"""Starts the command line."""

import signal
import sys
from typing import NoReturn


def run() -> NoReturn:
    """Run the command of this process and end it; Ctrl-C while modules are imported prints one line, too."""
    try:
        from leafid.cli.main import main

        status = main()
    except KeyboardInterrupt:
        sys.stderr.write("leafid: interrupted\n")
        status = 130
    # The interpreter's end would print a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)


if __name__ == "__main__":
    run()
