"""The texture of a leaf's inside and of its outline, by local binary patterns."""

from collections.abc import Sequence

import cv2
import numpy as np

from leafid.descriptors.arrays import Indices, Plane, Singles
from leafid.descriptors.surface import lbp
from leafid.segmentation.pixels import (
    Image,
    Mask,
    downsample2,
    find_bounding_box,
    get_window,
    scale_size,
)

# Longest side after resizing, in pixels: bounds the memory that a hair-thin leaf takes.
_MAX_SIDE = 800
#: Approximate maximum number of ring centres in the interior: every n-th pixel.
MAX_CENTRES = 4096
# √area of the resized leaf in pixels, and rings. Species differ in their fine veins and
# in the coarse course of their edge: on leaves of held-out plants, the interior's
# coarser rings add nothing, and coarser ones help the edge.
_INTERIOR_SIDE = 226.0
_INTERIOR_SCALES = lbp.make_ring_scales(1)
_EDGE_SIDE = 160.0
_EDGE_SCALES = lbp.make_ring_scales(5)


def name_texture_values(scales: Sequence[lbp.Scale]) -> tuple[str, ...]:
    """Name the values of a texture.

    ``r03.0_sign_n2_h1`` is radius, part, ones in the code, harmonic.
    """
    kinds = [f"n{ones}_h{harmonic}" for ones in range(1, 8) for harmonic in range(5)]
    kinds += ["none", "all", "mixed"]
    values = [f"{part}_{kind}" for part in ("sign", "magnitude") for kind in kinds]
    names: list[str] = []
    for level, straight, diagonal in scales:
        # Mean distance to the neighbours of a ring, in pixels of the full picture.
        radius = (straight + diagonal * np.sqrt(2)) / 2 * 2**level
        names += [f"r{radius:04.1f}_{value}" for value in values]
    return tuple(names)


INTERIOR_NAMES = name_texture_values(_INTERIOR_SCALES)
OUTLINE_NAMES = name_texture_values(_EDGE_SCALES)


def measure_interior(image: Image, blade: Mask) -> Singles:
    """Measure veins, hairs and gloss in the grey picture of a leaf.

    The leaf, best without its petiole, is resized to one area, so that all radii are
    relative to √area. A pixel of the leaf is interior when it lies farther from the
    edge than the radius of a scale, so that its whole ring is leaf. Each scale has 76
    values, which need the feature map ``chi2`` before a linear classifier
    (`leafid.learning.classifiers.linear`).

    Parameters
    ----------
    image : uint8 (H, W, 3)
    blade : bool (H, W)

    Returns
    -------
    float32 (304,)
        As named in `INTERIOR_NAMES`.

    References
    ----------
    .. [1] M. Šulc, J. Matas, "Texture-based leaf identification", ECCV 2014 workshops,
       section 3, doi:10.1007/978-3-319-16220-1_14
    .. [2] G. Zhao, T. Ahonen, J. Matas, M. Pietikäinen, "Rotation-invariant image and
       video description with local binary pattern features", IEEE Transactions on Image
       Processing 21(4), 2012, doi:10.1109/TIP.2011.2175739
    """
    coverage = _frame_coverage(blade, _INTERIOR_SIDE, _INTERIOR_SCALES)
    window = get_window(find_bounding_box(blade))
    grey = cv2.cvtColor(image[window], cv2.COLOR_BGR2GRAY)
    size = _choose_size(blade[window], _INTERIOR_SIDE)
    framed = _frame(grey, size, _INTERIOR_SCALES, cv2.BORDER_REPLICATE)
    centres = []
    for insides, step in _list_insides(coverage, _INTERIOR_SCALES):
        thinning = 1 + cv2.countNonZero(insides[0]) // MAX_CENTRES
        is_inside = insides[step].view(bool).ravel()[::thinning]
        centres.append(thinning * np.flatnonzero(is_inside))
    return _compute_features(framed, _INTERIOR_SCALES, centres)


def measure_outline(image: Image, blade: Mask) -> Singles:
    """Measure teeth and lobes in the mask alone, where a ring crosses the edge.

    The method is as for `measure_interior`.

    Parameters
    ----------
    image : uint8 (H, W, 3)
        It has no effect.
    blade : bool (H, W)

    Returns
    -------
    float32 (912,)
        As named in `OUTLINE_NAMES`.
    """
    coverage = _frame_coverage(blade, _EDGE_SIDE, _EDGE_SCALES)
    centres = [
        # NumPy searches bools several times faster than integers.
        np.flatnonzero((insides[0] - insides[step]).view(bool))
        for insides, step in _list_insides(coverage, _EDGE_SCALES)
    ]
    return _compute_features(cv2.bitwise_not(coverage), _EDGE_SCALES, centres)


def _frame_coverage(blade: Mask, side: float, scales: Sequence[lbp.Scale]) -> Plane:
    """Compute the share of each pixel that is leaf, 0 to 255, at a √area in pixels."""
    box = blade[get_window(find_bounding_box(blade))]
    plane = box.view(np.uint8) * np.uint8(255)
    return _frame(plane, _choose_size(box, side), scales, cv2.BORDER_CONSTANT)


def _choose_size(blade: Mask, side: float) -> list[int]:
    """Choose the columns and rows of a blade, in its box, at a √area in pixels."""
    factor = side / np.sqrt(np.count_nonzero(blade))
    return scale_size(blade, min(factor, _MAX_SIDE / max(blade.shape)))


def _frame(
    plane: Plane,
    size: Sequence[int],
    scales: Sequence[lbp.Scale],
    border: int,
) -> Plane:
    """Resize a plane, and add a margin of whole pixels of the coarsest level."""
    # Averaging over parts of pixels would take ten times as long.
    while plane.shape[1] >= 2 * size[0] and plane.shape[0] >= 2 * size[1]:
        plane = downsample2(plane)
    plane = cv2.resize(plane, size, interpolation=cv2.INTER_LINEAR)
    step = 2 ** scales[-1].level
    spare = [3 * step + -length % step for length in plane.shape]
    top, left = (width // 2 for width in spare)
    bottom, right = spare[0] - top, spare[1] - left
    framed = cv2.copyMakeBorder(plane, top, bottom, left, right, border)
    return np.asarray(framed, np.uint8)


def _list_insides(
    coverage: Plane, scales: Sequence[lbp.Scale]
) -> list[tuple[list[Plane], int]]:
    """List for every scale its level's pixels by `erode_by_rings`, and its step."""
    levels = []
    # A hair thinner than a pixel covers no pixel by half: the most covered ones stand
    # for it.
    limit = np.clip(coverage.max(), 1, 128)
    for _ in range(scales[-1].level + 1):
        is_leaf = (coverage >= limit).view(np.uint8)
        levels.append(lbp.erode_by_rings(lbp.pad_level(is_leaf)))
        coverage = downsample2(coverage)
        limit = np.uint8(128)
    return [(levels[scale.level], scale.straight) for scale in scales]


def _compute_features(
    plane: Plane, scales: Sequence[lbp.Scale], centres: Sequence[Indices]
) -> Singles:
    """Compute the features of a plane around the centres of every scale."""
    pyramid = lbp.build_pyramid(plane, scales[-1].level + 1)
    padded = [lbp.pad_level(level) for level in pyramid]
    counts = [
        lbp.count_codes(padded[scale.level], places, scale)
        for scale, places in zip(scales, centres, strict=True)
    ]
    return lbp.compute_fourier_features(np.stack(counts)).ravel()
