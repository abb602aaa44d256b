"""Pictures made of training pictures: jittered, composited, and without a leaf."""

import zlib
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import cv2
import numpy as np
from numpy.random import Generator

from leafid.features import compositing
from leafid.features.compositing import (
    RANGES,
    bend_levels,
    make_image,
    narrow,
    project,
    relight,
)
from leafid.features.extractor import (
    NeededParts,
    PictureViews,
    cover_whole,
    segment_as_type,
)
from leafid.features.non_leaves import draw_non_leaf
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.result import Image, Mask, Segmentation
from leafid.versions import DRAWING_VERSION

# The minimum width of a tilted leaf along a random direction, relative to the leaf.
_MIN_WIDTH = 0.6
# By how much perspective enlarges the near end and reduces the far end at most.
_PERSPECTIVE = 0.16
# The maximum slope of the light from the middle to a side.
_LIGHT_SLOPE = 0.08
# The share of the jittered pictures that are poor.
_POOR_SHARE = 1 / 3
# Less blur changes nothing.
_LEAST_BLUR = 0.3
# Maximum longer side of composited photos, in pixels: larger ones teach no more.
_MAX_COMPOSITED_SIDE = 640


#: The picture that an augmentation makes.
AugmentationKind = Literal["jitter", "composite", "no-leaf", "jittered-no-leaf"]


@dataclass(frozen=True, slots=True)
class Augmentation:
    """A picture made from a picture, in its place: the first, second, … of its kind."""

    kind: AugmentationKind
    number: int

    def make_feature_key(self) -> str:
        """Name everything that decides about the picture."""
        key = f"{self.kind} {self.number}"
        if self.kind.endswith("no-leaf"):
            key += f" {DRAWING_VERSION}"
        return key


@dataclass(eq=False)
class AugmentedPicture:
    """A picture that others are made from.

    The picture is read and segmented once for all of them. Composited photos have
    `longest_side` pixels on their longer side, at most 640. The views show
    `needed_parts`.
    """

    image: Image
    acquisition_type: AcquisitionType
    longest_side: int
    needed_parts: NeededParts = "petiole"

    @cached_property
    def _leaf(self) -> Segmentation:
        # An augmented picture takes the leaf even where the views don't show it.
        parts = self.needed_parts
        if parts == "nothing":
            parts = "leaf"
        return segment_as_type(self.image, self.acquisition_type, parts)

    def make_views(self, augmentation: Augmentation | None) -> PictureViews:
        """Make the views of an augmented picture, or of the picture itself.

        The leaf of an augmented picture is searched for as in any other, in a
        composited photo as in a photo: if its place were known beforehand, classifiers
        would not learn how segmentation varies.
        """
        image = self.image
        type_ = self.acquisition_type
        if augmentation is None:
            leaf = cover_whole(image, confidence=1.0)
            if self.needed_parts != "nothing":
                leaf = self._leaf
            return PictureViews(image, leaf)
        kind = augmentation.kind
        number = augmentation.number
        mask = self._leaf.mask
        if kind == "composite":
            side = min(self.longest_side, _MAX_COMPOSITED_SIDE)
            image = compositing.composite_photo(image, self._leaf, number, side)
            type_ = AcquisitionType.PHOTO
        if kind.endswith("no-leaf"):
            image = draw_non_leaf(image, mask, number)
            mask = np.zeros(image.shape[:2], bool)
        if kind.startswith("jitter"):
            image = jitter_picture(image, mask, number, type_)
        return PictureViews(image, segment_as_type(image, type_, self.needed_parts))


def jitter_picture(
    image: Image, leaf: Mask, number: int, acquisition_type: AcquisitionType
) -> Image:
    """Show a picture as another camera does: from another side and in other light.

    Every third camera is a poor one. Descriptors change more with the leaf's position,
    the light and the camera than between species, and a few plants of a species don't
    show how. Classifiers that also learn from jittered pictures learn to ignore such
    changes. The result depends on the number, the type and the content of the picture
    alone: a tilted sheet is continued beside its edges, a tilted photo is enlarged to
    fill its frame. A poor picture is smaller.

    References
    ----------
    .. [1] P. Y. Simard, D. Steinkraus, J. C. Platt, "Best practices for convolutional
       neural networks applied to visual document analysis", ICDAR 2003, section 2,
       doi:10.1109/ICDAR.2003.1227801
    """
    random = np.random.default_rng([number, zlib.crc32(image.tobytes())])
    fill = not acquisition_type.lies_on_sheet
    if random.random() < _POOR_SHARE:
        return _degrade_picture(image, leaf, random, fill=fill)
    ranges = RANGES["jitter"]
    rows, cols = image.shape[:2]
    reduction = random.uniform(*ranges["reduction"])
    size = max(1, round(cols * reduction)), max(1, round(rows * reduction))
    levels = bend_levels(
        random.uniform(*ranges["gamma"]), random.uniform(*ranges["brightness"])
    )
    reduced = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    small = relight(
        reduced,
        np.round(levels).astype(np.uint8),
        max_slope=_LIGHT_SLOPE,
        random=random,
        precision=np.float64,
    )
    return _tilt(small, (cols, rows), random, fill=fill)


def _degrade_picture(
    image: Image, leaf: Mask, random: Generator, *, fill: bool
) -> Image:
    """Show a picture as a poor camera or other light would: blurred and recoloured.

    A leaf may be pressed or back-lit. The lightness and the colours of the leaf are
    changed relative to its background, then the colours and the lightness of the whole
    picture.
    """
    ranges = RANGES["poor"]
    side = np.exp(random.uniform(*np.log(ranges["side"])))
    scale = min(1.0, side / max(image.shape[:2]))
    cols, rows = (max(1, round(length * scale)) for length in image.shape[1::-1])
    reduce = partial(cv2.resize, dsize=(cols, rows), interpolation=cv2.INTER_AREA)
    small = reduce(image).astype(np.float32)
    share = reduce(leaf.astype(np.float32))[..., None]
    grey = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)[..., None]
    recoloured = random.uniform(*ranges["leaf_light"]) * (
        grey + random.uniform(*ranges["colourfulness"]) * (small - grey)
    )
    changed = make_image(small + share * (recoloured - small))
    tilted = _tilt(changed, (cols, rows), random, fill=fill)
    if (blur := random.uniform(*ranges["blur"])) > _LEAST_BLUR:
        tilted = cv2.GaussianBlur(tilted, (0, 0), blur)
    levels = bend_levels(np.exp(random.uniform(*np.log(ranges["gamma"]))))
    tint = random.uniform(*ranges["tint"], 3).astype(np.float32)
    lit = cv2.LUT(tilted, levels.astype(np.float32)) * tint
    noise = random.standard_normal(lit.shape, np.float32) * np.float32(
        random.uniform(*ranges["noise"])
    )
    quality = [cv2.IMWRITE_JPEG_QUALITY, int(random.uniform(*ranges["quality"]))]
    _, content = cv2.imencode(".jpg", make_image(lit + noise), quality)
    return np.asarray(cv2.imdecode(content, cv2.IMREAD_COLOR), np.uint8)


def _tilt(
    image: Image, size: tuple[int, int], random: Generator, *, fill: bool
) -> Image:
    """Show a picture from another side, enlarged to a width and height."""
    width = random.uniform(_MIN_WIDTH, 1)
    linear = narrow(random.uniform(0, np.pi), width)
    if fill:
        linear /= width
    tilt = random.uniform(-_PERSPECTIVE, _PERSPECTIVE, 2) / (max(size) / 2)
    middle = (np.array(size) - 1) / 2
    # Positions are of the centres of pixels.
    corner = np.array([-0.5, -0.5])
    scale = np.diag(np.divide(size, image.shape[1::-1]))
    enlarge = project(scale, np.zeros(2), corner, corner)
    matrix = project(linear, tilt @ linear, middle, middle) @ enlarge
    border = cv2.BORDER_REFLECT_101 if fill else cv2.BORDER_REPLICATE
    return cv2.warpPerspective(image, matrix, size, borderMode=border)
