"""Score run files against a ground truth with the plant task's metrics.

The ground truth is a folder of ImageCLEF XML, a collection in any layout, or a …GroundTruth.txt together with the
XML of its pictures. A picture that a run lacks counts 0, with a warning; a run with any error is refused.

S is the official average classification score: the mean over authors of the mean over their plants of the mean over
each plant's pictures. inverse-rank is the same with 1 / rank of the correct species for each picture. Intervals are
bootstrapped over plants, whoever photographed them. --output writes all files of the official scorer, with the same
numbers. --list shows every metric and the command that prints it.

A set-valued run names, for each picture, any number of species that form its set: --sets scores such runs.
--average makes sets of a run that has scores of all species: the species above a threshold, fitted on a run on
validation pictures, or, to compare systems and people at one mean size, on the run itself.

Pictures whose species is 'Unknown species' in the ground truth show none that a system can know. They are left out of
all other scores, and a table says how well each run tells them from the others: mAP-open is the score of the open-world
task of LifeCLEF 2016. A picture's highest score says how surely its species is known; a run may leave a picture out, or
name 'Unknown species' first, to reject it.

--reliability says how far the scores of first species, taken for probabilities, agree with how often these are correct:
the expected calibration error (ECE), and what it is by chance where probabilities are calibrated.

--plants also scores plants that are identified from several pictures: the scores of these, taken for probabilities,
are multiplied. A run of 'leafid predict --group-by plant' has the answers of plants already: none of its scores can be
compared with those of runs of single pictures.

examples:
  leafid evaluate imageclef2011/TestXmlWithGroundTruth run.txt
  leafid evaluate imageclef2011/testGroundTruth.txt a.txt b.txt --output scores
  leafid evaluate collection run.txt --by species --table 2 --format csv > species.csv
  leafid evaluate PlantNet-300K run.txt --part test --macro --average 1,2,3,5,10 --validation run-on-val.txt
  leafid evaluate --list
"""

import argparse

from leafid.cli.arguments import add_options, number_type, positive_ints
from leafid.cli.environment import Environment
from leafid.cli.scoring.common import add_truth_and_runs
from leafid.evaluation.summary import GROUPS

_parse_size = number_type("a mean size above 0", lambda size: size > 0)

# Copied from leafid.evaluation.summary, whose import would slow the help down.


def configure(parser: argparse.ArgumentParser) -> None:
    add_truth_and_runs(parser, required=False)
    parser.add_argument(
        "--list",
        action="store_true",
        help="list every metric by the command that prints it",
    )
    parser.add_argument("--output", metavar="DIR", help="write the official scorer's files there")
    parser.add_argument(
        "--official",
        action="store_true",
        help="reproduce the official scorer: missing pictures are left out of the means, the last of several lines "
        "of one rank counts, unknown species are wrong answers",
    )
    parser.add_argument(
        "--top", metavar="K,…", type=positive_ints, default=[1, 5], help="top-K accuracies (default: 1,5)"
    )
    parser.add_argument("--by", choices=GROUPS, action="append", default=[], help="score groups of pictures as well")
    parser.add_argument("--reliability", action="store_true", help="score how reliable probabilities are as well")
    parser.add_argument("--plants", action="store_true", help="score plants identified from several pictures as well")
    parser.add_argument("--sets", action="store_true", help="score the runs as set-valued predictions as well")
    parser.add_argument(
        "--macro",
        action="store_true",
        help="average the top-K accuracies over the species as well, each counting the same",
    )
    parser.add_argument(
        "--average",
        metavar="K,…",
        type=_parse_sizes,
        help="score the sets that the run's scores form above a threshold, K species on average",
    )
    parser.add_argument(
        "--validation",
        metavar="RUN",
        action="append",
        default=[],
        help="with --average: the run on validation pictures that the threshold is fitted on; once for each run "
        "(default: the run that is scored)",
    )
    parser.add_argument(
        "--exclude-ties",
        action="store_true",
        help="with --average: leave out scores equal to the threshold where the sets would exceed K on average",
    )
    parser.add_argument(
        "--training",
        metavar="COLLECTION",
        help="with --sets or --macro: count each species' training pictures there, for the bins",
    )
    parser.add_argument(
        "--intervals", choices=("S", "all", "none"), default="S", help="scores to show intervals of (default: S)"
    )
    add_options(parser, "confidence", "resamples", "seed", "format", "table", "jobs")


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    from leafid.cli.scoring.evaluation import score_runs

    return score_runs(arguments, environment)


def _parse_sizes(word: str) -> list[float]:
    return [_parse_size(size) for size in word.split(",")]
