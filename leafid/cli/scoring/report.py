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
from leafid.cli.outputs import Console, check_output
from leafid.cli.scoring.common import TruthOptions, read_runs, read_truth, write_files
from leafid.cli.scoring_options import ScoringOptions
from leafid.pages.report_page import make_report
from leafid.pictures.reading import read_and_warn, read_collection
from leafid.scoring.reading.truth import find_collection
from leafid.scoring.tables import render

FILE_NAME = "report.html"


class Options(TruthOptions, ScoringOptions):
    output: str = option(
        f"the folder to write {FILE_NAME} to", required=True, metavar="DIR"
    )
    pictures: str | None = option(
        "the pictures to show (default: those of the ground truth)",
        metavar="COLLECTION",
    )
    jobs: int = JOBS


def run(options: Options, console: Console) -> None:
    scoring = options.as_score_options()
    inputs = [options.truth, *options.runs]
    output = Path(options.output)
    check_output(output, inputs, file=FILE_NAME)
    truth = read_truth(options)
    runs, judged = read_runs(options, truth, console)
    if options.pictures:
        pictures = read_and_warn(options.pictures).pictures
    else:
        # Reading the ground truth has given the warnings.
        pictures = read_collection(
            find_collection(Path(options.truth)), **options.as_keywords()
        ).pictures
    source = Path(options.truth).resolve().name
    page, tables, drawings = make_report(
        truth, runs, judged, pictures, source=source, options=scoring, jobs=options.jobs
    )
    files = {FILE_NAME: page}
    for name, table in tables.items():
        files[f"tables/{name}.csv"] = render([table], "csv")
        files[f"tables/{name}.tex"] = render([table], "latex", options.digits)
    files |= {f"tables/{name}.svg": svg for name, svg in drawings.items()}
    write_files(output, files, inputs)
    console.print(str(output / FILE_NAME))
