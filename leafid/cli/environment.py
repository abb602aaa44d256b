"""The streams of a command, passed in so that tests can run commands in-process."""

from __future__ import annotations

import contextlib
import io
import os
import select
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar, cast

from leafid.errors import escape_unprintable, to_one_line

T = TypeVar("T")
_BAR_OPTIONS: dict[str, Any] = {"unit": "", "leave": False, "smoothing": 0.1}


@dataclass
class Environment:
    """Streams for results (`stdout`) and for messages and progress (`stderr`)."""

    stdout: IO[str] = field(default_factory=lambda: sys.stdout)
    stderr: IO[str] = field(default_factory=lambda: sys.stderr)
    #: Seconds without a message after which progress is written to a stderr that is no terminal.
    log_interval: float = 8.0
    #: In seconds.
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self.last_note = self.clock()
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
        self.last_note = self.clock()
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

    @contextlib.contextmanager
    def bar(self, total: int | None, what: str) -> Iterator[Bar]:
        """Show one progress bar for pictures that are processed in batches; `what` is the caption.

        Where stderr is no terminal, a line is written every `log_interval` seconds instead.
        """
        if not self.stderr.isatty():
            yield _ProgressLog(self, total, what)
            return
        from tqdm import tqdm

        with tqdm(total=total, desc=what, file=self.stderr, **_BAR_OPTIONS) as display:
            yield display


class _TerminalStream:
    """A terminal for results: control characters in names, which files keep, are escaped."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(escape_unprintable(text, keep="\n"))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Bar(Protocol):
    """What shows progress: a bar of tqdm, or a log."""

    n: int

    def update(self, count: int = 1) -> object:
        """Count finished items."""


# Share of the items from which the time left is estimated: the first ones wait for workers and caches.
_MIN_SHARE = 0.01


class _ProgressLog:
    """Writes lines such as "describe 120/828, 0:40 left"."""

    def __init__(self, environment: Environment, total: int | None, what: str) -> None:
        self.n = 0
        self._environment, self._total, self._what = environment, total, what
        self._start = environment.clock()

    def update(self, count: int = 1) -> None:
        self.n += count
        if self._environment.clock() - self._environment.last_note >= self._environment.log_interval:
            self._environment.note(self._format())

    def _format(self) -> str:
        if not self._total:
            return f"{self._what} {self.n}"
        if self.n < _MIN_SHARE * self._total or not self.n:
            return f"{self._what} {self.n}/{self._total}"
        seconds = (self._environment.clock() - self._start) / self.n * (self._total - self.n)
        minutes, seconds = divmod(round(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        left = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
        return f"{self._what} {self.n}/{self._total}, {left} left"


def advance(bar: Bar, items: Iterable[T], *_: object) -> Iterator[T]:
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
