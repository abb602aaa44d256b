"""Explains the answer to a picture: the leaf that was found, its traits in words, and what speaks for the species."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np
from msgspec import to_builtins

from leafid.descriptors.landmarks import Landmarks
from leafid.descriptors.registry import LOCAL_DESCRIPTORS
from leafid.descriptors.traits import MIN_CONFIDENCE, measure_reliable_traits
from leafid.features.extractor import segment_as_type
from leafid.features.recipe import LONGEST_SIDE
from leafid.learning.fusion import fuse
from leafid.model.answer import Answer, rank_species
from leafid.model.identifier import Identifier, expert_trust
from leafid.model.model import Model
from leafid.model.reasons import advise_cutting
from leafid.model.species import Species, TraitRange
from leafid.notebook import Shown, plot_outlines
from leafid.pages.trait_statements import TRAITS, Statement, state_traits
from leafid.pages.trait_words import describe, list_drawings
from leafid.parallel.mapping import using_one_thread
from leafid.pictures.decoding import encode_jpeg
from leafid.pictures.names import describe_common_names
from leafid.segmentation.outlines import Point, Ring, sketch_outlines
from leafid.segmentation.result import Image, Segmentation, shrink
from leafid.translation import translate

#: Number of species that are shown, and of those with pictures, and of pictures of each.
SPECIES_SHOWN, PICTURED_SPECIES, PICTURES_SHOWN = 5, 3, 3
# Number of species that an expert names, of differences that are listed, and of pictures that a range must stand for.
_NAMED, _DIFFERENCES_SHOWN, _MIN_PICTURES = 3, 6, 3
# Distance between the medians of two species, in half widths of their ranges, above which they differ; and smallest
# probability of a second name that a leaf is compared with.
_APART, _CLOSE = 0.5, 0.02
# Traits that are measured from the tip or the base.
_TRAITS_OF_ENDS = {"widest", "apex_angle", "base_angle", "base_extension", "petiole"}
#: What the views of local descriptors show.
VIEWS = {
    "leaf": "the cut-out leaf",
    "upright": "the upright leaf",
    "picture": "the whole picture",
}

#: Longest side that pictures to explain are read with: in one of them, a leaf may be small.
READ_SIDE = 4 * LONGEST_SIDE


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """An answer to look at."""

    answer: Answer
    #: The picture as JPEG, `width` × `height` pixels.
    image: bytes = field(repr=False)
    width: int
    height: int
    #: From 0 to 1, as of `leafid.segmentation.result.Segmentation`: how sure the outline is.
    outline_confidence: float
    #: `outlines`, `petioles`: lines around the parts of the blade, and around the petiole, in pixels of `image`.
    outlines: list[Ring]
    petioles: list[Ring]
    #: `tip`, `base`: None where they can't be told.
    tip: Point | None
    base: Point | None
    #: What is said of the traits that are measured well enough.
    statements: list[Statement]
    #: What each expert says, the most influential first: `name`, `description` of what it looks at, `share` of the
    #: answer (weight times trust times the spread of its scores; all sum to 1), and its first three as `ranking`.
    opinions: list[dict[str, Any]]
    #: The most probable species, with training pictures in the model, the most similar first: `name`, `vernacular`,
    #: `probability`, `thumbnails`.
    species: list[dict[str, Any]]
    #: The first species and its look-alike, if it has one; and `compare_species` of both.
    compared: Sequence[str]
    differences: list[dict[str, Any]]
    #: What is missing, and why; "" where nothing is.
    note: str

    def __repr__(self) -> str:
        return f"<Explanation of {self.answer!r}>"

    @property
    def traits(self) -> Mapping[str, str]:
        """The statements in botanical words with their numbers, such as "apex acute, acuminate, 62°", by trait."""
        return describe(self.statements, "botanical")

    @property
    def plain_traits(self) -> Mapping[str, str]:
        """The same in words that a pupil knows, such as "drawn out into a thin tip"."""
        return describe(self.statements, "plain")

    @property
    def advises_cutting(self) -> bool:
        """Whether the verdict advises to cut the leaf out of the picture."""
        return advise_cutting(self.answer.doubts)

    @property
    def drawings(self) -> set[str]:
        """The names of the drawings that explain the botanical words."""
        return list_drawings(self.statements)

    def plot(self, ax: Any = None) -> Any:
        """Draw the picture with its outlines on axes of Matplotlib, by default the current ones, and return these."""
        image = cv2.imdecode(np.frombuffer(self.image, np.uint8), cv2.IMREAD_COLOR_RGB)
        axes = plot_outlines(
            image, {"red": self.outlines, "magenta": self.petioles}, ax
        )
        axes.set_title(self.answer.verdict_text, wrap=True)
        return axes

    def to_dict(self) -> dict[str, Any]:
        """Make the record of the explanation, which JSON can hold: all but its pictures."""
        record = {
            name: value
            for name, value in vars(self).items()
            if name not in {"answer", "image"}
        }
        shown = [
            {name: species[name] for name in species if name != "thumbnails"}
            for species in self.species
        ]
        words = {
            "species": shown,
            "statements": [statement._asdict() for statement in self.statements],
            "traits": self.traits,
            "plain_traits": self.plain_traits,
        }
        return {"answer": self.answer.to_dict(), **to_builtins(record | words)}


@using_one_thread()
def explain(
    model: Model, image: Image, answer: Answer, ends: Sequence[float] = ()
) -> Explanation:
    """Explain the answer to a picture that could be read, uint8 (H, W, 3) as `leafid.read_image` returns it.

    `ends` are columns and rows of a tip and a base that a person chose, as shares of the picture's sides.
    """
    if answer.type is None:
        raise ValueError(
            f"expected the answer to a picture that could be read, found: {answer.problem}"
        )
    shown = shrink(image, LONGEST_SIDE)
    is_leaf = answer.verdict != "no-leaf" or bool(ends)
    leaf = segment_as_type(shown, answer.type)
    values: dict[str, float] = {}
    landmarks: Landmarks | None = None
    note = ""
    # A photo's outline is seldom exact, and often that of several leaves.
    if is_leaf and not answer.type.lies_on_sheet:
        note = translate(
            "Traits are measured only in pictures of a leaf on a plain sheet."
        )
    elif is_leaf and leaf.may_be_several:
        note = translate(
            "Perhaps these are several leaves that touch: traits are left out."
        )
    elif is_leaf:
        chosen = np.reshape(ends, (2, 2))[:, ::-1] * leaf.mask.shape if ends else None
        values, landmarks = measure_reliable_traits(leaf, chosen)
        if not ends and shown.shape != image.shape and leaf.mask.any():
            # In a large picture, the margin of a small leaf is lost by shrinking.
            closer = measure_reliable_traits(
                segment_as_type(_look_closer(image, leaf), answer.type)
            )[0]
            values = closer or values
        if landmarks and not landmarks.has_base:
            landmarks = None
        named = (
            model.species[answer.name].traits
            if answer.name and answer.verdict == "species"
            else {}
        )
        if (
            "compound" in named
            and values.get("compound", named["compound"].median)
            != named["compound"].median
        ):
            # Leaflets that overlap were taken for lobes, or lobes for leaflets.
            values = {name: values[name] for name in ("petiole",) if name in values}
            note = translate(
                "Traits of the blade are left out: its outline doesn't fit leaves of {name}.",
                name=answer.name,
            )
        elif not values and leaf.outline_confidence < MIN_CONFIDENCE:
            note = translate(
                "Traits are left out: the leaf may be cut out wrongly, as where it has a shadow or a pale margin."
            )
        elif landmarks is None and "petiole" not in values:
            note = translate(
                "No petiole was found: tip and base can't be told apart, and what depends on them is left out."
            )
    names = [
        name
        for name, _ in answer.ranking[:SPECIES_SHOWN]
        if answer.has_leaf and answer.verdict != "unclear"
    ]
    compared = (
        [names[0], *choose_rival(answer, model.species)] if len(names) > 1 else []
    )
    # What is measured from a tip that may be the base is no evidence.
    unsure = set() if landmarks else _TRAITS_OF_ENDS
    evidence = {name: values[name] for name in values.keys() - unsure}
    return Explanation(
        answer=answer,
        image=encode_jpeg(shown),
        width=shown.shape[1],
        height=shown.shape[0],
        outline_confidence=leaf.outline_confidence,
        outlines=sketch_outlines(leaf.blade) if is_leaf else [],
        petioles=sketch_outlines(leaf.petiole) if landmarks else [],
        tip=(landmarks.tip[::-1] + 0.5).tolist() if landmarks else None,
        base=(landmarks.base[::-1] + 0.5).tolist() if landmarks else None,
        statements=state_traits(values),
        opinions=_collect_opinions(model[answer.type].identifier, shown)
        if is_leaf
        else [],
        species=[
            _show_species(model, answer, values, rank) for rank in range(len(names))
        ],
        compared=compared,
        differences=compare_species(model.species, compared, evidence),
        note=note,
    )


def _look_closer(image: Image, leaf: Segmentation) -> Image:
    """Cut the leaf that was found in a shrunk picture out of the whole one, with a fifth of its length around it."""
    row0, row1, col0, col1 = leaf.box
    margin = max(row1 - row0, col1 - col0) / 5
    box = (
        np.array([[row0 - margin, row1 + margin], [col0 - margin, col1 + margin]])
        * image.shape[0]
    )
    rows, cols = (
        slice(*side)
        for side in np.maximum(box / leaf.mask.shape[0], 0).astype(int).tolist()
    )
    return shrink(np.ascontiguousarray(image[rows, cols]), LONGEST_SIDE)


def _show_species(
    model: Model, answer: Answer, values: Mapping[str, float], rank: int
) -> dict[str, Any]:
    name, p = answer.ranking[rank]
    species = model.species[name]
    n_pictures = (
        PICTURES_SHOWN if rank < PICTURED_SPECIES and answer.verdict != "no-leaf" else 0
    )
    # Those of the same type first, then those whose traits are nearest to the leaf's.
    thumbnails = sorted(
        species.thumbnails,
        key=lambda shown: (
            shown.type != answer.type,
            _measure_distance(shown.traits, values),
        ),
    )
    return {
        "name": name,
        "vernacular": describe_common_names(name, species.vernacular_names[:1]),
        "probability": answer.calibrate(p),
        "thumbnails": thumbnails[:n_pictures],
    }


def _measure_distance(
    traits: Mapping[str, float], values: Mapping[str, float]
) -> float:
    """Measure how much traits differ, on average, in the smallest differences worth mentioning."""
    shared = TRAITS.keys() & values.keys() & traits.keys()
    gaps = [
        abs(values[name] - traits[name]) * TRAITS[name].scale / TRAITS[name].noticeable
        for name in shared
    ]
    return float(np.mean(gaps)) if gaps else np.inf


def choose_rival(answer: Answer, species: Mapping[str, Species]) -> list[str]:
    """Choose the second name to compare the first one with, unless it is as good as excluded.

    It is then the species that held-out pictures of the first one were most often taken for, if there is one.
    """
    (first, _), (second, probability) = answer.ranking[:2]
    if answer.calibrate(probability) >= _CLOSE:
        return [second]
    record = species[first].types.get(answer.type) if answer.type else None
    confused = record.held_out.confused_with if record and record.held_out else {}
    return [name for name in confused if name in species][:1]


def compare_species(
    records: Mapping[str, Species], names: Sequence[str], values: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Compare a leaf's traits with the ranges of two species; list those in which the species differ, clearest first.

    Each has `title` and `unit` of `leafid.pages.trait_statements.TRAITS`, `value`, `ranges` of both species, and what
    the value speaks for as `favours`: a species if it lies in its range and not near that of the other, "against both"
    if it lies near none, or else "neither". Where nothing is clear, the clearest traits are listed; for fewer `names`,
    nothing.
    """
    differences = []
    for trait, (title, unit, noticeable, scale) in TRAITS.items():
        ranges = [
            records[name].traits[trait]
            for name in names
            if trait in records[name].traits
        ]
        if (
            trait not in values
            or len(ranges) < 2
            or min(r.n_pictures for r in ranges) < _MIN_PICTURES
        ):
            continue
        first, second = (
            TraitRange(scale * r.low, scale * r.median, scale * r.high, r.n_pictures)
            for r in ranges
        )
        distance = abs(first.median - second.median)
        separation = distance / sum(
            max((r.high - r.low) / 2, noticeable / 2) for r in (first, second)
        )
        value = scale * values[trait]
        # What can't be told from an end of a range is near it.
        near = [
            r.low - noticeable / 2 <= value <= r.high + noticeable / 2
            for r in (first, second)
        ]
        inside = [r.low <= value <= r.high for r in (first, second)]
        favours = "neither" if any(near) else "against both"
        if sum(near) == 1 and inside == near:
            favours = names[inside.index(True)]
        difference = {
            "title": title,
            "unit": unit,
            "value": value,
            "ranges": (first, second),
            "favours": favours,
        }
        is_clear = favours != "neither" or (
            distance >= noticeable and separation >= _APART
        )
        differences.append((is_clear, separation, difference))
    ordered = sorted(differences, key=lambda row: row[:2], reverse=True)
    n_clear = sum(is_clear for is_clear, _, _ in ordered)
    return [
        difference
        for _, _, difference in ordered[: min(n_clear, _DIFFERENCES_SHOWN) or _NAMED]
    ]


def _collect_opinions(identifier: Identifier, image: Image) -> list[dict[str, Any]]:
    """Collect what each expert says about a picture of the identifier's type, the most influential expert first."""
    extractor = identifier.extractor
    features = [
        extractor.extract(shrink(image, extractor.longest_side), identifier.type)
    ]
    trusts = expert_trust(identifier.recipe, np.array([features[0].confidence]))
    experts = zip(
        identifier.recipe.experts.items(),
        identifier.score(features),
        trusts,
        identifier.weights,
        strict=True,
    )
    opinions: list[dict[str, Any]] = []
    for (name, expert), scores, trust, weight in experts:
        influence = float(weight * trust[0] * scores[np.isfinite(scores)].std())
        alone = fuse([scores], [trust], np.array([weight]))[0]
        ranking = rank_species(alone, identifier.species)[:_NAMED] if influence else []
        if expert.is_local:
            description = translate(
                "{features} of {view}",
                features=translate(LOCAL_DESCRIPTORS[expert.descriptor].summary),
                view=translate(VIEWS[expert.view]),
            )
        else:
            families = [translate(name.replace("_", " ")) for name in expert.families]
            description = translate(
                "measures of the leaf: {families}", families=", ".join(families)
            )
        opinions.append(
            {
                "name": name,
                "description": description,
                "share": influence,
                "ranking": ranking,
            }
        )
    total = sum(opinion["share"] for opinion in opinions) or 1.0
    for opinion in opinions:
        opinion["share"] /= total
    return sorted(opinions, key=lambda opinion: -opinion["share"])
