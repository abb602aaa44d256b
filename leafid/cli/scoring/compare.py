"""Test whether runs differ, each with every other.

If two runs were equally good, either could have given the other's answers for a plant:
the p value is the share of random swaps of plants whose difference is at least as large
as the observed one. With several pairs it is corrected by Holm's method. A picture that
a run lacks counts 0.

The first table has the scores, the second the tests, with the interval of each
difference, its effect size (Cohen's d over plants), and how many plants show a
difference of 0.02.

examples:
  leafid compare imageclef2011/TestXmlWithGroundTruth a.txt b.txt
  leafid compare collection a.txt b.txt c.txt --metrics S,macro-f1 --only-type photo
  leafid compare collection a.txt b.txt --table 2 --format csv > differences.csv
"""

from leafid.cli.arguments import TableOptions
from leafid.cli.outputs import Console, print_tables
from leafid.cli.scoring.common import TruthOptions, read_truth
from leafid.cli.scoring_options import ScoringOptions
from leafid.errors import UsageError
from leafid.scoring.comparison import compare


class Options(TruthOptions, ScoringOptions, TableOptions):
    pass


def run(options: Options, console: Console) -> None:
    if len(options.runs) < 2:
        raise UsageError(
            "expected at least two runs to compare; see 'leafid compare --help'"
        )
    truth = read_truth(options)
    differences = compare(
        truth,
        options.runs,
        **options.as_arguments(),
    )
    tables = [differences.tables["scores"].table, differences.table]
    print_tables(tables, options, console, options.digits)
