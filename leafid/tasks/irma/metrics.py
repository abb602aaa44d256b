"""The errors of ImageCLEF 2009's medical annotation task: flat labels (2005, 2006) and IRMA codes (2007, 2008)."""

import math
from collections.abc import Mapping, Sequence

from leafid.errors import LeafidError
from leafid.learning.backing_off import DONT_KNOW_ERROR, WRONG_ERROR, path_error
from leafid.pictures.taxonomy import WILDCARD
from leafid.tasks.irma.files import AXES, CLUTTER, CLUTTER_YEARS, FLAT_YEARS, UNSPECIFIED, YEARS, Answers, CodeTable

#: Error of a code's axis that is wrong from its first position on.
WORST_AXIS_ERROR = 0.25


def label_error(correct: str, answer: str) -> float:
    """Error of a flat label: 0 if correct, 0.5 for ``"*"`` ("don't know"), 1 if wrong.

    The correct label ``"C"`` is the clutter class, which never counts.

    Examples
    --------
    >>> [label_error("18", answer) for answer in ("18", "21", "*")]
    [0.0, 1.0, 0.5]
    """
    if answer == correct or correct == CLUTTER:
        return 0.0
    return DONT_KNOW_ERROR if answer == WILDCARD else WRONG_ERROR


def axis_error(correct: str, answer: str, branching: Sequence[int]) -> float:
    """Error of one axis of an IRMA code, 0 (correct) to 0.25 (wrong from the first position on).

    In `correct`, "0" ends a code's path, and all "C" is the clutter class, which never counts; ``"*"`` in `answer`, of
    the same length, means "don't know". `branching` is the number of possible characters at each position of the
    correct code (`CodeTable.count_children`). Positions count up to and including the first "0" at the end of the path;
    any other character there is a mistake, a wildcard is not.

    References
    ----------
    .. [1] ImageCLEF 2009, "Error evaluation for ImageCLEF 2009 IRMA Medical Image Annotation".

    Examples
    --------
    >>> round(axis_error("463", "46*", (11, 7, 8)), 6)
    0.025531
    """
    if len(answer) != len(correct):
        raise LeafidError(f"expected {len(correct)} positions as in {correct!r}, found {answer!r}")
    if set(correct) == {CLUTTER}:
        return 0.0
    depth = min(len(correct.rstrip(UNSPECIFIED)) + 1, len(correct))
    return WORST_AXIS_ERROR * path_error(correct[:depth], answer[:depth], branching[:depth], UNSPECIFIED)


def axis_errors(correct: str, answer: str | None, table: CodeTable) -> tuple[float, ...]:
    """Errors of the four axes of a code ``TTTT-DDD-AAA-BBB``, in the order of `AXES`; no answer is entirely wrong.

    An axis of `correct` that the table lacks, and that is not clutter, raises a `LeafidError`.
    """
    codes, answers = correct.split("-"), (correct if answer is None else answer).split("-")
    if not len(codes) == len(answers) == len(AXES):
        raise LeafidError(f"expected codes TTTT-DDD-AAA-BBB, found {correct!r} and {answer!r}")
    errors = []
    for axis, code, answered in zip(AXES, codes, answers, strict=True):
        if set(code) == {CLUTTER}:
            errors.append(0.0)
        elif answer is None:
            errors.append(WORST_AXIS_ERROR)
        else:
            errors.append(axis_error(code, answered, table.count_children(axis, code)))
    return tuple(errors)


def code_error(correct: str, answer: str, table: CodeTable) -> float:
    """Error of a whole IRMA code, the sum of its `axis_errors`: 0 (correct) to 1."""
    return math.fsum(axis_errors(correct, answer, table))


def year_errors(
    truth: Mapping[str, Answers],
    run: Mapping[str, Answers],
    table: CodeTable | None = None,
    years: Sequence[int] = YEARS,
) -> dict[int, dict[str, tuple[float, ...]]]:
    """Score a run in each of `years`, the columns of `truth` and `run`; `table` is required for 2007 and 2008.

    Returns, by year and picture, the error of its label, or the errors of its code's axes. A picture that the run lacks
    is entirely wrong; a clutter picture is left out.
    """
    scored: dict[int, dict[str, tuple[float, ...]]] = {}
    for column, year in enumerate(years):
        if table is None and year not in FLAT_YEARS:
            raise LeafidError(f"expected a code table for the codes of {year}, found none")
        errors = scored[year] = {}
        # Many pictures share a code, and many answers to it are equal.
        known: dict[tuple[str, str | None], tuple[float, ...]] = {}
        for picture, answers in truth.items():
            correct, answer = answers[column], run[picture][column] if picture in run else None
            if year in CLUTTER_YEARS and set(correct) <= {CLUTTER, "-"}:
                continue
            if (correct, answer) not in known:
                known[correct, answer] = _score_answer(correct, answer, None if year in FLAT_YEARS else table)
            errors[picture] = known[correct, answer]
    return scored


def _score_answer(correct: str, answer: str | None, table: CodeTable | None) -> tuple[float, ...]:
    if table is None:
        return (WRONG_ERROR if answer is None else label_error(correct, answer),)
    return axis_errors(correct, answer, table)
