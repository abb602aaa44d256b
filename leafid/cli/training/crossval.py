"""Score recipes on collections by cross-validation, or on their test parts.

Folds have whole plants, authors, places or days.

Every picture is named by a model whose training set had no picture of its plant.
Pictures of a species without another plant in the fold's training part are left out of
the scores and counted. Scores are means over the seeds, which assign plants to other
folds. --sessions scores the answers of 'leafid predict --group-by session'.

--hold-out collection tests on each of several collections in turn, with models of the
others: it tells how a model does on a camera that it never saw. Several collections
have a row for each type of each.

--by place makes folds of whole places (plants within 5 km of each other, or joined by a
chain of such plants), --by author and --by day folds of whole authors and days. --parts
tests on the test part of a collection. --shots trains on few pictures of each species:
several numbers give a learning curve. 'leafid experiment' knows further protocols.

--open-world also holds 28 % of the species out of each fold's training. It prints how
well leaves of known species are distinguished from others, and how often pictures
without a leaf are rejected.

--output writes the rankings of all held-out pictures, a run file for each seed (and
number of shots), and folds.csv with the fold of each picture. --folds reads such a
file, so that another system is tested on the same folds; 'leafid evaluate' and 'leafid
report' show the runs of both.

examples:
  leafid crossval imageclef2011
  leafid crossval imageclef2011 --only-type scan --recipe fast --repeats 1
  leafid crossval imageclef2011 --by place
  leafid crossval imageclef2011 garden --hold-out collection
  leafid crossval scans --shots 1,3,5,10 --format latex
  leafid crossval benchmark --parts --output runs
  leafid crossval imageclef2011 --open-world
"""

from leafid.cli.arguments import (
    CacheOptions,
    TableOptions,
    nonempty_word,
    option,
    positional,
    positive_int,
    positive_ints,
    switch,
)
from leafid.cli.computing import TrainingOptions, open_loader
from leafid.cli.outputs import Console, check_output, print_tables
from leafid.cli.scoring_options import ScoringOptions
from leafid.pictures.picture import EmptyClass
from leafid.pictures.splitting.units import UNITS, Unit
from leafid.studies.api import crossval

#: The options that are arguments of `crossval` by the same names.
_ARGUMENTS = (
    "by",
    "folds",
    "hold_out",
    "only_type",
    "open_world",
    "output",
    "parts",
    "repeats",
    "seed",
    "sessions",
    "shared_codebooks",
    "shots",
)


class Options(TrainingOptions, ScoringOptions, TableOptions, CacheOptions):
    collections: list[str] = positional(
        "COLLECTION", "a folder of labelled pictures", nargs="+"
    )
    folds: int | str = option(
        "number of folds (default: 5), or a CSV table with the columns picture, fold "
        "and, for several seeds, repeat",
        metavar="N|FILE",
        type=lambda word: positive_int(word) if word.isdigit() else nonempty_word(word),
        default=5,
    )
    repeats: int | None = option(
        "number of seeds (default: 3, or as many as a file of folds has)",
        metavar="N",
        type=positive_int,
    )
    shared_codebooks: bool = switch(
        "learn codebooks once, without labels, from the pictures of all folds: much "
        "faster"
    )
    by: Unit = option(
        "what folds keep together (default: plant; with place, plants within 5 km of "
        "each other)",
        choices=UNITS,
        default="plant",
    )
    hold_out: Unit | None = option(
        "test on each of these in turn, with a model of the others (plant: as many "
        "models as plants)",
        choices=UNITS,
    )
    parts: bool = switch(
        "train on the training part and test on the test part, with each seed"
    )
    shots: list[int] = option(
        "train on so few pictures of each species and type",
        metavar="N,…",
        type=positive_ints,
        default=[],
    )
    output: str | None = option(
        "write a run file of all held-out answers for each seed, and folds.csv, there",
        metavar="DIR",
    )
    sessions: bool = switch("score the answers of predict --group-by session")
    open_world: bool = switch(
        "score how unknown species and pictures without a leaf are rejected"
    )


def run(options: Options, console: Console) -> int:
    """Cross-validate; 1 when any picture could not be read."""
    if options.output:
        inputs = [options.folds] if isinstance(options.folds, str) else []
        check_output(options.output, inputs, file="folds.csv")
    arguments = {name: getattr(options, name) for name in _ARGUMENTS}
    with open_loader(options, console) as loader:
        study = crossval(
            options.read(options.collections, EmptyClass),
            options.recipe or "default",
            **options.as_arguments(),
            cache=loader,
            **arguments,
        )
    print_tables(study.all_tables, options, console, options.digits)
    return int(bool(loader.unreadable))
