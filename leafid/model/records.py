"""What a model keeps of each species beside its classifiers: counts, held-out answers, traits, and thumbnails."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from leafid.descriptors.traits import TRAIT_NAMES
from leafid.errors import LeafidError
from leafid.pictures.header import read_header
from leafid.pictures.picture import AcquisitionType

#: Longest side of a thumbnail in pixels, its maximum size in bytes, and that of all thumbnails of a model.
THUMBNAIL_SIDE = 160
MAX_THUMBNAIL_BYTES = 2**15
MAX_TOTAL_BYTES = 2**28
_MAX_WORDS = 300


@dataclass(frozen=True)
class HeldOutRecord:
    """How pictures of a species were answered by classifiers that were not trained on their plants."""

    n_pictures: int
    #: Pictures with the species first, and among the first five.
    n_first: int
    n_five: int
    #: The species that were answered instead, most frequent first, with the number of pictures.
    taken_for: Mapping[str, int]


@dataclass(frozen=True)
class TypeRecord:
    """The training pictures of a species and type; `held_out` is None where no other plant of the species is known."""

    n_pictures: int
    n_plants: int
    held_out: HeldOutRecord | None = None


@dataclass(frozen=True)
class TraitRange:
    """A trait in the training pictures of a species: 10 %, 50 % and 90 % quantile; each plant counts once."""

    low: float
    median: float
    high: float
    n_pictures: int


@dataclass(frozen=True)
class Thumbnail:
    """A small training picture, with its attribution and its traits."""

    #: JPEG, at most `THUMBNAIL_SIDE` pixels a side.
    image: bytes = field(repr=False)
    type: AcquisitionType
    name: str
    author: str = ""
    licence: str = ""
    traits: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SpeciesRecord:
    """All of this for a species."""

    n_plants: int = 0
    types: Mapping[AcquisitionType, TypeRecord] = field(default_factory=dict)
    traits: Mapping[str, TraitRange] = field(default_factory=dict)
    thumbnails: Sequence[Thumbnail] = ()


def dump_records(records: Mapping[str, SpeciesRecord]) -> tuple[dict[str, Any], bytes]:
    """Turn records into JSON values and the bytes of all thumbnails, one after the other."""
    images = [thumbnail.image for record in records.values() for thumbnail in record.thumbnails]
    return {name: _dump_record(record) for name, record in records.items()}, b"".join(images)


def _dump_record(record: SpeciesRecord) -> dict[str, Any]:
    return {
        "n_plants": record.n_plants,
        "types": {str(type_): asdict(own) for type_, own in record.types.items()},
        "traits": {name: asdict(own) for name, own in record.traits.items()},
        "thumbnails": [
            {
                "bytes": len(own.image),
                "type": str(own.type),
                "name": own.name,
                "author": own.author,
                "licence": own.licence,
                "traits": dict(own.traits),
            }
            for own in record.thumbnails
        ],
    }


def count_thumbnail_bytes(entries: Mapping[str, Any]) -> int:
    """Count the bytes of all thumbnails in the JSON values of records."""
    sizes = [int(own["bytes"]) for entry in entries.values() for own in entry["thumbnails"]]
    if any(not 0 < size <= MAX_THUMBNAIL_BYTES for size in sizes) or sum(sizes) > MAX_TOTAL_BYTES:
        raise ValueError(f"expected thumbnails of at most {MAX_THUMBNAIL_BYTES} bytes, found {max(sizes)} bytes")
    return sum(sizes)


def parse_records(entries: Mapping[str, Any], images: bytes) -> dict[str, SpeciesRecord]:
    """Parse what `dump_records` made; raise `ValueError`, `TypeError` or `KeyError` for anything else."""
    records, start = {}, 0
    for name, entry in entries.items():
        thumbnails = []
        for own in entry["thumbnails"]:
            end = start + int(own["bytes"])
            thumbnails.append(_parse_thumbnail(own, images[start:end], name))
            start = end
        traits = {trait: _parse_range(own) for trait, own in entry["traits"].items() if trait in TRAIT_NAMES}
        types = {AcquisitionType(type_): _parse_type_record(own) for type_, own in entry["types"].items()}
        records[_parse_words(name)] = SpeciesRecord(int(entry["n_plants"]), types, traits, tuple(thumbnails))
    return records


def _parse_range(entry: Mapping[str, Any]) -> TraitRange:
    low, median, high = (_parse_number(entry[key]) for key in ("low", "median", "high"))
    return TraitRange(low, median, high, int(entry["n_pictures"]))


def _parse_type_record(entry: Mapping[str, Any]) -> TypeRecord:
    held_out = None if entry["held_out"] is None else _parse_held_out(entry["held_out"])
    return TypeRecord(int(entry["n_pictures"]), int(entry["n_plants"]), held_out)


def _parse_held_out(entry: Mapping[str, Any]) -> HeldOutRecord:
    n_pictures, n_first, n_five = (int(entry[key]) for key in ("n_pictures", "n_first", "n_five"))
    if not 0 <= n_first <= n_five <= n_pictures or not n_pictures:
        raise ValueError(f"expected numbers of held-out pictures, found {entry!r}")
    taken_for = {_parse_words(name): int(number) for name, number in entry["taken_for"].items()}
    return HeldOutRecord(n_pictures, n_first, n_five, taken_for)


def _parse_thumbnail(entry: Mapping[str, Any], image: bytes, species: str) -> Thumbnail:
    try:
        header = read_header(f"thumbnail of {species}", image)
    except LeafidError as error:  # It doesn't name the model's file.
        raise ValueError(str(error)) from error
    if header.kind != "JPEG" or max(header.rows, header.cols) > THUMBNAIL_SIDE:
        raise ValueError(
            f"thumbnail of {species}: expected a JPEG of at most {THUMBNAIL_SIDE} pixels a side, "
            f"found {header.kind}, {header.cols} × {header.rows}"
        )
    name, author, licence = (_parse_words(entry[key]) for key in ("name", "author", "licence"))
    traits = {trait: _parse_number(value) for trait, value in entry["traits"].items() if trait in TRAIT_NAMES}
    return Thumbnail(image, AcquisitionType(entry["type"]), name, author, licence, traits)


def _parse_words(words: object) -> str:
    if not isinstance(words, str) or len(words) > _MAX_WORDS:
        raise ValueError(f"expected a few words, found {words!r:.100}")
    return words


def _parse_number(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"expected a finite number, found {value!r}")
    return number
