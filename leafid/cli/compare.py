"""Test whether runs differ, each with every other.

Were two runs equally good, either could have given the other's answers for a plant: the p value is the share of
random swaps, plant by plant, that make a difference as large as the one seen. With several pairs it is corrected by
Holm's method. A picture that a run lacks counts 0.

examples:
  leafid compare imageclef2011/TestXmlWithGroundTruth a.txt b.txt
  leafid compare collection a.txt b.txt c.txt --metric accuracy --only-type photo --species
"""

from __future__ import annotations

import argparse

from leafid.cli.scoring import add_truth_and_runs, answers_of, differ, truth_of
from leafid.console.arguments import add_format, add_jobs, add_only_type, add_seed, positive_int
from leafid.console.environment import Environment
from leafid.errors import LeafidError, UsageError

# Those of leafid.evaluation.summary, whose import would slow the help down.
_METRICS = ("S", "inverse-rank", "per-plant", "accuracy")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_truth_and_runs(parser, "run file; at least two")
    parser.add_argument("--metric", choices=_METRICS, default="S", help="what to compare (default: S)")
    add_only_type(parser, "compare on pictures of this type (default: mean of the types)")
    parser.add_argument("--species", action="store_true", help="show each run's score on every species as well")
    parser.add_argument(
        "--resamples", type=positive_int, default=10_000, metavar="N", help="random swaps a pair (default: 10000)"
    )
    add_seed(parser)
    add_format(parser)
    add_jobs(parser)


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Compare the runs."""
    from leafid.evaluation.comparison import compare_runs
    from leafid.evaluation.summary import measures
    from leafid.report.scores import comparison_table, species_table
    from leafid.report.tables import render

    if len(arguments.runs) < 2:
        raise UsageError("expected at least two runs to compare; see 'leafid compare --help'")
    differ(arguments.runs)
    truth = truth_of(arguments)
    if arguments.only_type and arguments.only_type not in truth.type:
        raise LeafidError(f"{arguments.truth}: expected pictures of type {arguments.only_type}, found none")
    answered = answers_of(arguments.runs, truth, environment, jobs=arguments.jobs)
    measure = next(measure for measure in measures() if measure.name == arguments.metric)
    pairs = compare_runs(
        truth,
        answered,
        measure,
        acquisition_type=arguments.only_type,
        resamples=arguments.resamples,
        seed=arguments.seed,
    )
    tables = [
        comparison_table(
            pairs, measure.name, arguments.only_type or "mean of types", arguments.resamples, arguments.seed
        )
    ]
    if arguments.species:
        tables.append(species_table(truth, answered, measure, arguments.only_type))
    environment.stdout.write(render(tables, arguments.format))
    return 0
