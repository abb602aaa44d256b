"""The errors that leafid raises on purpose, each with a complete message for users."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from traceback import walk_tb

#: Maximum number of characters in a line of a message; a damaged file may hold a "word"
#: of megabytes.
MAX_LINE_LENGTH = 800
#: Maximum number of problems of an input that are listed; the others are only counted.
MAX_PROBLEMS = 20

# The installation is forced, because opencv-python may have replaced the files of an
# installed headless one.
_OPENCV_ADVICE = (
    "without a desktop: pip install --force-reinstall --no-deps opencv-python-headless"
)
# Messages of OpenCV, of the dynamic loader without address space for a module, of
# safetensors, threads and libjpeg.
_NO_MEMORY_TEXTS = (
    "std::bad_alloc",
    "failed to map segment",
    "os error 12",
    "start new thread",
    "nsufficient memory",
)
_ADDRESS = re.compile(r"<(?:\w+\.)*(\w+) object at 0x\w+>")


class LeafidError(Exception):
    """Something is wrong with the data.

    The command line prints the message and exits with status 1. The message names the
    file and line, what was expected, what is there and what to do: one printable line
    of at most `MAX_LINE_LENGTH` characters.
    """

    def __init__(self, message: str) -> None:
        super().__init__(to_one_line(message))


class UsageError(LeafidError):
    """The command was called incorrectly; the command line exits with status 2."""


class ImageError(LeafidError):
    """A file is not a picture that leafid can read.

    The message names the file and the reason.
    """


class InputError(UsageError, ValueError):
    """An argument of a Python function is not what was expected.

    The message names the argument and the position in it. Where a command passes on
    what a file holds, the file is wrong, not how the command was called.
    """


class InstallationError(LeafidError, ImportError):
    """A package that leafid needs can't be imported.

    The message says what to install.
    """


class ProblemsError(LeafidError):
    """The first problems of an input, a line each, and the number of the others."""

    def __init__(self, problems: Iterable[str]) -> None:
        lines = [*problems]
        # The last problem may be the number of others, counted before: one more than
        # the maximum is listed.
        more = len(lines) - MAX_PROBLEMS
        if more > 1:
            lines[MAX_PROBLEMS:] = [f"and {more} problems more"]
        self.problems = tuple(map(to_one_line, lines))
        Exception.__init__(self, self.problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


@contextmanager
def naming_place(place: object) -> Iterator[None]:
    """Put a place, such as a file or field, before a `LeafidError`'s message."""
    try:
        yield
    except LeafidError as error:
        raise LeafidError(f"{place}: {error}") from None


def is_out_of_memory(error: BaseException | None) -> bool:
    """Tell whether an error, or its cause, is that there is not enough memory.

    Some libraries have no class for it.
    """
    return error is not None and (
        isinstance(error, MemoryError)
        or getattr(error, "code", None) == -4  # of OpenCV
        or getattr(error, "errno", None) == errno.ENOMEM
        or any(text in str(error) for text in _NO_MEMORY_TEXTS)
        or is_out_of_memory(error.__cause__)
    )


@contextmanager
def memory_errors_as_image_error(file: object) -> Iterator[None]:
    """Turn a lack of memory into an error of the picture, which alone is left out."""
    try:
        yield
    except Exception as error:
        if is_out_of_memory(error):
            raise ImageError(f"{file}: out of memory; use a smaller picture") from error
        raise


@contextmanager
def naming_what_to_install() -> Iterator[None]:
    """Convert an `ImportError` of another package into an `InstallationError`."""
    try:
        yield
    except ImportError as error:
        *_, (innermost, _) = walk_tb(error.__traceback__)
        package = (error.name or innermost.f_globals["__name__"]).partition(".")[0]
        if (
            package == "leafid"
            or isinstance(error, LeafidError)
            or is_out_of_memory(error)
        ):
            raise
        advice = "install it again, or the shared library that it lacks"
        if package == "cv2":
            advice = _OPENCV_ADVICE
        raise InstallationError(
            f"{package} can't be imported: {error}; {advice}"
        ) from error


def to_one_line(message: str) -> str:
    r"""Escape what can't be printed, as ``repr`` does.

    Objects are named by their class, and a long text loses its middle.

    Examples
    --------
    >>> to_one_line("a.txt:1: found \x1b[31m\n")
    'a.txt:1: found \\x1b[31m\\n'
    """
    message = escape_unprintable(_ADDRESS.sub(r"\1", message))
    if len(message) <= MAX_LINE_LENGTH:
        return message
    end = MAX_LINE_LENGTH // 4
    return f"{message[: MAX_LINE_LENGTH - end - 3]} … {message[-end:]}"


def escape_unprintable(text: str, keep: str = "") -> str:
    """Escape control and direction characters as ``repr`` does, but not `keep`.

    A terminal would obey them.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in keep else repr(letter)[1:-1]
        for letter in text
    )
