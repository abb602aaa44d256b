"""The errors of ImageCLEF 2009's medical annotation task: flat labels (2005, 2006) and IRMA codes (2007, 2008)."""

from collections.abc import Mapping, Sequence

from leafid.metrics.hierarchy import DONT_KNOW_ERROR, WRONG_ERROR, path_error
from leafid.pictures.taxonomy import WILDCARD
from leafid.tasks.irma.files import AXES, CLUTTER, FLAT_YEARS, UNSPECIFIED, YEARS, Answers, CodeTable

#: The errors of each picture's label, or of the axes of its code, by year and picture.
Errors = dict[int, dict[str, tuple[float, ...]]]

#: The error of a code's axis that is wrong from its first position on.
WORST_AXIS_ERROR = 0.25


def axis_error(correct: str, answer: str, branching: Sequence[int]) -> float:
    """Compute the error of one axis of an IRMA code, 0 (correct) to 0.25 (wrong from the first position on).

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
    if set(correct) == {CLUTTER}:
        return 0.0
    depth = min(len(correct.rstrip(UNSPECIFIED)) + 1, len(correct))
    return WORST_AXIS_ERROR * path_error(correct[:depth], answer[:depth], branching[:depth], UNSPECIFIED)


def code_errors(correct: str, answer: str | None, table: CodeTable) -> tuple[float, ...]:
    """Compute the errors of the four axes of a code ``TTTT-DDD-AAA-BBB`` of the table, in the order of `AXES`.

    Their sum is the error of the code. A missing answer is entirely wrong.
    """
    codes = correct.split("-")
    answers = answer.split("-") if answer else ["?" * len(code) for code in codes]
    return tuple(
        axis_error(code, answered, table.count_children(axis, code))
        for axis, code, answered in zip(AXES, codes, answers, strict=True)
    )


def year_errors(
    truth: Mapping[str, Answers],
    run: Mapping[str, Answers],
    table: CodeTable,
    years: Sequence[int] = YEARS,
) -> Errors:
    """Score a run in each of `years`, the columns of `truth` and `run`; `table` has the codes of 2007 and 2008.

    A flat label has error 0 if correct, 0.5 for ``"*"`` ("don't know"), 1 if wrong. A picture that the run lacks is
    entirely wrong; a clutter picture is left out.
    """
    scored: Errors = {}
    for column, year in enumerate(years):
        errors = scored[year] = {}
        for picture, answers in truth.items():
            correct, answer = answers[column], run[picture][column] if picture in run else None
            if set(correct) <= {CLUTTER, "-"}:
                continue
            if year in FLAT_YEARS:
                label_error = DONT_KNOW_ERROR if answer == WILDCARD else WRONG_ERROR
                errors[picture] = (0.0 if answer == correct else label_error,)
            else:
                errors[picture] = code_errors(correct, answer, table)
    return scored
