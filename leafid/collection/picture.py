"""What is known of one picture, whatever layout it was read from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from leafid.errors import LeafidError


class AcquisitionType(StrEnum):
    """How a picture was taken; each type has its own recipe and classifier."""

    SCAN = "scan"
    SCAN_LIKE = "scan-like"
    PHOTO = "photo"

    @property
    def imageclef_word(self) -> str:
        """The word of the ImageCLEF 2011 files: ``Scan``, ``pseudoscan``, ``photograph``."""
        return {"scan": "Scan", "scan-like": "pseudoscan", "photo": "photograph"}[self.value]

    @classmethod
    def parse(cls, word: str) -> AcquisitionType:
        """Read any of the words in use, upper or lower case.

        Raises
        ------
        LeafidError
            When the word names no acquisition type.
        """
        try:
            return _TYPE_WORDS[word.strip().lower()]
        except KeyError:
            raise LeafidError(f"expected an acquisition type ({', '.join(_TYPE_WORDS)}), found {word!r}") from None


# The 2013 sheet type joins scans and scan-likes; scan-like is the harder of the two, and its recipe serves both.
_TYPE_WORDS = {
    "scan": AcquisitionType.SCAN,
    "scan-like": AcquisitionType.SCAN_LIKE,
    "pseudoscan": AcquisitionType.SCAN_LIKE,
    "sheetasbackground": AcquisitionType.SCAN_LIKE,
    "photo": AcquisitionType.PHOTO,
    "photograph": AcquisitionType.PHOTO,
    "naturalbackground": AcquisitionType.PHOTO,
}


class Content(StrEnum):
    """What a picture shows."""

    LEAF = "leaf"
    FOLIAGE = "foliage"
    DEAD_LEAF = "dead leaf"
    FLOWER = "flower"
    FRUIT = "fruit"
    STEM = "stem"
    ENTIRE = "entire"


@dataclass(frozen=True, slots=True)
class Taxon:
    """A species and what it belongs to.

    Attributes
    ----------
    species : str
        The species name as a run file writes it: ``Genus species``, no author suffix; a token ``x`` stands before what
        is a hybrid's.
    genus, family, order : str or None
        Without author suffix; None where the collection doesn't say. `genus` is what the species name begins with.
    """

    species: str
    genus: str | None = None
    family: str | None = None
    order: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a picture was taken: degrees (WGS 84, north and east positive), altitude in metres."""

    locality: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    altitude: float | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """One image file with its metadata; a field is None where the collection doesn't say.

    Attributes
    ----------
    file : Path
        The image file.
    type : AcquisitionType or None
    content : Content or None
    taxon : Taxon or None
    plant : str or None
        The individual plant.
    author, organization : str or None
    date : str or None
        ISO 8601, as precise as the source: ``2010-07-06``, ``2010-07``, ``2010``.
    place : Place or None
    vernacular_names : tuple of str
        Common names, in the source's order.
    part : {"train", "val", "test"} or None
        The part of the collection that the picture belongs to.
    """

    file: Path
    type: AcquisitionType | None = None
    content: Content | None = None
    taxon: Taxon | None = None
    plant: str | None = None
    author: str | None = None
    organization: str | None = None
    date: str | None = None
    place: Place | None = None
    vernacular_names: tuple[str, ...] = ()
    part: str | None = None

    @property
    def name(self) -> str:
        """The file name, which is the picture's identifier in a run file."""
        return self.file.name

    @property
    def species(self) -> str | None:
        """The species name, or None."""
        return self.taxon.species if self.taxon else None

    @property
    def group(self) -> str:
        """What must stay together in a split: the plant, or the picture itself where no plant is known."""
        return f"plant {self.plant}" if self.plant is not None else f"picture {self.file}"
