"""The files of the official 2011 scorer: same names, same format, same numbers.

Here their lines are sorted.

References
----------
.. [1] ImageCLEF 2011 plant task, package README, section 5. Running the scorer showed
what the README leaves open: in ``…ByGenus`` and ``…ByFamily`` a picture
   counts where the first species is of the correct genus or family; ``succes`` is the
   number of runs that are correct; the mean over runs averages the scores of the runs.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import chain

import numpy as np

from leafid.errors import UsageError
from leafid.grouping import group_by
from leafid.metrics.averages import (
    Booleans,
    average_by_group,
    average_score,
    index_plants,
    top_k_scores,
)
from leafid.scoring.judging import JudgedRun
from leafid.scoring.reading.truth import TYPE_ORDER, GroundTruth

#: The file of all runs' scores.
SCORES = "OfficialScores.csv"
#: Beginnings of the names of files about several runs, which no run may have beside
#: others.
ALL_RUNS = "AllRun"
MEAN_OF_RUNS = "MeanRun"

# The words of the official scorer for its three types, in the order of its columns.
_OFFICIAL_TYPES = {"scan": "Scan", "scan-like": "pseudoscan", "photo": "photograph"}

# A run, and whether each picture counts in its means: bool (n,).
_CountedRun = tuple[JudgedRun, Booleans]
# Scores by the number of a type in `TYPE_ORDER` and the name of a group, both sorted.
_GroupScores = dict[tuple[int, str], float]


def format_official_files(
    truth: GroundTruth, runs: Sequence[JudgedRun], *, leave_out_missing: bool = False
) -> dict[str, str]:
    """Compose all the files that the official scorer writes for some runs.

    The files that compare runs come only with two or more.

    Parameters
    ----------
    truth : GroundTruth
    runs : sequence of JudgedRun
        At least one; of several, one called `ALL_RUNS` or `MEAN_OF_RUNS` raises a
        `UsageError`.
    leave_out_missing : bool, default False
        Leave pictures that a run lacks out of its means, as the official scorer does;
        otherwise they count 0.

    Returns
    -------
    dict of str to str
        The content of each file by its name.
    """
    stems = {run.stem for run in runs}
    if len(runs) > 1 and (names := stems & {ALL_RUNS, MEAN_OF_RUNS}):
        raise UsageError(
            f"--output: expected no run called {min(names)}, as the files about all "
            "runs are; rename it"
        )
    counted: dict[str, _CountedRun] = {}
    for run in runs:
        counted[run.stem] = run, run.covered | (not leave_out_missing)
    everything = [*counted.values()]
    files = {SCORES: _format_scores(truth, everything)}
    for stem, counted_run in counted.items():
        files[f"{stem}ScoreByPicture.csv"] = _format_pictures(truth, [counted_run])
    if len(runs) > 1:
        files[f"{ALL_RUNS}ScoreByPicture.csv"] = _format_pictures(truth, everything)
    for level in ("species", "genus", "family"):
        tables = {
            stem: _score_groups(truth, level, *counted_run)
            for stem, counted_run in counted.items()
        }
        if len(runs) > 1:
            tables[MEAN_OF_RUNS] = _average_tables(tables.values())
        for stem, table in tables.items():
            files[f"{stem}ScoresBy{level.title()}.csv"] = _format_groups(table)
    return files


def format_java_double(score: float) -> str:
    """Write a score from 0 to 1, or NaN, as Java's ``Double.toString`` does."""
    if np.isnan(score):
        return "NaN"
    if score == 0 or score >= 1e-3:
        return repr(float(score))
    digits, exponent = f"{Decimal(repr(float(score))).normalize():E}".split("E")
    if "." not in digits:
        digits += ".0"
    return f"{digits}E{exponent}"


def _format_scores(truth: GroundTruth, counted: Sequence[_CountedRun]) -> str:
    lines = [_format_line("RunFileName", *_OFFICIAL_TYPES.values())]
    for run, mask in counted:
        scores = []
        for type_ in _OFFICIAL_TYPES:
            part = run.select(mask & (truth.type == type_))
            is_correct = top_k_scores(part.rank)
            scores.append(average_score(is_correct, part.author, part.official_plant))
        lines.append(_format_line(run.name, *map(format_java_double, scores)))
    return "".join(lines)


def _format_pictures(truth: GroundTruth, counted: Sequence[_CountedRun]) -> str:
    header = ["type", "image", "succes", "family", "genus", "species", "plantId"]
    lines = [_format_line(*header, "author", *(run.name for run, _ in counted))]
    # A run that lacks the picture has no score to show where it is left out of its
    # mean.
    columns = [
        np.where(mask, np.where(run.rank == 1, "1", "0"), "") for run, mask in counted
    ]
    for index in sorted(range(len(truth)), key=_order_types(truth).__getitem__):
        scores = [str(column[index]) for column in columns]
        genus = truth.genus[index]
        cells = [
            _OFFICIAL_TYPES.get(truth.type[index], truth.type[index]),
            truth.pictures[index],
            str(scores.count("1")),
            truth.family[index],
            genus,
            truth.species[index].removeprefix(genus).strip(),
            truth.official_plant[index],
            truth.author[index],
        ]
        if any(scores):
            lines.append(_format_line(*cells, *scores))
    return "".join(lines)


def _score_groups(
    truth: GroundTruth, level: str, run: JudgedRun, mask: Booleans
) -> _GroupScores:
    """Score each type's species, genera or families by S."""
    correct = {
        "species": run.rank == 1,
        "genus": run.genus_correct,
        "family": run.family_correct,
    }
    keys = [*zip(_order_types(truth), getattr(truth, level), strict=True)]
    groups = group_by(np.flatnonzero(mask).tolist(), keys.__getitem__)
    scores = {}
    for key, rows in sorted(groups.items()):
        authors, plant = index_plants(run.author[rows], run.official_plant[rows])
        plant_scores = average_by_group(correct[level][rows], plant)
        author_scores = average_by_group(plant_scores, authors)
        # Authors are added up one after the other, which decides the last digit.
        (scores[key],) = average_by_group(author_scores, 0 * author_scores).tolist()
    return scores


def _order_types(truth: GroundTruth) -> list[int]:
    """List the number of each picture's type in `TYPE_ORDER`."""
    return [*map(TYPE_ORDER.index, truth.type)]


def _average_tables(tables: Iterable[_GroupScores]) -> _GroupScores:
    """Average the scores of each group over the runs that have one."""
    items = chain.from_iterable(table.items() for table in tables)
    groups = group_by(items, lambda item: item[0])
    return {
        key: sum(score for _, score in groups[key]) / len(groups[key])
        for key in sorted(groups)
    }


def _format_groups(table: _GroupScores) -> str:
    """Write one type after the other, each followed by an empty line."""
    text = ""
    for number, items in group_by(table.items(), lambda item: item[0][0]).items():
        type_ = TYPE_ORDER[number]
        for (_, name), score in items:
            word = _OFFICIAL_TYPES.get(type_, type_)
            text += f"{word};{name};{format_java_double(score)}\n"
        text += "\n"
    return text


def _format_line(*cells: str) -> str:
    return "".join(f"{cell};" for cell in cells) + "\n"
