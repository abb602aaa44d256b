"""What a command may touch of the outside, handed to it so that tests can drive it in-process."""

from __future__ import annotations

import contextlib
import io
import os
import select
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from leafid.errors import one_line

if TYPE_CHECKING:
    from tqdm import tqdm

T = TypeVar("T")
_LOOK: dict[str, Any] = {"unit": " pictures", "leave": False, "smoothing": 0.1}


@dataclass
class Environment:
    """Where results, messages and progress go.

    Attributes
    ----------
    stdout : text stream
        Results, and nothing else.
    stderr : text stream
        Messages and progress.
    """

    # A process that was started without these streams (`>&-`) has None for them.
    stdout: IO[str] = field(default_factory=lambda: sys.stdout or _nowhere())
    stderr: IO[str] = field(default_factory=lambda: sys.stderr or _nowhere())

    def __post_init__(self) -> None:
        # A file name may have letters that the stream's encoding has none for, or bytes that are no letters at all.
        for stream in (self.stdout, self.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")

    def print(self, text: str = "") -> None:
        """Write a line of the result."""
        self.stdout.write(f"{text}\n")

    def note(self, text: str) -> None:
        """Write a line for the person, beside the result; where nobody reads it any more, the work goes on."""
        try:
            self.stderr.write(f"{text}\n")
            self.stderr.flush()
        except OSError:
            _to_nowhere(self.stderr)

    def settle(self) -> None:
        """Let what stdout still holds go out if it can: else Python would try again when it ends, and complain."""
        try:
            self.stdout.flush()
        except OSError:
            _to_nowhere(self.stdout)

    def reader_left(self) -> bool:
        """Tell whether stdout is a pipe that nobody reads any more (``leafid … | head``)."""
        if not hasattr(select, "poll"):  # as on Windows, where it can't be told
            return True
        poll = select.poll()
        try:
            poll.register(self.stdout.fileno(), 0)  # of errors it tells unasked
        except OSError:  # no file at all
            return False
        return bool(poll.poll(0))

    def warn(self, text: str) -> None:
        """Write a line about something that went wrong but did not stop the work."""
        self.note(f"leafid: warning: {one_line(text)}")

    def progress(self, items: Iterable[T], total: int | None, what: str) -> Iterator[T]:
        """Pass the items on, with a progress bar on stderr where that is a terminal.

        Parameters
        ----------
        items : iterable
        total : int or None
            How many there will be, where known.
        what : str
            A word or two in front of the bar.
        """
        if not self.stderr.isatty():
            yield from items
            return
        from tqdm import tqdm

        yield from tqdm(items, total=total, desc=what, file=self.stderr, **_LOOK)

    @contextlib.contextmanager
    def bar(self, total: int, what: str, done: int = 0) -> Iterator[Bar]:
        """Show one progress bar over pictures that are worked on batch by batch, where stderr is a terminal.

        Parameters
        ----------
        total : int
        what : str
            The step of the work, by the word that it tells of itself with, that the bar follows.
        done : int, default 0
            Pictures that are done already.
        """
        from tqdm import tqdm

        silent = not self.stderr.isatty()
        with tqdm(total=total, initial=done, desc=what, file=self.stderr, disable=silent, **_LOOK) as shown:
            yield Bar(shown, what)


class Bar:
    """A progress bar over several stretches of work."""

    def __init__(self, shown: tqdm, what: str) -> None:
        self._shown = shown
        self._what = what

    def progress(self, items: Iterable[T], total: int, what: str) -> Iterator[T]:
        """Pass items on, as `Environment.progress` does; those of the step that is followed count."""
        for item in items:
            if what == self._what:
                self._shown.update()
            yield item

    def reached(self, count: int) -> None:
        """Show how many are done: what was known before passes by no `progress`."""
        self._shown.update(count - self._shown.n)


def _nowhere() -> IO[str]:
    return Path(os.devnull).open("w")


def _to_nowhere(stream: IO[str]) -> None:
    with contextlib.suppress(OSError), _nowhere() as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())
