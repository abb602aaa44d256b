"""What a command may touch of the outside, handed to it so that tests can drive it in-process."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, TypeVar

from leafid.errors import one_line

T = TypeVar("T")


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

    stdout: IO[str] = field(default_factory=lambda: sys.stdout)
    stderr: IO[str] = field(default_factory=lambda: sys.stderr)

    def print(self, text: str = "") -> None:
        """Write a line of the result."""
        self.stdout.write(f"{text}\n")

    def note(self, text: str) -> None:
        """Write a line for the person, beside the result."""
        self.stderr.write(f"{text}\n")
        self.stderr.flush()

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

        yield from tqdm(items, total=total, desc=what, file=self.stderr, unit=" pictures", leave=False, smoothing=0.1)
