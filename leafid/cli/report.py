"""Write a report on runs: one HTML page with scores, plots, and pictures of what was confused.

The page shows what was scored, S of each acquisition type with its interval, how far down the right species stands,
how far the probabilities can be trusted, every species, the most frequent confusions with pictures, and the pictures
that a run lacks. It is one file that needs no other and no network.

examples:
  leafid report imageclef2011 run.txt --output report
  leafid report imageclef2011/testGroundTruth.txt a.txt b.txt --pictures imageclef2011 --output report
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from leafid.cli.scoring import add_truth_and_runs, check_output, differ, read_runs, truth_of
from leafid.console.arguments import add_bootstrap, add_seed, nonempty_path
from leafid.console.environment import Environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafid.collection import Picture

FILE_NAME = "report.html"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_truth_and_runs(parser)
    parser.add_argument(
        "--output", required=True, metavar="DIR", type=nonempty_path, help=f"the folder to write {FILE_NAME} to"
    )
    parser.add_argument(
        "--pictures",
        metavar="COLLECTION",
        type=nonempty_path,
        help="where the pictures are that it shows (default: the ground truth's)",
    )
    add_bootstrap(parser)
    add_seed(parser)


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Write the report."""
    from pathlib import Path

    from leafid.evaluation.resampling import Bootstrap
    from leafid.files import open_output
    from leafid.report.page import report_page

    output = Path(arguments.output)
    check_output(arguments.output, FILE_NAME, [arguments.truth, *arguments.runs])
    differ(arguments.runs)
    truth = truth_of(arguments)
    runs = read_runs(arguments.runs, truth)
    page = report_page(
        truth,
        runs,
        _pictures(arguments),
        source=arguments.truth,
        bootstrap=Bootstrap(arguments.resamples, arguments.confidence, arguments.seed),
    )
    with open_output(output / FILE_NAME) as stream:
        stream.write(page)
    environment.print(str(output / FILE_NAME))
    return 0


def _pictures(arguments: argparse.Namespace) -> Sequence[Picture]:
    from pathlib import Path

    from leafid.collection import read_and_warn, read_collection

    if arguments.pictures:
        return read_and_warn(arguments.pictures).pictures
    truth = Path(arguments.truth)
    # Its problems were told when the ground truth was read from it.
    return read_collection(truth if truth.is_dir() else arguments.xml or truth.parent, arguments.layout).pictures
