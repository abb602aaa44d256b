"""Explains the answer to a picture.

It shows the outline of the leaf, its traits in words, and what speaks for the species.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, cast

import cv2
import numpy as np
from msgspec import to_builtins

from leafid.descriptors.landmarks import Landmarks
from leafid.descriptors.measures import compose_confidence
from leafid.descriptors.shape.contour import Points
from leafid.descriptors.traits import (
    MIN_CONFIDENCE,
    drop_misfits,
    measure_reliable_traits,
)
from leafid.features.extractor import segment_as_type
from leafid.features.recipe import LONGEST_SIDE
from leafid.model.answer import Answer
from leafid.model.model import Model
from leafid.model.reasons import advise_cutting
from leafid.model.species import Species, Thumbnail, find_leaf_kind
from leafid.notebook import NotebookMixin, plot_outlines
from leafid.pages.comparing import choose_rival, compare_species
from leafid.pages.opinions import collect_opinions
from leafid.pages.trait_statements import Statement, read_titles, state_traits
from leafid.pages.trait_words import describe, list_drawings
from leafid.parallel.mapping import using_one_thread
from leafid.pictures.decoding import encode_jpeg, read_hashed_image
from leafid.pictures.names import describe_common_names
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.outlines import Point, Ring, sketch_outlines
from leafid.segmentation.result import Image, Segmentation, shrink
from leafid.translation import join_clauses, translate

#: Number of species that are shown.
SPECIES_SHOWN = 5
#: Number of species that are shown with pictures.
PICTURED_SPECIES = 3
#: Number of pictures of such a species.
PICTURES_SHOWN = 3
# Measures, by the traits with other names that have the same confidence.
_MEASURES = {
    "petiole": "petiole_length",
    "length_width": "aspect",
    "widest": "aspect",
    "parallel": "aspect",
    "tooth_depth": "tooth_height",
}
#: Longest side that pictures to explain are read with: in one of them, a leaf may be
#: small.
READ_SIDE = 4 * LONGEST_SIDE


@dataclass(frozen=True, repr=False)
class Explanation(NotebookMixin):
    """What a page shows of the answer to a picture."""

    answer: Answer
    #: The picture as JPEG, `width` × `height` pixels.
    image: bytes = field(repr=False)
    width: int
    height: int
    #: How sure the outline is, from 0 to 1, as in
    #: `leafid.segmentation.result.Segmentation`.
    outline_confidence: float
    #: `outlines`, `petioles`: lines around the parts of the blade, and around the
    #: petiole, in pixels of `image`.
    outlines: list[Ring]
    petioles: list[Ring]
    #: `tip`, `base`: None where they are unknown.
    tip: Point | None
    base: Point | None
    #: What is said of the traits that are measured well enough.
    statements: list[Statement]
    #: What each expert says, the most influential first: `name`, `description` of what
    #: it looks at, `share` of the answer (weight times trust times the spread of its
    #: scores; all sum to 1), and its first three as `ranking`.
    opinions: list[dict[str, Any]]
    #: The most probable species, with training pictures in the model, the most similar
    #: first: `name`, `vernacular`, `probability`, `thumbnails`.
    species: list[dict[str, Any]]
    #: The first species and its look-alike, if it has one; and `compare_species` of
    #: both.
    compared: Sequence[str]
    differences: list[dict[str, Any]]
    #: What is missing, and why; "" where nothing is.
    note: str

    def __repr__(self) -> str:
        return f"<Explanation of {self.answer!r}>"

    @property
    def traits(self) -> Mapping[str, str]:
        """The statements in botanical words: "apex acute, acuminate, 62°"."""
        return describe(self.statements, "botanical")

    @property
    def traits_text(self) -> str:
        """The traits in a sentence; conditional where a leaf can't be recognised."""
        text = join_clauses(self.traits.values())
        if text and self.answer.verdict == "unclear":
            return translate("If it is a leaf: {traits}", traits=text)
        return text

    @property
    def plain_traits(self) -> Mapping[str, str]:
        """The statements in a pupil's words: "drawn out into a thin tip"."""
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
        """Draw the picture with its outlines.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            By default the current axes.

        Returns
        -------
        matplotlib.axes.Axes
        """
        image = cv2.imdecode(np.frombuffer(self.image, np.uint8), cv2.IMREAD_COLOR_RGB)
        axes = plot_outlines(
            image, {"red": self.outlines, "magenta": self.petioles}, ax
        )
        axes.set_title(self.answer.verdict_text, wrap=True)
        return axes

    def to_dict(self) -> dict[str, Any]:
        """Make the record of the explanation, without its pictures, for JSON."""
        record = vars(self) | {
            "answer": self.answer.to_dict(),
            "species": [
                {key: row[key] for key in ("name", "vernacular", "probability")}
                for row in self.species
            ],
            "statements": [statement._asdict() for statement in self.statements],
            "traits": self.traits,
            "plain_traits": self.plain_traits,
        }
        del record["image"]
        return cast(dict[str, Any], to_builtins(record))


class _Traits(NamedTuple):
    """What is measured well enough of a leaf, with the confidence of each trait."""

    values: Mapping[str, float]
    confidence: Mapping[str, float]
    landmarks: Landmarks | None


_NO_TRAITS = _Traits({}, {}, None)


@using_one_thread()
def explain(
    model: Model, image: Image, answer: Answer, ends: Sequence[float] = ()
) -> Explanation:
    """Explain the answer to a picture that could be read.

    Parameters
    ----------
    model : Model
    image : (H, W, 3), uint8
        The picture in BGR order, as `leafid.read_image` returns it.
    answer : Answer
    ends : sequence of float
        Column and row of a tip and a base that a person chose, as shares of the sides
        of the picture; none by default.

    Returns
    -------
    Explanation

    Raises
    ------
    ValueError
        When the answer is to a picture that could not be read.
    """
    if answer.type is None:
        raise ValueError(
            "expected the answer to a picture that could be read, "
            f"found: {answer.problem}"
        )
    reduced_image = shrink(image, LONGEST_SIDE)
    leaf = segment_as_type(reduced_image, answer.type)
    traits = _NO_TRAITS
    note = ""
    outlines = []
    petioles = []
    opinions = []
    ranking = []
    if answer.verdict != "no-leaf" or ends:
        traits, note = _measure_traits(image, leaf, answer, model.species, ends)
        outlines = sketch_outlines(leaf.blade)
        opinions = collect_opinions(model[answer.type].identifier, reduced_image)
    if answer.has_leaf:
        ranking = answer.ranking[:SPECIES_SHOWN]
    compared = []
    if len(ranking) > 1:
        compared = [ranking[0][0], *choose_rival(answer, model.species)]
    evidence = dict(traits.values)
    tip = base = None
    if landmarks := traits.landmarks:
        petioles = sketch_outlines(leaf.petiole)
        tip = _to_point(landmarks.tip)
        base = _to_point(landmarks.base)
    else:
        # A position between ends that may be exchanged is no evidence.
        evidence.pop("widest", None)
    return Explanation(
        answer=answer,
        image=encode_jpeg(reduced_image),
        width=reduced_image.shape[1],
        height=reduced_image.shape[0],
        outline_confidence=leaf.outline_confidence,
        outlines=outlines,
        petioles=petioles,
        tip=tip,
        base=base,
        statements=state_traits(traits.values, traits.confidence),
        opinions=opinions,
        species=[
            _show_species(model.species[name], answer, traits.values, rank)
            for rank, (name, _) in enumerate(ranking)
        ],
        compared=compared,
        differences=compare_species(model.species, compared, evidence),
        note=note,
    )


def explain_answer(
    model: Model, answer: Answer, ends: Sequence[float] = ()
) -> Explanation:
    """Read the picture of an answer again, and explain the answer."""
    picture = answer.picture
    image, _ = read_hashed_image(picture.file, READ_SIDE, picture.data)
    return explain(model, image, answer, ends)


def _to_point(place: Points) -> Point:
    return (place[::-1] + 0.5).tolist()


def _measure_traits(
    image: Image,
    leaf: Segmentation,
    answer: Answer,
    species: Mapping[str, Species],
    ends: Sequence[float],
) -> tuple[_Traits, str]:
    """Measure the traits that fit the species; say what is missing, and why."""
    # A photo's outline is seldom exact, and often surrounds several leaves.
    if answer.type is None or not answer.type.lies_on_sheet:
        return _NO_TRAITS, translate(
            "Traits are measured only in pictures of a leaf on a plain sheet."
        )
    if leaf.may_be_several:
        return _NO_TRAITS, translate(
            "Perhaps these are several leaves that touch: traits are left out."
        )
    traits = _measure_at_best(image, leaf, answer.type, ends)
    values = drop_misfits(traits.values, find_leaf_kind(answer, species))
    note = ""
    if values != traits.values:
        note = translate(
            "Traits of the blade are left out: "
            "its outline doesn't fit leaves of {name}.",
            name=answer.name,
        )
    elif not values and leaf.outline_confidence < MIN_CONFIDENCE:
        note = translate(
            "Traits are left out: the leaf may be cut out wrongly, "
            "as where it has a shadow or a pale margin."
        )
    elif traits.landmarks is None and "petiole" not in values:
        note = translate(
            "No petiole was found: tip and base can't be told apart, "
            "and what depends on them is left out."
        )
    return traits._replace(values=values), note


def _measure_at_best(
    image: Image, leaf: Segmentation, type_: AcquisitionType, ends: Sequence[float]
) -> _Traits:
    """Measure the traits of a leaf at the resolution that shows them best."""
    if ends:
        places = np.reshape(ends, (2, 2))[:, ::-1] * leaf.mask.shape
        return _measure(leaf, places)
    traits = _measure(leaf)
    if leaf.mask.shape == image.shape[:2] or not leaf.mask.any():
        return traits
    # In a large picture, the margin of a small leaf is lost by shrinking.
    closer = _measure(segment_as_type(_look_closer(image, leaf), type_))
    if not closer.values:
        return traits
    # Its tip and base are places in another picture.
    return closer._replace(landmarks=closer.landmarks and traits.landmarks)


def _measure(leaf: Segmentation, ends: Points | None = None) -> _Traits:
    values, landmarks = measure_reliable_traits(leaf, ends)
    if landmarks is None:
        return _NO_TRAITS
    measures = {_MEASURES.get(trait, trait): value for trait, value in values.items()}
    measures["width"] = landmarks.extent[1]
    by_measure = compose_confidence(leaf, measures, landmarks.confidence)
    confidence = {trait: by_measure[_MEASURES.get(trait, trait)] for trait in values}
    values = {t: v for t, v in values.items() if confidence[t] >= MIN_CONFIDENCE}
    return _Traits(values, confidence, landmarks if landmarks.has_base else None)


def _look_closer(image: Image, leaf: Segmentation) -> Image:
    """Cut the leaf of a shrunk picture out of the whole one.

    A fifth of its length remains around it.
    """
    row0, row1, col0, col1 = leaf.box
    margin = max(row1 - row0, col1 - col0) / 5
    corners = np.array([[row0 - margin, col0 - margin], [row1 + margin, col1 + margin]])
    factor = image.shape[0] / leaf.mask.shape[0]
    (top, left), (bottom, right) = np.maximum(factor * corners, 0).astype(int)
    return shrink(np.ascontiguousarray(image[top:bottom, left:right]), LONGEST_SIDE)


def _show_species(
    species: Species, answer: Answer, values: Mapping[str, float], rank: int
) -> dict[str, Any]:
    name, probability = answer.ranking[rank]
    thumbnails: list[Thumbnail] = []
    if rank < PICTURED_SPECIES and answer.verdict != "no-leaf":
        thumbnails = sorted(
            species.thumbnails, key=partial(_order_thumbnail, answer.type, values)
        )
    return {
        "name": name,
        "vernacular": describe_common_names(name, species.vernacular_names[:1]),
        "probability": answer.calibrate(probability),
        "thumbnails": thumbnails[:PICTURES_SHOWN],
    }


def _order_thumbnail(
    type_: AcquisitionType | None, values: Mapping[str, float], thumbnail: Thumbnail
) -> tuple[bool, float]:
    """Order thumbnails of the same type first, then by the differences of their traits.

    A difference is in units of the smallest one worth mentioning; their mean counts.
    """
    gaps = [
        abs(values[name] - thumbnail.traits[name]) * title.scale / title.noticeable
        for name, title in read_titles().items()
        if name in values and name in thumbnail.traits
    ]
    return thumbnail.type != type_, float(np.mean(gaps)) if gaps else np.inf
