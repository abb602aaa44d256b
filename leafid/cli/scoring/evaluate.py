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

from leafid.cli.arguments import (
    TableOptions,
    list_type,
    number_type,
    option,
    switch,
)
from leafid.cli.outputs import Console, check_output, print_tables
from leafid.cli.scoring.common import (
    TruthOptions,
    check_results,
    read_truth,
)
from leafid.cli.scoring_options import ScoringOptions
from leafid.scoring.evaluation import ROWS, evaluate
from leafid.scoring.official import SCORES
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
        choices=ROWS[1:],
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
    tables = [_list_metrics()]
    if not options.list:
        tables = _score(options)
    print_tables(tables, options, console, options.digits)


def _score(options: Options) -> list[Table]:
    inputs = [options.truth, *options.runs, *options.validation]
    if options.qrels:
        check_output(options.qrels, inputs, "--qrels")
    if options.output:
        check_results(options.output, SCORES, inputs)
    truth = read_truth(options, options.taxonomy)
    scores = evaluate(
        truth,
        options.runs,
        by=["type", *options.by],
        **options.as_arguments(),
        official=options.official,
        sets=options.sets,
        average=options.average,
        validation=options.validation or None,
        plants=options.plants,
        qrels=options.qrels,
        output=options.output,
    )
    return scores.all_tables


def _list_metrics() -> Table:
    """Tabulate all metrics; for reading, what each is and which command prints it."""
    metrics = read_metrics()
    rows = [[*metric.values()] for metric in metrics]
    details = frozenset({"column", "better", "range", "citation"})
    return Table("Metrics", [*metrics[0]], rows, details=details)
