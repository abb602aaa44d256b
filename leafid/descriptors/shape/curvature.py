"""Multi-scale curvature of a leaf's outline: histograms of curvature over scale.

Curvature is measured by integral invariants.
"""

import cv2
import numpy as np

from leafid.descriptors.arrays import Floats, Points, Singles
from leafid.descriptors.shape.contour import Shape

#: Radii of the discs, in √area.
SCALES = tuple(np.geomspace(0.02, 0.6, 10).round(4).tolist())
#: Bins of each histogram, over shares of 0 to 1.
BINS = 12
# Samples on each circle.
_ANGLES = 24
# Step between the contour points that are centres of discs: neighbours nearly agree.
_STEP = 4
# Centres measured at once: OpenCV maps at most 32,767 rows, and memory stays bounded.
_BATCH_SIZE = 8192

CURVATURE_NAMES = tuple(
    f"{kind}_{radius:g}_bin{index + 1}"
    for kind in ("area", "arc")
    for radius in SCALES
    for index in range(BINS)
)


def measure_curvature(shape: Shape) -> Singles:
    """Measure histograms of curvature over scale along the outline.

    Curvature is the share of a disc, and of a circle, that lies inside the leaf. A
    point between the middles of two bins counts for both in proportion, so that small
    changes have small effects. All large components count: a compound leaf's leaflets
    share the histograms.

    Parameters
    ----------
    shape : Shape
        The blade.

    Returns
    -------
    float32 (2 × len(SCALES) × BINS,)
        Scale by scale, first of areas, then of arcs: the square root of the share of
        contour points in each bin, 0…1.

    References
    ----------
    .. [1] N. Kumar et al., "Leafsnap: a computer vision system for automatic plant
       species identification", ECCV 2012, doi:10.1007/978-3-642-33709-3_36, section 4
    .. [2] S. Manay et al., "Integral invariants for shape matching", IEEE Trans. PAMI
       28, 2006, doi:10.1109/TPAMI.2006.208
    """
    areas, arcs = measure_disc_shares(shape, shape.all_points[::_STEP])
    shares = np.concatenate([areas, arcs], axis=1)
    return np.sqrt(compute_soft_histograms(shares, BINS)).ravel().astype(np.float32)


def measure_disc_shares(shape: Shape, centres: Points) -> tuple[Floats, Floats]:
    """Measure the share of the leaf in discs and on circles around points of a shape.

    The leaf's coverage, smoothed over three pixels, is sampled at equal angles, at the
    nearest pixel, on the circles and on a ring halfway between each two. The area
    inside grows with the radius ρ by 2πρ times the share of the circle; Simpson's rule
    over ρ integrates the discs. So all discs of a point share their samples, and the
    work doesn't grow with the radius.

    Parameters
    ----------
    shape : Shape
    centres : float (n_points, 2)
        Rows and columns, in pixels of the shape.

    Returns
    -------
    areas, arcs : float (n_points, len(SCALES))
        The part of each disc's area, and of each circle's length, inside the leaf, 0…1.
    """
    circles = np.asarray(SCALES) * shape.side
    steps = np.diff(circles, prepend=0.0)
    rings = np.stack([circles - steps / 2, circles], axis=1).ravel()
    # Each ring is turned against the previous one by a fraction of the step, so that
    # their samples don't line up.
    turns = np.arange(_ANGLES) + 0.618 * np.arange(len(rings))[:, None]
    angles = turns * (2 * np.pi / _ANGLES)
    rows = (rings[:, None] * np.sin(angles)).ravel().astype(np.float32)
    cols = (rings[:, None] * np.cos(angles)).ravel().astype(np.float32)
    # A soft edge at the nearest pixel is as accurate as a hard one interpolated, and
    # several times faster.
    soft = cv2.blur(shape.grey, (3, 3))
    totals = []
    for start in range(0, len(centres), _BATCH_SIZE):
        batch = centres[start : start + _BATCH_SIZE].astype(np.float32)
        # Beyond the picture nothing is covered.
        cover = cv2.remap(
            soft, batch[:, 1:] + cols, batch[:, :1] + rows, cv2.INTER_NEAREST
        ).reshape(-1, _ANGLES)
        totals.append(cv2.reduce(cover, 1, cv2.REDUCE_SUM, dtype=cv2.CV_32S))
    shares = np.concatenate(totals).reshape(len(centres), len(rings)) / (255 * _ANGLES)
    growth = 2 * rings * shares
    parts = 4 * growth[:, ::2] + growth[:, 1::2]
    parts[:, 1:] += growth[:, 1:-1:2]
    return (parts * (steps / 6)).cumsum(axis=1) / circles**2, shares[:, 1::2]


def compute_soft_histograms(values: Floats, bins: int) -> Floats:
    """Compute the histogram of each column, (n, k), over 0…1: (k, bins), sums of 1.

    A value between two bins is shared linearly.
    """
    position = np.clip(values * bins - 0.5, 0, bins - 1)
    lower = position.astype(np.intp)
    upper_share = (position - lower).ravel()
    cells = (lower + bins * np.arange(values.shape[1])).ravel()
    # The upper bin of the last value of a column has a share of 0.
    n_cells = bins * values.shape[1] + 1
    counts = np.bincount(cells, 1 - upper_share, n_cells)
    counts += np.bincount(cells + 1, upper_share, n_cells)
    return counts[:-1].reshape(-1, bins) / len(values)
