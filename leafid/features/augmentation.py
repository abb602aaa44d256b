"""Pictures made from training pictures: jittered copies, composited photos, and pictures without a leaf."""

from dataclasses import dataclass
from typing import Literal

from leafid.features.compositing import composite_photo
from leafid.features.jitter import jitter_picture
from leafid.features.non_leaves import DRAWING_VERSION, draw_non_leaf
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation import segment
from leafid.segmentation.result import Image


@dataclass(frozen=True, slots=True)
class Augmentation:
    """A picture made from a picture, which takes its place: the first, second, … of its kind."""

    kind: Literal["jitter", "composite", "no-leaf"]
    number: int

    def make_feature_key(self) -> str:
        """Name everything that decides about the picture."""
        version = f" {DRAWING_VERSION}" if self.kind == "no-leaf" else ""
        return f"{self.kind} {self.number}{version}"


def augment(
    image: Image, acquisition_type: AcquisitionType, augmentation: Augmentation, longest_side: int
) -> tuple[Image, AcquisitionType]:
    """Return the augmented picture and its type: the leaf in a composited photo is segmented as in a photo."""
    if augmentation.kind == "jitter":
        return jitter_picture(image, augmentation.number, acquisition_type), acquisition_type
    # The petiole stays: it is composited together with the blade.
    leaf = segment(image, acquisition_type, petiole=False)
    if augmentation.kind == "composite":
        return composite_photo(image, leaf, augmentation.number, longest_side), AcquisitionType.PHOTO
    return draw_non_leaf(image, leaf.mask, augmentation.number), acquisition_type
