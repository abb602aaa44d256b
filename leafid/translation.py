"""Translates the messages, which are in English here, by `languages/*.csv`."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from leafid.errors import InputError
from leafid.textfiles import read_table

#: The languages of all pages and answers, with their names.
LANGUAGES = {"en": "English", "fr": "Français", "de": "Deutsch"}

DEFAULT_LANGUAGE = "en"

_language = ContextVar("language", default=DEFAULT_LANGUAGE)


@contextmanager
def using_language(language: str) -> Iterator[None]:
    """Say everything in a language inside the ``with`` block.

    It holds for this thread or task.

    Parameters
    ----------
    language : {"en", "fr", "de"}

    Raises
    ------
    InputError
        If there is no such language.
    """
    if language not in LANGUAGES:
        raise InputError(f"expected one of {', '.join(LANGUAGES)}, found {language!r}")
    token = _language.set(language)
    try:
        yield
    finally:
        _language.reset(token)


def get_language() -> str:
    """Return the current language, a key of `LANGUAGES`."""
    return _language.get()


def translate(message: str, **values: Any) -> str:
    """Translate a message, and replace names in braces by their values.

    Numbers have the decimal mark of the language.

    Examples
    --------
    >>> translate("petiole {number:.2f} of the blade", number=0.5)
    'petiole 0.50 of the blade'
    >>> with using_language("de"):
    ...     translate("petiole {number:.2f} of the blade", number=0.5)
    'Blattstiel 0,50-mal so lang wie die Blattspreite'
    """
    numbers = {
        name: _Number(value) for name, value in values.items() if type(value) is float
    }
    return look_up(message).format(**values | numbers)


def look_up(message: str) -> str:
    """Find the translation of a message, in which values are still names in braces."""
    return read_catalogue(_language.get()).get(message, message)


def join_clauses(clauses: Iterable[str]) -> str:
    """Join clauses to a sentence by semicolons, before which French has a blank."""
    return translate("{first}; {second}", first="", second="").join(clauses)


def format_number(number: float, spec: str) -> str:
    """Format a number by a format specification, with the marks of the language."""
    return format(_Number(number), spec)


@cache
def read_catalogue(language: str) -> dict[str, str]:
    """Read the translation of each message; nothing for English."""
    if language == DEFAULT_LANGUAGE:
        return {}
    file = Path(__file__).parent / "languages" / f"{language}.csv"
    return dict(row for _, row in read_table(file))


class _Number(float):
    """A number that is written as in the language of the person."""

    def __format__(self, spec: str) -> str:
        mark = translate("0.5").strip("05")
        percent = translate("50%").removeprefix("50")
        return super().__format__(spec).replace(".", mark).replace("%", percent)
