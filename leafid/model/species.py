"""What a model knows of each species.

It has names, counts, held-out answers, traits, and the most typical pictures.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

from leafid.grouping import count_noun
from leafid.model.answer import Answer
from leafid.pictures.picture import AcquisitionType, Taxon

#: Longest side of a thumbnail in pixels.
THUMBNAIL_SIDE = 160

_Count = Annotated[int, Meta(ge=0)]


class HeldOutRecord(Struct, frozen=True):
    """How classifiers without its plants answered the pictures of a species."""

    n_pictures: Annotated[int, Meta(ge=1)]
    #: Pictures with the species first, and among the first five.
    n_first: _Count
    n_five: _Count
    #: The species that were answered instead, most frequent first, with the number of
    #: pictures.
    confused_with: dict[str, _Count]


class TypeRecord(Struct, frozen=True):
    """The training pictures of a species and type.

    `held_out` is None where no other plant of the species is known.
    """

    n_pictures: _Count
    n_plants: _Count
    held_out: HeldOutRecord | None = None


class TraitRange(Struct, frozen=True):
    """A trait in the training pictures of a species: 10 %, 50 % and 90 % quantile.

    Each plant counts once.
    """

    low: float
    median: float
    high: float
    n_pictures: _Count


class Thumbnail(Struct, frozen=True):
    """A small training picture, with its attribution and its traits."""

    #: JPEG, at most `THUMBNAIL_SIDE` pixels a side.
    image: bytes
    type: AcquisitionType
    name: str
    author: str = ""
    licence: str = ""
    traits: dict[str, float] = {}


class Species(Struct, frozen=True):
    """What a model knows of a species beside its classifiers."""

    taxon: Taxon
    vernacular_names: tuple[str, ...] = ()
    #: Numbers of training pictures and plants, of all types.
    n_pictures: _Count = 0
    n_plants: _Count = 0
    types: dict[AcquisitionType, TypeRecord] = {}
    traits: dict[str, TraitRange] = {}
    thumbnails: tuple[Thumbnail, ...] = ()

    def __repr__(self) -> str:
        pictures = count_noun(self.n_pictures, "picture")
        plants = count_noun(self.n_plants, "plant")
        return f"<Species {self.taxon.species}: {pictures} of {plants}>"


def find_leaf_kind(answer: Answer, species: Mapping[str, Species]) -> float | None:
    """Find whether the named species has compound leaves (1) or simple ones (0).

    It is what most pictures show; None without a name.
    """
    if not answer.name or answer.verdict != "species":
        return None
    known = species[answer.name].traits.get("compound")
    return known.median if known else None
