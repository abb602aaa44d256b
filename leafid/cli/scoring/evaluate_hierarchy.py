"""Score plant runs that may answer with a higher taxon, 'Quercus *' for an oak.

The answer to a picture is its line of rank 1: a species, a genus, family or order
followed by '*', or just '*'. Its error is computed as of an IRMA code over order,
family, genus and species: 0 for the correct species, 1 for another order or a picture
that the run lacks. A mistake costs more at a high rank or where there are few choices;
"don't know" costs half of a wrong name. 'by plant' averages as the official plant score
does: over pictures, plants, authors.

To see whether backing off pays, score the run with it and the run without it together.

examples:
  leafid evaluate-hierarchy imageclef2011 species.txt backed-off.txt
  leafid evaluate-hierarchy --taxonomy leaves/train leaves/test run.txt
"""

from leafid.cli.arguments import TableOptions, option, positional
from leafid.cli.outputs import Console, print_tables
from leafid.cli.scoring.common import TruthOptions
from leafid.pictures.reading import read_and_warn
from leafid.scoring.hierarchy import evaluate_hierarchy


class Options(TruthOptions, TableOptions):
    truth: str = positional("COLLECTION", "labelled pictures")
    taxonomy: str | None = option(
        "a collection with more species for the tree (default: the truth's)",
        metavar="COLLECTION",
    )


def run(options: Options, console: Console) -> None:
    scores = evaluate_hierarchy(
        read_and_warn(options.truth, **options.as_keywords()),
        options.runs,
        part=options.part,
        only_type=options.only_type,
        taxonomy=options.taxonomy,
    )
    print_tables([scores.table], options, console)
