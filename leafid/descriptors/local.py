"""Local features: SIFT on a dense grid and at detected points, and local colour statistics on the same grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

N_ORIENTATIONS = 8
N_CELLS = 4
# Of a cell: means and standard deviations of three channels.
_COLOUR_VALUES = 6
# Grey values are in [0, 1]; a cell whose gradients sum to less than this holds camera noise rather than structure.
_NOISE_FLOOR = 0.02


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


def pooled(pieces: Sequence[LocalFeatures]) -> LocalFeatures:
    """Put the local features of several pictures, views or scales together; at least one."""
    return LocalFeatures(
        np.concatenate([piece.descriptors for piece in pieces]),
        np.concatenate([piece.positions for piece in pieces]),
        np.concatenate([piece.scales for piece in pieces]),
    )


def mirrored(features: LocalFeatures, descriptor: str) -> LocalFeatures:
    """Give the dense features of the mirror image, without computing them again.

    A mirrored patch has the same cells in another order, and for SIFT the same orientations in another order.

    Parameters
    ----------
    features : LocalFeatures
        Of `dense_sift` or `dense_colour`.
    descriptor : {"dense-sift", "dense-colour"}
        Which of the two.

    Returns
    -------
    LocalFeatures
        In the same order: each is the mirror image of the one that was there.
    """
    cells = features.descriptors.reshape(len(features), N_CELLS, N_CELLS, local_length(descriptor) // N_CELLS**2)
    cells = cells[:, :, ::-1]
    if descriptor == "dense-sift":
        cells = cells[..., (N_ORIENTATIONS // 2 - np.arange(N_ORIENTATIONS)) % N_ORIENTATIONS]
    positions = features.positions * np.array([1, -1], np.float32) + np.array([0, 1], np.float32)
    return LocalFeatures(cells.reshape(features.descriptors.shape), positions, features.scales)


def symmetric(features: LocalFeatures, descriptor: str) -> LocalFeatures:
    """Mirror every second feature: the set is then alike for a picture and its mirror image, at no cost.

    Neighbouring patches overlap by three quarters, so that either half of them tells nearly all that both tell.

    Parameters
    ----------
    features, descriptor
        As in `mirrored`.
    """
    other = mirrored(features.at(np.arange(1, len(features), 2)), descriptor)
    return pooled([features.at(np.arange(0, len(features), 2)), other])


def local_length(descriptor: str) -> int:
    """Tell how many values a descriptor has: ``dense-sift``, ``detected-sift`` or ``dense-colour``."""
    return _COLOUR_VALUES * N_CELLS**2 if descriptor == "dense-colour" else N_ORIENTATIONS * N_CELLS**2


def dense_sift(
    grey: np.ndarray,
    region: np.ndarray | None = None,
    *,
    cell: int = 4,
    n_scales: int = 5,
    scale_factor: float = 2**0.5,
    coverage: float = 0.1,
) -> LocalFeatures:
    """RootSIFT descriptors on a grid, at several patch sizes.

    One plane of gradient magnitude per orientation is pooled into square cells; a descriptor is a window of 4 × 4
    cells, so that neighbouring descriptors share their cells and nothing is computed twice. Larger patches are read
    from reduced copies of the picture. Patches are upright: turn the leaf first where its orientation should not count.

    Parameters
    ----------
    grey : uint8 (H, W)
    region : bool (H, W), optional
        Only patches that this region covers far enough are kept; all by default.
    cell : int, default 4
        Side of a cell in pixels of each reduced copy; the grid step too.
    n_scales : int, default 5
        Number of patch sizes.
    scale_factor : float, default √2
        From each patch size to the next.
    coverage : float, default 0.1
        The share of a patch that the region must cover: 0.1 keeps the edge of a leaf, 0.95 only its inside.

    Returns
    -------
    LocalFeatures
        ``d`` is 128; non-negative with L2 norm 1 (0 for patches without structure). Empty where the picture is smaller
        than a patch or no patch meets the region.

    References
    ----------
    .. [1] D. G. Lowe, "Distinctive image features from scale-invariant keypoints", IJCV 60(2), 2004,
       doi:10.1023/B:VISI.0000029664.99615.94
    .. [2] R. Arandjelović, A. Zisserman, "Three things everyone should know to improve object retrieval", CVPR 2012,
       doi:10.1109/CVPR.2012.6248018
    """
    pieces = []
    for reduced in _pyramid(grey, cell, n_scales, scale_factor):
        windows = _windows(_orientation_cells(reduced.astype(np.float32) / 255, cell), reduced, region, cell, coverage)
        pieces.append(replace(windows, descriptors=_root_normalised(windows.descriptors)))
    return pooled(pieces) if pieces else _none(local_length("dense-sift"))


def dense_colour(
    lab: np.ndarray,
    region: np.ndarray | None = None,
    *,
    cell: int = 4,
    n_scales: int = 5,
    scale_factor: float = 2**0.5,
    coverage: float = 0.1,
) -> LocalFeatures:
    """Means and standard deviations of the Lab channels in 4 × 4 cells, on the grid of `dense_sift`.

    Parameters
    ----------
    lab : uint8 (H, W, 3)
        As ``cv2.cvtColor(image, cv2.COLOR_BGR2LAB)`` gives it.
    region, cell, n_scales, scale_factor, coverage
        As in `dense_sift`.

    Returns
    -------
    LocalFeatures
        ``d`` is 96: for each cell three means and three standard deviations, in [0, 1].

    References
    ----------
    .. [1] F. Perronnin, J. Sánchez, T. Mensink, "Improving the Fisher kernel for large-scale image classification",
       ECCV 2010, section 4.1, doi:10.1007/978-3-642-15561-1_11
    """
    pieces = []
    for reduced in _pyramid(lab, cell, n_scales, scale_factor):
        values = reduced.astype(np.float32) / 255
        means = _pooled(values, cell)
        spread = np.sqrt(np.maximum(_pooled(values * values, cell) - means * means, 0))
        pieces.append(_windows(np.concatenate([means, spread], axis=2), reduced, region, cell, coverage))
    return pooled(pieces) if pieces else _none(local_length("dense-colour"))


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
        ``d`` is 128; non-negative with L2 norm 1.

    References
    ----------
    As for `dense_sift`.
    """
    mask = None if region is None else region.astype(np.uint8)
    points, found = cv2.SIFT.create(nfeatures=max_points).detectAndCompute(grey, mask)
    if not points:
        return _none(local_length("detected-sift"))
    rows, cols = grey.shape
    positions = np.array([(point.pt[1] / rows, point.pt[0] / cols) for point in points], np.float32)
    sides = np.array([point.size for point in points], np.float32) / max(rows, cols)
    return LocalFeatures(_root_normalised(found), positions, np.log2(sides))


def _pyramid(image: np.ndarray, cell: int, n_scales: int, scale_factor: float) -> Iterator[np.ndarray]:
    """Yield the picture at each scale, as long as a patch fits in."""
    for step in range(n_scales):
        rows, cols = (round(side / scale_factor**step) for side in image.shape[:2])
        if min(rows, cols) < N_CELLS * cell:
            return
        yield image if step == 0 else cv2.resize(image, (cols, rows), interpolation=cv2.INTER_AREA)


def _orientation_cells(grey: np.ndarray, cell: int) -> np.ndarray:
    """Pool the gradient magnitude into cells, shared linearly between the two nearest of 8 orientations."""
    magnitude, angle = cv2.cartToPolar(
        cv2.Sobel(grey, cv2.CV_32F, 1, 0, ksize=1), cv2.Sobel(grey, cv2.CV_32F, 0, 1, ksize=1)
    )
    angle *= N_ORIENTATIONS / (2 * np.pi)
    planes = []
    for orientation in range(N_ORIENTATIONS):
        distance = cv2.absdiff(angle, float(orientation))
        if orientation == 0:
            distance = np.minimum(distance, N_ORIENTATIONS - distance)
        planes.append(_pooled(np.maximum(1 - distance, 0) * magnitude, cell))
    return np.stack(planes, axis=2)


def _pooled(values: np.ndarray, cell: int) -> np.ndarray:
    """Average over square cells; a remainder at the lower and right edge is left out."""
    n_rows, n_cols = values.shape[0] // cell, values.shape[1] // cell
    return cv2.resize(values[: n_rows * cell, : n_cols * cell], (n_cols, n_rows), interpolation=cv2.INTER_AREA)


def _windows(
    cells: np.ndarray, reduced: np.ndarray, region: np.ndarray | None, cell: int, coverage: float
) -> LocalFeatures:
    """Read every window of 4 × 4 cells that meets the region, as a row of numbers with its place."""
    windows = np.lib.stride_tricks.sliding_window_view(cells, (N_CELLS, N_CELLS), axis=(0, 1))
    keep = (
        np.ones(windows.shape[:2], bool)
        if region is None
        else _coverage(region, cells.shape, windows.shape) >= coverage
    )
    found_rows, found_cols = np.nonzero(keep)
    n_values = cells.shape[2] * N_CELLS**2
    descriptors = windows[found_rows, found_cols].transpose(0, 2, 3, 1).reshape(len(found_rows), n_values)
    rows, cols = reduced.shape[:2]
    half = N_CELLS / 2
    positions = np.column_stack([(found_rows + half) * (cell / rows), (found_cols + half) * (cell / cols)])
    side = np.log2(N_CELLS * cell / max(rows, cols))
    return LocalFeatures(
        np.ascontiguousarray(descriptors), positions.astype(np.float32), np.full(len(descriptors), side, np.float32)
    )


def _coverage(region: np.ndarray, cells_shape: tuple[int, ...], windows_shape: tuple[int, ...]) -> np.ndarray:
    """Tell what share of each window the region covers."""
    share = cv2.resize(region.astype(np.float32), (cells_shape[1], cells_shape[0]), interpolation=cv2.INTER_AREA)
    sums = cv2.boxFilter(share, -1, (N_CELLS, N_CELLS), anchor=(0, 0), borderType=cv2.BORDER_CONSTANT)
    return sums[: windows_shape[0], : windows_shape[1]]


def _root_normalised(descriptors: np.ndarray) -> np.ndarray:
    """Square roots of the shares of each value in its row; nearly empty rows shrink towards zero."""
    sums = descriptors.sum(axis=1, keepdims=True)
    return np.sqrt(descriptors / (sums + _NOISE_FLOOR))


def _none(n_values: int) -> LocalFeatures:
    return LocalFeatures(np.empty((0, n_values), np.float32), np.empty((0, 2), np.float32), np.empty(0, np.float32))
