"""The streams of a command, passed in so that tests can run commands in-process."""

from __future__ import annotations

import contextlib
import io
import os
import select
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from tqdm import tqdm

from leafid.errors import escape_unprintable, to_one_line

T = TypeVar("T")


@dataclass
class Environment:
    """Streams for results (`stdout`) and for messages and progress (`stderr`)."""

    stdout: IO[str] = field(default_factory=lambda: sys.stdout)
    stderr: IO[str] = field(default_factory=lambda: sys.stderr)
    #: Seconds between two lines of progress on a stderr that is no terminal.
    log_interval: float = 8.0

    def __post_init__(self) -> None:
        # A file name may hold characters that the stream can't encode, or bytes that are no text at all.
        for stream in (self.stdout, self.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        if self.stdout.isatty():
            self.stdout = cast("IO[str]", _TerminalStream(self.stdout))

    def print(self, text: str = "") -> None:
        """Write a line of the result."""
        self.stdout.write(f"{text}\n")

    def note(self, text: str) -> None:
        """Write a message to stderr; if stderr is closed, drop it and all later ones."""
        try:
            self.stderr.write(escape_unprintable(text, keep="\n") + "\n")
            self.stderr.flush()
        except OSError:
            _redirect_to_devnull(self.stderr)

    def warn(self, text: str) -> None:
        """Write a warning: something went wrong, but the command continues."""
        self.note(f"leafid: warning: {to_one_line(text)}")

    def flush_stdout(self) -> None:
        """Flush stdout if possible; otherwise Python would retry at exit and print an error."""
        try:
            self.stdout.flush()
        except OSError:
            _redirect_to_devnull(self.stdout)

    def is_pipe_closed(self) -> bool:
        """Check whether stdout is a pipe whose reader has gone (``leafid … | head``)."""
        if not hasattr(select, "poll"):  # Windows, where a pipe can't be polled.
            return True
        poll = select.poll()
        try:
            poll.register(self.stdout.fileno(), 0)  # Errors are reported whatever the event mask is.
        except OSError:  # Not a file.
            return False
        return bool(poll.poll(0))

    def progress(self, items: Iterable[T], total: int | None, what: str) -> Iterator[T]:
        """Yield the items, and show on stderr how many there were; `what` is the caption."""
        with self.bar(total, what) as bar:
            yield from advance(bar, items)

    def bar(self, total: int | None, what: str) -> tqdm:
        """Make a progress bar for pictures that are processed in batches; `what` is the caption.

        Where stderr is no terminal, a line is written every `log_interval` seconds instead.
        """
        if self.stderr.isatty():
            return tqdm(total=total, desc=what, file=self.stderr, unit="", leave=False, smoothing=0.1)
        every = self.log_interval
        form = "{desc} {n}/{total}, {remaining} left" if total else "{desc} {n}"
        return tqdm(
            total=total, desc=what, file=_Lines(self), bar_format=form, leave=False, mininterval=every, delay=every
        )


class _Lines:
    """A file that notes each state of a progress bar on a line of its own."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def write(self, text: str) -> None:
        # A bar inside another one is drawn with movements of the cursor.
        if line := text.replace("\x1b[A", "").strip():
            self._environment.note(line)

    def flush(self) -> None:
        pass


class _TerminalStream:
    """A terminal for results: control characters in names, which files keep, are escaped."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(escape_unprintable(text, keep="\n"))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def advance(bar: tqdm, items: Iterable[T], *_: object) -> Iterator[T]:
    """Yield the items, and advance the bar by each; total and caption, as of `Environment.progress`, are the bar's."""
    for item in items:
        yield item
        bar.update()


def open_missing_streams() -> None:
    """Open the null device for each standard stream that the process was started without (``>&-``).

    Otherwise the next file that is opened, an output for instance, would take the stream's number, and a worker process
    would write its messages into it. Python's own streams would be None, which libraries don't expect.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:  # the lowest number that is free
        # Worker processes inherit standard streams only.
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdin = sys.stdin or _open_devnull()
    sys.stdout = sys.stdout or _open_devnull()
    sys.stderr = sys.stderr or _open_devnull()


def _open_devnull() -> IO[str]:
    return Path(os.devnull).open("r+")


def _redirect_to_devnull(stream: IO[str]) -> None:
    with contextlib.suppress(OSError), _open_devnull() as devnull:
        os.dup2(devnull.fileno(), stream.fileno())
