"""Extracts the vectors of a picture for experts and the recogniser of types."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Literal

import cv2
import numpy as np

from leafid.descriptors.encoding import Encoder
from leafid.descriptors.local.gradients import Pyramid
from leafid.descriptors.local.grid import LocalFeatures
from leafid.descriptors.registry import (
    FAMILIES,
    LOCAL_DESCRIPTORS,
    get_column_names,
    measure_families,
)
from leafid.features.leaf_measures import (
    CONDITIONS,
    LEAF_FAMILIES,
    N_MASK_VALUES,
    describe_mask,
)
from leafid.features.recipe import LONGEST_SIDE, Expert, Recipe
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.condition import Condition, measure_condition
from leafid.segmentation.crop import crop_leaf
from leafid.segmentation.pixels import downsample2, shrink, take_quantiles
from leafid.segmentation.result import Segmentation
from leafid.segmentation.segment import segment
from leafid.versions import FEATURE_VERSION

#: The parts that are searched for in a picture: nothing, the leaf, or the leaf and in
#: it the petiole.
NeededParts = Literal["nothing", "leaf", "petiole"]
# A view of a picture, and the region of the leaf in it.
_View = tuple[Pyramid, np.ndarray | None]
#: Number of features from which acquisition types are recognised.
N_TYPE_FEATURES = 27
#: Longest side that pictures are reduced to for these features, in pixels.
TYPE_SIDE = 400
#: The name of the vector by which leaves on sheets are recognised, beside the vectors
#: of the experts.
LEAF_MEASURES = "leaf measures"
# Side of the thumbnail that features of types are measured on, and width of its rim, in
# pixels.
_THUMBNAIL_SIDE = 48
_RIM_WIDTH = 3
# Weights of the mean of three channels.
_MEAN = np.full(3, 1 / 3, np.float32)
_CORNER_SLICES = (slice(0, _THUMBNAIL_SIDE // 6), slice(-(_THUMBNAIL_SIDE // 6), None))


@dataclass(frozen=True, slots=True)
class Features:
    """The features of a picture: vectors by name, and its condition.

    There is a vector for each expert, and `LEAF_MEASURES` if the recipe serves sheets.
    The condition says how well the picture shows its leaf.
    """

    vectors: dict[str, np.ndarray]
    condition: Condition

    @property
    def confidence(self) -> float:
        """Confidence of the segmentation, from 0 to 1."""
        return self.condition.confidence


@dataclass(frozen=True)
class FeatureExtractor:
    """Extracts the features of pictures; small enough to be sent to worker processes.

    Pictures are first reduced to `longest_side` pixels.
    """

    experts: dict[str, Expert]
    encoders: dict[str, Encoder] = field(default_factory=dict)
    longest_side: int = LONGEST_SIDE
    #: Whether `LEAF_MEASURES` are among the vectors.
    measures_leaf: bool = True

    @classmethod
    def from_recipe(
        cls, recipe: Recipe, encoders: dict[str, Encoder]
    ) -> "FeatureExtractor":
        """Make the extractor of a recipe, with the encoders of its local experts."""
        on_sheet = any(type_.lies_on_sheet for type_ in recipe.types)
        return cls(recipe.experts, encoders, recipe.longest_side, on_sheet)

    @property
    def vector_names(self) -> list[str]:
        """The names of all vectors, as `Features` has them."""
        if self.measures_leaf:
            return [*self.experts, LEAF_MEASURES]
        return [*self.experts]

    @property
    def leaf_vectors(self) -> list[str]:
        """The names of the vectors by which leaves are recognised.

        They are `LEAF_MEASURES`, or the vectors of all experts.
        """
        return [LEAF_MEASURES] if self.measures_leaf else [*self.experts]

    def get_expert(self, name: str) -> Expert:
        """Get the expert that a vector is for."""
        if name != LEAF_MEASURES:
            return self.experts[name]
        families = LEAF_FAMILIES.union(*(e.families for e in self.experts.values()))
        ordered = tuple(family for family in FAMILIES if family in families)
        return Expert(descriptor="measures", families=ordered)

    @property
    def needed_parts(self) -> NeededParts:
        """The parts that are searched for in pictures.

        Where it is nothing, the whole picture is leaf, with confidence 1.
        """
        return find_needed_parts(self.experts.values())

    def make_feature_key(self, name: str, augmentation: str = "") -> str:
        """Hash everything that decides an expert's vector and the condition.

        The key of an augmented picture contains the key of the augmentation.
        """
        words = [
            name_versions(),
            self.longest_side,
            Condition._fields,
            self.get_expert(name).make_feature_key(),
        ]
        if name == LEAF_MEASURES:
            words += CONDITIONS
        if self.needed_parts == "nothing":
            words.append("not segmented")
        if self.needed_parts == "leaf":
            words.append("with petiole")
        if augmentation:
            words.append(augmentation)
        if self.get_expert(name).is_local:
            words.append(self._encoder_hashes[name])
        return hashlib.sha256("|".join(map(str, words)).encode()).hexdigest()

    # The keys of every picture ask for them.
    @cached_property
    def _encoder_hashes(self) -> dict[str, str]:
        """The hash of what each encoder has learned."""
        return {name: hash_state(item) for name, item in self.encoders.items()}

    def count_leaf_measures(self) -> int:
        """Count the values of `LEAF_MEASURES`."""
        columns = get_column_names(self.get_expert(LEAF_MEASURES).families)
        return len(columns) + N_MASK_VALUES

    def extract(self, image: np.ndarray, acquisition_type: AcquisitionType) -> Features:
        """Extract the features of a picture.

        The acquisition type decides how the leaf is segmented.
        """
        leaf = segment_as_type(image, acquisition_type, self.needed_parts)
        return self.extract_from_views(PictureViews(image, leaf))

    def extract_from_views(
        self, views: "PictureViews", names: Sequence[str] | None = None
    ) -> Features:
        """Extract the vectors with these names, by default all."""
        experts = {name: self.get_expert(name) for name in names or self.vector_names}
        condition = measure_condition(views.image, views.segmentation)
        families = chain(*(expert.families for expert in experts.values()))
        measures = {}
        # Values that families share are computed once.
        if unique := list(dict.fromkeys(families)):
            measures = measure_families(views.image, views.segmentation, unique)
        vectors = {}
        for name, expert in experts.items():
            if expert.is_local:
                features = extract_local_features(views, expert)
                vectors[name] = self.encoders[name].transform(features)
            else:
                parts = [measures[family] for family in expert.families]
                if name == LEAF_MEASURES:
                    parts.append(describe_mask(views.segmentation, condition))
                vectors[name] = np.concatenate(parts)
        return Features(vectors, condition)


class PictureViews:
    """Views of a picture that several experts share, each computed at its first use.

    Without a leaf in the segmentation, the whole picture counts as leaf.
    """

    def __init__(self, image: np.ndarray, segmentation: Segmentation) -> None:
        self.image = image
        self.segmentation = segmentation
        if not segmentation.blade.any():
            self.segmentation = cover_whole(image, confidence=0.0)
        self._pyramids: dict[tuple[str, int, str], _View] = {}

    def get_pyramid(self, view: str, size: int, channels: str) -> _View:
        """Make the pyramid of a view, and the region of the leaf in it.

        The view is named as by `leafid.features.recipe.Expert.view`. Its longest side
        is `size` pixels; it is square but for the whole picture, which has no region.
        The pyramid has the channels that the local descriptor reads.
        """
        key = (view, size, channels)
        if key not in self._pyramids:
            image = self.image
            region = None
            if channels == "grey":
                image = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
            if view == "picture":
                image = shrink(image, size)
            else:
                image, region = crop_leaf(
                    image, self.segmentation, size, upright=view == "upright"
                )
            if channels == "chroma":
                image = np.ascontiguousarray(
                    cv2.cvtColor(image, cv2.COLOR_BGR2LAB)[:, :, 1:]
                )
            self._pyramids[key] = Pyramid(image), region
        return self._pyramids[key]


def hash_state(encoder: Encoder) -> str:
    """Hash what an encoder has learned."""
    digest = hashlib.sha256()
    for name, array in sorted(encoder.get_state().items()):
        digest.update(name.encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def name_versions() -> str:
    """Name the versions that decide every vector: of the code and of OpenCV.

    Vectors by OpenCV 4 and 5 differ by up to 1 %.
    """
    return f"{FEATURE_VERSION}, OpenCV {'.'.join(cv2.__version__.split('.')[:2])}"


def extract_local_features(views: PictureViews, expert: Expert) -> LocalFeatures:
    """Extract the local features of a picture for an expert.

    None where no patch fits its settings.
    """
    descriptor = LOCAL_DESCRIPTORS[expert.descriptor]
    return descriptor.compute(
        *views.get_pyramid(expert.view, expert.size, descriptor.reads), expert.grid
    )


def find_needed_parts(experts: Iterable[Expert]) -> NeededParts:
    """Find the parts that experts need: the petiole only for measures.

    Patches name as many species without it.
    """
    experts = list(experts)
    if not all(expert.is_local for expert in experts):
        return "petiole"
    if all(e.view == "picture" and e.trust != "segmentation" for e in experts):
        return "nothing"
    return "leaf"


def segment_as_type(
    image: np.ndarray,
    acquisition_type: AcquisitionType,
    needed_parts: NeededParts = "petiole",
) -> Segmentation:
    """Segment a picture as its type requires.

    Where no part is needed, all of it is leaf.
    """
    if needed_parts == "nothing":
        return cover_whole(image, confidence=1.0)
    # In a photo, a part that protrudes from the leaf is as often a neighbouring leaf as
    # the petiole. The accuracy is no higher where it is cut off.
    petiole = needed_parts == "petiole" and acquisition_type.lies_on_sheet
    return segment(image, acquisition_type, petiole=petiole)


def cover_whole(image: np.ndarray, confidence: float) -> Segmentation:
    """Make a segmentation in which the whole picture is leaf."""
    whole = np.ones(image.shape[:2], bool)
    return Segmentation(whole, whole, confidence)


def measure_type_features(image: np.ndarray, picture: object = None) -> np.ndarray:
    """Measure the features that separate scans, scan-likes and photos: float32 (27,).

    They don't depend on the tint of the sheet, and are measured on a thumbnail in Lab
    with channels in [0, 1]: percentiles of the rim's lightness, and of the distance of
    its colours from their median; standard deviations of the rim, and of the whole;
    range of the corners' colours; roughness (absolute differences of neighbours):
    percentiles, and means down and across. `picture` has no effect.
    """
    # Averaging over parts of pixels would take ten times as long.
    while min(image.shape[:2]) >= 2 * _THUMBNAIL_SIDE:
        image = downsample2(image)
    small = cv2.resize(
        image, (_THUMBNAIL_SIDE, _THUMBNAIL_SIDE), interpolation=cv2.INTER_AREA
    )
    lab = cv2.cvtColor(small, cv2.COLOR_BGR2LAB).astype(np.float32) / 255
    inner = np.zeros((_THUMBNAIL_SIDE, _THUMBNAIL_SIDE), bool)
    inner[_RIM_WIDTH:-_RIM_WIDTH, _RIM_WIDTH:-_RIM_WIDTH] = True
    rim = lab[~inner]
    planes = rim.T.copy()
    distances = take_quantiles(
        np.abs(planes - take_quantiles(planes, (0.5,))), (0.5, 0.75, 0.9)
    )
    roughness = [
        (cv2.absdiff(lab[1:], lab[:-1]) @ _MEAN).ravel(),
        (cv2.absdiff(lab[:, 1:], lab[:, :-1]) @ _MEAN).ravel(),
    ]
    corners = [
        lab[rows, cols].mean(axis=(0, 1))
        for rows in _CORNER_SLICES
        for cols in _CORNER_SLICES
    ]
    return np.concatenate(
        [
            take_quantiles(planes[0], (0.5, 0.05, 0.95)),
            np.log1p(100 * distances.T).ravel(),
            # NumPy takes twenty times as long.
            cv2.meanStdDev(rim[None])[1].ravel(),
            cv2.meanStdDev(lab)[1].ravel(),
            np.ptp(corners, axis=0),
            np.log1p(
                100 * take_quantiles(np.concatenate(roughness), (0.25, 0.5, 0.75, 0.95))
            ),
            np.log1p(100 * np.array([*map(np.mean, roughness)])),
        ]
    ).astype(np.float32)
