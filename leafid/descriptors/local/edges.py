"""RootSIFT of patches on edges, turned to them: the margins and veins of leaves."""

import cv2
import numpy as np

from leafid.descriptors.arrays import Indices, Singles
from leafid.descriptors.local.gradients import (
    CELL,
    N_CELLS,
    SIFT_LENGTH,
    Level,
    Pyramid,
    describe_turned_patches,
    order_values,
)
from leafid.descriptors.local.grid import (
    ALL_PATCHES,
    Grid,
    LocalFeatures,
    sample_by_weight,
    weigh_positions,
)
from leafid.descriptors.local.sift import normalise_patches
from leafid.segmentation.pixels import Mask

# Edges have at least the first gradient, in grey levels a pixel; beyond the second they
# count no more.
_MIN_GRADIENT = 1.5
_FULL_GRADIENT = 40
# Sobel's operator on the picture at half size gives sixteen times the gradient.
_SOBEL_GAIN = 16
# Distance from the middle, in standard deviations of the focus, up to which patches are
# sampled.
_FOCUS_REACH = 2
# 1 for values in a patch's right half, -1 for values in its left half.
_RIGHT_OR_LEFT = np.tile(
    np.repeat(np.array([-1, 1], np.float32), SIFT_LENGTH // (2 * N_CELLS)), N_CELLS
)


def extract_edge_sift(
    grey: Pyramid, region: Mask | None = None, grid: Grid = ALL_PATCHES
) -> LocalFeatures:
    """Extract RootSIFT descriptors of patches centred on edges, as many at each size.

    Edges are Canny's [1]_, of each reduced picture at half size. They are sampled by
    the square root of their gradient and by `Grid.focus`, up to two of its standard
    deviations from the middle. A patch's rows run across the edge, from light to dark.
    Of a patch and its mirror image the one is described whose left half has the
    stronger gradients. So an edge looks the same in a leaf that is turned by any angle,
    or mirrored. The descriptor is leafid's.

    Parameters
    ----------
    grey : Pyramid
        The picture, uint8 (H, W).
    region : bool (H, W), optional
        It has no effect.
    grid : Grid
        `max_patches` are sampled at each size; `symmetry` and `coverage` have no
        effect.

    Returns
    -------
    LocalFeatures
        Values and positions are as in `extract_dense_sift`.

    References
    ----------
    .. [1] J. Canny, "A computational approach to edge detection", IEEE TPAMI 8(6),
       1986, doi:10.1109/TPAMI.1986.4767851
    """
    levels = list(grey.iterate_levels(grid.scales))
    if not levels:
        return LocalFeatures.zeros(0, SIFT_LENGTH)
    samples = [_sample_edges(level, grid) for level in levels]
    owners = np.repeat(np.arange(len(levels)), [len(points) for points, _ in samples])
    points, directions = map(np.concatenate, zip(*samples, strict=True))
    # Columns run a quarter turn to the left of the rows.
    columns = directions[:, ::-1] * np.array([-1, 1], np.float32)
    descriptors = describe_turned_patches(
        levels, owners, points=points, across=directions, along=columns
    )
    mirrored = np.flatnonzero((descriptors * descriptors) @ _RIGHT_OR_LEFT > 0)
    descriptors[mirrored] = descriptors.take(mirrored, axis=0).take(
        order_values(1), axis=1
    )
    shapes = np.array([level.shape for level in levels], np.float32)
    scales = np.log2(N_CELLS * CELL / shapes.max(axis=1))
    positions = (points + np.float32(0.5)) / shapes[owners]
    return normalise_patches(LocalFeatures(descriptors, positions, scales[owners]))


def _sample_edges(level: Level, grid: Grid) -> tuple[Singles, Singles]:
    """Sample points of edges, with the directions to their dark sides.

    The points are at least half a patch from the picture's border. Canny sees the
    picture at half size. Both arrays are float32 (n, 2), rows and columns; directions
    are unit vectors.
    """
    half = level.half
    reach = _FOCUS_REACH * grid.focus if grid.focus else 0.5
    # One row or column beyond the first points shows whether these are edges.
    top, left = (
        max(int((0.5 - reach) * length), N_CELLS * CELL // 4) - 1
        for length in half.shape
    )
    window = np.ascontiguousarray(
        half[top : len(half) - top, left : half.shape[1] - left]
    )
    corner = np.array([top, left])
    width = window.shape[1]
    right, down = cv2.spatialGradient(window)
    threshold = _MIN_GRADIENT * _SOBEL_GAIN
    edges = cv2.Canny(right, down, threshold, threshold, L2gradient=True)
    edges[[0, -1]] = edges[:, [0, -1]] = 0
    pixels = np.flatnonzero(edges > 0)

    def take_gradients(places: Indices) -> tuple[Singles, Singles, Singles]:
        # Most pixels need none.
        rows = down.take(places).astype(np.float32)
        cols = right.take(places).astype(np.float32)
        return rows, cols, np.sqrt(rows * rows + cols * cols)

    if grid.max_patches:
        *_, lengths = take_gradients(pixels)
        limit = _FULL_GRADIENT * _SOBEL_GAIN
        weights = np.sqrt(np.minimum(lengths, limit))
        if grid.focus:
            focus = [
                weigh_positions((np.arange(first, length - first) + 0.5) / length, grid)
                for first, length in zip(corner, half.shape, strict=True)
            ]
            weights *= np.outer(*focus).astype(np.float32).take(pixels)
        number = max(grid.max_patches // grid.scales, 1)
        pixels = pixels[sample_by_weight(weights, min(number, len(pixels)))]
    points = np.stack(np.divmod(pixels, width), axis=1).astype(np.float32)
    rows, cols, length = take_gradients(pixels)
    gradients = np.stack([rows, cols], axis=1)
    # A parabola through the gradients of three neighbours has its maximum near the
    # edge.
    is_vertical = np.abs(gradients[:, 0]) > np.abs(gradients[:, 1])
    steps = np.where(is_vertical, width, 1)
    before, after = (take_gradients(pixels + step)[2] for step in (-steps, steps))
    slope = after - before
    curvature = np.maximum(2 * length - before - after, np.abs(slope))
    points[np.arange(len(points)), 1 - is_vertical] += slope / (2 * curvature + 1)
    points += corner
    return 2 * points + np.float32(0.5), -gradients / length[:, None]
