"""The texture of a leaf's inside, of its edge and of its outline, by multi-scale local binary patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.checks import check_picture
from leafid.descriptors.lbp import CodedLevel, Scale, fourier_features, positions, pyramid, ring_scales
from leafid.descriptors.resizing import resized
from leafid.segmentation.result import downsample2, find_bounding_box

PLACES = 16384
"""For the interior at most so many pixels of a leaf are looked at on a level: every n-th in reading order."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How large a leaf is looked at, and by which rings.

    Attributes
    ----------
    side : float
        √area of the resized leaf, in pixels.
    scales : tuple of Scale
    """

    side: float
    scales: tuple[Scale, ...]

    @property
    def levels(self) -> int:
        """Levels of the pyramid that the scales need."""
        return 1 + max(scale.level for scale in self.scales)


# Species differ in their fine veins and in the coarse course of their edge: on leaves of plants that were not trained
# on, finer rings help the interior (coarse ones harm it), coarser ones help the border.
INTERIOR = Sampling(226.0, ring_scales(2))
EDGE = Sampling(160.0, ring_scales(5))
_PARTS = ("sign", "magnitude")


class LeafTexture:
    """Texture features of one leaf, all non-negative; each is made when it is first asked for.

    The leaf is resized to one area, so that all radii are relative to √area. With the scale's radius R, a place in the
    leaf is interior when it lies more than R from the edge, so that its whole ring is leaf, and border otherwise.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        BGR.
    mask : ndarray of bool, shape (H, W)
        The leaf, best without its stalk.
    interior, edge : Sampling
        Of the interior, and of border and outline; a part has 76 values a scale.

    Raises
    ------
    ValueError
        When the arrays are not of the dtypes and shapes above, or don't fit together.
    LeafidError
        When the mask is empty.

    See Also
    --------
    leafid.descriptors.lbp.ring_scales : the default scales.
    leafid.classifiers.feature_map.chi2_map : what a linear classifier wants these features to go through.

    References
    ----------
    .. [1] M. Šulc, J. Matas, "Texture-based leaf identification", ECCV 2014 workshops, section 3,
       doi:10.1007/978-3-319-16220-1_14
    .. [2] G. Zhao, T. Ahonen, J. Matas, M. Pietikäinen, "Rotation-invariant image and video description with local
       binary pattern features", IEEE Transactions on Image Processing 21(4), 2012, doi:10.1109/TIP.2011.2175739
    """

    def __init__(
        self,
        image: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        *,
        interior: Sampling = INTERIOR,
        edge: Sampling = EDGE,
    ) -> None:
        check_picture(image, mask)
        row0, row1, col0, col1 = find_bounding_box(mask)
        image, covered = image[row0:row1, col0:col1], mask[row0:row1, col0:col1].view(np.uint8) * np.uint8(255)
        self._interior, self._edge = (_Resized(image, covered, sampling) for sampling in (interior, edge))

    @cached_property
    def interior(self) -> NDArray[np.float32]:
        """Of the places whose neighbourhood lies in the leaf, from the grey picture: veins, hairs, gloss.

        ndarray of float32, shape (456,)
        """
        return self._interior.features(self._interior.grey, self._interior.places(inside=True))

    @cached_property
    def border(self) -> NDArray[np.float32]:
        """Of the places whose neighbourhood crosses the edge, from the leaf before a white ground.

        ndarray of float32, shape (912,)
        """
        leaf, ground = self._edge, self._ground
        before_white = cv2.add(cv2.multiply(leaf.grey, leaf.coverage, scale=1 / 255), ground)
        return leaf.features(before_white, self._along)

    @cached_property
    def outline(self) -> NDArray[np.float32]:
        """Of the same places, from the mask alone: teeth and lobes, without any light or colour.

        ndarray of float32, shape (912,)
        """
        return self._edge.features(self._ground, self._along)

    @cached_property
    def _ground(self) -> NDArray[np.uint8]:
        return cv2.bitwise_not(self._edge.coverage)

    @cached_property
    def _along(self) -> list[NDArray[np.intp]]:
        return self._edge.places(inside=False)


def texture_names(scales: Sequence[Scale]) -> list[str]:
    """Name the values of a texture: ``r03.0_sign_n2_h1`` is radius, part, ones in the code, harmonic."""
    kinds = [f"n{ones}_h{harmonic}" for ones in range(1, 8) for harmonic in range(5)] + ["none", "all", "mixed"]
    return [f"r{scale.radius:04.1f}_{part}_{kind}" for scale in scales for part in _PARTS for kind in kinds]


def interior_texture(texture: LeafTexture) -> NDArray[np.float32]:
    """Take the features of the interior."""
    return texture.interior


def interior_texture_names() -> list[str]:
    """Name the values of `interior_texture`, in order."""
    return texture_names(INTERIOR.scales)


def border_texture(texture: LeafTexture) -> NDArray[np.float32]:
    """Take the features of the border."""
    return texture.border


def border_texture_names() -> list[str]:
    """Name the values of `border_texture`, in order."""
    return texture_names(EDGE.scales)


def outline_texture(texture: LeafTexture) -> NDArray[np.float32]:
    """Take the features of the outline."""
    return texture.outline


def outline_texture_names() -> list[str]:
    """Name the values of `outline_texture`, in order."""
    return texture_names(EDGE.scales)


class _Resized:
    """The box of a leaf, brought to the size of a sampling, with a margin; all is made when it is first asked for."""

    def __init__(self, image: NDArray[np.uint8], mask: NDArray[np.uint8], sampling: Sampling) -> None:
        self._image, self._mask, self._sampling = image, mask, sampling
        _, self._size = resized(mask, sampling.side)
        self._margins = (*_margins(self._size[1], sampling.levels), *_margins(self._size[0], sampling.levels))

    @cached_property
    def grey(self) -> NDArray[np.uint8]:
        """The margin repeats the box's edge."""
        plane = self._brought_to_size(cv2.cvtColor(self._image, cv2.COLOR_BGR2GRAY))
        return cv2.copyMakeBorder(plane, *self._margins, cv2.BORDER_REPLICATE)

    @cached_property
    def coverage(self) -> NDArray[np.uint8]:
        """How much of each pixel is leaf, 0 … 255."""
        return cv2.copyMakeBorder(self._brought_to_size(self._mask), *self._margins, cv2.BORDER_CONSTANT, value=0)

    def places(self, inside: bool) -> list[NDArray[np.intp]]:
        """List, for every scale, places in the leaf whose ring lies inside it, or those whose ring crosses its edge."""
        # Of a hair thinner than a pixel, what covers most is all there is.
        leaf = (self.coverage >= np.clip(self.coverage.max(), 1, 128)).view(np.uint8)
        levels = self._sampling.levels
        # How much of each pixel is leaf (0 … 1), and its mean distance to the edge in finest pixels.
        leaves = [share >= 0.5 for share in _halved(leaf.astype(np.float32), levels)]
        means = _halved(cv2.distanceTransform(leaf, cv2.DIST_L2, cv2.DIST_MASK_5), levels)
        found = [(positions(here), far[here]) for here, far in zip(leaves, means, strict=True)]
        if inside:
            # Most places of a leaf do, and are as many as to be thinned out; few lie along the edge.
            steps = [1 + here.size // PLACES for here, _ in found]
            found = [(here[::step], far[::step]) for (here, far), step in zip(found, steps, strict=True)]
        levelled = [found[scale.level] for scale in self._sampling.scales]
        return [
            here[(far > scale.radius) == inside]
            for scale, (here, far) in zip(self._sampling.scales, levelled, strict=True)
        ]

    def features(self, plane: NDArray[np.uint8], places: Sequence[NDArray[np.intp]]) -> NDArray[np.float32]:
        """Describe a plane of this size at the places of every scale."""
        coded = [CodedLevel(level) for level in pyramid(plane, self._sampling.levels)]
        counts = [
            coded[scale.level].counts(where, scale) for scale, where in zip(self._sampling.scales, places, strict=True)
        ]
        return fourier_features(np.stack(counts)).ravel()

    def _brought_to_size(self, crop: NDArray[np.uint8]) -> NDArray[np.uint8]:
        # Means over parts of pixels would take ten times as long as halves and interpolation.
        while crop.shape[1] >= 2 * self._size[0] and crop.shape[0] >= 2 * self._size[1]:
            crop = downsample2(crop)
        return cv2.resize(crop, self._size, interpolation=cv2.INTER_LINEAR)


def _margins(length: int, levels: int) -> tuple[int, int]:
    """Room before and behind: the coarsest level ends with a pixel that is ground, and has whole pixels only."""
    step = 2 ** (levels - 1)
    room = 3 * step + -(length + 3 * step) % step
    return room // 2, room - room // 2


def _halved(plane: NDArray[np.float32], levels: int) -> list[NDArray[np.float32]]:
    """List the plane and its means over blocks of 2, 4, 8 … pixels, of which there are whole ones only."""
    result = [plane]
    for _ in range(levels - 1):
        result.append(downsample2(result[-1]))
    return result
