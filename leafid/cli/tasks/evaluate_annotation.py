"""Score run files of the ImageCLEF 2016 annotation task.

The ground truth decides the subtask. It has the format of runs ('leafid check-annotation --help' shows it), with one
line per human description in subtasks 2 and 3. Scores: 1: mean average precision of localised concepts; 2: METEOR; 3:
F1 of the selection; 4: recall at k, the share of a document's pictures found, and success at k, the share of documents
with a picture found; 5: great circle distance. A picture or document that a run lacks counts as the worst answer.
METEOR needs Java and 'pip install pycocoevalcap'.

examples:
  leafid evaluate-annotation truth1.txt mine.txt yours.txt
  leafid evaluate-annotation --by-concept --table 2 --format csv truth1.txt mine.txt
  leafid evaluate-annotation --pictures all-ids.txt truth4.txt mine.txt
"""

import math
from dataclasses import replace
from pathlib import Path

from leafid.cli.arguments import (
    TableOptions,
    check_runs_to_compare,
    compare_switch,
    number_type,
    option,
    positional,
    positive_ints,
    switch,
)
from leafid.cli.environment import Environment
from leafid.cli.outputs import print_tables
from leafid.cli.tasks.check_annotation import KnownOptions
from leafid.errors import UsageError
from leafid.scoring.comparison import compare_values, make_comparison_table
from leafid.scoring.tables import Cell, Table
from leafid.tasks.annotation2016.files import read_annotation_run, read_annotation_truth
from leafid.tasks.annotation2016.metrics import EARTH_RADIUS, OVERLAPS
from leafid.tasks.annotation2016.scoring import RANKS, AnnotationScores, score_annotation
from leafid.tasks.file_kinds import suggesting_command

#: Options that only one subtask uses.
_SUBTASK_OPTIONS = {"by_concept": 1, "concepts": 1, "k": 4, "illustrations": 4, "radius": 5}


class Options(KnownOptions, TableOptions):
    """The options of evaluate-annotation."""

    truth: str = positional("GROUND-TRUTH", "a file in the format of runs")
    runs: list[str] = positional("RUN", "run files", nargs="+")
    by_picture: bool = switch("show the scores of every picture or document")
    by_concept: bool = switch("subtask 1: show the precision of every concept")
    k: list[int] | None = option(
        "subtask 4: values of k (default: 1,5,10,25,50,75,100)", type=positive_ints, metavar="K,…"
    )
    radius: float | None = option(
        "subtask 5: radius of the earth (default: the task's 6137)",
        type=number_type("a number above 0", lambda value: 0 < value < math.inf),
        metavar="KM",
    )
    compare: bool = compare_switch("concepts, pictures or documents")


def run(options: Options, environment: Environment) -> int:
    if options.compare:
        check_runs_to_compare(options.runs)
    known = options.read()
    with suggesting_command(options.truth, "evaluate-annotation"):
        truth = read_annotation_truth(options.truth, known)
    for name, subtask in _SUBTASK_OPTIONS.items():
        if getattr(options, name) and truth.subtask != subtask:
            raise UsageError(
                f"--{name.replace('_', '-')} is for subtask {subtask}, found a ground truth of subtask {truth.subtask}"
            )
    if known.ids is None:
        known = replace(known, ids=frozenset(truth.results))
    scored: list[tuple[str, AnnotationScores]] = []
    for path in options.runs:
        with suggesting_command(path, "evaluate-annotation"):
            answers = read_annotation_run(path, truth.subtask, known)
        if missing := len(truth.results.keys() - answers.results.keys()):
            share = f"{missing} of {len(truth.results)} pictures or documents"
            environment.warn(f"{path}: lacks {share}; each counts as the worst answer")
        ranks, radius = options.k or RANKS, options.radius or EARTH_RADIUS
        scores = score_annotation(truth, answers, ranks, radius, by_picture=options.by_picture)
        scored.append((Path(path).name, scores))
    rows: list[list[Cell]] = [[name, *scores.scores.values()] for name, scores in scored]
    tables = [Table("", ["run", *scored[0][1].scores], rows, [f"{len(truth.results)} pictures or documents"])]
    if options.compare:
        tables.append(_compare(scored))
    if options.by_picture:
        tables += [_list_pictures(name, scores) for name, scores in scored]
    if options.by_concept:
        tables += [_list_concepts(name, scores) for name, scores in scored]
    print_tables(tables, options, environment)
    return 0


def _compare(scored: list[tuple[str, AnnotationScores]]) -> Table:
    """Compare runs by the mean of their main score, over concepts in subtask 1 and pictures or documents in others."""
    first = scored[0][1]
    if first.by_concept:
        title, unit_names, units = "map-increasing", "concepts", [*first.by_concept]
        values = [[math.fsum(run.by_concept[unit]) / len(OVERLAPS) for unit in units] for _, run in scored]
    else:
        unit_names, units = "pictures or documents", [*first.by_picture]
        title = next(iter(first.by_picture[units[0]]))
        values = [[run.by_picture[unit][title] for unit in units] for _, run in scored]
    comparisons = compare_values(
        [name for name, _ in scored],
        [[value / len(units) for value in column] for column in values],
        units,
        higher_is_better=title != "great-circle-km",
    )
    return make_comparison_table(comparisons, title, units=unit_names)


def _list_pictures(name: str, scores: AnnotationScores) -> Table:
    columns = next(filter(None, scores.by_picture.values()))
    rows: list[list[Cell]] = [
        [identity, *(values.get(column) for column in columns)] for identity, values in scores.by_picture.items()
    ]
    return Table(f"{name}: scores by picture or document", ["id", *columns], rows)


def _list_concepts(name: str, scores: AnnotationScores) -> Table:
    rows: list[list[Cell]] = [[concept, *precisions] for concept, precisions in scores.by_concept.items()]
    return Table(f"{name}: average precision by concept and overlap", ["concept", *map(str, OVERLAPS)], rows)
