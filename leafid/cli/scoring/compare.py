"""Test whether runs differ, each with every other.

If two runs were equally good, either could have given the other's answers for a plant: the p value is the share of
random swaps of plants whose difference is at least as large as the observed one. With several pairs it is corrected
by Holm's method. A picture that a run lacks counts 0.

examples:
  leafid compare imageclef2011/TestXmlWithGroundTruth a.txt b.txt
  leafid compare collection a.txt b.txt c.txt --metric top-1 --only-type photo
"""

from leafid.cli.arguments import SEED, TYPES, TableOptions, option, positive_int
from leafid.cli.outputs import Environment, print_tables
from leafid.cli.scoring.common import TruthOptions, read_runs, read_truth
from leafid.errors import LeafidError, UsageError
from leafid.scoring.comparison import make_comparison_table
from leafid.scoring.plant_task import find_plant_metric, list_plant_metrics

_METRICS = tuple(metric.name for metric in list_plant_metrics((1,)))


class Options(TruthOptions, TableOptions):
    metric: str = option("what to compare (default: S)", choices=_METRICS, default="S")
    only_type: str | None = option("compare on pictures of this type (default: mean of the types)", choices=TYPES)
    resamples: int = option("random swaps a pair (default: 10000)", type=positive_int, default=10_000, metavar="N")
    seed: int = SEED


def run(options: Options, environment: Environment) -> None:
    if len(options.runs) < 2:
        raise UsageError("expected at least two runs to compare; see 'leafid compare --help'")
    _, truth = read_truth(options)
    type_ = options.only_type
    if type_ and type_ not in truth.type:
        raise LeafidError(f"{options.truth}: expected pictures of type {type_}, found none")
    _, runs = read_runs(options, truth, environment)
    table = make_comparison_table(
        truth,
        runs,
        find_plant_metric(options.metric),
        acquisition_type=type_,
        resamples=options.resamples,
        seed=options.seed,
    )
    print_tables([table], options, environment)
