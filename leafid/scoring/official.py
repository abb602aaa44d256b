"""The files of the official 2011 scorer: same names, same format, same numbers; here their lines are sorted.

References
----------
.. [1] ImageCLEF 2011 plant task, package README, section 5. What the README leaves open was found out by running
   the scorer: in ``…ByGenus`` and ``…ByFamily`` a picture counts where the first species is of the correct genus or
   family; ``succes`` is the number of runs that are correct; the mean over runs is that of the runs' own scores.
"""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from leafid.grouping import group_by
from leafid.metrics.averages import average_by_group, average_score, index_plants, top_k_scores
from leafid.pictures.picture import AcquisitionType
from leafid.scoring.plant_task import TYPE_ORDER, JudgedRun
from leafid.scoring.truth import UNKNOWN, GroundTruth

#: The file of all runs' scores.
SCORES = "OfficialScores.csv"
#: Beginnings of the names of files about several runs, which no run may have beside others.
ALL_RUNS, MEAN_OF_RUNS = "AllRun", "MeanRun"

# Word in the file name, the field that groups, and the attribute of a judged run that counts.
_LEVELS = (
    ("Species", "species", "rank"),
    ("Genus", "genus", "genus_correct"),
    ("Family", "family", "family_correct"),
)


def format_official_files(
    truth: GroundTruth, runs: Sequence[JudgedRun], *, leave_out_missing: bool = False
) -> dict[str, str]:
    """Compose all the files that the official scorer writes for some runs, at least one: their content by name.

    The files that compare runs come only with two or more, of which none may be called `ALL_RUNS` or `MEAN_OF_RUNS`.
    With `leave_out_missing`, pictures that a run lacks are left out of its means, as the official scorer does, and
    don't count 0.
    """
    counted = [run.covered if leave_out_missing else np.ones(len(truth), bool) for run in runs]
    files = {SCORES: _format_scores(truth, runs, counted)}
    for run, mask in zip(runs, counted, strict=True):
        files[f"{PurePath(run.name).stem}ScoreByPicture.csv"] = _format_pictures(truth, [run], [mask])
    if len(runs) > 1:
        files[f"{ALL_RUNS}ScoreByPicture.csv"] = _format_pictures(truth, runs, counted)
    for title, field, attribute in _LEVELS:
        tables = [
            _score_groups(truth, field, getattr(run, attribute), mask) for run, mask in zip(runs, counted, strict=True)
        ]
        for run, table in zip(runs, tables, strict=True):
            files[f"{PurePath(run.name).stem}ScoresBy{title}.csv"] = _format_groups(table)
        if len(runs) > 1:
            # Over the runs that have a score there.
            scores = {key: [table[key] for table in tables if key in table] for key in sorted(set().union(*tables))}
            means = {key: sum(of_runs) / len(of_runs) for key, of_runs in scores.items()}
            files[f"{MEAN_OF_RUNS}ScoresBy{title}.csv"] = _format_groups(means)
    return files


def format_java_double(score: float) -> str:
    """Write a score from 0 to 1, or NaN, as Java's ``Double.toString`` does.

    Examples
    --------
    >>> format_java_double(0.5), format_java_double(1), format_java_double(0.00025), format_java_double(float("nan"))
    ('0.5', '1.0', '2.5E-4', 'NaN')
    """
    if np.isnan(score):
        return "NaN"
    if score == 0 or score >= 1e-3:
        return repr(float(score))
    digits, exponent = f"{Decimal(repr(float(score))).normalize():E}".split("E")
    return f"{digits if '.' in digits else f'{digits}.0'}E{exponent}"


def _format_scores(truth: GroundTruth, runs: Sequence[JudgedRun], counted: Sequence[NDArray[np.bool_]]) -> str:
    types = np.array(truth.type)
    authors, plants = truth.encode("author")[1], truth.encode("plant")[1]
    lines = [_format_line("RunFileName", *(type_.imageclef_word for type_ in AcquisitionType))]
    for run, mask in zip(runs, counted, strict=True):
        scores = []
        for type_ in AcquisitionType:
            chosen = mask & (types == type_)
            scores.append(average_score(top_k_scores(run.rank[chosen]), authors[chosen], plants[chosen]))
        lines.append(_format_line(run.name, *map(format_java_double, scores)))
    return "".join(lines)


def _format_pictures(truth: GroundTruth, runs: Sequence[JudgedRun], counted: Sequence[NDArray[np.bool_]]) -> str:
    header = ("type", "image", "succes", "family", "genus", "species", "plantId", "author")
    lines = [_format_line(*header, *(run.name for run in runs))]
    for index in sorted(range(len(truth)), key=lambda index: (TYPE_ORDER.index(truth.type[index]), index)):
        if not any(mask[index] for mask in counted):
            continue
        # A run that lacks the picture has no score to show where it is left out of its mean.
        pairs = zip(runs, counted, strict=True)
        scores = [str(int(run.rank[index] == 1)) if mask[index] else "" for run, mask in pairs]
        genus, plant, author = truth.genus[index], truth.plant[index], truth.author[index]
        epithet = truth.species[index].removeprefix(genus).strip()
        start = _format_type(truth.type[index]), truth.pictures[index], str(scores.count("1")), truth.family[index]
        lines.append(_format_line(*start, genus, epithet, plant, author, *scores))
    return "".join(lines)


def _score_groups(
    truth: GroundTruth, field: str, rank: NDArray, counted: NDArray[np.bool_]
) -> dict[tuple[str, str], float]:
    """Score each type's species, genera or families: S by type and name, both sorted."""
    names, values = getattr(truth, field), top_k_scores(rank)
    authors, plants = truth.encode("author")[1], truth.encode("plant")[1]
    groups = group_by(np.flatnonzero(counted).tolist(), lambda index: (truth.type[index], names[index]))
    scores = {}
    for key, own in sorted(groups.items()):
        owners, unit = index_plants(authors[own], plants[own])
        author_scores = average_by_group(average_by_group(values[own], unit), owners)
        # Authors are added up one after the other, which decides the last digit.
        scores[key] = float(average_by_group(author_scores, np.zeros(len(author_scores), np.intp))[0])
    return scores


def _format_groups(table: dict[tuple[str, str], float]) -> str:
    """Write one type after the other, each followed by an empty line."""
    by_type = group_by(table.items(), lambda item: item[0][0])
    sections = []
    for type_ in sorted(by_type, key=TYPE_ORDER.index):
        rows = [f"{_format_type(type_)};{name};{format_java_double(score)}\n" for (_, name), score in by_type[type_]]
        sections.append("".join(rows) + "\n")
    return "".join(sections)


def _format_type(type_: str) -> str:
    return type_ if type_ == UNKNOWN else AcquisitionType(type_).imageclef_word


def _format_line(*cells: str) -> str:
    return "".join(f"{cell};" for cell in cells) + "\n"
