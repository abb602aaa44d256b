"""Local features: SIFT of grey and colour, on a grid and at detected points, colour statistics, and shape contexts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from leafid.descriptors.local.grid import N_CELLS, Grid, Windows, average_cells, read_patches
from leafid.descriptors.local.inner_distance import inner_distance_context

N_ORIENTATIONS = 8
# Of a cell: means and standard deviations of three channels.
_COLOUR_VALUES = 6
# Values of a descriptor: those of its cells, one after the other.
SIFT_LENGTH = N_ORIENTATIONS * N_CELLS**2
CHROMA_LENGTH = 2 * SIFT_LENGTH
COLOUR_LENGTH = _COLOUR_VALUES * N_CELLS**2
# Grey values are in [0, 1]; a cell whose gradients sum to less than this holds camera noise rather than structure.
_NOISE_FLOOR = 0.02
# Grey levels are held in 1/128; a component along a diagonal is √2 times the smaller of the two differences.
_PRECISION = 128
_PLANE_UNITS = np.where(np.arange(N_ORIENTATIONS) % 2, np.sqrt(2), 1).astype(np.float32) / (255 * _PRECISION)


@dataclass(frozen=True, slots=True)
class LocalFeatures:
    """Many small pieces of one picture.

    Attributes
    ----------
    descriptors : float32 (n, d)
    positions : float32 (n, 2)
        Row and column of each patch's centre, relative to the picture's rows and columns, in [0, 1].
    scales : float32 (n,)
        Binary logarithm of the patch side relative to the picture's longest side.
    """

    descriptors: np.ndarray
    positions: np.ndarray
    scales: np.ndarray

    def __len__(self) -> int:
        return len(self.descriptors)

    def at(self, chosen: np.ndarray) -> LocalFeatures:
        """Give those at some indices."""
        return LocalFeatures(self.descriptors[chosen], self.positions[chosen], self.scales[chosen])


def concatenate_features(pieces: Sequence[LocalFeatures]) -> LocalFeatures:
    """Put the local features of several pictures, views or scales together; at least one."""
    return LocalFeatures(
        np.concatenate([piece.descriptors for piece in pieces]),
        np.concatenate([piece.positions for piece in pieces]),
        np.concatenate([piece.scales for piece in pieces]),
    )


def tile_features(features: LocalFeatures, number: int) -> LocalFeatures:
    """Repeat local features until there are so many; where there are none, take some that are all 0."""
    if len(features):
        return features.at(np.resize(np.arange(len(features)), number))
    return LocalFeatures(
        np.zeros((number, features.descriptors.shape[1]), np.float32),
        np.zeros((number, 2), np.float32),
        np.zeros(number, np.float32),
    )


def dense_sift(grey: np.ndarray, region: np.ndarray | None = None, grid: Grid | None = None) -> LocalFeatures:
    """RootSIFT descriptors on a grid, at several patch sizes.

    One plane of gradient strength per orientation is pooled into square cells; a descriptor is a window of 4 × 4
    cells, so that neighbouring descriptors share their cells and nothing is computed twice. Larger patches are read
    from reduced copies of the picture. Patches are upright: turn the leaf first where its orientation should not count.

    Parameters
    ----------
    grey : uint8 (H, W)
    region : bool (H, W), optional
        Only patches that this region covers far enough are kept; all by default.
    grid : Grid, optional
        Which patches; by default all of five sizes.

    Returns
    -------
    LocalFeatures
        ``d`` is 128; non-negative with an L2 norm of at most 1: next to 1 where there is structure, less where there
        is little of it, 0 where there is none. Empty where the picture is smaller than a patch or no patch meets the
        region.

    Notes
    -----
    A gradient is taken apart into its components along the two nearest of eight directions: for the first octant,
    ``a · (1, 0) + b · (1, 1) / √2`` with ``b = √2 · down`` and ``a = right - down``. It shares the gradient between
    them as interpolation by its angle does, to within a twelfth, and takes differences and minima instead of an angle.

    References
    ----------
    .. [1] D. G. Lowe, "Distinctive image features from scale-invariant keypoints", IJCV 60(2), 2004,
       doi:10.1023/B:VISI.0000029664.99615.94
    .. [2] R. Arandjelović, A. Zisserman, "Three things everyone should know to improve object retrieval", CVPR 2012,
       doi:10.1109/CVPR.2012.6248018
    """
    found = read_patches(grey, region, grid or Grid(), _orientation_cells, _orientation_order)
    return _none(SIFT_LENGTH) if found is None else _root_sift(found)


def dense_chroma_sift(lab: np.ndarray, region: np.ndarray | None = None, grid: Grid | None = None) -> LocalFeatures:
    """RootSIFT descriptors of the two colour channels of Lab, on the grid of `dense_sift`.

    They tell where hues meet, as at veins, stalks, young shoots and light that shines through, and nothing of what
    colour a patch is as a whole. Both channels are normalised together: by how much each changes counts. Patches in
    which hues change no more than by camera noise are left out: of a grey picture nothing is left.

    Parameters
    ----------
    lab : uint8 (H, W, 3)
        As ``cv2.cvtColor(image, cv2.COLOR_BGR2LAB)`` gives it.
    region, grid
        As in `dense_sift`.

    Returns
    -------
    LocalFeatures
        ``d`` is 256: for each cell eight values of a (green to red) and eight of b (blue to yellow); non-negative with
        an L2 norm of at most 1, less for patches of little structure.

    References
    ----------
    .. [1] K. van de Sande, T. Gevers, C. Snoek, "Evaluating color descriptors for object and scene recognition",
       IEEE TPAMI 32(9), 2010, section 3.3, doi:10.1109/TPAMI.2009.154
    """
    chroma = np.ascontiguousarray(lab[:, :, 1:])
    found = read_patches(chroma, region, grid or Grid(), _chroma_cells, _chroma_order)
    return _none(CHROMA_LENGTH) if found is None else _root_sift(found, least=_NOISE_FLOOR)


def dense_colour(lab: np.ndarray, region: np.ndarray | None = None, grid: Grid | None = None) -> LocalFeatures:
    """Means and standard deviations of the Lab channels in 4 × 4 cells, on the grid of `dense_sift`.

    Parameters
    ----------
    lab, region, grid
        As in `dense_chroma_sift`.

    Returns
    -------
    LocalFeatures
        ``d`` is 96: for each cell three means and three standard deviations, in [0, 1].

    References
    ----------
    .. [1] F. Perronnin, J. Sánchez, T. Mensink, "Improving the Fisher kernel for large-scale image classification",
       ECCV 2010, section 4.1, doi:10.1007/978-3-642-15561-1_11
    """
    found = read_patches(lab, region, grid or Grid(), _colour_cells, lambda way: np.arange(_COLOUR_VALUES))
    if found is None:
        return _none(COLOUR_LENGTH)
    return LocalFeatures(found.values, found.positions, found.scales)


def detected_sift(grey: np.ndarray, region: np.ndarray | None = None, *, max_points: int = 500) -> LocalFeatures:
    """RootSIFT descriptors at the points that SIFT's own detector finds, turned and scaled as it says.

    Parameters
    ----------
    grey : uint8 (H, W)
    region : bool (H, W), optional
        Points outside of it are left out.
    max_points : int, default 500
        The strongest ones are kept.

    Returns
    -------
    LocalFeatures
        ``d`` is 128; non-negative with an L2 norm just below 1: where a point is found there is structure.

    References
    ----------
    As for `dense_sift`.
    """
    mask = None if region is None else region.astype(np.uint8)
    points, found = cv2.SIFT.create(nfeatures=max_points).detectAndCompute(grey, mask)
    if not points:
        return _none(SIFT_LENGTH)
    rows, cols = grey.shape
    positions = np.array([(point.pt[1] / rows, point.pt[0] / cols) for point in points], np.float32)
    sides = np.array([point.size for point in points], np.float32) / max(rows, cols)
    return LocalFeatures(_root_normalised(found), positions, np.log2(sides))


def inner_distance_features(mask: np.ndarray) -> LocalFeatures:
    """Inner-distance shape contexts of the outline's points, as local features.

    Parameters
    ----------
    mask : bool (H, W)
        The leaf, not empty.

    Returns
    -------
    LocalFeatures
        ``d`` is 60. Places and sizes are all the same: where a point lies, its descriptor tells.

    References
    ----------
    As for `leafid.descriptors.local.inner_distance.inner_distance_context`.
    """
    found = inner_distance_context(mask)
    return LocalFeatures(found, np.full((len(found), 2), 0.5, np.float32), np.zeros(len(found), np.float32))


def _orientation_cells(grey: np.ndarray, cell: int) -> np.ndarray:
    """Give the square root of each cell's mean gradient along 8 directions, from right over down."""
    n_rows, n_cols = grey.shape[0] // cell, grey.shape[1] // cell
    rows, cols = n_rows * cell, n_cols * cell
    # Sixteen bits, for the means to keep their precision; what would be negative becomes 0.
    framed = cv2.copyMakeBorder(grey, 1, 1, 1, 1, cv2.BORDER_REFLECT_101).astype(np.uint16)
    framed *= np.uint16(_PRECISION)
    across, down = framed[1 : rows + 1], framed[:, 1 : cols + 1]
    left, right, above, below = across[:, :cols], across[:, 2 : cols + 2], down[:rows], down[2 : rows + 2]
    east, west = cv2.subtract(right, left), cv2.subtract(left, right)
    south, north = cv2.subtract(below, above), cv2.subtract(above, below)
    sideways, upright = cv2.add(east, west), cv2.add(south, north)
    planes = np.empty((N_ORIENTATIONS, rows, cols), np.uint16)
    cv2.subtract(east, upright, planes[0])
    cv2.min(east, south, planes[1])
    cv2.subtract(south, sideways, planes[2])
    cv2.min(south, west, planes[3])
    cv2.subtract(west, upright, planes[4])
    cv2.min(west, north, planes[5])
    cv2.subtract(north, sideways, planes[6])
    cv2.min(north, east, planes[7])
    # One below the other they are averaged in one go.
    means = average_cells(planes.reshape(N_ORIENTATIONS * rows, cols), cell).reshape(N_ORIENTATIONS, n_rows * n_cols)
    cells = cv2.transpose(means).astype(np.float32)
    cells *= _PLANE_UNITS
    return np.sqrt(cells, out=cells).reshape(n_rows, n_cols, N_ORIENTATIONS)


def _orientation_order(way: int) -> np.ndarray:
    """List the orientations as they stand in a turned and mirrored cell; ways as in `SYMMETRIES`."""
    order = (np.arange(N_ORIENTATIONS) + way // 2 * (N_ORIENTATIONS // 4)) % N_ORIENTATIONS
    return order[(N_ORIENTATIONS // 2 - np.arange(N_ORIENTATIONS)) % N_ORIENTATIONS] if way % 2 else order


def _chroma_cells(chroma: np.ndarray, cell: int) -> np.ndarray:
    return np.concatenate([_orientation_cells(plane, cell) for plane in cv2.split(chroma)], axis=2)


def _chroma_order(way: int) -> np.ndarray:
    order = _orientation_order(way)
    return np.concatenate([order, N_ORIENTATIONS + order])


def _colour_cells(lab: np.ndarray, cell: int) -> np.ndarray:
    values = lab.astype(np.float32) / 255
    means = average_cells(values, cell)
    spread = np.sqrt(np.maximum(average_cells(values * values, cell) - means * means, 0))
    return np.concatenate([means, spread], axis=2)


def _root_sift(windows: Windows, least: float = 0.0) -> LocalFeatures:
    """Normalise windows of cells that hold square roots, in place; those whose gradients sum to less are left out."""
    # The squares sum to what the window's gradients sum to.
    sums = np.einsum("ij,ij->i", windows.values, windows.values)
    windows.values[...] *= (1 / np.sqrt(sums + _NOISE_FLOOR))[:, None]
    features = LocalFeatures(windows.values, windows.positions, windows.scales)
    return features if (sums >= least).all() else features.at(np.flatnonzero(sums >= least))


def _root_normalised(descriptors: np.ndarray) -> np.ndarray:
    """Square roots of the shares of each value in its row; nearly empty rows shrink towards zero."""
    sums = descriptors.sum(axis=1, keepdims=True)
    return np.sqrt(descriptors / (sums + _NOISE_FLOOR))


def _none(n_values: int) -> LocalFeatures:
    return LocalFeatures(np.empty((0, n_values), np.float32), np.empty((0, 2), np.float32), np.empty(0, np.float32))
