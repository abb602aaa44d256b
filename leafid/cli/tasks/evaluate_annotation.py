"""Score run files of the ImageCLEF 2016 annotation task.

The ground truth decides the subtask. It has the format of runs ('leafid check-annotation --help' shows it), with one
line per human description in subtasks 2 and 3. Scores: 1: mean average precision of localised concepts; 2: METEOR; 3:
F1 of the selection; 4: recall at k, the share of a document's pictures found, and success at k, the share of documents
with a picture found; 5: great circle distance. A picture or document that a run lacks counts as the worst answer.
METEOR needs Java and 'pip install pycocoevalcap'.

examples:
  leafid evaluate-annotation truth1.txt mine.txt yours.txt
  leafid evaluate-annotation --by-concept --table 2 --format csv truth1.txt mine.txt
  leafid evaluate-annotation --best-of-groups truth1.txt runs/*/*.txt
  leafid evaluate-annotation --pictures all-ids.txt truth4.txt mine.txt
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from leafid.cli.arguments import add_compare, add_options, check_runs_to_compare, number_type, positive_ints
from leafid.cli.environment import Environment
from leafid.cli.outputs import print_tables
from leafid.cli.tasks.check_annotation import add_known, read_known, refuse_useless_options
from leafid.scoring.tables import Cell, Table
from leafid.tasks.annotation2016.files import AnnotationTruth, read_annotation_run, read_annotation_truth
from leafid.tasks.annotation2016.results import Subtask
from leafid.tasks.file_kinds import suggesting_command

if TYPE_CHECKING:
    from leafid.tasks.annotation2016.summary import AnnotationSummary

#: By subtask, the score that the runs of a group are compared by; of subtask 4 it is the first one.
_MAIN_METRICS = {1: "map-increasing", 2: "meteor mean", 3: "selection-f1", 5: "great-circle-km mean"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("truth", metavar="GROUND-TRUTH", help="a file in the format of runs")
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run files")
    parser.add_argument("--by-picture", action="store_true", help="show the scores of every picture or document")
    parser.add_argument(
        "--best-of-groups",
        action="store_true",
        help="show only the best run of every group; the folder of a run is its group",
    )
    parser.add_argument("--by-concept", action="store_true", help="subtask 1: show the precision of every concept")
    parser.add_argument(
        "--k", type=positive_ints, metavar="K,…", help="subtask 4: values of k (default: 1,5,10,25,50,75,100)"
    )
    parser.add_argument(
        "--radius",
        type=number_type("a number above 0", lambda value: 0 < value < math.inf),
        metavar="KM",
        help="subtask 5: radius of the earth (default: the task's 6137)",
    )
    add_compare(parser, "concepts, pictures or documents")
    add_known(parser)
    add_options(parser, "format", "table")


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    from leafid.tasks.annotation2016.metrics import EARTH_RADIUS
    from leafid.tasks.annotation2016.summary import RANKS, find_best_runs, summarise_annotation

    if arguments.compare:
        check_runs_to_compare(arguments.runs)
    known = read_known(arguments)
    with suggesting_command(arguments.truth, "evaluate-annotation"):
        truth = read_annotation_truth(arguments.truth, known)
    refuse_useless_options(arguments, truth.subtask)
    if known.ids is None:
        known = replace(known, ids=frozenset(truth.results))
    if truth.subtask is Subtask.CAPTION:
        _check_captions(arguments.truth, truth, environment)
    scored: list[tuple[str, AnnotationSummary]] = []
    for path in arguments.runs:
        with suggesting_command(path, "evaluate-annotation"):
            answers = read_annotation_run(path, truth.subtask, known)
        summary = summarise_annotation(
            truth,
            answers,
            arguments.k or RANKS,
            arguments.radius or EARTH_RADIUS,
            by_picture=arguments.by_picture,
        )
        if summary.missing:
            missing = f"{summary.missing} of {len(truth.results)} pictures or documents"
            environment.warn(f"{path}: lacks {missing}; each counts as the worst answer")
        scored.append((path, summary))
    notes = [f"{len(truth.results)} pictures or documents"]
    if arguments.best_of_groups:
        metric = _MAIN_METRICS.get(truth.subtask.value) or next(iter(scored[0][1].scores))
        notes.append(f"best run of each group by {metric}")
        scored = find_best_runs(scored, metric)
    # With the group in front, runs of different groups may have the same name.
    named = [
        ("/".join(Path(path).parts[-2 if arguments.best_of_groups else -1 :]), summary) for path, summary in scored
    ]
    tables = [_make_summary(named, notes)]
    if arguments.compare and len(named) > 1:
        tables.append(_compare(named))
    if arguments.by_picture:
        tables += [_list_pictures(name, summary) for name, summary in named]
    if arguments.by_concept:
        tables += [_list_concepts(name, summary) for name, summary in named if summary.by_concept]
    print_tables(tables, arguments, environment)
    return 0


def _check_captions(path: str, truth: AnnotationTruth, environment: Environment) -> None:
    from leafid.tasks.annotation2016.summary import MIN_CAPTIONS

    if few := sorted(identity for identity, captions in truth.results.items() if len(captions) < MIN_CAPTIONS):
        environment.warn(
            f"{path}: expected at least {MIN_CAPTIONS} captions per picture, as in the task's ground truth, "
            f"found fewer for {len(few)} of {len(truth.results)} pictures ({few[0]} …)"
        )


def _make_summary(scored: list[tuple[str, AnnotationSummary]], notes: list[str]) -> Table:
    columns = list(scored[0][1].scores)
    rows: list[list[Cell]] = [[name, *summary.scores.values()] for name, summary in scored]
    return Table("", ["run", *columns], rows, notes)


def _compare(scored: list[tuple[str, AnnotationSummary]]) -> Table:
    """Compare runs by the mean of their main score, over concepts in subtask 1 and pictures or documents in others."""
    from leafid.scoring.comparison import compare_values, make_comparison_table

    names, summaries = zip(*scored, strict=True)
    first: AnnotationSummary = summaries[0]
    if first.by_concept:
        title, unit_names, units = "map-increasing", "concepts", [*first.by_concept]
        values = [
            [math.fsum(s.by_concept[concept]) / len(s.by_concept[concept]) for concept in units] for s in summaries
        ]
    else:
        unit_names, units = "pictures or documents", [*first.by_picture]
        title = next(iter(first.by_picture[units[0]]))
        values = [[summary.by_picture[identity][title] for identity in units] for summary in summaries]
    comparisons = compare_values(
        names,
        [[value / len(units) for value in column] for column in values],
        units,
        higher_is_better=not title.startswith("great-circle"),
    )
    return make_comparison_table(comparisons, title, units=unit_names)


def _list_pictures(name: str, summary: AnnotationSummary) -> Table:
    columns = next(filter(None, summary.by_picture.values()))
    rows: list[list[Cell]] = [
        [identity, *(scores.get(column) for column in columns)] for identity, scores in summary.by_picture.items()
    ]
    return Table(f"{name}: scores by picture or document", ["id", *columns], rows)


def _list_concepts(name: str, summary: AnnotationSummary) -> Table:
    from leafid.tasks.annotation2016.metrics import OVERLAPS

    rows: list[list[Cell]] = [[concept, *precisions] for concept, precisions in summary.by_concept.items()]
    return Table(f"{name}: average precision by concept and overlap", ["concept", *map(str, OVERLAPS)], rows)
