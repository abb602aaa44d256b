"""The texture of a leaf's inside, of its edge and of its outline, by multi-scale local binary patterns."""

from collections.abc import Sequence
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.surface import lbp
from leafid.segmentation.result import downsample2, find_bounding_box

Plane = NDArray[np.uint8]

_MAX_SIDE = 800  # longest side after resizing, in pixels: bounds the memory that a hair-thin leaf takes
MAX_CENTRES = 4096  # approximate maximum number of ring centres in the interior of a level: every n-th pixel


def _choose_size(box: Plane, root_area: float) -> tuple[int, int]:
    """Choose the columns and rows at which a leaf has a given √area in pixels; `box` is non-zero where the leaf is."""
    factor = min(root_area / np.sqrt(cv2.countNonZero(box)), _MAX_SIDE / max(box.shape))
    rows, cols = box.shape
    return max(1, round(cols * factor)), max(1, round(rows * factor))


# √area of the resized leaf in pixels, and rings. Species differ in their fine veins and in the coarse course of their
# edge: on leaves of held-out plants, the interior's coarser rings add nothing, and coarser ones help the border.
INTERIOR = 226.0, lbp.make_ring_scales(1)
EDGE = 160.0, lbp.make_ring_scales(5)


def name_texture_values(scales: Sequence[lbp.Scale]) -> tuple[str, ...]:
    """Name the values of a texture: ``r03.0_sign_n2_h1`` is radius, part, ones in the code, harmonic."""
    # Mean distances to the neighbours of a ring, in pixels of the full picture.
    radii = [
        (straight + diagonal * np.sqrt(2)) / 2 * 2**level
        for level, straight, diagonal in scales
    ]
    kinds = [
        f"n{ones}_h{harmonic}" for ones in range(1, 8) for harmonic in range(5)
    ] + ["none", "all", "mixed"]
    values = [f"{part}_{kind}" for part in ("sign", "magnitude") for kind in kinds]
    return tuple(f"r{radius:04.1f}_{value}" for radius in radii for value in values)


INTERIOR_NAMES = name_texture_values(INTERIOR[1])
BORDER_NAMES = OUTLINE_NAMES = name_texture_values(EDGE[1])


class TexturedLeaf:
    """A leaf as its texture is measured: its box resized, with a margin.

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

    def __init__(
        self,
        grey: Plane,
        mask: NDArray[np.bool_],
        side: float,
        scales: tuple[lbp.Scale, ...],
    ) -> None:
        row0, row1, col0, col1 = find_bounding_box(mask)
        coverage = mask[row0:row1, col0:col1].view(np.uint8) * np.uint8(255)
        size = _choose_size(coverage, side)
        self._scales = scales
        self._levels = 1 + max(scale.level for scale in scales)
        # The coarsest level ends with a pixel of background, and has whole pixels only.
        step = 2 ** (self._levels - 1)
        height, width = (
            3 * step + -(length + 3 * step) % step for length in size[::-1]
        )
        margins = height // 2, height - height // 2, width // 2, width - width // 2
        #: The grey picture; the margin repeats the box's edge.
        self.grey = cv2.copyMakeBorder(
            _resize(grey[row0:row1, col0:col1], size), *margins, cv2.BORDER_REPLICATE
        )
        #: Share of each pixel that is leaf, 0 … 255.
        self.coverage = cv2.copyMakeBorder(
            _resize(coverage, size), *margins, cv2.BORDER_CONSTANT, value=0
        )

    @cached_property
    def edge_centres(self) -> list[NDArray[np.intp]]:
        """For every scale, the leaf's pixels whose ring crosses its edge."""
        levels = (
            (self._insides[scale.level], scale.straight) for scale in self._scales
        )
        # NumPy searches bools several times faster than integers.
        return [
            np.flatnonzero((insides[0] - insides[step]).view(bool))
            for insides, step in levels
        ]

    @cached_property
    def interior_centres(self) -> list[NDArray[np.intp]]:
        """For every scale, the pixels whose ring lies inside the leaf; they are thinned out, as there are many."""
        centres = []
        for scale in self._scales:
            insides = self._insides[scale.level]
            step = 1 + cv2.countNonZero(insides[0]) // MAX_CENTRES
            centres.append(
                step
                * np.flatnonzero(insides[scale.straight].view(bool).ravel()[::step])
            )
        return centres

    def compute_features(
        self, plane: Plane, centres: Sequence[NDArray[np.intp]]
    ) -> NDArray[np.float32]:
        """Compute the features of a plane of this size around the centres of every scale."""
        padded = [
            lbp.pad_level(level) for level in lbp.build_pyramid(plane, self._levels)
        ]
        by_scale = zip(self._scales, centres, strict=True)
        counts = [
            lbp.count_codes(padded[scale.level], chosen, scale)
            for scale, chosen in by_scale
        ]
        return lbp.compute_fourier_features(np.stack(counts)).ravel()

    @cached_property
    def _insides(self) -> list[dict[int, Plane]]:
        """For every level, padded, the leaf's pixels as `erode_by_rings` returns them."""
        coverage = self.coverage
        # A hair thinner than a pixel covers no pixel by half: the most covered ones stand for it.
        insides = [
            lbp.erode_by_rings(
                lbp.pad_level(
                    (coverage >= np.clip(coverage.max(), 1, 128)).view(np.uint8)
                )
            )
        ]
        for _ in range(self._levels - 1):
            coverage = downsample2(coverage)
            insides.append(
                lbp.erode_by_rings(lbp.pad_level((coverage >= 128).view(np.uint8)))
            )
        return insides


def _resize(crop: Plane, size: tuple[int, int]) -> Plane:
    # Averaging over parts of pixels would take ten times as long as downsampling by 2 and interpolation.
    while crop.shape[1] >= 2 * size[0] and crop.shape[0] >= 2 * size[1]:
        crop = downsample2(crop)
    return cv2.resize(crop, size, interpolation=cv2.INTER_LINEAR)


def measure_interior(leaf: TexturedLeaf) -> NDArray[np.float32]:
    """Measure veins, hairs and gloss: in the grey picture, where the ring lies in the leaf; float32 (304,)."""
    return leaf.compute_features(leaf.grey, leaf.interior_centres)


def measure_border(leaf: TexturedLeaf) -> NDArray[np.float32]:
    """Measure the leaf on white, where the ring crosses the edge; float32 (912,)."""
    on_black = cv2.multiply(leaf.grey, leaf.coverage, scale=1 / 255)
    on_white = cv2.add(on_black, cv2.bitwise_not(leaf.coverage))
    return leaf.compute_features(on_white, leaf.edge_centres)


def measure_outline(leaf: TexturedLeaf) -> NDArray[np.float32]:
    """Measure teeth and lobes: in the mask alone, where the ring crosses the edge; float32 (912,)."""
    return leaf.compute_features(cv2.bitwise_not(leaf.coverage), leaf.edge_centres)
