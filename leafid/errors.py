"""The errors that leafid raises on purpose: each message is complete and meant for a person."""

from __future__ import annotations

from collections.abc import Iterable

#: Characters of a message's line; a damaged file may hold a "word" of megabytes.
LONGEST_LINE = 800


class LeafidError(Exception):
    """Something is wrong with the data: the command line prints the message and ends with status 1.

    The message names the place (file, line), what was expected, what was found and what to do. Whatever the file holds
    that it quotes, it is one printable line of at most `LONGEST_LINE` characters.
    """

    def __init__(self, message: str) -> None:
        super().__init__(to_one_line(message))


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
        self.problems = tuple(to_one_line(problem) for problem in problems)
        Exception.__init__(self, "\n".join(self.problems))

    def __reduce__(self) -> tuple[type[ProblemsError], tuple[tuple[str, ...]]]:
        """Keep the problems apart on the way from another process."""
        return type(self), (self.problems,)


def to_one_line(message: str) -> str:
    r"""Make a message one printable line that is not too long, whatever it quotes.

    Parameters
    ----------
    message : str

    Returns
    -------
    str
        What can't be printed as its escape, as ``repr`` writes it; at most `LONGEST_LINE` characters, what is over
        that left out of the middle.

    Examples
    --------
    >>> to_one_line("a.txt:1: found \x1b[31m\n")
    'a.txt:1: found \\x1b[31m\\n'
    """
    if not message.isprintable():
        message = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in message)
    if len(message) <= LONGEST_LINE:
        return message
    end = LONGEST_LINE // 4
    return f"{message[: LONGEST_LINE - end - 3]} … {message[-end:]}"
