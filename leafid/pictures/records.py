"""Records of a picture's metadata: words by field, from a table row or an XML file."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from leafid.errors import LeafidError, naming_place
from leafid.pictures import names
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.readers import folders
from leafid.textfiles import read_word_lists

#: The fields, each with synonyms, as in Darwin Core and ImageCLEF, in small letters
#: without blanks and signs. `leafid.pictures.splitting.fold_files` reads the folds of
#: pictures.
FIELDS = read_word_lists(Path(__file__).with_name("fields.txt"))


def find_fields(
    heading: Sequence[str], known: Mapping[str, Sequence[str]] = FIELDS
) -> list[str | None]:
    """Find the field of each column.

    Of two columns for a field, the column with the earlier word in `known` counts.
    """
    words = [re.sub(r"[\W_]", "", cell).lower() for cell in heading]
    field_of: dict[int, str] = {}
    for field, others in known.items():
        if present := [word for word in (field, *others) if word in words]:
            field_of[words.index(present[0])] = field
    return [field_of.get(column) for column in range(len(words))]


def _parse_split(word: str) -> str:
    if part := folders.parse_part(word):
        return part
    raise LeafidError(f"expected train, val or test, found {word!r}")


# The attribute of a picture for a field, and the function that parses it.
_ATTRIBUTES: dict[str, tuple[str, Callable[[str], object]]] = {
    "label": ("taxon", names.parse_label),
    "plant": ("plant", str),
    "type": ("type", AcquisitionType.parse),
    "author": ("author", str),
    "collection": ("collection", str),
    "date": ("date", names.parse_date),
    "split": ("part", _parse_split),
}


# Words of programs for an empty cell, in small letters.
_EMPTY_WORDS = read_word_lists(Path(__file__).with_name("words.txt"))["empty"]
# What only sessions and places need: where it can't be parsed, it is unknown.
_PARSERS: dict[str, Callable[[str], object]] = {
    "date": names.parse_date,
    "latitude": partial(names.parse_coordinates, longitude="0"),
    "longitude": partial(names.parse_coordinates, "0"),
}


def apply_record(picture: Picture, record: Mapping[str, str]) -> Picture:
    """Add the fields of a record to a picture.

    A `LeafidError` is raised if a value is wrong.
    """
    changes: dict[str, Any] = {}
    for field, word in record.items():
        with naming_place(field):
            if field in _ATTRIBUTES:
                attribute, parse = _ATTRIBUTES[field]
                changes[attribute] = parse(word)
            elif field == "longitude" and "latitude" in record:
                latitude = record["latitude"]
                changes["coordinates"] = names.parse_coordinates(latitude, word)
    return replace(picture, **changes)


def drop_unreadable(record: dict[str, str]) -> dict[str, str]:
    """Remove words for nothing, and dates and coordinates that can't be read.

    Return these words, or the errors, by field.
    """
    errors: dict[str, str] = {}
    for field, word in [*record.items()]:
        try:
            if word.lower() in _EMPTY_WORDS:
                raise LeafidError(repr(word))
            _PARSERS.get(field, str)(word)
        except LeafidError as error:
            del record[field]
            errors[field] = str(error)
    return errors
