"""The texture of a leaf's inside, of its edge and of its outline, by multi-scale local binary patterns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.surface.lbp import (
    CodedLevel,
    Scale,
    build_pyramid,
    compute_fourier_features,
    index_centres,
    make_ring_scales,
)
from leafid.segmentation.result import downsample2, find_bounding_box

Plane = NDArray[np.uint8]

_MAX_SIDE = 800  # longest side after resizing, in pixels: bounds the memory that a hair-thin leaf takes
MAX_CENTRES = 8192
"""Approximate maximum number of ring centres in the interior of a level: every n-th pixel in reading order."""


def choose_size(box: Plane, root_area: float) -> tuple[float, tuple[int, int]]:
    """Choose the size at which a leaf has a given √area in pixels; `box` is non-zero where the leaf is.

    Returns the enlargement of the box, and columns and rows after resizing (at least 1).
    """
    factor = min(root_area / np.sqrt(cv2.countNonZero(box)), _MAX_SIDE / max(box.shape))
    return factor, (max(1, round(box.shape[1] * factor)), max(1, round(box.shape[0] * factor)))


@dataclass(frozen=True, slots=True)
class Sampling:
    """Rings around the pixels of a leaf that is resized to a √area of `side` pixels."""

    side: float
    scales: tuple[Scale, ...]

    @property
    def levels(self) -> int:
        """Levels of the pyramid that the scales need."""
        return 1 + max(scale.level for scale in self.scales)


# Species differ in their fine veins and in the coarse course of their edge: on leaves of held-out plants, finer rings
# help the interior (coarse ones harm it), coarser ones help the border.
INTERIOR = Sampling(226.0, make_ring_scales(2))
EDGE = Sampling(160.0, make_ring_scales(5))


def name_texture_values(scales: Sequence[Scale]) -> tuple[str, ...]:
    """Name the values of a texture: ``r03.0_sign_n2_h1`` is radius, part, ones in the code, harmonic."""
    kinds = [f"n{ones}_h{harmonic}" for ones in range(1, 8) for harmonic in range(5)] + ["none", "all", "mixed"]
    return tuple(
        f"r{scale.radius:04.1f}_{part}_{kind}" for scale in scales for part in ("sign", "magnitude") for kind in kinds
    )


INTERIOR_NAMES = name_texture_values(INTERIOR.scales)
BORDER_NAMES = OUTLINE_NAMES = name_texture_values(EDGE.scales)


class LeafTexture:
    """A leaf as its texture is measured: resized, with what several measurements share computed when first accessed.

    The leaf, best without its petiole, is resized to one area, so that all radii are relative to √area. A pixel of the
    leaf is interior when it lies farther from the edge than the scale's radius, so that its whole ring is leaf, and
    border otherwise. Each part has 76 values a scale, and needs `leafid.learning.linear.apply_chi2_map` before a
    linear classifier.

    References
    ----------
    .. [1] M. Šulc, J. Matas, "Texture-based leaf identification", ECCV 2014 workshops, section 3,
       doi:10.1007/978-3-319-16220-1_14
    .. [2] G. Zhao, T. Ahonen, J. Matas, M. Pietikäinen, "Rotation-invariant image and video description with local
       binary pattern features", IEEE Transactions on Image Processing 21(4), 2012, doi:10.1109/TIP.2011.2175739
    """

    def __init__(self, image: Plane, mask: NDArray[np.bool_]) -> None:
        row0, row1, col0, col1 = find_bounding_box(mask)
        image, covered = image[row0:row1, col0:col1], mask[row0:row1, col0:col1].view(np.uint8) * np.uint8(255)
        self.inside, self.edge = (_ResizedLeaf(image, covered, sampling) for sampling in (INTERIOR, EDGE))

    @cached_property
    def background(self) -> Plane:
        """White where the leaf isn't."""
        return cv2.bitwise_not(self.edge.coverage)

    @cached_property
    def edge_centres(self) -> list[NDArray[np.intp]]:
        """The centres of the rings that cross the edge."""
        return self.edge.find_centres(inside=False)


def measure_interior(texture: LeafTexture) -> NDArray[np.float32]:
    """Measure veins, hairs and gloss: in the grey picture, where the ring lies in the leaf; float32 (456,)."""
    return texture.inside.compute_features(texture.inside.grey, texture.inside.find_centres(inside=True))


def measure_border(texture: LeafTexture) -> NDArray[np.float32]:
    """Measure the leaf on white, where the ring crosses the edge; float32 (912,)."""
    leaf = texture.edge
    on_white = cv2.add(cv2.multiply(leaf.grey, leaf.coverage, scale=1 / 255), texture.background)
    return leaf.compute_features(on_white, texture.edge_centres)


def measure_outline(texture: LeafTexture) -> NDArray[np.float32]:
    """Measure teeth and lobes: in the mask alone, where the ring crosses the edge; float32 (912,)."""
    return texture.edge.compute_features(texture.background, texture.edge_centres)


class _ResizedLeaf:
    """The box of a leaf, resized for a sampling, with a margin; planes are computed when first accessed."""

    def __init__(self, image: Plane, mask: Plane, sampling: Sampling) -> None:
        self._image, self._mask, self._sampling = image, mask, sampling
        _, self._size = choose_size(mask, sampling.side)
        self._margins = (
            *_choose_margins(self._size[1], sampling.levels),
            *_choose_margins(self._size[0], sampling.levels),
        )

    @cached_property
    def grey(self) -> Plane:
        """The grey picture; the margin repeats the box's edge."""
        plane = self._resize(cv2.cvtColor(self._image, cv2.COLOR_BGR2GRAY))
        return cv2.copyMakeBorder(plane, *self._margins, cv2.BORDER_REPLICATE)

    @cached_property
    def coverage(self) -> Plane:
        """Share of each pixel that is leaf, 0 … 255."""
        return cv2.copyMakeBorder(self._resize(self._mask), *self._margins, cv2.BORDER_CONSTANT, value=0)

    def find_centres(self, inside: bool) -> list[NDArray[np.intp]]:
        """Find, for every scale, the leaf's pixels whose ring lies inside it, or those whose ring crosses its edge."""
        # A hair thinner than a pixel covers no pixel by half: the most covered ones stand for it.
        leaf = (self.coverage >= np.clip(self.coverage.max(), 1, 128)).view(np.uint8)
        levels = self._sampling.levels
        # Share of leaf of each pixel (0 … 1), and its mean distance to the edge in finest pixels.
        leaves = [share >= 0.5 for share in _average_levels(leaf.astype(np.float32), levels)]
        distances = _average_levels(cv2.distanceTransform(leaf, cv2.DIST_L2, cv2.DIST_MASK_5), levels)
        found = [(index_centres(is_leaf), far[is_leaf]) for is_leaf, far in zip(leaves, distances, strict=True)]
        if inside:
            # The many pixels of the interior are thinned out; few lie along the edge.
            steps = [1 + centres.size // MAX_CENTRES for centres, _ in found]
            found = [(centres[::step], far[::step]) for (centres, far), step in zip(found, steps, strict=True)]
        by_scale = [(scale, *found[scale.level]) for scale in self._sampling.scales]
        return [centres[(far > scale.radius) == inside] for scale, centres, far in by_scale]

    def compute_features(self, plane: Plane, centres: Sequence[NDArray[np.intp]]) -> NDArray[np.float32]:
        """Compute the features of a plane of this size around the centres of every scale."""
        coded = [CodedLevel(level) for level in build_pyramid(plane, self._sampling.levels)]
        by_scale = zip(self._sampling.scales, centres, strict=True)
        counts = [coded[scale.level].count_codes(chosen, scale) for scale, chosen in by_scale]
        return compute_fourier_features(np.stack(counts)).ravel()

    def _resize(self, crop: Plane) -> Plane:
        # Averaging over parts of pixels would take ten times as long as downsampling by 2 and interpolation.
        while crop.shape[1] >= 2 * self._size[0] and crop.shape[0] >= 2 * self._size[1]:
            crop = downsample2(crop)
        return cv2.resize(crop, self._size, interpolation=cv2.INTER_LINEAR)


def _choose_margins(length: int, levels: int) -> tuple[int, int]:
    """Choose margins such that the coarsest level ends with a pixel of background, and has whole pixels only."""
    step = 2 ** (levels - 1)
    total = 3 * step + -(length + 3 * step) % step
    return total // 2, total - total // 2


def _average_levels(plane: NDArray[np.float32], levels: int) -> list[NDArray[np.float32]]:
    """List the plane and its means over blocks of 2, 4, 8 … pixels."""
    result = [plane]
    for _ in range(levels - 1):
        result.append(downsample2(result[-1]))
    return result
