"""Write a report on runs: one HTML page with scores, plots, and pictures of what was confused.

The page shows S of each acquisition type with its interval, the ranks of the correct species, how well calibrated the
probabilities are, the scores of every species, which species were taken for which, and every picture with the outline
of its leaf and its answers. It is a single file that needs no network. The folder tables/ beside it has every table as
CSV and LaTeX.

examples:
  leafid report imageclef2011 run.txt --output report
  leafid report imageclef2011/testGroundTruth.txt a.txt b.txt --pictures imageclef2011 --output report
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from leafid.cli.arguments import add_options, get_reading_options
from leafid.cli.environment import Environment
from leafid.cli.outputs import check_output_file, refuse_inputs
from leafid.cli.scoring.common import (
    add_truth_and_runs,
    check_names_differ,
    load_ground_truth,
    load_runs,
)
from leafid.errors import LeafidError
from leafid.files import write_text
from leafid.pictures import Picture, read_and_warn, read_collection

FILE_NAME = "report.html"


def configure(parser: argparse.ArgumentParser) -> None:
    add_truth_and_runs(parser)
    parser.add_argument("--output", required=True, metavar="DIR", help=f"the folder to write {FILE_NAME} to")
    parser.add_argument(
        "--pictures",
        metavar="COLLECTION",
        help="the pictures to show (default: those of the ground truth)",
    )
    add_options(parser, "confidence", "resamples", "seed", "jobs")


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    from leafid.pages.report_page import make_report
    from leafid.scoring.resampling import Bootstrap
    from leafid.scoring.tables import render

    output, inputs = Path(arguments.output), [arguments.truth, *arguments.runs]
    check_output_file(arguments.output, FILE_NAME, inputs)
    check_names_differ(arguments.runs)
    truth = load_ground_truth(arguments)
    if truth.split_known()[0] is None:
        raise LeafidError(f"{arguments.truth}: expected pictures of known species, found unknown ones only")
    runs = load_runs(arguments.runs, truth)
    page, tables = make_report(
        truth,
        runs,
        _read_pictures(arguments),
        source=Path(arguments.truth).resolve().name,
        bootstrap=Bootstrap(arguments.resamples, arguments.confidence, arguments.seed),
        jobs=arguments.jobs,
    )
    files = {output / FILE_NAME: page}
    for name, table in tables.items():
        for form, ending in (("csv", "csv"), ("latex", "tex")):
            files[output / "tables" / f"{name}.{ending}"] = render([table], form)
    for file in files:
        refuse_inputs(file, inputs)
    for file, text in files.items():
        write_text(file, text)
    environment.print(str(output / FILE_NAME))
    return 0


def _read_pictures(arguments: argparse.Namespace) -> Sequence[Picture]:
    if arguments.pictures:
        return read_and_warn(arguments.pictures).pictures
    truth = Path(arguments.truth)
    # Without warnings: reading the ground truth has given them.
    return read_collection(
        truth if truth.is_dir() else arguments.xml or truth.parent, **get_reading_options(arguments)
    ).pictures
