"""Starts the command line."""

import sys


def run() -> None:
    """Run the command of this process and end it; what goes wrong while modules are imported prints one line, too."""
    # Nothing is imported before: Ctrl-C would print a traceback.
    try:
        from leafid.memory import check_address_space

        check_address_space()
        from leafid.cli.main import main

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
    import signal

    # The interpreter's end would print a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)


if __name__ == "__main__":
    run()
