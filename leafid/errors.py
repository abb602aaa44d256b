"""The errors that leafid raises on purpose: each message is complete and meant for a person."""

from __future__ import annotations

from collections.abc import Iterable


class LeafidError(Exception):
    """Something is wrong with the data: the command line prints the message and ends with status 1.

    The message names the place (file, line), what was expected, what was found and what to do.
    """


class UsageError(LeafidError):
    """The command was called the wrong way: the command line ends with status 2."""


class ProblemsError(LeafidError):
    """Several problems of one input, reported together so that they can be mended in one go.

    Parameters
    ----------
    problems : iterable of str
        One complete line a problem; at least one.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))
