"""What a person is shown about an answer."""

from __future__ import annotations

from dataclasses import dataclass

Point = tuple[float, float]
"""Column and row in `Explanation.image`, in pixels."""


@dataclass(frozen=True)
class Trait:
    """A measured trait of the leaf.

    Attributes
    ----------
    name : str
        A key of `leafid.explanation.words.TRAITS`.
    words : str
        Botanical words with the number: "apex acuminate, 62°".
    value : float
    unit : str
        "" for counts and ratios.
    confidence : float
        That it is measured well, from 0 to 1.
    """

    name: str
    words: str
    value: float
    unit: str
    confidence: float


@dataclass(frozen=True)
class Opinion:
    """What one expert says about the picture.

    Attributes
    ----------
    name : str
        As in the recipe.
    description : str
        What it looks at.
    share : float
        Its share of the answer, 0 to 1: weight times trust times the spread of its scores. All shares sum to 1.
    ranking : tuple of (str, float)
        Its first three species with the probabilities that it gives by itself.
    """

    name: str
    description: str
    share: float
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
    """A trait in which the first two species of an answer differ.

    Attributes
    ----------
    name : str
        A key of `leafid.explanation.words.TRAITS`.
    title, unit : str
    value : float
        Of the picture.
    first, second : Range
    favours : str
        The species that the value speaks for; "" for neither.
    """

    name: str
    title: str
    unit: str
    value: float
    first: Range
    second: Range
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
    """An answer to look at.

    Attributes
    ----------
    picture : str
        The file's name.
    type : str
    image : bytes
        The picture as JPEG, `width` × `height` pixels.
    outlines, petioles : tuple of tuple of Point
        Closed polygons around the parts of the blade, and around the petiole.
    tip, base : Point or None
        None where they can't be told.
    verdict : str
        One or two sentences.
    traits : tuple of Trait
        Only those that are measured well enough.
    opinions : tuple of Opinion
        The most influential expert first.
    species : tuple of ShownSpecies
        The first of the ranking.
    differences : tuple of Difference
        Between the first two species, the clearest first.
    notes : tuple of str
        What is missing, and why.
    """

    picture: str
    type: str
    image: bytes
    width: int
    height: int
    outlines: tuple[tuple[Point, ...], ...]
    petioles: tuple[tuple[Point, ...], ...]
    tip: Point | None
    base: Point | None
    verdict: str
    traits: tuple[Trait, ...]
    opinions: tuple[Opinion, ...]
    species: tuple[ShownSpecies, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]

    @property
    def trait_words(self) -> str:
        """The traits as one sentence."""
        return "; ".join(trait.words for trait in self.traits)
