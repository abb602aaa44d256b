"""Localisation metrics of an object's boxes, with the names of Hemery et al. (2010)."""

import math

from leafid.tasks.interpretation.regions import Box


def rob_loc_error(truth: Box, result: Box) -> float:
    """Compute ROB_loc, the distance of two boxes' centres: 0 to below 1 (equation 1).

    It is 2/π · arctan of the larger of the distances by columns and by rows, in widths
    and heights of the true box.

    Examples
    --------
    >>> rob_loc_error(Box(0, 0, 10, 20), Box(10, 0, 10, 20))
    0.5
    """
    columns = (result.left + result.width / 2) - (truth.left + truth.width / 2)
    rows = (result.top + result.height / 2) - (truth.top + truth.height / 2)
    shift = max(abs(columns) / truth.width, abs(rows) / truth.height)
    return 2 / math.pi * math.atan(shift)


def rob_com_error(truth: Box, result: Box) -> float:
    """Compute ROB_com, the relative difference of two boxes' areas: 0 to below 1.

    It is relative to the larger area (equation 2 of Hemery et al.).

    Examples
    --------
    >>> rob_com_error(Box(0, 0, 10, 20), Box(5, 5, 10, 5))
    0.75
    """
    return abs(result.area - truth.area) / max(result.area, truth.area)


def rob_cor_error(truth: Box, result: Box) -> float:
    """Compute ROB_cor, 2/π · arctan of the difference of height/width: 0 to below 1.

    This is equation 3 of Hemery et al.

    Examples
    --------
    >>> rob_cor_error(Box(0, 0, 10, 20), Box(5, 5, 10, 10))
    0.5
    """
    return (
        2
        / math.pi
        * math.atan(abs(result.height / result.width - truth.height / truth.width))
    )


#: The errors by the names of their metrics.
ERRORS = {
    "rob-loc": rob_loc_error,
    "rob-com": rob_com_error,
    "rob-cor": rob_cor_error,
}
