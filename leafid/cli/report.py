"""Write a report on runs: one HTML page with scores, plots, and pictures of what was confused.

The page shows S of each acquisition type with its interval, the ranks of the correct species, how well calibrated the
probabilities are, the scores of every species, the most frequent confusions with pictures, and the pictures that a
run lacks. It is a single file that needs no network.

examples:
  leafid report imageclef2011 run.txt --output report
  leafid report imageclef2011/testGroundTruth.txt a.txt b.txt --pictures imageclef2011 --output report
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from leafid.cli.scoring import (
    add_truth_and_runs,
    check_names_differ,
    check_output_file,
    load_ground_truth,
    load_runs,
)
from leafid.collection import Picture, read_and_warn, read_collection
from leafid.console.arguments import add_options
from leafid.console.environment import Environment
from leafid.files import open_output

if TYPE_CHECKING:
    from collections.abc import Sequence


FILE_NAME = "report.html"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_truth_and_runs(parser)
    parser.add_argument("--output", required=True, metavar="DIR", help=f"the folder to write {FILE_NAME} to")
    parser.add_argument(
        "--pictures",
        metavar="COLLECTION",
        help="the pictures to show (default: those of the ground truth)",
    )
    add_options(parser, "confidence", "resamples", "seed")


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Write the report."""
    from leafid.evaluation.resampling import Bootstrap
    from leafid.report.page import make_report

    output = Path(arguments.output)
    check_output_file(arguments.output, FILE_NAME, [arguments.truth, *arguments.runs])
    check_names_differ(arguments.runs)
    truth = load_ground_truth(arguments)
    runs = load_runs(arguments.runs, truth)
    page = make_report(
        truth,
        runs,
        _read_pictures(arguments),
        source=arguments.truth,
        bootstrap=Bootstrap(arguments.resamples, arguments.confidence, arguments.seed),
    )
    with open_output(output / FILE_NAME) as stream:
        stream.write(page)
    environment.print(str(output / FILE_NAME))
    return 0


def _read_pictures(arguments: argparse.Namespace) -> Sequence[Picture]:
    if arguments.pictures:
        return read_and_warn(arguments.pictures).pictures
    truth = Path(arguments.truth)
    # Without warnings: reading the ground truth has given them.
    return read_collection(truth if truth.is_dir() else arguments.xml or truth.parent, arguments.layout).pictures
