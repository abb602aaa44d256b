"""Score run files against a ground truth with the plant task's metrics.

The ground truth is a folder of ImageCLEF XML, a collection in any layout, or a
…GroundTruth.txt together with the XML of its pictures. A picture that a run lacks
counts 0, with a warning; a run with any error is refused.

S is the official score: the mean over authors of the mean over their plants of the mean
over each plant's pictures. --metrics chooses the scores, of which --list shows all.
Intervals are bootstrapped over plants, whoever photographed them. Of several runs the
best score is bold in LaTeX, and raised letters name the runs that a score is
significantly better than. --output writes all files of the official scorer.

--sets scores runs that name a set of species for each picture. --average makes such
sets of a run with scores of all species: those above a threshold, fitted on a run on
validation pictures or, to compare systems at one mean size, on the run itself. --plants
multiplies the scores of several pictures of a plant.

Pictures whose species is 'Unknown species' in the ground truth are left out of all
other scores, and a table says how well each run tells them from the others by a
picture's highest score.

examples:
  leafid evaluate imageclef2011/TestXmlWithGroundTruth run.txt
  leafid evaluate imageclef2011/testGroundTruth.txt a.txt b.txt --output scores
  leafid evaluate collection a.txt b.txt --metrics S,mrr --format latex > table.tex
  leafid evaluate collection run.txt --by species --metrics precision,recall,f1
  leafid evaluate collection run.txt --by picture --table 2 --format csv > pictures.csv
  leafid evaluate collection run.txt --by confusion --table 2 --format csv
  leafid evaluate PlantNet-300K run.txt --part test --average 2 --validation val.txt
  leafid evaluate --list
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from leafid.cli.arguments import (
    TableOptions,
    list_type,
    number_type,
    option,
    switch,
)
from leafid.cli.outputs import Console, check_output, print_tables
from leafid.cli.scoring.common import TruthOptions, read_runs, read_truth, write_files
from leafid.cli.scoring_options import ScoringOptions
from leafid.errors import UsageError
from leafid.files import open_output
from leafid.grouping import count_noun
from leafid.scoring.answers import make_confusion_table, make_picture_score_table
from leafid.scoring.judging import JudgedRun
from leafid.scoring.metrics import OPEN_WORLD_METRICS, SET_METRICS
from leafid.scoring.official import (
    ALL_RUNS,
    MEAN_OF_RUNS,
    SCORES,
    format_official_files,
)
from leafid.scoring.plants import make_plant_table
from leafid.scoring.reading.run_formats import write_qrels
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.truth import GroundTruth
from leafid.scoring.score_table import GROUPS, ScoreOptions, make_group_table
from leafid.scoring.sets import make_average_table
from leafid.scoring.tables import Table, read_metrics


class Options(TruthOptions, ScoringOptions, TableOptions):
    output: str | None = option(
        "write the official scorer's files there", metavar="DIR"
    )
    qrels: str | None = option(
        "write the ground truth to a file as qrels of TREC, which trec_eval reads",
        metavar="FILE",
    )
    official: bool = switch(
        "reproduce the official scorer: missing pictures are left out of the means, "
        "the last of several lines of one rank counts, species may be repeated, ranks "
        "may have gaps"
    )
    by: list[str] = option(
        "score groups of pictures, or each picture, as well; confusion: which species "
        "were taken for which, with the names of the pictures in CSV and JSON",
        choices=(*GROUPS, "picture", "confusion"),
        action="append",
        default=[],
    )
    taxonomy: str | None = option(
        "a collection with more species that the runs may name, and their families",
        metavar="COLLECTION",
    )
    plants: bool = switch("score plants identified from several pictures as well")
    sets: bool = switch("score the runs as set-valued predictions as well")
    average: list[float] = option(
        "score the sets that the run's scores form above a threshold, K species on "
        "average",
        metavar="K,…",
        type=list_type(number_type(0, 10**9, has_zero=False)),
        default=[],
    )
    validation: list[str] = option(
        "with --average: the run on validation pictures that the threshold is fitted "
        "on; once for each run (default: the run that is scored)",
        metavar="RUN",
        action="append",
        default=[],
    )
    list: bool = switch("list every metric by the command that prints it")


def run(options: Options, console: Console) -> None:
    if options.list:
        print_tables([_list_metrics()], options, console)
        return
    _check_options(options)
    scoring = replace(options.as_score_options(), leave_out_missing=options.official)
    truth = read_truth(options, options.taxonomy)
    known_truth = truth.select_known()
    runs, judged = read_runs(options, truth, console, official=options.official)
    if options.output or scoring.needs_families:
        truth.warn_of_families(runs)
    tables = [
        _make_table(by, truth, judged, scoring)
        for by in dict.fromkeys(["type", *options.by])
    ]
    if options.sets:
        of_sets = scoring.with_metrics(SET_METRICS)
        tables.append(make_group_table(truth, judged, of_sets, title="Sets"))
    if options.average:
        validation = [*map(read_run, options.validation)]
        tables.append(
            make_average_table(known_truth, runs, options.average, validation)
        )
    if options.plants:
        tables.append(make_plant_table(runs, known_truth))
    if n_unknown := len(truth) - len(known_truth):
        console.note(
            f"{options.truth}: {n_unknown} pictures of unknown species count in the "
            "last table"
        )
        open_world = scoring.with_metrics(OPEN_WORLD_METRICS)
        tables.append(make_group_table(truth, judged, open_world, title="Open world"))
    print_tables(tables, options, console, options.digits)
    if options.qrels:
        with open_output(options.qrels) as stream:
            write_qrels(known_truth.pictures, known_truth.species, stream)
    if options.output:
        answers = [run.select(run.is_known) for run in judged]
        files = format_official_files(
            known_truth, answers, leave_out_missing=options.official
        )
        folder = Path(options.output)
        write_files(folder, files, [options.truth, *options.runs, *options.validation])
        console.note(f"{len(files)} files written to {folder}")


def _make_table(
    by: str, truth: GroundTruth, runs: Sequence[JudgedRun], options: ScoreOptions
) -> Table:
    if by == "picture":
        return make_picture_score_table(truth, runs, options)
    if by == "confusion":
        return make_confusion_table(truth, runs)
    return make_group_table(truth, runs, options, by)


def _check_options(options: Options) -> None:
    """Check what can be checked before the runs are read."""
    n_validation = len(options.validation)
    if n_validation and not (options.average and n_validation == len(options.runs)):
        n_runs = count_noun(len(options.runs), "run")
        raise UsageError(
            "expected --average, and --validation once for each run, found "
            f"{count_noun(n_validation, 'validation run')} for {n_runs}"
        )
    if options.qrels:
        inputs = [options.truth, *options.runs, *options.validation]
        check_output(options.qrels, inputs, "--qrels")
    if not options.output:
        return
    names = {Path(file).stem for file in options.runs} & {ALL_RUNS, MEAN_OF_RUNS}
    if names and len(options.runs) > 1:
        raise UsageError(
            f"--output: expected no run called {min(names)}, as the files about all "
            "runs are; rename it"
        )
    check_output(options.output, options.runs, file=SCORES)


def _list_metrics() -> Table:
    """Tabulate all metrics; for reading, what each is and which command prints it."""
    metrics = read_metrics()
    rows = [[*metric.values()] for metric in metrics]
    details = frozenset({"column", "better", "range", "citation"})
    return Table("Metrics", [*metrics[0]], rows, details=details)
