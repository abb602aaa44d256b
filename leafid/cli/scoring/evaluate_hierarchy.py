"""Score plant runs that may answer with a higher taxon, 'Quercus *' for an oak.

The answer to a picture is its line of rank 1: a species, a genus, family or order
followed by '*', or just '*'. Its error is that of an IRMA code over order, family,
genus and species: 0 for the correct species, 1 for another order or a picture that the
run lacks. A mistake costs more at a high rank or where there are few choices; "don't
know" costs half of a wrong name. 'by plant' averages as the official plant score does:
over pictures, plants, authors.

To see whether backing off pays, score the run with it and the run without it together.

examples:
  leafid evaluate-hierarchy imageclef2011 species.txt backed-off.txt
  leafid evaluate-hierarchy --taxonomy leaves/train leaves/test run.txt
"""

from leafid.cli.arguments import TableOptions, option, positional
from leafid.cli.outputs import Console, print_tables
from leafid.cli.scoring.common import TruthOptions
from leafid.errors import LeafidError
from leafid.pictures.reading import read_and_warn
from leafid.pictures.taxonomy import Taxonomy
from leafid.scoring.hierarchy import make_hierarchy_table, select_answers
from leafid.scoring.reading.run_reading import read_run_files
from leafid.scoring.reading.runs import KnownNames
from leafid.scoring.reading.truth import make_ground_truth, select_scored


class Options(TruthOptions, TableOptions):
    truth: str = positional("COLLECTION", "labelled pictures")
    taxonomy: str | None = option(
        "a collection with more species for the tree (default: the truth's)",
        metavar="COLLECTION",
    )


def run(options: Options, console: Console) -> None:
    pictures = read_and_warn(options.truth, **options.as_keywords()).pictures
    truth = make_ground_truth(
        select_scored(pictures, options.part, source=options.truth),
        source=options.truth,
    )
    truth = truth.select_type(options.only_type, options.truth)
    more = read_and_warn(options.taxonomy).pictures if options.taxonomy else ()
    taxonomy = Taxonomy.from_pictures([*pictures, *more])
    if len(taxonomy.ranks) == 1:
        raise LeafidError(
            f"{options.truth}: expected a genus of every species, found some without; "
            "use 'leafid evaluate'"
        )
    answers = {}
    # Any answer may be named, which the taxonomy checks.
    known = KnownNames(truth.known.pictures, frozenset())
    for run in read_run_files(options.runs, known):
        answers[run.name] = select_answers(run, taxonomy)
        if n_missing := len(set(truth.pictures) - answers[run.name].keys()):
            console.warn(
                f"{run.name}: lacks {n_missing} of {len(truth)} pictures; each counts 1"
            )
    print_tables([make_hierarchy_table(answers, truth, taxonomy)], options, console)
