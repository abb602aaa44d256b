"""The files of the official 2011 scorer: same names, same format, same numbers; here their lines are sorted.

References
----------
.. [1] ImageCLEF 2011 plant task, package README, section 5. What the README leaves open was found out by running
   the scorer: in ``…ByGenus`` and ``…ByFamily`` a picture counts where the first species is of the right genus or
   family; ``succes`` is the number of runs that are right; the mean over runs is that of the runs' own scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from leafid.collection.picture import AcquisitionType
from leafid.evaluation.judged_run import JudgedRun
from leafid.metrics.plant_task import average_score, average_score_by_group, top_k_scores
from leafid.runs.ground_truth import UNKNOWN, GroundTruth, encode_labels

TYPES = tuple(AcquisitionType)

#: The file of all runs' scores.
SCORES = "OfficialScores.csv"
#: What the names of the files begin with that are about several runs: no run may be called so beside others.
ALL_RUNS, MEAN_OF_RUNS = "AllRun", "MeanRun"

# File name part, the column that groups, the answers that count.
_LEVELS = (("Species", "species", "rank"), ("Genus", "genus", "first_genus"), ("Family", "family", "first_family"))


def format_official_files(
    truth: GroundTruth, runs: Sequence[JudgedRun], *, leave_out_missing: bool = False
) -> dict[str, str]:
    """Compose all the files that the official scorer writes for some runs.

    Parameters
    ----------
    truth : Truth
    runs : sequence of Answers
        At least one. The files that compare runs come only with two or more, of which none may be called
        `ALL_RUNS` or `MEAN_OF_RUNS`.
    leave_out_missing : bool, default False
        Leave pictures that a run lacks out of its means, as the official scorer does. By default they count 0.

    Returns
    -------
    dict of str to str
        The content of each file, by its name.
    """
    counted = [run.covered if leave_out_missing else np.ones(len(truth), bool) for run in runs]
    files = {SCORES: _scores(truth, runs, counted)}
    for run, part in zip(runs, counted, strict=True):
        files[f"{PurePath(run.name).stem}ScoreByPicture.csv"] = _pictures(truth, [run], [part])
    if len(runs) > 1:
        files[f"{ALL_RUNS}ScoreByPicture.csv"] = _pictures(truth, runs, counted)
    for title, column, answer in _LEVELS:
        tables = [_groups(truth, column, getattr(run, answer), part) for run, part in zip(runs, counted, strict=True)]
        for run, table in zip(runs, tables, strict=True):
            files[f"{PurePath(run.name).stem}ScoresBy{title}.csv"] = _sections(table)
        if len(runs) > 1:
            files[f"{MEAN_OF_RUNS}ScoresBy{title}.csv"] = _sections(_mean(tables))
    return files


def format_java_double(number: float) -> str:
    """Write a number as Java's ``Double.toString`` does.

    Parameters
    ----------
    number : float

    Returns
    -------
    str

    Examples
    --------
    >>> java_double(0.5), java_double(1), java_double(0.00025), java_double(float("nan"))
    ('0.5', '1.0', '2.5E-4', 'NaN')
    """
    value = float(number)
    if not np.isfinite(value):
        return "NaN" if np.isnan(value) else f"{'-' * (value < 0)}Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    first, *rest = map(str, digits)
    return f"{'-' * sign}{first}.{''.join(rest) or '0'}E{int(exponent) + len(rest)}"


def _scores(truth: GroundTruth, runs: Sequence[JudgedRun], counted: Sequence[NDArray[np.bool_]]) -> str:
    types = np.array(truth.type)
    _, authors = truth.column("author")
    _, plants = truth.column("plant")
    lines = [_line("RunFileName", *(type_.imageclef_word for type_ in TYPES))]
    for run, part in zip(runs, counted, strict=True):
        scores = []
        for type_ in TYPES:
            here = part & (types == type_)
            scores.append(average_score(top_k_scores(run.rank[here]), authors[here], plants[here]))
        lines.append(_line(run.name, *map(format_java_double, scores)))
    return "".join(lines)


def _pictures(truth: GroundTruth, runs: Sequence[JudgedRun], counted: Sequence[NDArray[np.bool_]]) -> str:
    header = ("type", "image", "succes", "family", "genus", "species", "plantId", "author")
    lines = [_line(*header, *(run.name for run in runs))]
    for index in _order(truth):
        if not any(part[index] for part in counted):
            continue
        # A run that lacks the picture has no score to show where it is left out of its mean.
        scores = [
            str(int(run.rank[index] == 1)) if part[index] else "" for run, part in zip(runs, counted, strict=True)
        ]
        right = sum(score == "1" for score in scores)
        species = truth.species[index]
        lines.append(
            _line(
                _official_type(truth.type[index]),
                truth.pictures[index],
                str(right),
                truth.family[index],
                truth.genus[index],
                species.removeprefix(truth.genus[index]).strip(),
                truth.plant[index],
                truth.author[index],
                *scores,
            )
        )
    return "".join(lines)


def _groups(
    truth: GroundTruth, column: str, answers: NDArray, counted: NDArray[np.bool_]
) -> dict[str, dict[str, float]]:
    """Score each type's species, genera or families: ``{type: {name: S}}``."""
    names, groups = truth.column(column)
    type_names, types = encode_labels(truth.type)
    _, authors = truth.column("author")
    _, plants = truth.column("plant")
    both = types * len(names) + groups
    right = top_k_scores(answers)
    scores = average_score_by_group(right[counted], authors[counted], plants[counted], both[counted])
    table: dict[str, dict[str, float]] = {}
    for code in np.flatnonzero(~np.isnan(scores)).tolist():
        type_, name = divmod(code, len(names))
        table.setdefault(type_names[type_], {})[names[name]] = float(scores[code])
    return table


def _mean(tables: Sequence[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Average over the runs that have a score there."""
    mean: dict[str, dict[str, float]] = {}
    for type_ in {type_ for table in tables for type_ in table}:
        names = {name for table in tables for name in table.get(type_, ())}
        for name in sorted(names):
            scores = [table[type_][name] for table in tables if name in table.get(type_, ())]
            mean.setdefault(type_, {})[name] = sum(scores) / len(scores)
    return mean


def _sections(table: dict[str, dict[str, float]]) -> str:
    """Write a type after the other, each with an empty line behind it."""
    return "".join(
        "".join(f"{_official_type(type_)};{name};{format_java_double(score)}\n" for name, score in table[type_].items())
        + "\n"
        for type_ in sorted(table, key=_type_place)
    )


def _order(truth: GroundTruth) -> Iterator[int]:
    yield from sorted(range(len(truth)), key=lambda index: (_type_place(truth.type[index]), index))


def _type_place(type_: str) -> int:
    return TYPES.index(AcquisitionType(type_)) if type_ != UNKNOWN else len(TYPES)


def _official_type(type_: str) -> str:
    return AcquisitionType(type_).imageclef_word if type_ != UNKNOWN else type_


def _line(*cells: str) -> str:
    return "".join(f"{cell};" for cell in cells) + "\n"
