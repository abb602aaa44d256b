"""The errors of ImageCLEF 2009's medical annotation task: flat labels (2005, 2006) and IRMA codes (2007, 2008)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from leafid.errors import LeafidError
from leafid.metrics.path_error import DONT_KNOW_ERROR, WILDCARD, WRONG_ERROR, path_error
from leafid.metrics.registry import Metric
from leafid.tasks.irma.files import AXES, CLUTTER, CLUTTER_YEARS, FLAT_YEARS, UNSPECIFIED, YEARS, Answers, CodeTable

CITATION = "ImageCLEF 2009, Error evaluation for IRMA Medical Image Annotation"

_AXIS_SHARE = 0.25


def label_error(correct: str, classified: str, *, clutter: bool = True) -> float:
    """Error of a flat label.

    Parameters
    ----------
    correct : str
    classified : str
        A label, or ``"*"`` for "don't know".
    clutter : bool, default True
        Whether the label ``"C"`` is the clutter class, whose pictures never count.

    Returns
    -------
    float
        0 when right, 0.5 for "don't know", 1 when wrong.

    Examples
    --------
    >>> [label_error("18", classified) for classified in ("18", "21", "*")]
    [0.0, 1.0, 0.5]
    """
    if (clutter and correct == CLUTTER) or classified == correct:
        return 0.0
    return DONT_KNOW_ERROR if classified == WILDCARD else WRONG_ERROR


def axis_error(correct: str, classified: str, branching: Sequence[int]) -> float:
    """Error of one axis of an IRMA code.

    Parameters
    ----------
    correct : str
        The right code; "0" ends its path, all "C" is the clutter class, whose pictures never count.
    classified : str
        A code of the same length, maybe with ``"*"`` ("don't know").
    branching : sequence of int
        Number of possible labels at each position of the correct code (`CodeTable.branching`).

    Returns
    -------
    float
        0 (right) to 0.25 (wrong from the first position on).

    Notes
    -----
    The positions that count are those up to and with the first "0" of the path's end: naming something where nothing is
    to be named is a mistake, a wildcard there is none, and behind it there is nothing left to decide.

    References
    ----------
    .. [1] ImageCLEF 2009, "Error evaluation for ImageCLEF 2009 IRMA Medical Image Annotation".

    Examples
    --------
    >>> round(axis_error("463", "46*", (11, 7, 8)), 6)
    0.025531
    """
    if len(classified) != len(correct):
        raise LeafidError(f"expected {len(correct)} positions as in {correct!r}, found {classified!r}")
    if set(correct) == {CLUTTER}:
        return 0.0
    depth = min(len(correct.rstrip(UNSPECIFIED)) + 1, len(correct))
    return _AXIS_SHARE * path_error(correct[:depth], classified[:depth], branching[:depth], UNSPECIFIED)


def code_error(correct: str, classified: str, table: CodeTable) -> float:
    """Error of a whole IRMA code.

    Parameters
    ----------
    correct, classified : str
        ``TTTT-DDD-AAA-BBB``.
    table : CodeTable
        Holds every code of `correct` that is not clutter.

    Returns
    -------
    float
        0 (all axes right) to 1 (all axes wrong from their first position on).

    Raises
    ------
    LeafidError
        When a code has another shape, or the table lacks the correct one.
    """
    rights, answers = correct.split("-"), classified.split("-")
    if not len(rights) == len(answers) == len(AXES):
        raise LeafidError(f"expected codes TTTT-DDD-AAA-BBB, found {correct!r} and {classified!r}")
    error = 0.0
    for axis, right, answer in zip(AXES, rights, answers, strict=True):
        if set(right) != {CLUTTER}:
            error += axis_error(right, answer, table.branching(axis, right))
    return error


@dataclass(frozen=True)
class YearError:
    """How a run did in one year.

    Attributes
    ----------
    year : int
    error : float
        The sum over the pictures.
    pictures : int
        How many pictures count: those of the ground truth without clutter.
    missing : int
        How many of those the run lacks; each counts 1.
    """

    year: int
    error: float
    pictures: int
    missing: int

    @property
    def mean(self) -> float:
        """Error of a picture, 0 to 1; 0 where no picture counts."""
        return self.error / self.pictures if self.pictures else 0.0


def year_errors(
    truth: Mapping[str, Answers],
    run: Mapping[str, Answers],
    table: CodeTable | None = None,
    years: Sequence[int] = YEARS,
) -> list[YearError]:
    """Score a run year by year; the task's score is the sum of the years' errors.

    Parameters
    ----------
    truth, run : mapping of str to tuple of str
        Each picture's label or code in each of `years`.
    table : CodeTable, optional
        Needed for 2007 and 2008.
    years : sequence of int

    Returns
    -------
    list of YearError
        In the order of `years`. A picture that the run lacks counts as all wrong.
    """
    errors = []
    # Many pictures have the same code, and many answers to it are the same.
    known: dict[tuple[str, str], float] = {}
    for column, year in enumerate(years):
        found, missing = [], 0
        for picture in sorted(truth):
            correct = truth[picture][column]
            if year in CLUTTER_YEARS and set(correct) <= {CLUTTER, "-"}:
                continue
            if picture not in run:
                missing += 1
                found.append(_worst(correct, year))
            elif year in FLAT_YEARS:
                found.append(label_error(correct, run[picture][column]))
            else:
                if table is None:
                    raise LeafidError(f"expected a code table for the codes of {year}, found none")
                pair = correct, run[picture][column]
                if pair not in known:
                    known[pair] = code_error(*pair, table)
                found.append(known[pair])
        errors.append(YearError(year, math.fsum(found), len(found), missing))
    return errors


def _worst(correct: str, year: int) -> float:
    if year in FLAT_YEARS:
        return WRONG_ERROR
    return _AXIS_SHARE * sum(set(part) != {CLUTTER} for part in correct.split("-"))


_error = partial(Metric, citation=CITATION, higher_is_better=False)

METRICS = (
    _error(
        "irma-label-error",
        "2005/2006 labels: wrong 1, don't know 0.5",
        label_error,
        command="evaluate-irma --by-picture",
        column="2005, 2006",
    ),
    _error(
        "irma-axis-error",
        "one axis of an IRMA code, early and easy mistakes weigh more",
        axis_error,
        command="",
        range=(0.0, 0.25),
    ),
    _error(
        "irma-code-error",
        "a whole IRMA code TTTT-DDD-AAA-BBB, the sum of its axes",
        code_error,
        command="evaluate-irma --by-picture",
        column="2007, 2008",
    ),
    _error(
        "irma-error",
        "all pictures' label and code errors, summed over the years",
        year_errors,
        command="evaluate-irma",
        column="2005 to 2008, sum",
        range=(0.0, float("inf")),
    ),
)
