"""What a person is shown about an answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from leafid.model.species import Thumbnail, TraitRange

#: Column and row in `Explanation.image`, in pixels.
Point = tuple[float, float]
Polygon = tuple[Point, ...]


@dataclass(frozen=True)
class Opinion:
    """What one expert says about the picture."""

    #: As in the recipe.
    name: str
    #: What it looks at.
    description: str
    #: Its share of the answer, 0 to 1: weight times trust times the spread of its scores. All shares sum to 1.
    share: float
    #: Its first three species with the probabilities that it gives by itself.
    ranking: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Difference:
    """A trait in which the first two species of an answer differ."""

    #: `title`, `unit`: as in `leafid.explanation.words.TRAITS`.
    title: str
    unit: str
    #: Of the picture.
    value: float
    first: TraitRange
    second: TraitRange
    #: The species that the value speaks for; "" for neither.
    favours: str


@dataclass(frozen=True)
class ShownSpecies:
    """A species of the ranking, with its training pictures in the model, the most similar first."""

    name: str
    vernacular: str
    probability: float
    thumbnails: tuple[Thumbnail, ...]


@dataclass(frozen=True)
class Explanation:
    """An answer to look at."""

    #: The file's name.
    picture: str
    #: The acquisition type.
    type: str
    #: The picture as JPEG, `width` × `height` pixels.
    image: bytes = field(repr=False)
    width: int
    height: int
    #: Around the parts of the blade, and around the petiole.
    outlines: tuple[Polygon, ...]
    petioles: tuple[Polygon, ...]
    #: None where they can't be told.
    tip: Point | None
    base: Point | None
    #: `Answer.verdict_text`, `Answer.evidence`, `Answer.condition`.
    verdict: str
    evidence: str
    condition: str
    #: Botanical words with the number, such as "apex acute, acuminate, 62°", of those that are measured well enough.
    traits: Mapping[str, str]
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
        return "; ".join(self.traits.values())
