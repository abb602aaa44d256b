"""Parses the words that collections write in different ways: species names, dates, numbers, contents."""

import re
import unicodedata
from datetime import date
from functools import cache
from importlib import resources

from leafid.errors import LeafidError
from leafid.pictures.picture import Content, Taxon
from leafid.textfiles import parse_finite_number

_HYBRID_SIGNS = {"x", "×", "X"}
# What stands between a species name and that of a lower rank, or between its authors.
_RANKS = {"subsp", "ssp", "var", "f", "fo", "cv", "ex", "et", "auct", "de", "von"}


def parse_species_name(text: str) -> str:
    """Reduce a name to ``Genus species``, without authors and lower ranks; underscores count as blanks.

    A hybrid's epithet or genus has a separate ``x`` before it. The genus is capitalised, and the epithet in small
    letters; letters with accents are single characters (Unicode form NFC). Without an epithet, or with invisible
    characters, a `LeafidError` is raised.

    Examples
    --------
    >>> parse_species_name("Quercus coccifera L.")
    'Quercus coccifera'
    >>> parse_species_name("Platanus ×hispanica Mill. ex Münchh.")
    'Platanus x hispanica'
    >>> parse_species_name("×Cuprocyparis leylandii (A.B.Jacks. & Dallim.) Farjon")
    'x Cuprocyparis leylandii'
    >>> parse_species_name("acer_campestre")
    'Acer campestre'
    """
    words = _split_words(text.replace("_", " "))
    genus = [word if word == "x" else word.capitalize() for word in _take_first_name(words)]
    name = genus + [word.lower() for word in _take_first_name(_skip_first_name(words))]
    if sum(word != "x" for word in name) < 2:
        raise LeafidError(f"expected a species name of two or three words, found {text.strip()!r}")
    return check_printable(" ".join(name))


def parse_label(text: str) -> Taxon:
    """Make the taxon of a label.

    A name like that of a species, of a known genus or with a capital and a small initial, is reduced as
    `parse_species_name` does, and gets a genus, and a family where the genus is a common one. Any other label, such as
    one with a third word that is neither an author nor a rank, is a plain class; runs of blanks become one blank. A
    `LeafidError` is raised if a run file can't hold the label.

    Examples
    --------
    >>> parse_label("acer_campestre")
    Taxon(species='Acer campestre', genus='Acer', family='Sapindaceae', order=None, identifier=None)
    >>> parse_label("001.Acer").species, parse_label("Apple___Black_rot").genus
    ('001.Acer', None)
    >>> parse_label("Tomato leaf mold").species
    'Tomato leaf mold'
    """
    words = _split_words(text.replace("_", " "))
    genus, epithet = (" ".join(_take_first_name(rest)).removeprefix("x ") for rest in (words, _skip_first_name(words)))
    family = _read_families().get(genus.casefold())
    is_binomial = genus[:1].isupper() and genus[1:].islower() and epithet.islower()
    is_worded = genus.isalpha() and epithet.replace("-", "").isalpha() and not re.search(r"\d", text)
    rest = _skip_first_name(_skip_first_name(words))
    has_other_word = bool(rest) and rest[0][:1].islower() and rest[0].rstrip(".") not in _RANKS
    if is_worded and (family or is_binomial) and not has_other_word:
        species = parse_species_name(text)
        return Taxon(species, parse_genus(species), family)
    label = check_printable(" ".join(unicodedata.normalize("NFC", text).split()))
    if not label or label.endswith("*"):
        raise LeafidError(f"expected a label, not ending in '*', which stands for higher taxa, found {text!r}")
    return Taxon(label)


@cache
def _read_families() -> dict[str, str]:
    """Read the family of each common genus of trees, in small letters."""
    lines = (resources.files("leafid.pictures") / "families.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split(": ") for line in lines)
    return {genus.casefold(): family for family, genera in rows for genus in genera.split()}


def check_printable(name: str) -> str:
    """Return the name of a taxon; refuse control and direction characters, which no run file may hold."""
    if not name.isprintable():
        raise LeafidError(f"expected a name without invisible characters, found {name!r}")
    return name


def parse_genus(text: str) -> str:
    """Return the genus at the start of a name.

    Examples
    --------
    >>> parse_genus("Quercus coccifera L."), parse_genus("×Cuprocyparis Farjon")
    ('Quercus', 'x Cuprocyparis')
    """
    return " ".join(_take_first_name(_split_words(text)))


def _split_words(text: str) -> list[str]:
    # File systems and editors differ in whether an accent is a part of its letter or a character of its own.
    text = unicodedata.normalize("NFC", text)
    return ["x" if word in _HYBRID_SIGNS else word for word in text.replace("×", " × ").split()]


def _take_first_name(words: list[str]) -> list[str]:
    """Return the first word, together with the hybrid sign before it."""
    return words[: 2 if words[:1] == ["x"] else 1]


def _skip_first_name(words: list[str]) -> list[str]:
    return words[len(_take_first_name(words)) :]


def parse_date(text: str) -> str:
    """Convert a date to ISO 8601, as precise as it is given; the time of day is dropped.

    Accepts ``dd/mm/yy``, ``dd/mm/yyyy``, ``yyyy/mm/dd``, ``yyyy/mm`` and ``yyyy``, separated by ``/``, ``-`` or ``.``,
    optionally followed by ``hh:mm``. Years of two digits are 1970 to 2069.

    Examples
    --------
    >>> parse_date("06/07/10 14:30"), parse_date("2010/07"), parse_date("2010")
    ('2010-07-06', '2010-07', '2010')
    """
    match = _DATE.fullmatch(text.strip())
    if match is None:
        raise LeafidError(f"expected a date like 06/07/10, 2010/07 or 2010, found {text.strip()!r}")
    year = int(match["y"] or match["yy"])
    if match["yy"] and len(match["yy"]) == 2:
        year += 1900 if year >= 70 else 2000
    month_and_day = [int(part) for part in (match["m"] or match["m2"], match["d"] or match["d2"]) if part]
    try:
        date(year, *month_and_day, *[1] * (2 - len(month_and_day)))
    except ValueError as error:
        raise LeafidError(f"expected a date, found {text.strip()!r}: {error}") from None
    return "-".join([f"{year:04d}", *(f"{part:02d}" for part in month_and_day)])


_DATE = re.compile(
    r"(?:(?P<d>\d{1,2})[/.-](?P<m>\d{1,2})[/.-](?P<yy>\d{4}|\d{2})"
    r"|(?P<y>\d{4})(?:[/.-](?P<m2>\d{1,2})(?:[/.-](?P<d2>\d{1,2}))?)?)"
    r"(?:[ T]\d{1,2}:\d{2}(?::\d{2})?)?",
    re.ASCII,
)


def parse_coordinates(latitude: str, longitude: str) -> tuple[float, float] | None:
    """Parse degrees; None for 0, 0, a point far out at sea that devices and databases write for unknown coordinates.

    Examples
    --------
    >>> parse_coordinates("43.6", "3.9"), parse_coordinates("0", "0.0")
    ((43.6, 3.9), None)
    """
    for word, limit in ((latitude, 90), (longitude, 180)):
        value = parse_finite_number(word)
        if value is None or abs(value) > limit:
            raise LeafidError(f"expected a number from {-limit} to {limit}, found {word!r}")
    found = float(latitude), float(longitude)
    return found if any(found) else None


def parse_content(text: str) -> Content | None:
    """Parse what a picture shows, in the words of any collection; None for other words."""
    word = text.strip().lower()
    synonyms = {"leafage": "foliage", "branch": "foliage", "bark": "stem", "habit": "entire"}
    return next((content for content in Content if content == synonyms.get(word, word)), None)


def natural_sort_key(name: str) -> list[tuple[int, str]]:
    """Return a sort key that places ``9.jpg`` before ``10.jpg``.

    Examples
    --------
    >>> sorted(["10.jpg", "9.jpg", "a.jpg"], key=natural_sort_key)
    ['9.jpg', '10.jpg', 'a.jpg']
    """
    parts = [(int(part), "") if part.isdecimal() else (_AFTER_NUMBERS, part) for part in _DIGITS.split(name) if part]
    # The name itself comes last, so that 01.jpg and 1.jpg have a fixed order.
    return [*parts, (-1, name)]


_DIGITS = re.compile(r"(\d+)", re.ASCII)
_AFTER_NUMBERS = 1 << 62
