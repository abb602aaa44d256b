"""The outputs of commands: files, and streams that tests replace."""

import io
import json
import logging
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TextIO, TypeVar

from leafid.cli.arguments import TableOptions
from leafid.errors import LeafidError, UsageError, escape_unprintable
from leafid.files import StrPath, check_writable, open_output, resolve_symlink
from leafid.pictures.header import PICTURE_ENDINGS
from leafid.pictures.readers.table_search import TABLE_NAMES
from leafid.scoring.tables import Table, choose_tables, render

T = TypeVar("T")
_log = logging.getLogger(__name__)


def _open_stream(name: str) -> TextIO:
    # A process that is started with `>&-` has no such stream.
    return getattr(sys, name) or Path(os.devnull).open("w")


@dataclass
class Console:
    """Streams for results (`stdout`) and for messages and progress (`stderr`)."""

    stdout: TextIO = field(default_factory=lambda: _open_stream("stdout"))
    stderr: TextIO = field(default_factory=lambda: _open_stream("stderr"))
    #: Seconds until the first line of progress, and between two lines, where stderr is
    #: no terminal.
    log_interval: float = 60.0
    #: The exit status of a command that comes to its end: 1 if something is left out.
    status: int = 0

    def __post_init__(self) -> None:
        # A file name may hold characters that the stream can't encode, or bytes that
        # are no text at all.
        for stream in (self.stdout, self.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")

    def print(self, text: str = "") -> None:
        """Write a line of the result; control characters in names are escaped."""
        text = escape_unprintable(text, keep="\n\N{NO-BREAK SPACE}")
        self.stdout.write(text + "\n")

    def print_json(self, value: object) -> None:
        """Write a value as JSON."""
        self.print(json.dumps(value, ensure_ascii=False, indent=1))

    def note(self, text: str) -> None:
        """Write a message to stderr.

        If stderr is closed, drop it and all later ones.
        """
        try:
            self.stderr.write(escape_unprintable(text, keep="\n") + "\n")
            self.stderr.flush()
        except OSError:
            _redirect_to_devnull(self.stderr)

    def warn(self, text: str) -> None:
        """Log a warning of the caller: something is wrong, but the work continues."""
        _log.warning("%s", text, stacklevel=2)

    def flush_stdout(self) -> None:
        """Flush stdout if possible.

        Otherwise Python would retry at exit and print an error.
        """
        try:
            self.stdout.flush()
        except OSError:
            _redirect_to_devnull(self.stdout)

    def progress(self, items: Iterable[T], total: int | None, what: str) -> Iterator[T]:
        """Yield the items, and show how many there were, with `what` as the caption."""
        # There is nothing to show, and a bar takes longer to import than a picture to
        # be identified.
        if total == 1:
            yield from items
            return
        from tqdm import tqdm

        # No thread is started: there may be no memory for it.
        tqdm.monitor_interval = 0
        is_terminal = self.stderr.isatty()
        interval = 0.1 if is_terminal else self.log_interval
        yield from tqdm(
            items,
            what,
            total,
            leave=False,
            file=self.stderr,
            ncols=min(80, shutil.get_terminal_size().columns),
            nrows=2,  # some terminals don't tell how many they have
            mininterval=interval,
            maxinterval=2 * interval,
            delay=0 if is_terminal else interval,
            unit="",
        )


def _redirect_to_devnull(stream: TextIO) -> None:
    with suppress(OSError), Path(os.devnull).open("w") as devnull:
        os.dup2(devnull.fileno(), stream.fileno())


def print_tables(
    tables: Sequence[Table],
    options: TableOptions,
    console: Console,
    digits: int = 4,
) -> None:
    tables = choose_tables(tables, options.format, options.table)
    console.stdout.write(render(tables, options.format, digits))


def open_text(path: str | None, console: Console) -> AbstractContextManager[IO[str]]:
    """Open a text file, which appears when it is complete, or stdout without a path."""
    return open_output(path) if path else nullcontext(console.stdout)


def check_output(
    output: StrPath,
    inputs: Iterable[StrPath | None],
    flag: str = "--output",
    file: str = "",
) -> None:
    """Check before the work that an output can be written.

    It must not be named like a picture, nor overwrite an input.

    With `file`, the output is a folder, which may be missing, and `file` is to be
    written in it.
    """
    folder = Path(output).absolute().parent
    if not folder.exists():
        raise LeafidError(
            f"{flag} {output}: there is no folder {folder}; create it first"
        )
    target = resolve_symlink(Path(output, file))
    # `leafid predict --output garden/*.jpg` would overwrite its first picture.
    if target.suffix.lower() in PICTURE_ENDINGS:
        raise UsageError(
            f"{flag} {output}: expected a name without the ending of a picture, found "
            f"{target.suffix}"
        )
    is_metadata = target.name in TABLE_NAMES or target.suffix.lower() == ".xml"
    for path in [Path(path) for path in inputs if path]:
        is_inside = is_metadata and path.resolve() in target.resolve().parents
        is_there = target.is_file() and path.exists()
        if is_there and (is_inside or target.samefile(path)):
            raise UsageError(
                f"{flag} {output}: expected a file of its own, found one that is read; "
                "name another"
            )
    check_writable(target)


def check_output_folder(folder: StrPath, inputs: Iterable[StrPath], flag: str) -> None:
    """Check as `check_output` does, and that no folder that is read holds this one."""
    for path in map(Path, inputs):
        if path.is_dir() and Path(folder).resolve().is_relative_to(path.resolve()):
            raise UsageError(f"{flag} {folder}: expected a folder outside {path}")
    check_output(folder, [], flag, file="any name")


def make_output_names(files: Sequence[Path], root: Path) -> dict[Path, str]:
    """Make a different output name for each file.

    The name is the file's stem or, if others have that, its path from `root`.
    """
    base = root if root.is_dir() else root.parent
    # Some file systems ignore case.
    counts = Counter(file.stem.lower() for file in files)
    names = {file: os.path.relpath(file, base).replace(os.sep, "_") for file in files}
    return names | {file: file.stem for file in files if counts[file.stem.lower()] == 1}
