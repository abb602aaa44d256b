"""Extracts the feature vectors of a picture that the experts of a recipe learn from."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import cv2
import numpy as np

from leafid.descriptors import measure_families
from leafid.descriptors.encoding import Encoder
from leafid.descriptors.local import LocalFeatures
from leafid.descriptors.local.gradients import Pyramid
from leafid.descriptors.registry import LOCAL_DESCRIPTORS
from leafid.features.recipe import LONGEST_SIDE, Expert
from leafid.memory import keep_freed_memory
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation import Segmentation, crop_leaf, segment
from leafid.segmentation.result import shrink

#: Raised with every change to segmentation, descriptors or encoders that changes a vector: cached ones are then unused.
FEATURE_VERSION = 24

keep_freed_memory()


@dataclass(frozen=True, slots=True)
class Features:
    """The features of a picture: vectors by the expert's name, and the confidence of the segmentation (0 to 1)."""

    vectors: dict[str, np.ndarray]
    confidence: float


@dataclass(frozen=True)
class FeatureExtractor:
    """Extracts the features of pictures; small enough to be sent to worker processes.

    Pictures are first reduced to `longest_side` pixels.
    """

    experts: dict[str, Expert]
    encoders: dict[str, Encoder] = field(default_factory=dict)
    longest_side: int = LONGEST_SIDE

    @property
    def needs_leaf(self) -> bool:
        """Whether an expert needs the leaf; otherwise pictures aren't segmented, and the confidence is 1."""
        return any(expert.needs_leaf for expert in self.experts.values())

    def make_feature_key(self, name: str, augmentation: str = "") -> str:
        """Hash everything that decides an expert's vector of a picture, and the confidence that comes with it.

        Of an augmented picture, it has the key of the augmentation.
        """
        words = [FEATURE_VERSION, self.longest_side, self.experts[name].make_feature_key()]
        if not self.needs_leaf:
            words.append("not segmented")
        if augmentation:
            words.append(augmentation)
        digest = hashlib.sha256("|".join(map(str, words)).encode())
        if self.experts[name].is_local:
            for array_name, array in sorted(self.encoders[name].get_state().items()):
                digest.update(array_name.encode() + np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def extract(self, image: np.ndarray, acquisition_type: AcquisitionType) -> Features:
        """Extract the features of a picture; the acquisition type decides how the leaf is segmented."""
        return self.extract_from_views(make_views(image, acquisition_type, needs_leaf=self.needs_leaf))

    def extract_from_views(self, views: "PictureViews", names: Sequence[str] | None = None) -> Features:
        """Extract the features of all experts, or of those with some names."""
        experts = {name: self.experts[name] for name in (self.experts if names is None else names)}
        families = dict.fromkeys(family for expert in experts.values() for family in expert.families)
        measured = measure_families(views.image, views.segmentation, families, views.grey) if families else {}
        vectors = {}
        for name, expert in experts.items():
            if expert.is_local:
                vectors[name] = self.encoders[name].transform(extract_local_features(views, expert))
            else:
                vectors[name] = np.concatenate([measured[family] for family in expert.families])
        return Features(vectors, views.segmentation.confidence)


class PictureViews:
    """Views of a picture that several experts share; each is made when it is first used.

    If the segmentation found no leaf, the whole picture counts as leaf.
    """

    def __init__(self, image: np.ndarray, segmentation: Segmentation) -> None:
        self.image = image
        self.segmentation = segmentation if segmentation.blade.any() else cover_whole(image, confidence=0.0)
        self._pyramids: dict[tuple[str, int, str], tuple[Pyramid, np.ndarray | None]] = {}

    @cached_property
    def grey(self) -> np.ndarray:
        """The picture in grey, uint8 (H, W)."""
        return cv2.cvtColor(self.image, cv2.COLOR_BGR2GRAY)

    def read_pyramid(self, view: str, size: int, channels: str) -> tuple[Pyramid, np.ndarray | None]:
        """Make the pyramid of a view in the channels that a local descriptor reads, and the region of the leaf in it.

        The view is named as by `leafid.features.recipe.Expert.view`, and its longest side `size` pixels. It is square
        but for the whole picture, which has no region.
        """
        key = (view, size, channels)
        if key not in self._pyramids:
            image, region = self.grey if channels == "grey" else self.image, None
            if view == "picture":
                image = shrink(image, size)
            else:
                image, region = crop_leaf(image, self.segmentation, size, upright=view == "upright")
            if channels == "chroma":
                image = np.ascontiguousarray(cv2.cvtColor(image, cv2.COLOR_BGR2LAB)[:, :, 1:])
            self._pyramids[key] = Pyramid(image), region
        return self._pyramids[key]


def extract_local_features(views: PictureViews, expert: Expert) -> LocalFeatures:
    """Extract the local features of a picture for an expert; none where no patch fits its settings."""
    descriptor = LOCAL_DESCRIPTORS[expert.descriptor]
    return descriptor.compute(*views.read_pyramid(expert.view, expert.size, descriptor.reads), expert.grid)


def make_views(image: np.ndarray, acquisition_type: AcquisitionType, *, needs_leaf: bool = True) -> PictureViews:
    """Make views of a picture, segmented as its type requires; where no leaf is needed, all of it counts as leaf."""
    leaf = segment_as_type(image, acquisition_type) if needs_leaf else cover_whole(image, confidence=1.0)
    return PictureViews(image, leaf)


def segment_as_type(image: np.ndarray, acquisition_type: AcquisitionType) -> Segmentation:
    """Segment a picture as its type requires."""
    # In photos, a part that protrudes from a leaf is as often a neighbouring leaf as the petiole: accuracy is no higher
    # where it is separated.
    return segment(image, acquisition_type, petiole=acquisition_type is not AcquisitionType.PHOTO)


def cover_whole(image: np.ndarray, confidence: float) -> Segmentation:
    """Make a segmentation in which the whole picture is leaf."""
    whole = np.ones(image.shape[:2], bool)
    return Segmentation(whole, whole, confidence)
