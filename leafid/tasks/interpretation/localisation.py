"""How well one object is localised: metrics on boxes, on regions and on contours.

The comparison of these metrics by Hemery et al. (2010) is where their names come from.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from leafid.errors import LeafidError
from leafid.metrics.registry import Metric
from leafid.tasks.interpretation.box import Box

_PRATT = "Pratt, Faugeras, Gagalowicz, IEEE SMC 8(11), 1978"
_ROBIN = "D'Angelo, Herbin, Ratiéville, Robin challenge evaluation principles and metrics, 2006"
_MARTIN = "Martin, Fowlkes, Tal, Malik, ICCV 2001, doi:10.1109/ICCV.2001.937655"


def rob_loc_error(truth: Box, result: Box) -> float:
    """Distance of the centres of two boxes, ROB_loc.

    Parameters
    ----------
    truth, result : Box

    Returns
    -------
    float
        2/π · arctan of the larger of the distances by columns and by rows, in widths and heights of the true box;
        from 0 to below 1.

    References
    ----------
    .. [1] Hemery et al., "Évaluation d'un résultat d'interprétation d'images", equation 1.

    Examples
    --------
    >>> rob_loc_error(Box(0, 0, 10, 20), Box(10, 0, 10, 20))
    0.5
    """
    (column, row), (true_column, true_row) = result.centre, truth.centre
    shift = max(abs(column - true_column) / truth.width, abs(row - true_row) / truth.height)
    return 2 / math.pi * math.atan(shift)


def rob_com_error(truth: Box, result: Box) -> float:
    """Difference of the areas of two boxes relative to the larger, ROB_com: from 0 to below 1 (equation 2).

    Examples
    --------
    >>> rob_com_error(Box(0, 0, 10, 20), Box(5, 5, 10, 5))
    0.75
    """
    return abs(result.area - truth.area) / max(result.area, truth.area)


def rob_cor_error(truth: Box, result: Box) -> float:
    """2/π · arctan of the difference of height/width of two boxes, ROB_cor: from 0 to below 1 (equation 3).

    Examples
    --------
    >>> rob_cor_error(Box(0, 0, 10, 20), Box(5, 5, 10, 10))
    0.5
    """
    return 2 / math.pi * math.atan(abs(result.height / result.width - truth.height / truth.width))


def figure_of_merit_score(truth: np.ndarray, result: np.ndarray, alpha: float = 1 / 9) -> float:
    """Compare two contours by Pratt's figure of merit, FOM.

    Parameters
    ----------
    truth, result : bool array (H, W)
        Masks; their contours are compared.
    alpha : float, default 1/9
        What a squared distance in pixels weighs.

    Returns
    -------
    float
        Mean of 1/(1 + α·d²) over the true contour's pixels, d being their distance to the contour found, but over as
        many as the longer contour has; 0 to 1, 1 for equal contours.

    Notes
    -----
    As in the reference, the sum goes over the true contour; other sources sum over the contour found.

    References
    ----------
    .. [1] Hemery et al., equation 4.
    .. [2] W. Pratt, O. D. Faugeras, A. Gagalowicz, "Visual discrimination of stochastic texture fields", IEEE
           Transactions on Systems, Man, and Cybernetics 8(11), 1978.
    """
    from scipy.ndimage import distance_transform_edt

    if alpha <= 0:
        raise LeafidError(f"expected an α above 0, found {alpha}")
    _check_masks(truth, result)
    true_contour, contour = contour_pixels(truth), contour_pixels(result)
    longest = max(true_contour.sum(), contour.sum())
    if longest == 0:
        return 1.0
    if not contour.any():
        return 0.0
    squared = distance_transform_edt(~contour)[true_contour] ** 2
    return float((1 / (1 + alpha * squared)).sum() / longest)


def pascal_score(truth: np.ndarray, result: np.ndarray) -> float:
    """Intersection over union of two masks, PAS: 0 to 1; 1 for two empty masks (equation 5).

    Parameters
    ----------
    truth, result : bool array (H, W)

    Returns
    -------
    float
    """
    _check_masks(truth, result)
    union = np.count_nonzero(truth | result)
    return np.count_nonzero(truth & result) / union if union else 1.0


def box_overlap(truth: Box, result: Box) -> float:
    """Intersection over union of two boxes, 0 to 1.

    Examples
    --------
    >>> box_overlap(Box(0, 0, 10, 10), Box(5, 0, 10, 10))
    0.3333333333333333
    """
    common = box_intersection(truth, result)
    return common / (truth.area + result.area - common)


def box_intersection(one: Box, other: Box) -> float:
    """Area that two boxes share, in square pixels."""
    width = min(one.left + one.width, other.left + other.width) - max(one.left, other.left)
    height = min(one.top + one.height, other.top + other.height) - max(one.top, other.top)
    return max(width, 0.0) * max(height, 0.0)


def martin_error(truth: np.ndarray, result: np.ndarray) -> float:
    """Error of one region, the lesser of the share missed and the share too much.

    Parameters
    ----------
    truth, result : bool array (H, W)

    Returns
    -------
    float
        0 where one mask holds the other, 1 where they have nothing in common or just one is empty.

    References
    ----------
    .. [1] Hemery et al., equation 6: the refinement error of Martin et al. for a single object.
    """
    _check_masks(truth, result)
    areas = np.count_nonzero(truth), np.count_nonzero(result)
    if not all(areas):
        return 0.0 if not any(areas) else 1.0
    return 1 - np.count_nonzero(truth & result) / min(areas)


def martin_gce_error(truth: np.ndarray, result: np.ndarray) -> float:
    """Global consistency error of two partitions of a picture.

    Parameters
    ----------
    truth, result : int array (H, W)
        Label masks; the ground is a region like any other.

    Returns
    -------
    float
        0 to 1; 0 also where one partition refines the other everywhere.

    References
    ----------
    .. [1] D. Martin, C. Fowlkes, D. Tal, J. Malik, "A database of human segmented natural images", ICCV 2001,
           doi:10.1109/ICCV.2001.937655, section 4.
    """
    common, missed, extra = _refinements(truth, result)
    return float(min((common * missed).sum(), (common * extra).sum()) / truth.size)


def martin_lce_error(truth: np.ndarray, result: np.ndarray) -> float:
    """Local consistency error: as `martin_gce_error`, but the lesser error is chosen pixel by pixel."""
    common, missed, extra = _refinements(truth, result)
    return float((common * np.minimum(missed, extra)).sum() / truth.size)


def contour_pixels(mask: np.ndarray) -> np.ndarray:
    """Find the pixels of a mask that have one of their four neighbours outside of it or of the picture.

    Parameters
    ----------
    mask : bool array (H, W)

    Returns
    -------
    bool array (H, W)
    """
    framed = np.pad(mask, 1)
    inside = framed[:-2, 1:-1] & framed[2:, 1:-1] & framed[1:-1, :-2] & framed[1:-1, 2:]
    return mask & ~inside


def bounding_box(mask: np.ndarray) -> Box:
    """Find the least box around a mask that isn't empty."""
    rows, cols = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if len(rows) == 0:
        raise LeafidError("expected a mask with an object, found an empty one")
    width, height = cols[-1] - cols[0] + 1, rows[-1] - rows[0] + 1
    return Box(float(cols[0]), float(rows[0]), float(width), float(height))


def common_pixels(truth: np.ndarray, result: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count the pixels that each label of one mask shares with each of the other.

    Parameters
    ----------
    truth, result : int array (H, W)

    Returns
    -------
    common : int array (U, V)
    true_labels : int array (U,)
    labels : int array (V,)
        The labels of its rows and columns, rising; 0 is one of them where it occurs.
    """
    _check_masks(truth, result)
    true_labels, rows = np.unique(truth, return_inverse=True)
    labels, cols = np.unique(result, return_inverse=True)
    counts = np.bincount(rows.ravel() * len(labels) + cols.ravel(), minlength=len(true_labels) * len(labels))
    return counts.reshape(len(true_labels), len(labels)), true_labels, labels


def _refinements(truth: np.ndarray, result: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    common, _, _ = common_pixels(truth, result)
    return common, 1 - common / common.sum(axis=1, keepdims=True), 1 - common / common.sum(axis=0, keepdims=True)


def _check_masks(truth: np.ndarray, result: np.ndarray) -> None:
    if truth.shape != result.shape or truth.ndim != 2 or truth.size == 0:
        raise LeafidError(f"expected two masks of one size (rows, cols), found {truth.shape} and {result.shape}")


_score = partial(Metric, command="evaluate-interpretation")
_error = partial(_score, higher_is_better=False)

METRICS = (
    _error("rob-loc", "box: distance of the centres, relative to the true box", rob_loc_error, citation=_ROBIN),
    _error("rob-com", "box: difference of the areas", rob_com_error, citation=_ROBIN),
    _error("rob-cor", "box: difference of the ratios of height to width", rob_cor_error, citation=_ROBIN),
    _score("fom", "contour: figure of merit", figure_of_merit_score, citation=_PRATT),
    _score("pas", "region: intersection over union", pascal_score, citation="Everingham et al., PASCAL VOC 2005"),
    _error("martin", "region: the lesser share that is missing or too much", martin_error, citation=_MARTIN),
    _error("martin-gce", "partition: global consistency error", martin_gce_error, citation=_MARTIN),
    _error("martin-lce", "partition: local consistency error", martin_lce_error, citation=_MARTIN),
)
