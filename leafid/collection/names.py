"""Reads the words that collections write in many ways: species names, dates, coordinates, contents."""

from __future__ import annotations

import re
import unicodedata
from datetime import date

from leafid.collection.picture import Content
from leafid.errors import LeafidError
from leafid.textfiles import parse_finite_number

_HYBRID = {"x", "×", "X"}


def parse_species_name(text: str) -> str:
    """Reduce a name to ``Genus species``, without the author of the name and without lower ranks.

    Parameters
    ----------
    text : str
        For instance ``Quercus coccifera L.``; blanks or underscores between the words.

    Returns
    -------
    str
        Two tokens, and a cross, written ``x``, in front of the epithet of a hybrid, or of the genus where that is one.
        The genus begins with a capital; letters with accents are single characters (Unicode form NFC).

    Raises
    ------
    LeafidError
        When there is no epithet.

    Examples
    --------
    >>> parse_species_name("Quercus coccifera L.")
    'Quercus coccifera'
    >>> parse_species_name("Platanus ×hispanica Mill. ex Münchh.")
    'Platanus x hispanica'
    >>> parse_species_name("×Cuprocyparis leylandii (A.B.Jacks. & Dallim.) Farjon")
    'x Cuprocyparis leylandii'
    >>> parse_species_name("Acer_campestre")
    'Acer campestre'
    >>> parse_species_name("acer campestre")
    'Acer campestre'
    """
    words = _words(text.replace("_", " "))
    genus = [word if word == "x" else word[:1].upper() + word[1:] for word in _crossed(words)]
    name = genus + _crossed(words[len(genus) :])
    if sum(word != "x" for word in name) < 2:
        raise LeafidError(f"expected a species name of two or three words, found {text.strip()!r}")
    return " ".join(name)


def parse_genus(text: str) -> str:
    """Take the genus that a species name begins with, or that stands by itself, without an author's name behind it.

    Examples
    --------
    >>> parse_genus("Quercus coccifera L."), parse_genus("×Cuprocyparis Farjon")
    ('Quercus', 'x Cuprocyparis')
    """
    return " ".join(_crossed(_words(text)))


def _words(text: str) -> list[str]:
    # File systems and editors differ in how they write an accent: as a part of its letter, or behind it.
    text = unicodedata.normalize("NFC", text)
    return ["x" if word in _HYBRID else word for word in text.replace("×", " × ").split()]


def _crossed(words: list[str]) -> list[str]:
    """Take the first word, with the cross before it where it is a hybrid's."""
    return words[: 2 if words[:1] == ["x"] else 1]


def strip_author(text: str | None) -> str | None:
    """Return a name of one word without the author that may follow it, or None.

    Examples
    --------
    >>> strip_author("Fagaceae Dumort.")
    'Fagaceae'
    """
    words = (text or "").split()
    return words[0] if words else None


def parse_date(text: str) -> str:
    """Rewrite a date as ISO 8601, as precise as it is given; the time of day is dropped.

    Parameters
    ----------
    text : str
        ``dd/mm/yy`` or ``dd/mm/yyyy``, ``yyyy/mm/dd``, ``yyyy/mm`` or ``yyyy``, with ``/``, ``-`` or ``.`` between,
        maybe with ``hh:mm`` behind. Years of two digits are 1970 to 2069.

    Returns
    -------
    str
        ``2010-07-06``, ``2010-07`` or ``2010``.

    Raises
    ------
    LeafidError
        When it is no such date.

    Examples
    --------
    >>> parse_date("06/07/10 14:30"), parse_date("2010/07"), parse_date("2010")
    ('2010-07-06', '2010-07', '2010')
    """
    found = _DATE.fullmatch(text.strip())
    if found is None:
        raise LeafidError(f"expected a date like 06/07/10, 2010/07 or 2010, found {text.strip()!r}")
    year = int(found["y"] or found["yy"])
    if found["yy"] and len(found["yy"]) == 2:
        year += 1900 if year >= 70 else 2000
    parts = [int(part) for part in (found["m"] or found["m2"], found["d"] or found["d2"]) if part]
    try:
        # Parts that are not given are right with any date.
        date(year, *parts, *[1] * (2 - len(parts)))
    except ValueError as error:
        raise LeafidError(f"expected a date, found {text.strip()!r}: {error}") from None
    return "-".join([f"{year:04d}", *(f"{part:02d}" for part in parts)])


_DATE = re.compile(
    r"(?:(?P<d>\d{1,2})[/.-](?P<m>\d{1,2})[/.-](?P<yy>\d{4}|\d{2})"
    r"|(?P<y>\d{4})(?:[/.-](?P<m2>\d{1,2})(?:[/.-](?P<d2>\d{1,2}))?)?)"
    r"(?:[ T]\d{1,2}:\d{2}(?::\d{2})?)?",
    re.ASCII,
)


def parse_bounded_number(text: str, limit: float) -> float:
    """Read a number between -limit and limit.

    Raises
    ------
    LeafidError
        When it is none.
    """
    value = parse_finite_number(text)
    if value is None or not -limit <= value <= limit:
        raise LeafidError(f"expected a number from {-limit:g} to {limit:g}, found {text!r}")
    return value


def parse_content(text: str) -> Content | None:
    """Read what a picture shows, in the words of any collection; None for Pl@ntNet's ``other``.

    Raises
    ------
    LeafidError
        When the word is not known.
    """
    word = text.strip().lower()
    try:
        return _CONTENTS[word]
    except KeyError:
        raise LeafidError(f"expected a content ({', '.join(_CONTENTS)}), found {text!r}") from None


_CONTENTS: dict[str, Content | None] = {
    **{parse_content.value: parse_content for parse_content in Content},
    "leafage": Content.FOLIAGE,
    "bark": Content.STEM,
    "habit": Content.ENTIRE,
    "branch": Content.FOLIAGE,
    "other": None,
}


def natural_sort_key(name: str) -> list[tuple[int, str]]:
    """Sort key by which ``9.jpg`` comes before ``10.jpg``.

    Examples
    --------
    >>> sorted(["10.jpg", "9.jpg", "a.jpg"], key=natural_sort_key)
    ['9.jpg', '10.jpg', 'a.jpg']
    """
    # The name itself comes last, so that 01.jpg and 1.jpg always come in the same order.
    parts = [(int(part), "") if part.isdecimal() else (_AFTER_NUMBERS, part) for part in _DIGITS.split(name) if part]
    return [*parts, (-1, name)]


_DIGITS = re.compile(r"(\d+)", re.ASCII)
_AFTER_NUMBERS = 1 << 62
