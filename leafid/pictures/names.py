"""Parses species names, dates and coordinates, which collections write differently."""

import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path

from leafid.errors import LeafidError
from leafid.pictures.picture import Taxon
from leafid.textfiles import parse_finite_number, read_records, read_word_lists
from leafid.translation import translate

#: The species of pictures that show none of the species that a system can know,
#: whatever they show.
UNKNOWN_SPECIES = "Unknown species"

_HYBRID_SIGNS = {"x", "×", "X"}
# A cultivar in quotes, an author's son, what is in parentheses, or any other word of a
# name.
_WORD = re.compile(
    r"""['"‘“][^'"’”]+['"’”]|\S+\. f\.(?=\W*$| [&A-Z])|\([^)]*\)\S*|\S+"""
)
# A date of a camera (EXIF), and the compact form of ISO 8601.
_CAMERA_DATE = re.compile(r"(\d{4})(:?)(\d\d)\2(\d\d)", re.ASCII)
# How dates are written, and the length of each in ISO 8601.
_DATES = {
    "%d-%m-%y": 10,
    "%d-%m-%Y": 10,
    "%Y-%m-%d": 10,
    "%Y-%m": 7,
    "%Y": 4,
}
_RANKS = {"subsp", "ssp", "var", "f", "fo", "cv"}
# What stands among authors. Windows cuts off the point of "L." at the end of a name.
_AUTHOR_WORDS = {"L", "&", "ex", "et", "auct.", "de", "von"}
_LOWER_RANKS = re.compile(
    rf"""( ({"|".join(_RANKS)})\.? [\w'-]+| ['"‘“].+?['"’”]| [A-Z]\S*)*""",
)


def normalise_name(text: str) -> str:
    """Write a name in Unicode form NFC, with single blanks between its words.

    File systems and editors differ in whether an accent is a part of its letter or a
    separate character.
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


def parse_species_name(text: str) -> str:
    """Write a name as ``Genus species`` and what follows; underscores count as blanks.

    A hybrid's epithet or genus has a separate ``x`` before it. The genus is
    capitalised, and the epithet in small letters; letters with accents are single
    characters (Unicode form NFC). Without an epithet, or with invisible characters, a
    `LeafidError` is raised.

    Examples
    --------
    >>> parse_species_name("quercus_coccifera L.")
    'Quercus coccifera L.'
    >>> parse_species_name("Platanus ×hispanica")
    'Platanus x hispanica'
    """
    genus, epithet, further = _split_name(text)
    words = [
        word if word == "x" else word.capitalize() for word in genus.split()
    ] + epithet.lower().split()
    if sum(word != "x" for word in words) < 2:
        raise LeafidError(
            f"expected a species name of two or three words, found {text.strip()!r}"
        )
    return check_printable(" ".join([*words, *further]))


def parse_label(text: str) -> Taxon:
    """Make the taxon of a label, which is its whole name.

    Runs of blanks become one blank. A species or lower taxon, of a known genus or with
    a capital and a small initial, is written as `parse_species_name` writes it. It gets
    a genus, and a family where the genus is a common one. Any other label, such as one
    with a third word in small letters that is not of a lower rank, is a plain class. A
    `LeafidError` is raised if a run file can't hold the label.

    Examples
    --------
    >>> taxon = parse_label("acer_campestre")
    >>> taxon.species, taxon.genus, taxon.family
    ('Acer campestre', 'Acer', 'Sapindaceae')
    >>> parse_label("001.Acer").species, parse_label("Apple___Black_rot").genus
    ('001.Acer', None)
    >>> parse_label("Tomato leaf mold").species
    'Tomato leaf mold'
    """
    genus, epithet, _ = _split_name(text)
    lower_ranks = drop_authors(text).removeprefix(f"{genus} {epithet}")
    genus = genus.removeprefix("x ")
    epithet = epithet.removeprefix("x ")
    family = read_families().get(genus.capitalize())
    is_binomial = genus[:1].isupper() and genus[1:].islower() and epithet.islower()
    is_worded = (
        genus.isalpha()
        and epithet.replace("-", "").isalpha()
        and len(epithet) > 1
        and not re.search(r"\d", text)
        and _LOWER_RANKS.fullmatch(lower_ranks)
    )
    full_name = check_printable(normalise_name(text))
    if is_worded and (is_binomial or family):
        name = parse_species_name(text)
        return Taxon(name, parse_genus(name), family, full_name=full_name)
    if not full_name or full_name.endswith("*"):
        raise LeafidError(
            "expected a label, not ending in '*', which stands for higher taxa, found "
            f"{text!r}"
        )
    return Taxon(full_name, full_name=full_name)


def drop_authors(name: str) -> str:
    """Leave out the authors of a name.

    Underscores become blanks, and the sign of a hybrid a separate ``x``.

    Examples
    --------
    >>> drop_authors("Quercus_robur L. subsp. pedunculiflora (K.Koch) Menitsky")
    'Quercus robur subsp. pedunculiflora'
    >>> drop_authors("Tilia cordata M")
    'Tilia cordata M'
    >>> drop_authors("Acer platanoides (Crimson King)")
    'Acer platanoides (Crimson King)'
    """
    genus, epithet, further = _split_name(name)
    words = [genus, epithet]
    for word, before in zip(further, ["", *further], strict=False):
        is_name = word.lstrip("(")[:1].isupper()
        # What is in capitals is rather the number or letter of a class.
        is_author = is_name and (not word.isupper() or "." in word)
        is_of_rank = before.rstrip(".") in _RANKS
        # Authors in parentheses stand before another one.
        is_note = word.startswith("(") and word is further[-1]
        if is_of_rank or is_note or not (is_author or word in _AUTHOR_WORDS):
            words.append(word)
    return " ".join(words).rstrip()


@cache
def read_families() -> dict[str, str]:
    """Read the family of each common genus of trees."""
    families = read_word_lists(Path(__file__).with_name("families.txt")).items()
    return {genus: family for family, genera in families for genus in genera}


@cache
def read_common_names() -> dict[str, dict[str, str]]:
    """Read the common names of species by language, and the accepted scientific names.

    `forms` says where leaves of a species differ. What is not known is "".
    """
    rows = read_records(Path(__file__).with_name("common_names.csv"))
    return {row["species"]: row for row in rows}


def find_accepted_name(species: str) -> str | None:
    """Find the accepted name of a species.

    None where the name of the species is that, as far as is known.
    """
    return read_common_names().get(species, {}).get("accepted") or None


def describe_common_names(species: str, names: Sequence[str]) -> str:
    """List the common names of a species, and the accepted name of an outdated one.

    Examples
    --------
    >>> describe_common_names("Sophora japonica", ["Pagoda Tree"])
    'Pagoda Tree (now Styphnolobium japonicum)'
    """
    text = ", ".join(names)
    accepted = find_accepted_name(species)
    if not accepted:
        return text
    return translate("{names} (now {accepted})", names=text, accepted=accepted).lstrip()


def check_printable(name: str) -> str:
    """Return the name of a taxon.

    Refuse control and direction characters, which no run file may hold.
    """
    if not name.isprintable():
        raise LeafidError(
            f"expected a name without invisible characters, found {name!r}"
        )
    return name


@lru_cache(maxsize=1 << 10)
def parse_genus(text: str) -> str:
    """Return the genus at the start of a name, with the hybrid sign before it."""
    return _split_name(text)[0]


def separate_words(name: str) -> str:
    """Write a name with blanks for underscores, and ``x`` as a separate hybrid sign."""
    return " ".join(_split_words(name))


def _split_words(text: str) -> list[str]:
    text = normalise_name(text.replace("_", " ").replace("×", " × "))
    return ["x" if word in _HYBRID_SIGNS else word for word in _WORD.findall(text)]


def _split_name(text: str) -> tuple[str, str, list[str]]:
    """Split a name into genus, epithet, each with its hybrid sign, and other words."""
    words = _split_words(text)
    n_genus = 1 + (words[:1] == ["x"])
    n_both = n_genus + 1 + (words[n_genus : n_genus + 1] == ["x"])
    return " ".join(words[:n_genus]), " ".join(words[n_genus:n_both]), words[n_both:]


def parse_date(text: str) -> str:
    """Convert a date to ISO 8601, as precise as it is given.

    The time of day is dropped. Accepts ``dd/mm/yy``, ``dd/mm/yyyy``, ``yyyy/mm/dd``,
    ``yyyy/mm`` and ``yyyy``, separated by ``/``, ``-`` or ``.``, ``yyyy:mm:dd`` and
    ``yyyymmdd``, optionally followed by a time of day. Years of two digits are 1969 to
    2068.

    Examples
    --------
    >>> parse_date("06/07/10 14:30"), parse_date("2010/07"), parse_date("2010")
    ('2010-07-06', '2010-07', '2010')
    """
    day = re.split("[ T]", text.strip(), maxsplit=1)[0]
    if camera_date := _CAMERA_DATE.fullmatch(day):
        day = "-".join(camera_date.group(1, 3, 4))
    for pattern, length in _DATES.items():
        with suppress(ValueError):
            parsed = datetime.strptime(re.sub("[/.]", "-", day), pattern)
            return parsed.date().isoformat()[:length]
    raise LeafidError(
        "expected a date like 2010-07-06, 06/07/10 (day first) or 2010, found "
        f"{text.strip()!r}"
    )


def parse_coordinates(latitude: str, longitude: str) -> tuple[float, float] | None:
    """Parse degrees.

    Returns None for 0, 0, a point far out at sea: devices and databases write it for
    unknown coordinates.
    """
    degrees = []
    for noun, word, limit in (
        ("latitude", latitude, 90),
        ("longitude", longitude, 180),
    ):
        value = parse_finite_number(word.replace(",", "."))
        if value is None or abs(value) > limit:
            raise LeafidError(
                f"expected a {noun} from {-limit} to {limit}, found {word!r}"
            )
        degrees.append(value)
    if not any(degrees):
        return None
    return degrees[0], degrees[1]


def natural_sort_key(name: str) -> tuple[list[str | int], str]:
    """Return a sort key: ``9.jpg`` before ``10.jpg``, and numbers before other text."""
    parts: list[str | int] = [*re.split("([0-9]+)", name)]
    parts[1::2] = map(int, parts[1::2])
    # The name itself comes last, so that 01.jpg and 1.jpg have a fixed order.
    return parts, name
