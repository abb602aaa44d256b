"""The files of the official 2011 scorer: same names, same format, same numbers; here their lines are sorted.

References
----------
.. [1] ImageCLEF 2011 plant task, package README, section 5. What the README leaves open was found out by running
   the scorer: in ``…ByGenus`` and ``…ByFamily`` a picture counts where the first species is of the correct genus or
   family; ``succes`` is the number of runs that are correct; the mean over runs is that of the runs' own scores.
"""

import logging
from collections.abc import Sequence
from decimal import Decimal
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from leafid.grouping import group_by
from leafid.metrics.averages import (
    average_by_group,
    average_score,
    index_plants,
    top_k_scores,
)
from leafid.scoring.judging import JudgedRun
from leafid.scoring.reading.truth import UNKNOWN, GroundTruth

logger = logging.getLogger(__name__)

#: The file of all runs' scores.
SCORES = "OfficialScores.csv"
#: Beginnings of the names of files about several runs, which no run may have beside others.
ALL_RUNS, MEAN_OF_RUNS = "AllRun", "MeanRun"

# The words of the three types that the official scorer knows, in the order of its columns; and of a type not known.
_OFFICIAL_TYPES = {"scan": "Scan", "scan-like": "pseudoscan", "photo": "photograph"}
_TYPE_WORDS = _OFFICIAL_TYPES | {UNKNOWN: UNKNOWN}

# A run, and whether each picture counts in its means: bool (n,).
_CountedRun = tuple[JudgedRun, NDArray[np.bool_]]


def format_official_files(
    truth: GroundTruth, runs: Sequence[JudgedRun], *, leave_out_missing: bool = False
) -> dict[str, str]:
    """Compose all the files that the official scorer writes for some runs, at least one: their content by name.

    The files that compare runs come only with two or more, of which none may be called `ALL_RUNS` or `MEAN_OF_RUNS`.
    With `leave_out_missing`, pictures that a run lacks are left out of its means, as the official scorer does, and
    don't count 0. Pictures of a type that the official scorer doesn't know are left out with a warning.
    """
    is_official = np.isin(truth.type, [*_TYPE_WORDS])
    if not is_official.all():
        types = ", ".join(sorted(set(truth.type) - _TYPE_WORDS.keys()))
        problem = "expected pictures of type %s, found %d of type %s, which the official scorer's files leave out"
        logger.warning(problem, ", ".join(_OFFICIAL_TYPES), (~is_official).sum(), types)
    counted = [
        (run, is_official & (run.covered | (not leave_out_missing))) for run in runs
    ]
    stems = [PurePath(run.name).stem for run in runs]
    files = {SCORES: _format_scores(truth, counted)}
    for stem, counted_run in zip(stems, counted, strict=True):
        files[f"{stem}ScoreByPicture.csv"] = _format_pictures(truth, [counted_run])
    if len(runs) > 1:
        files[f"{ALL_RUNS}ScoreByPicture.csv"] = _format_pictures(truth, counted)
    for level in ("species", "genus", "family"):
        tables = [_score_groups(truth, level, counted_run) for counted_run in counted]
        for stem, table in zip(stems, tables, strict=True):
            files[f"{stem}ScoresBy{level.title()}.csv"] = _format_groups(table)
        if len(runs) > 1:
            # A mean is that of the runs that have a score of the group.
            scores = {
                key: [table[key] for table in tables if key in table]
                for key in sorted(set().union(*tables))
            }
            means = {
                key: sum(of_runs) / len(of_runs) for key, of_runs in scores.items()
            }
            files[f"{MEAN_OF_RUNS}ScoresBy{level.title()}.csv"] = _format_groups(means)
    return files


def format_java_double(score: float) -> str:
    """Write a score from 0 to 1, or NaN, as Java's ``Double.toString`` does."""
    if np.isnan(score):
        return "NaN"
    if score == 0 or score >= 1e-3:
        return repr(float(score))
    digits, exponent = f"{Decimal(repr(float(score))).normalize():E}".split("E")
    return f"{digits if '.' in digits else f'{digits}.0'}E{exponent}"


def _format_scores(truth: GroundTruth, counted: Sequence[_CountedRun]) -> str:
    types = np.array(truth.type)
    authors, plants = truth.encode("author")[1], truth.encode("official_plant")[1]
    lines = [_format_line("RunFileName", *_OFFICIAL_TYPES.values())]
    for run, mask in counted:
        scores = []
        for type_ in _OFFICIAL_TYPES:
            chosen = mask & (types == type_)
            scores.append(
                average_score(
                    top_k_scores(run.rank[chosen]), authors[chosen], plants[chosen]
                )
            )
        lines.append(_format_line(run.name, *map(format_java_double, scores)))
    return "".join(lines)


def _format_pictures(truth: GroundTruth, counted: Sequence[_CountedRun]) -> str:
    header = (
        "type",
        "image",
        "succes",
        "family",
        "genus",
        "species",
        "plantId",
        "author",
    )
    lines = [_format_line(*header, *(run.name for run, _ in counted))]
    order = [*_TYPE_WORDS]
    shown = np.flatnonzero(np.any([mask for _, mask in counted], axis=0)).tolist()
    for index in sorted(
        shown, key=lambda index: (order.index(truth.type[index]), index)
    ):
        # A run that lacks the picture has no score to show where it is left out of its mean.
        scores = [
            str(int(run.rank[index] == 1)) if mask[index] else ""
            for run, mask in counted
        ]
        genus, plant, author = (
            truth.genus[index],
            truth.official_plant[index],
            truth.author[index],
        )
        epithet = truth.species[index].removeprefix(genus).strip()
        start = (
            _TYPE_WORDS[truth.type[index]],
            truth.pictures[index],
            str(scores.count("1")),
            truth.family[index],
        )
        lines.append(_format_line(*start, genus, epithet, plant, author, *scores))
    return "".join(lines)


def _score_groups(
    truth: GroundTruth, level: str, counted: _CountedRun
) -> dict[tuple[str, str], float]:
    """Score each type's species, genera or families: S by type and name, both sorted."""
    run, mask = counted
    names = getattr(truth, level)
    correct = {
        "species": run.rank == 1,
        "genus": run.genus_correct,
        "family": run.family_correct,
    }
    values = correct[level]
    authors, plants = truth.encode("author")[1], truth.encode("official_plant")[1]
    groups = group_by(
        np.flatnonzero(mask).tolist(), lambda index: (truth.type[index], names[index])
    )
    scores = {}
    for key, indices in sorted(groups.items()):
        owners, plant = index_plants(authors[indices], plants[indices])
        author_scores = average_by_group(
            average_by_group(values[indices], plant), owners
        )
        # Authors are added up one after the other, which decides the last digit.
        scores[key] = float(
            average_by_group(author_scores, np.zeros(len(author_scores), np.intp))[0]
        )
    return scores


def _format_groups(table: dict[tuple[str, str], float]) -> str:
    """Write one type after the other, each followed by an empty line."""
    by_type = group_by(table.items(), lambda item: item[0][0])
    sections = []
    for type_ in sorted(by_type, key=[*_TYPE_WORDS].index):
        rows = [
            f"{_TYPE_WORDS[type_]};{name};{format_java_double(score)}\n"
            for (_, name), score in by_type[type_]
        ]
        sections.append("".join(rows) + "\n")
    return "".join(sections)


def _format_line(*cells: str) -> str:
    return "".join(f"{cell};" for cell in cells) + "\n"
