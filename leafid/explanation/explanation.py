"""What a person is shown about an answer."""

from __future__ import annotations

from dataclasses import dataclass

Point = tuple[float, float]
"""Column and row in `Explanation.image`, in pixels."""


@dataclass(frozen=True)
class Trait:
    """A measured trait of the leaf."""

    #: A key of `leafid.explanation.words.TRAITS`.
    name: str
    #: Botanical words with the number: "apex acuminate, 62°".
    words: str
    value: float
    #: "" for counts and ratios.
    unit: str
    #: That it is measured well, from 0 to 1.
    confidence: float


@dataclass(frozen=True)
class Opinion:
    """What one expert says about the picture."""

    #: As in the recipe.
    name: str
    #: What it looks at.
    description: str
    #: Its share of the answer, 0 to 1: weight times trust times the spread of its scores. All shares sum to 1.
    share: float
    #: Tuple of (str, float): its first three species with the probabilities that it gives by itself.
    ranking: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Range:
    """A trait in the training pictures of a species: 10 %, 50 % and 90 % quantile, and the number of pictures."""

    low: float
    median: float
    high: float
    n_pictures: int


@dataclass(frozen=True)
class Difference:
    """A trait in which the first two species of an answer differ."""

    #: A key of `leafid.explanation.words.TRAITS`.
    name: str
    title: str
    unit: str
    #: Of the picture.
    value: float
    first: Range
    second: Range
    #: The species that the value speaks for; "" for neither.
    favours: str


@dataclass(frozen=True)
class ShownThumbnail:
    """A training picture in the model: `image` is a JPEG."""

    image: bytes
    name: str
    type: str
    author: str
    licence: str


@dataclass(frozen=True)
class ShownSpecies:
    """A species of the ranking, with its most similar training pictures in the model first."""

    name: str
    vernacular: str
    family: str
    probability: float
    thumbnails: tuple[ShownThumbnail, ...]


@dataclass(frozen=True)
class Explanation:
    """An answer to look at."""

    #: The file's name.
    picture: str
    type: str
    #: The picture as JPEG, `width` × `height` pixels.
    image: bytes
    width: int
    height: int
    #: `outlines`, `petioles`: closed polygons around the parts of the blade, and around the petiole.
    outlines: tuple[tuple[Point, ...], ...]
    petioles: tuple[tuple[Point, ...], ...]
    #: `tip`, `base`: none where they can't be told.
    tip: Point | None
    base: Point | None
    #: One or two sentences.
    verdict: str
    #: Only those that are measured well enough.
    traits: tuple[Trait, ...]
    #: The most influential expert first.
    opinions: tuple[Opinion, ...]
    #: The first of the ranking.
    species: tuple[ShownSpecies, ...]
    #: Between the first two species, the clearest first.
    differences: tuple[Difference, ...]
    #: What is missing, and why.
    notes: tuple[str, ...]

    @property
    def trait_words(self) -> str:
        """The traits as one sentence."""
        return "; ".join(trait.words for trait in self.traits)
