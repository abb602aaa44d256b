"""Write a report on runs: one HTML page with scores, plots, and wrong answers.

The page shows the scores of each acquisition type with their intervals, how reliable
their confidence is, the scores of every species, which species were taken for which,
and every picture with the outline of its leaf and its answers. It is a single file that
needs no network. The folder tables/ beside it has every table and curve as CSV and
LaTeX, and curves and the confusion matrix also as SVG.

examples:
  leafid report imageclef2011 run.txt --output report
  leafid report truth.csv a.txt b.txt --pictures imageclef2011 --output report
"""

from pathlib import Path

from leafid.cli.arguments import JOBS, option
from leafid.cli.outputs import Console
from leafid.cli.scoring.common import (
    TruthOptions,
    check_results,
    read_truth,
)
from leafid.cli.scoring_options import ScoringOptions
from leafid.pages.report_files import FILE_NAME, report
from leafid.pictures.reading import read_and_warn, read_collection
from leafid.scoring.reading.truth_reading import find_collection


class Options(TruthOptions, ScoringOptions):
    output: str = option(
        f"the folder to write {FILE_NAME} to", required=True, metavar="DIR"
    )
    pictures: str | None = option(
        "the pictures to show (default: the pictures of the ground truth)",
        metavar="COLLECTION",
    )
    jobs: int = JOBS


def run(options: Options, console: Console) -> None:
    check_results(options.output, FILE_NAME, [options.truth, *options.runs])
    truth = read_truth(options)
    if options.pictures:
        pictures = read_and_warn(options.pictures)
    else:
        # Reading the ground truth has given the warnings.
        folder = find_collection(Path(options.truth))
        pictures = read_collection(folder, **options.as_keywords())
    page = report(
        truth,
        options.runs,
        options.output,
        title=Path(options.truth).resolve().name,
        pictures=pictures,
        **options.as_arguments(),
        digits=options.digits,
        jobs=options.jobs,
    )
    console.print(str(page))
