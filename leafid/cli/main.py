"""The command line: calls a command, and turns errors into messages and exit status."""

import argparse
import importlib
import logging
import shutil
import sys
import threading
import traceback
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill

import numpy as np

import leafid
from leafid.cli.arguments import Parser, suggest
from leafid.cli.outputs import Console
from leafid.errors import (
    InputError,
    LeafidError,
    ProblemsError,
    UsageError,
    is_out_of_memory,
    naming_what_to_install,
    to_one_line,
)
from leafid.parallel.progress import showing_progress
from leafid.textfiles import read_records
from leafid.translation import DEFAULT_LANGUAGE, using_language

#: The modules of all commands, below `leafid.cli`: each has the class Options, and the
#: function run(options, console), which returns the exit status if that may be 1. Its
#: docstring is the help. It is imported only when the command is called.
COMMANDS: dict[str, str] = {}
#: What each command does, by the headings of the overview.
GROUPS: defaultdict[str, dict[str, str]] = defaultdict(dict)
for _row in read_records(Path(__file__).with_name("commands.csv")):
    _name = _row["module"].rpartition(".")[2].replace("_", "-")
    COMMANDS[_name] = _row["module"]
    GROUPS[_row["group"]][_name] = _row["summary"]
#: Number of warnings of one kind that are shown; more are counted.
_MAX_ALIKE = 10
EXIT_BAD_DATA = 1
EXIT_WRONG_USAGE = 2
EXIT_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run a command.

    Return the exit status: 0, 1 for bad data, 2 for wrong usage, or 130 after an
    interruption.

    `argv` holds the arguments after the program's name, by default the arguments of the
    process.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    console = console or Console()
    debug = "--debug" in words
    status = 0
    try:
        with naming_what_to_install():
            status = _dispatch(
                [word for word in words if word != "--debug"], console, debug
            )
        console.stdout.flush()
    except KeyboardInterrupt:
        console.note("leafid: interrupted")
        status = EXIT_INTERRUPTED
    except BrokenPipeError:
        # It is no error when the reader of the output has closed it (`leafid … |
        # head`).
        pass
    except Exception as error:
        status = EXIT_BAD_DATA
        # The arguments of Python functions come from files here, such as masks.
        if isinstance(error, UsageError) and not isinstance(error, InputError):
            status = EXIT_WRONG_USAGE
        if debug:
            console.note("".join(traceback.format_exception(error)).rstrip("\n"))
        for line in _format_error(error):
            console.note(f"leafid: error: {line}")
    console.flush_stdout()
    return status


def _format_error(error: BaseException) -> list[str]:
    if isinstance(error, ProblemsError):
        return list(error.problems)
    if isinstance(error, LeafidError):
        return [str(error)]
    if is_out_of_memory(error):
        text = "out of memory; use fewer --jobs, or smaller files"
    elif isinstance(error, OSError):
        text = str(error.strerror or error)
        if error.filename:
            text = f"{error.filename}: {error.strerror}"
    else:
        text = (
            f"unexpected {type(error).__name__}: {error}; this is a bug, please report "
            "it with --debug's output"
        )
    return [to_one_line(text)]


def _dispatch(words: list[str], console: Console, debug: bool) -> int:
    if not words:
        console.note(_format_overview())
        return EXIT_WRONG_USAGE
    command, *arguments = words
    if command in {"-h", "--help"}:
        console.print(_format_overview())
        return 0
    if command == "--version":
        console.print(f"leafid {leafid.__version__}")
        return 0
    if command not in COMMANDS:
        hint = suggest(command, COMMANDS)
        raise UsageError(f"unknown command {command!r}{hint}; see 'leafid --help'")
    has_help = bool({"-h", "--help"} & set(arguments))
    if command in GROUPS["identify"] and not has_help:
        # A failure in the other thread would be no error of the command.
        import cv2

        # OpenCV computes its tables of Lab colours while the command is imported: they
        # take longer than a picture.
        threading.Thread(
            target=cv2.cvtColor, args=(np.zeros((1, 1, 3), np.uint8), cv2.COLOR_BGR2LAB)
        ).start()
    module = importlib.import_module(f"leafid.cli.{COMMANDS[command]}")
    parser = Parser(
        module.Options, prog=f"leafid {command}", description=module.__doc__
    )
    if has_help:
        console.stdout.write(parser.format_help())
        return 0
    options = parser.parse(arguments)
    language = getattr(options, "language", None) or DEFAULT_LANGUAGE
    with (
        _logging_to(console, logging.DEBUG if debug else logging.INFO),
        using_language(language),
        showing_progress(console.progress),
    ):
        return module.run(options, console) or console.status


def make_parser() -> argparse.ArgumentParser:
    """Make a parser of all commands, from which shtab makes a shell's completion."""
    parser = argparse.ArgumentParser("leafid")
    commands = parser.add_subparsers(parser_class=Parser)
    for name, module in COMMANDS.items():
        options = importlib.import_module(f"leafid.cli.{module}").Options
        # Commands without a help would be left out.
        commands.add_parser(name, options=options, help="")
    return parser


def _format_overview() -> str:
    width = max(map(len, COMMANDS)) + 2
    commands = "\n".join(
        f"{group}:\n"
        + "".join(f"  {name:<{width}}{summary}\n" for name, summary in members.items())
        for group, members in GROUPS.items()
    )
    text = (
        f"{leafid.__doc__}\n\n"
        "usage: leafid COMMAND …\n\n"
        f"{commands}\n"
        "'leafid COMMAND --help' shows the options of a command, with examples.\n"
        "options: --version, --debug (show all warnings, and the traceback of an error)"
    )
    # As argparse does, for the help of commands.
    columns = shutil.get_terminal_size().columns - 2
    indents = {" ": " " * (width + 2)}
    return "\n".join(
        fill(line, columns, subsequent_indent=indents.get(line[:1], ""))
        for line in text.splitlines()
    )


@contextmanager
def _logging_to(console: Console, level: int) -> Iterator[None]:
    """Write warnings and notes to stderr: ten warnings of each kind, then their number.

    At level DEBUG, all warnings and tracebacks are written.
    """
    # Warnings of one kind are given by the same line of the code.
    warnings: defaultdict[tuple[str, int], list[str]] = defaultdict(list)

    def emit(record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.levelno < logging.WARNING:
            console.note(text)
            return
        alike = warnings[record.pathname, record.lineno]
        alike.append(to_one_line(text))
        if len(alike) <= _MAX_ALIKE or level == logging.DEBUG:
            console.note(f"leafid: warning: {alike[-1]}")

    handler = logging.Handler()
    handler.emit = emit  # type: ignore[method-assign]  # instead of a class for one use
    logger = logging.getLogger("leafid")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        for alike in warnings.values():
            more = len(alike) - _MAX_ALIKE
            if more > 0 and level != logging.DEBUG:
                console.note(
                    f"leafid: warning: and {more} more like this (--debug shows all): "
                    f"{alike[-1]}"
                )
        logger.setLevel(before)
        logger.removeHandler(handler)
