"""RootSIFT: of grey and of colour channels on a grid, at detected points, and of patches turned to a direction."""

import cv2
import numpy as np

from leafid.descriptors.local.grid import N_CELLS, Grid, LocalFeatures, average_cells, read_patches

N_ORIENTATIONS = 8
SIFT_LENGTH = N_ORIENTATIONS * N_CELLS**2
CHROMA_LENGTH = 2 * SIFT_LENGTH
# Sum of a cell's gradients, of grey values in [0, 1], that camera noise explains.
_NOISE_FLOOR = 0.02
# Turned patches that are read at once: few enough to stay in the processor's cache.
_BATCH_SIZE = 192
# Unit of grey levels is 1/128. A component along a diagonal is √2 times the smaller of the two differences.
_PRECISION = 128
_PLANE_UNITS = np.where(np.arange(N_ORIENTATIONS) % 2, np.sqrt(2), 1).astype(np.float32) / (255 * _PRECISION)


def extract_dense_sift(grey: np.ndarray, region: np.ndarray | None = None, grid: Grid | None = None) -> LocalFeatures:
    """Extract RootSIFT descriptors on a grid, at several patch sizes; by default all patches of five sizes.

    One plane of gradient strength per orientation is averaged over square cells. A descriptor is a patch of 4 × 4
    cells, so that neighbouring descriptors share their cells. Larger patches are read from reduced copies of the
    picture. Patches are upright: turn the leaf first where its orientation should not matter. Only patches that the
    region covers are kept.

    The 128 values are non-negative with an L2 norm below 1: near 1 where there is structure, 0 where there is none.

    A gradient is decomposed into its components along the two nearest of eight directions: for the first octant,
    ``a · (1, 0) + b · (1, 1) / √2`` with ``b = √2 · down`` and ``a = right - down``. The shares agree with an
    interpolation by the angle to within a twelfth, and need differences and minima instead of an angle.

    References
    ----------
    .. [1] D. G. Lowe, "Distinctive image features from scale-invariant keypoints", IJCV 60(2), 2004,
       doi:10.1023/B:VISI.0000029664.99615.94
    .. [2] R. Arandjelović, A. Zisserman, "Three things everyone should know to improve object retrieval", CVPR 2012,
       doi:10.1109/CVPR.2012.6248018
    """
    return normalise_patches(read_patches(grey, region, grid or Grid(), _compute_gradient_cells, order_orientations))


def extract_chroma_sift(lab: np.ndarray, region: np.ndarray | None = None, grid: Grid | None = None) -> LocalFeatures:
    """Extract RootSIFT descriptors of the two colour channels of Lab, on the grid of `extract_dense_sift`.

    They show where hues meet, as at veins, stalks, young shoots and light that shines through, and not the colour of a
    patch as a whole. Both channels are normalised together. Patches in which hues change no more than by camera noise
    are dropped; a grey picture keeps none. `lab` is as ``cv2.cvtColor(image, cv2.COLOR_BGR2LAB)`` returns it.

    The 256 values are non-negative with an L2 norm below 1: for each cell eight of a (green to red) and eight of b
    (blue to yellow).

    References
    ----------
    .. [1] K. van de Sande, T. Gevers, C. Snoek, "Evaluating color descriptors for object and scene recognition",
       IEEE TPAMI 32(9), 2010, section 3.3, doi:10.1109/TPAMI.2009.154
    """
    chroma = np.ascontiguousarray(lab[:, :, 1:])
    patches = read_patches(chroma, region, grid or Grid(), _compute_chroma_cells, _order_chroma)
    return normalise_patches(patches, min_sum=_NOISE_FLOOR)


def extract_detected_sift(
    grey: np.ndarray, region: np.ndarray | None = None, *, max_points: int = 500
) -> LocalFeatures:
    """Extract RootSIFT descriptors at the `max_points` strongest points that SIFT's own detector finds in the region.

    The 128 values are non-negative with an L2 norm just below 1.
    """
    mask = None if region is None else region.astype(np.uint8)
    points, descriptors = cv2.SIFT.create(nfeatures=max_points).detectAndCompute(grey, mask)
    if not points:
        return LocalFeatures.zeros(0, SIFT_LENGTH)
    rows, cols = grey.shape
    positions = np.array([(point.pt[1] / rows, point.pt[0] / cols) for point in points], np.float32)
    sides = np.array([point.size for point in points], np.float32) / max(rows, cols)
    sums = descriptors.sum(axis=1, keepdims=True)
    return LocalFeatures(np.sqrt(descriptors / (sums + _NOISE_FLOOR)), positions, np.log2(sides))


def describe_turned_patches(
    grey: np.ndarray, points: np.ndarray, across: np.ndarray, along: np.ndarray, cell: int
) -> np.ndarray:
    """Compute the cells of patches around points, whose rows follow one another `across`, and columns `along`.

    The picture is uint8 (H, W), and white beyond its border; the others are float32 (n, 2), of rows and columns, the
    last two unit vectors. Returns the square root of each cell's mean gradient along 8 directions, float32
    (n, 4, 4, 8).
    """
    side = N_CELLS * cell
    # Patches stand side by side in a strip, because OpenCV is several times faster on long rows. Each has a frame of
    # one pixel, and so many columns after it that all of them are whole cells.
    width = (N_CELLS + -(-2 // cell)) * cell
    down, right = (np.arange(number, dtype=np.float32) - np.float32((side + 1) / 2) for number in (side + 2, width))
    steps = np.stack(np.broadcast_arrays(np.float32(1), down[:, None], right), axis=1)
    cells = np.empty((len(points), N_CELLS, N_CELLS, N_ORIENTATIONS), np.float32)
    for start in range(0, len(points), _BATCH_SIZE):
        own = slice(start, start + _BATCH_SIZE)
        axes = (np.stack([points[own, k], across[own, k], along[own, k]], axis=1) for k in (0, 1))
        rows, cols = (np.matmul(vectors, steps).reshape(side + 2, -1) for vectors in axes)
        strip = cv2.remap(grey, cols, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=255)
        planes = _compute_gradient_planes(cv2.copyMakeBorder(strip, 0, 0, 0, 2, cv2.BORDER_REPLICATE))
        found = _compute_cell_roots(planes, cell).reshape(N_CELLS, -1, width // cell, N_ORIENTATIONS)
        cells[own] = found[:, :, :N_CELLS].transpose(1, 0, 2, 3)
    return cells


def _compute_gradient_cells(grey: np.ndarray, cell: int) -> np.ndarray:
    """Compute the square root of each cell's mean gradient along 8 directions, clockwise from the right."""
    n_rows, n_cols = grey.shape[0] // cell, grey.shape[1] // cell
    rows, cols = n_rows * cell, n_cols * cell
    framed = cv2.copyMakeBorder(grey, 1, 1, 1, 1, cv2.BORDER_REFLECT_101)[: rows + 2, : cols + 2]
    return _compute_cell_roots(_compute_gradient_planes(framed), cell)


def _compute_gradient_planes(framed: np.ndarray) -> np.ndarray:
    """Compute each pixel's gradient along 8 directions, in units of 1/128; uint16 (8, H - 2, W - 2) of uint8 (H, W)."""
    rows, cols = framed.shape[0] - 2, framed.shape[1] - 2
    # Unsigned 16 bits keep the precision of the means, and subtraction saturates at 0.
    framed = framed.astype(np.uint16)
    framed *= np.uint16(_PRECISION)
    across, down = framed[1 : rows + 1], framed[:, 1 : cols + 1]
    left, right, above, below = across[:, :cols], across[:, 2 : cols + 2], down[:rows], down[2 : rows + 2]
    east, west = cv2.subtract(right, left), cv2.subtract(left, right)
    south, north = cv2.subtract(below, above), cv2.subtract(above, below)
    horizontal, vertical = cv2.add(east, west), cv2.add(south, north)
    planes = np.empty((N_ORIENTATIONS, rows, cols), np.uint16)
    cv2.subtract(east, vertical, planes[0])
    cv2.min(east, south, planes[1])
    cv2.subtract(south, horizontal, planes[2])
    cv2.min(south, west, planes[3])
    cv2.subtract(west, vertical, planes[4])
    cv2.min(west, north, planes[5])
    cv2.subtract(north, horizontal, planes[6])
    cv2.min(north, east, planes[7])
    return planes


def _compute_cell_roots(planes: np.ndarray, cell: int) -> np.ndarray:
    """Compute the square root of each cell's mean gradient; float32 (rows, cols, 8) of uint16 (8, H, W)."""
    rows, cols = planes.shape[1] // cell, planes.shape[2] // cell
    # Stacked vertically, the planes are averaged in one call.
    means = average_cells(planes.reshape(-1, planes.shape[2]), cell).reshape(N_ORIENTATIONS, -1)
    roots = cv2.transpose(means).astype(np.float32)
    roots *= _PLANE_UNITS
    return np.sqrt(roots, out=roots).reshape(rows, cols, N_ORIENTATIONS)


def order_orientations(symmetry: int) -> np.ndarray:
    """List the orientations in the order of a turned and mirrored cell; symmetries as in `N_SYMMETRIES`."""
    order = (np.arange(N_ORIENTATIONS) + symmetry // 2 * (N_ORIENTATIONS // 4)) % N_ORIENTATIONS
    return order[(N_ORIENTATIONS // 2 - np.arange(N_ORIENTATIONS)) % N_ORIENTATIONS] if symmetry % 2 else order


def _compute_chroma_cells(chroma: np.ndarray, cell: int) -> np.ndarray:
    return np.concatenate([_compute_gradient_cells(plane, cell) for plane in cv2.split(chroma)], axis=2)


def _order_chroma(symmetry: int) -> np.ndarray:
    order = order_orientations(symmetry)
    return np.concatenate([order, N_ORIENTATIONS + order])


def normalise_patches(patches: LocalFeatures, min_sum: float = 0.0) -> LocalFeatures:
    """Normalise patches of square roots in place; those whose gradients have a smaller sum are dropped."""
    # The squares sum to the sum of the patch's gradients.
    sums = np.einsum("ij,ij->i", patches.descriptors, patches.descriptors)
    patches.descriptors[...] *= (1 / np.sqrt(sums + _NOISE_FLOOR))[:, None]
    return patches if (sums >= min_sum).all() else patches.take(np.flatnonzero(sums >= min_sum))
