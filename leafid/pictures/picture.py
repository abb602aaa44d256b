"""Pictures with their metadata, and collections of them, in any layout."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from leafid.errors import LeafidError
from leafid.grouping import count_noun, group_by
from leafid.notebook import NotebookMixin
from leafid.translation import translate

logger = logging.getLogger(__name__)


class AcquisitionType(StrEnum):
    """How a picture was taken; each type has a recipe and a classifier."""

    SCAN = "scan"
    SCAN_LIKE = "scan-like"
    PHOTO = "photo"

    @property
    def lies_on_sheet(self) -> bool:
        """Whether the leaf lies on a plain sheet.

        In photos it is on the tree, before any background.
        """
        return self is not AcquisitionType.PHOTO

    @classmethod
    def parse(cls, word: str) -> AcquisitionType:
        """Parse the word for a type in any collection, upper or lower case."""
        lowered = str(word).strip().lower()
        try:
            return cls(_SYNONYMS.get(lowered, lowered))
        except ValueError:
            problem = translate(
                "expected an acquisition type ({names}), found {word}",
                names=", ".join([*cls, *_SYNONYMS]),
                word=repr(word),
            )
            raise LeafidError(problem) from None


# SheetAsBackground (2013) covers scans and scan-likes; scan-like is the harder of the
# two, and its recipe suits both.
_SYNONYMS = {
    "pseudoscan": "scan-like",
    "sheetasbackground": "scan-like",
    "photograph": "photo",
    "naturalbackground": "photo",
}


@dataclass(frozen=True, slots=True)
class Taxon:
    """A species and its higher taxa, all without author names.

    A class that is no taxon has no higher taxa.
    """

    #: The name in a run file: ``Genus species``, with a token ``x`` before the hybrid
    #: part of a hybrid's name; or the label of the class.
    species: str
    genus: str | None = None
    family: str | None = None
    order: str | None = None
    #: How the collection identifies the species, and its name for it, with authors;
    #: runs may use either.
    identifier: str | None = None
    full_name: str | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Picture(NotebookMixin):
    """An image file with its metadata.

    Parameters
    ----------
    file : Path
    type : AcquisitionType, optional
    taxon : Taxon, optional
    plant : str, optional
        Identifier of the individual plant.
    author, licence : str, optional
        As in the metadata.
    date : str, optional
        In ISO 8601, as precise as the source: ``2010-07-06``, ``2010-07``, ``2010``.
    coordinates : tuple of two floats, optional
        Latitude and longitude in degrees (WGS 84, north and east positive).
    vernacular_names : tuple of str
        Common names, in the order of the source.
    part : {"train", "val", "test"}, optional
    data : bytes, optional
        The content of a file in memory: `file` is then only a name, and is never
        opened.
    path_name : str, optional
        Path of a picture whose file name another one has, too: run files need unique
        names.
    collection : str, optional
        Which of several collections that were read together it is from. A plant is of
        one collection: another one may have given the same identifier.
    """

    file: Path
    type: AcquisitionType | None = None
    taxon: Taxon | None = None
    plant: str | None = None
    author: str | None = None
    licence: str | None = None
    date: str | None = None
    coordinates: tuple[float, float] | None = None
    vernacular_names: tuple[str, ...] = ()
    part: str | None = None
    data: bytes | None = field(default=None, repr=False)
    path_name: str | None = None
    collection: str | None = None

    @property
    def title(self) -> str:
        """The name for people: the file name, or `path_name`."""
        return self.path_name or self.file.name

    @property
    def name(self) -> str:
        """The `title` as a run file writes it: it identifies the picture there."""
        return to_run_name(self.title)

    @property
    def species(self) -> str | None:
        """The species name, if known."""
        return self.taxon.species if self.taxon else None

    @property
    def group(self) -> str:
        """The plant, which a split keeps together; the picture if it is unknown."""
        if self.plant is None:
            return f"picture {self.file}"
        if self.collection is None:
            return f"plant {self.plant}"
        return f"plant {self.plant} of {self.collection}"

    def require_type(self) -> AcquisitionType:
        """Return the acquisition type.

        Raises
        ------
        LeafidError
            If it is unknown.
        """
        if self.type is None:
            raise LeafidError(
                f"{self.file}: the acquisition type is not known; give it with "
                "--assume-type"
            )
        return self.type

    def make_thumbnail(self, side: int = 160) -> bytes | None:
        """Make a small JPEG.

        Parameters
        ----------
        side : int, default 160
            Maximum number of pixels of its longer side.

        Returns
        -------
        bytes or None
            None for a picture that can't be read.
        """
        # OpenCV takes a while to import.
        from leafid.pictures.decoding import encode_jpeg, read_hashed_image

        try:
            return encode_jpeg(read_hashed_image(self.file, side, self.data)[0])
        except LeafidError:
            return None


def to_run_name(name: str) -> str:
    """Write a picture's name as run files do: NFC, with underscores for blanks."""
    return re.sub(r"\s", "_", unicodedata.normalize("NFC", name))


class Omission(str):
    """A problem because of which pictures were left out."""


class XmlOmission(Omission):
    """An XML file that is left out, so that a ground truth lacks its picture."""


class EmptyClass(str):
    """A label's folder without a picture, unless a table has the labels.

    A model would lack the label.
    """


@dataclass(frozen=True, repr=False)
class Collection(NotebookMixin):
    """Pictures, and the problems of reading them.

    Parameters
    ----------
    root : Path
        The folder or file that was read.
    layout : str
        Name of the layout, as in `leafid.read_collection`.
    pictures : tuple of Picture
        Sorted by part (train, val, test), then by name in natural order. Where a
        collection holds only metadata, the file of a picture may be missing, see
        `find_missing`.
    problems : tuple of str
        A line for each problem; a problem that costs pictures is an `Omission`.
    """

    root: Path
    layout: str
    pictures: tuple[Picture, ...]
    problems: tuple[str, ...] = ()

    def __repr__(self) -> str:
        counts = [f"{len(self.select_type(type_))} {type_}" for type_ in self.types]
        types = ", ".join(counts) or "of unknown types"
        contents = f"{count_noun(len(self), 'picture')} of {len(self.species)} species"
        return f"<Collection {self.root} ({self.layout}), {contents}: {types}>"

    def __len__(self) -> int:
        return len(self.pictures)

    @property
    def species(self) -> tuple[str, ...]:
        """The species names, sorted."""
        return tuple(group_by_species(self.pictures))

    @property
    def types(self) -> tuple[AcquisitionType, ...]:
        """The acquisition types that occur, in the order scan, scan-like, photo."""
        present = {picture.type for picture in self.pictures}
        return tuple(type_ for type_ in AcquisitionType if type_ in present)

    @property
    def is_incomplete(self) -> bool:
        """Whether pictures were left out."""
        return any(isinstance(problem, Omission) for problem in self.problems)

    def select_type(self, type_: AcquisitionType | str | None) -> Collection:
        """Keep the pictures of one acquisition type.

        None selects the pictures of unknown type.
        """
        return self._select(lambda picture: picture.type == type_)

    def part(self, part: str | None) -> Collection:
        """Keep the pictures of one part: ``train``, ``val``, ``test``, or None."""
        return self._select(lambda picture: picture.part == part)

    def select_labelled(self) -> Collection:
        """Keep the pictures of known species."""
        return self._select(lambda picture: picture.species is not None)

    def _select(self, condition: Callable[[Picture], bool]) -> Collection:
        return replace(self, pictures=tuple(filter(condition, self.pictures)))

    def find_missing(self) -> tuple[Picture, ...]:
        """Return the pictures with metadata but no file."""
        return tuple(picture for picture in self.pictures if not picture.file.is_file())


def group_by_species(pictures: Iterable[Picture]) -> dict[str, list[Picture]]:
    """Group labelled pictures by species, sorted by name; others are left out."""
    labelled = (picture for picture in pictures if picture.species is not None)
    return dict(sorted(group_by(labelled, lambda p: str(p.species)).items()))


def group_by_collection(pictures: Iterable[Picture]) -> dict[str, list[Picture]]:
    """Group pictures by their collection, which is "" where there is a single one."""
    return group_by(pictures, lambda picture: picture.collection or "")


def count_plants(pictures: Iterable[Picture]) -> int:
    """Count the plants that pictures show."""
    return len({picture.group for picture in pictures})


def warn_of_lost_species(
    pictures: Iterable[Picture], readable: Iterable[Picture]
) -> None:
    """Warn of species that a model would lack: no picture of them is readable."""
    lost = group_by_species(pictures).keys() - group_by_species(readable).keys()
    if lost:
        logger.warning(
            "no picture could be read of %s; the model doesn't know it",
            ", ".join(sorted(lost)),
        )
