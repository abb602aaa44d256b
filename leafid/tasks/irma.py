"""ImageCLEF 2009 medical annotation: errors of flat labels and of IRMA codes.

The labels are of 2005 and 2006, the codes of 2007 and 2008. A code table has one code
per line: ``A 463 what it means``. A ground truth or a run has one picture per line, its
name and one answer per year: ``1234 18 * 1121-120-463-700 1121-***-46*-700``. Lines
that begin with ``#`` are comments.
"""

import math
import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence, Set

from leafid.errors import LeafidError
from leafid.files import StrPath
from leafid.grouping import count_noun
from leafid.metrics.hierarchy import WILDCARD, path_error
from leafid.textfiles import LineProblems, read_text

#: The axes of a code in their order, and their numbers of positions.
AXES = {"T": 4, "D": 3, "A": 3, "B": 3}

YEARS = (2005, 2006, 2007, 2008)
#: The years that have labels.
FLAT_YEARS = frozenset({2005, 2006})
#: The years that have a clutter class.
CLUTTER_YEARS = frozenset({2005, 2006, 2007})
UNSPECIFIED = "0"
CLUTTER = "C"

#: The characters that can follow a prefix in a code table, by axis and prefix.
CodeTable = Mapping[tuple[str, str], Set[str]]
#: One answer per year.
Answers = tuple[str, ...]
#: The error of each picture's label, or the sum over the axes of its code, by year.
Errors = dict[int, dict[str, float]]


def read_code_table(path: StrPath) -> CodeTable:
    """Read a code table; a `ProblemsError` names the bad lines."""
    children: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    with LineProblems(path) as problems:
        for line, (axis, *words) in _split_lines(path):
            code = "".join(words[:1])
            if len(code) != AXES.get(axis) or not re.fullmatch("[0-9a-z]+", code):
                problems.add(
                    line,
                    "expected an axis (T, D, A or B) and its code of 4, 3, 3 or 3 "
                    f"positions of 0-9, a-z, found {' '.join([axis, *words])!r}",
                )
            elif problems.check_unique(line, f"every code of axis {axis}", code):
                for depth, character in enumerate(code):
                    children[axis, code[:depth]].add(character)
    return dict(children)


def read_labels(
    path: StrPath,
    table: CodeTable,
    *,
    years: Sequence[int] = YEARS,
    pictures: Container[str] | None = None,
) -> dict[str, Answers]:
    """Read a ground truth, or, with its `pictures`, a run: answers by picture.

    The answers are in the order of `years`. Only a run may have wildcards. `table` has
    the codes of years from 2007 on. A `ProblemsError` names the lines with a wrong
    number of columns, a repeated or unknown picture, or an answer that is no label or
    code.
    """
    wildcard = "" if pictures is None else WILDCARD
    labels: dict[str, Answers] = {}
    with LineProblems(path) as problems:
        for line, (picture, *answers) in _split_lines(path):
            if len(answers) != len(years):
                problems.add(
                    line,
                    f"expected a picture and {count_noun(len(years), 'answer')} "
                    f"({', '.join(map(str, years))}), found "
                    f"{' '.join([picture, *answers])!r}",
                )
                continue
            problems.check_unique(line, "every picture", picture)
            if pictures is not None and picture not in pictures:
                problems.add(
                    line, f"expected a picture of the ground truth, found {picture!r}"
                )
            for year, answer in zip(years, answers, strict=True):
                try:
                    _check_answer(answer, year, table, wildcard)
                except LeafidError as error:
                    problems.add(line, f"{year}: {error}")
            labels[picture] = tuple(answers)
        if not labels and not problems:
            problems.add(None, "expected one line per picture, found none")
    return labels


def _check_answer(answer: str, year: int, table: CodeTable, wildcard: str) -> None:
    if year in FLAT_YEARS:
        is_number = re.fullmatch("0|[1-9][0-9]*", answer)
        if not is_number and answer not in {CLUTTER, wildcard}:
            raise LeafidError(
                f"expected a label (a whole number or C{wildcard and ', or *'}), found "
                f"{answer!r}"
            )
        return
    codes = answer.split("-")
    if [*map(len, codes)] != [*AXES.values()]:
        raise LeafidError(f"expected a code TTTT-DDD-AAA-BBB, found {answer!r}")
    others = wildcard + CLUTTER * (year in CLUTTER_YEARS)
    for axis, code in zip(AXES, codes, strict=True):
        prefix = code.partition(WILDCARD)[0]
        is_known = not prefix or prefix[-1] in table.get((axis, prefix[:-1]), ())
        is_clutter = set(prefix) == {CLUTTER}
        has_fit_positions = re.fullmatch(f"[0-9a-z{others}]+", code)
        if not (has_fit_positions and (is_known or is_clutter)):
            expected = " or ".join(["a code of the table", *others])
            raise LeafidError(f"axis {axis}: expected {expected}, found {code!r}")


def _split_lines(path: StrPath) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            yield number, words


def axis_error(correct: str, answer: str, branching: Sequence[int]) -> float:
    """Compute the error of an axis of an IRMA code, from 0 (correct) to 0.25.

    It is 0.25 if the code is wrong from the first position. In `correct`, "0" ends a
    code's path, and all "C" is the clutter class, which never counts; ``"*"`` in
    `answer`, of the same length, means "don't know". `branching` has for each position
    the number of characters that can follow the ones before it. Positions count up to
    and including the first "0" at the end of the path; any other character there is a
    mistake, a wildcard is not.

    References
    ----------
    .. [1] ImageCLEF 2009, "Error evaluation for ImageCLEF 2009 IRMA Medical Image
       Annotation".

    Examples
    --------
    >>> round(axis_error("463", "46*", (11, 7, 8)), 6)
    0.025531
    """
    if set(correct) == {CLUTTER}:
        return 0.0
    depth = min(len(correct.rstrip(UNSPECIFIED)) + 1, len(correct))
    return 0.25 * path_error(
        correct[:depth], answer[:depth], branching[:depth], UNSPECIFIED
    )


def code_errors(correct: str, answer: str, table: CodeTable) -> tuple[float, ...]:
    """Compute the errors of a code ``TTTT-DDD-AAA-BBB``, in the order of `AXES`.

    Their sum is the error of the code. A missing answer ("") is entirely wrong.
    """
    answers = (answer or "????-???-???-???").split("-")
    errors = []
    for axis, code, answered in zip(AXES, correct.split("-"), answers, strict=True):
        branching = [
            len(table.get((axis, code[:depth]), ())) for depth in range(len(code))
        ]
        errors.append(axis_error(code, answered, branching))
    return tuple(errors)


def year_errors(
    truth: Mapping[str, Answers],
    run: Mapping[str, Answers],
    table: CodeTable,
    years: Sequence[int],
) -> Errors:
    """Score a run in each of `years`, the columns of `truth` and `run`.

    `table` has the codes of 2007 and 2008. A flat label has error 0 if correct, 0.5 for
    ``"*"`` ("don't know"), 1 if wrong. A picture that the run lacks is entirely wrong;
    a clutter picture is left out.
    """
    scored: Errors = {year: {} for year in years}
    for picture, correct_answers in truth.items():
        answers = run.get(picture, ("",) * len(years))
        for year, correct, answer in zip(years, correct_answers, answers, strict=True):
            if set(correct) <= {CLUTTER, "-"}:
                continue
            if year in FLAT_YEARS:
                # A label is a path of one position.
                error = path_error([correct], [answer], [1])
            else:
                error = math.fsum(code_errors(correct, answer, table))
            scored[year][picture] = error
    return scored
