"""Localisation metrics of the boxes of one object, named as in the comparison by Hemery et al. (2010)."""

import math

from leafid.tasks.interpretation.regions import Box


def rob_loc_error(truth: Box, result: Box) -> float:
    """Compute the distance of the centres of two boxes, ROB_loc: from 0 to below 1 (equation 1 of Hemery et al.).

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
    """Compute the difference of the areas of two boxes relative to the larger, ROB_com: from 0 to below 1 (equation 2).

    Examples
    --------
    >>> rob_com_error(Box(0, 0, 10, 20), Box(5, 5, 10, 5))
    0.75
    """
    return abs(result.area - truth.area) / max(result.area, truth.area)


def rob_cor_error(truth: Box, result: Box) -> float:
    """Compute 2/π · arctan of the difference of height/width of two boxes, ROB_cor: from 0 to below 1 (equation 3).

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
