"""The command line: finds the command, and is the one place where errors become an exit status."""

from __future__ import annotations

import argparse
import importlib
import logging
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

import leafid
from leafid.cli.environment import Environment
from leafid.errors import LeafidError, UsageError

# What a command module offers: configure(parser), run(arguments, environment) -> exit status.
# Modules are imported only when their command is called, and import what is heavy only when they run.
COMMANDS = {
    "predict": "name the species of pictures",
    "train": "train a model on a collection",
    "crossval": "train and score by folds of plants",
    "evaluate": "score run files",
    "compare": "test whether runs differ",
    "report": "write an HTML page about runs, with plots and pictures",
    "check": "check a run file, listing every problem",
    "evaluate-hierarchy": "score plant runs that may answer with a genus, a family or an order",
    "evaluate-irma": "score IRMA codes and labels (ImageCLEF 2005 to 2009)",
    "evaluate-interpretation": "score localised and named objects by the interpretation metric",
    "evaluate-annotation": "score run files of the ImageCLEF 2016 annotation task",
    "check-annotation": "check run files of the ImageCLEF 2016 annotation task",
    "info": "tell what a collection holds",
    "segment": "cut leaves out of pictures",
    "describe": "write the descriptors of pictures as a table",
    "sample": "draw a collection of synthetic leaves",
    "cache": "show or empty the descriptor store",
}

EXIT_BAD_DATA, EXIT_WRONG_USAGE, EXIT_INTERRUPTED = 1, 2, 130


class Parser(argparse.ArgumentParser):
    """Reports wrong usage as one line, with the way to the help."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and leaving."""
        raise UsageError(f"{message}; see '{self.prog} --help'")


def main(argv: Sequence[str] | None = None, environment: Environment | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after the program's name; those of the process by default.
    environment : Environment, optional

    Returns
    -------
    int
        The exit status: 0; 1 for bad data; 2 for wrong usage; 130 when interrupted.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    environment = environment or Environment()
    debug = "--debug" in words
    try:
        return _dispatch([word for word in words if word != "--debug"], environment)
    except BrokenPipeError:
        # The reader of our output has seen enough (`leafid … | head`).
        return _close_quietly()
    except KeyboardInterrupt:
        environment.note("leafid: interrupted")
        return EXIT_INTERRUPTED
    except Exception as error:
        if debug:
            traceback.print_exception(error, file=environment.stderr)
        for line in _explained(error).splitlines():
            environment.note(f"leafid: error: {line}")
        return EXIT_WRONG_USAGE if isinstance(error, UsageError) else EXIT_BAD_DATA


def entry_point() -> NoReturn:
    """Run the command of this process and end it."""
    sys.exit(main())


def _explained(error: Exception) -> str:
    if isinstance(error, LeafidError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
    if isinstance(error, MemoryError):
        return "out of memory; use fewer --jobs, or smaller pictures"
    return f"unexpected {type(error).__name__}: {error}; this is a bug, please report it with --debug's output"


def _dispatch(words: list[str], environment: Environment) -> int:
    if not words:
        environment.stderr.write(_overview())
        return EXIT_WRONG_USAGE
    command, *rest = words
    if command in {"-h", "--help", "help"}:
        if not rest:
            environment.stdout.write(_overview())
            return 0
        command, rest = rest[0], ["--help"]
    if command == "--version":
        environment.print(f"leafid {leafid.__version__}")
        return 0
    if command not in COMMANDS:
        raise UsageError(f"unknown command {command!r}{_nearest(command)}; see 'leafid --help'")
    module = importlib.import_module(f"leafid.cli.{command.replace('-', '_')}")
    parser = Parser(
        prog=f"leafid {command}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.configure(parser)
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    if {"-h", "--help"} & set(rest):
        environment.stdout.write(parser.format_help())
        return 0
    arguments = parser.parse_args(rest)
    with _LoggedTo(environment):
        status = module.run(arguments, environment)
    environment.stdout.flush()
    return status


def _overview() -> str:
    width = max(map(len, COMMANDS)) + 2
    commands = "".join(f"  {name:<{width}}{what}\n" for name, what in COMMANDS.items())
    return (
        f"{leafid.__doc__}\n\n"
        "usage: leafid COMMAND …\n\n"
        f"commands:\n{commands}\n"
        "'leafid COMMAND --help' tells more of each.\n"
        "options: --version, --debug (show the traceback of an error)\n"
    )


def _nearest(word: str) -> str:
    import difflib

    close = difflib.get_close_matches(word, COMMANDS, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _close_quietly() -> int:
    import os

    # Python would flush stdout again at exit and complain about the closed pipe.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


class _LoggedTo(logging.Handler):
    """Shows the library's warnings as lines on stderr while a command runs."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(logging.WARNING)
        self.environment = environment

    def emit(self, record: logging.LogRecord) -> None:
        self.environment.warn(record.getMessage())

    def __enter__(self) -> None:
        logging.getLogger("leafid").addHandler(self)

    def __exit__(self, *_: object) -> None:
        logging.getLogger("leafid").removeHandler(self)
