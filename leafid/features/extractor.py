"""Extracts the feature vectors of a picture that experts and the recogniser of acquisition types learn from."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import cv2
import numpy as np

from leafid.descriptors.encoding import Encoder
from leafid.descriptors.local.gradients import Pyramid
from leafid.descriptors.local.grid import LocalFeatures
from leafid.descriptors.registry import (
    LOCAL_DESCRIPTORS,
    get_column_names,
    measure_families,
)
from leafid.features.recipe import LONGEST_SIDE, Expert
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.condition import Condition, measure_condition
from leafid.segmentation.crop import crop_leaf
from leafid.segmentation.result import Segmentation, shrink
from leafid.segmentation.segment import segment

#: Raised with every change to segmentation, descriptors or encoders that changes a vector: cached ones are then unused.
FEATURE_VERSION = 32
#: What is searched for in a picture: nothing, the leaf, or the leaf and in it the petiole.
SegmentationTarget = Literal["nothing", "leaf", "petiole"]
#: Number of features from which acquisition types are recognised.
N_TYPE_FEATURES = 27
#: Longest side that pictures are reduced to for them, in pixels.
TYPE_SIDE = 400
# Side of the thumbnail that they are measured on, and width of its rim, in pixels.
_THUMBNAIL_SIDE = 48
_RIM_WIDTH = 3
_CORNER_SLICES = (slice(0, _THUMBNAIL_SIDE // 6), slice(-(_THUMBNAIL_SIDE // 6), None))


@dataclass(frozen=True, slots=True)
class Features:
    """The features of a picture: vectors by the expert's name, and the condition in which it shows its leaf."""

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

    @property
    def sought(self) -> SegmentationTarget:
        """What is searched for in pictures; where it is nothing, the whole picture is leaf, with confidence 1."""
        return choose_target(self.experts.values())

    def make_feature_key(self, name: str, augmentation: str = "") -> str:
        """Hash everything that decides an expert's vector of a picture, and the condition that comes with it.

        The key of an augmented picture contains that of the augmentation.
        """
        words = [
            name_versions(),
            self.longest_side,
            Condition._fields,
            self.experts[name].make_feature_key(),
        ]
        if self.sought != "petiole":
            words.append(
                "not segmented" if self.sought == "nothing" else "with petiole"
            )
        if augmentation:
            words.append(augmentation)
        digest = hashlib.sha256("|".join(map(str, words)).encode())
        if self.experts[name].is_local:
            for array_name, array in sorted(self.encoders[name].get_state().items()):
                digest.update(
                    array_name.encode() + np.ascontiguousarray(array).tobytes()
                )
        return digest.hexdigest()

    def count_values(self, name: str) -> int:
        """Count the values of an expert's vector, and of the condition that comes with it."""
        expert = self.experts[name]
        n_values = (
            self.encoders[name].n_features
            if expert.is_local
            else len(get_column_names(expert.families))
        )
        return len(Condition._fields) + n_values

    def extract(self, image: np.ndarray, acquisition_type: AcquisitionType) -> Features:
        """Extract the features of a picture; the acquisition type decides how the leaf is segmented."""
        return self.extract_from_views(
            PictureViews(image, segment_as_type(image, acquisition_type, self.sought))
        )

    def extract_from_views(
        self, views: "PictureViews", names: Sequence[str] | None = None
    ) -> Features:
        """Extract the features of all experts, or of those with some names."""
        experts = {
            name: self.experts[name]
            for name in (self.experts if names is None else names)
        }
        families = dict.fromkeys(
            family for expert in experts.values() for family in expert.families
        )
        measured = (
            measure_families(views.image, views.segmentation, families)
            if families
            else {}
        )
        vectors = {}
        for name, expert in experts.items():
            if expert.is_local:
                vectors[name] = self.encoders[name].transform(
                    extract_local_features(views, expert)
                )
            else:
                vectors[name] = np.concatenate(
                    [measured[family] for family in expert.families]
                )
        return Features(vectors, measure_condition(views.image, views.segmentation))


class PictureViews:
    """Views of a picture that several experts share; each is made when it is first used.

    If the segmentation found no leaf, the whole picture counts as leaf.
    """

    def __init__(self, image: np.ndarray, segmentation: Segmentation) -> None:
        self.image = image
        self.segmentation = (
            segmentation
            if segmentation.blade.any()
            else cover_whole(image, confidence=0.0)
        )
        self._pyramids: dict[
            tuple[str, int, str], tuple[Pyramid, np.ndarray | None]
        ] = {}

    def get_pyramid(
        self, view: str, size: int, channels: str
    ) -> tuple[Pyramid, np.ndarray | None]:
        """Make the pyramid of a view in the channels that a local descriptor reads, and the region of the leaf in it.

        The view is named as by `leafid.features.recipe.Expert.view`, and its longest side `size` pixels. It is square
        but for the whole picture, which has no region.
        """
        key = (view, size, channels)
        if key not in self._pyramids:
            image, region = self.image, None
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


def name_versions() -> str:
    """Name the versions that decide every vector: the code's and OpenCV's, as those of 4 and 5 differ by up to 1 %."""
    return f"{FEATURE_VERSION}, OpenCV {'.'.join(cv2.__version__.split('.')[:2])}"


def extract_local_features(views: PictureViews, expert: Expert) -> LocalFeatures:
    """Extract the local features of a picture for an expert; none where no patch fits its settings."""
    descriptor = LOCAL_DESCRIPTORS[expert.descriptor]
    return descriptor.compute(
        *views.get_pyramid(expert.view, expert.size, descriptor.reads), expert.grid
    )


def choose_target(experts: Iterable[Expert]) -> SegmentationTarget:
    """Choose what some experts need: the petiole for measures of the blade only, as patches name as many without it."""
    experts = list(experts)
    if not all(expert.is_local for expert in experts):
        return "petiole"
    needs_leaf = any(
        expert.view != "picture" or expert.trust == "segmentation" for expert in experts
    )
    return "leaf" if needs_leaf else "nothing"


def segment_as_type(
    image: np.ndarray,
    acquisition_type: AcquisitionType,
    sought: SegmentationTarget = "petiole",
) -> Segmentation:
    """Segment a picture as its type requires; where nothing is sought, all of it is leaf."""
    if sought == "nothing":
        return cover_whole(image, confidence=1.0)
    # In photos, a part that protrudes from a leaf is as often a neighbouring leaf as the petiole: accuracy is no higher
    # where it is separated.
    petiole = sought == "petiole" and acquisition_type.lies_on_sheet
    return segment(image, acquisition_type, petiole=petiole)


def cover_whole(image: np.ndarray, confidence: float) -> Segmentation:
    """Make a segmentation in which the whole picture is leaf."""
    whole = np.ones(image.shape[:2], bool)
    return Segmentation(whole, whole, confidence)


def measure_type_features(image: np.ndarray, picture: object = None) -> np.ndarray:
    """Measure features that separate scans, scan-likes and photos, whatever the tint of the sheet: float32 (27,).

    They are measured on a thumbnail in Lab with channels in [0, 1]: percentiles of the rim's lightness, of the distance
    of its colours from their median, standard deviations of the rim and of the whole, range of the corners' colours,
    and roughness (mean absolute differences of neighbours) of the rim and of the whole. `picture` has no effect.
    """
    small = cv2.resize(
        image, (_THUMBNAIL_SIDE, _THUMBNAIL_SIDE), interpolation=cv2.INTER_AREA
    )
    lab = cv2.cvtColor(small, cv2.COLOR_BGR2LAB).astype(np.float32) / 255
    inner = np.zeros((_THUMBNAIL_SIDE, _THUMBNAIL_SIDE), bool)
    inner[_RIM_WIDTH:-_RIM_WIDTH, _RIM_WIDTH:-_RIM_WIDTH] = True
    rim = lab[~inner]
    lightness = rim[:, 0]
    distances = np.percentile(
        np.abs(rim - np.median(rim, axis=0)), (50, 75, 90), axis=0
    )
    roughness = [np.abs(np.diff(lab, axis=axis)).mean(axis=2) for axis in (0, 1)]
    rim_roughness = np.concatenate(
        [roughness[0][:, ~inner[0]].ravel(), roughness[1][~inner[:, 0]].ravel()]
    )
    corners = [
        lab[rows, cols].mean(axis=(0, 1))
        for rows in _CORNER_SLICES
        for cols in _CORNER_SLICES
    ]
    return np.concatenate(
        [
            np.percentile(lightness, (50, 5, 95)),
            np.log1p(100 * distances).ravel(),
            rim.std(axis=0),
            lab.std(axis=(0, 1)),
            np.ptp(corners, axis=0),
            np.log1p(100 * np.percentile(rim_roughness, (25, 50, 75, 95))),
            np.log1p(100 * np.array([roughness[0].mean(), roughness[1].mean()])),
        ]
    ).astype(np.float32)
