"""Run an experiment: recipes by collections, types, protocols and seeds, as one table.

EXPERIMENT is a TOML file, or one of those that are shipped: ablation, cross-type,
collections, few-shots, held-apart, recipes. The first table has the scores of each
recipe with an interval, the second the differences from the first recipe with p values
(paired by plant, corrected by Holm's method). Runs of other systems that were tested on
the same folds, a file that the experiment names, are further rows.

Of several collections, a third table has the scores of recipes by collections with
mean ranks, and a fourth Friedman's test of the ranks and Nemenyi's of every two recipes
(of only two, Wilcoxon's). --output also draws the critical difference diagrams. A
protocol by collection tests on collections that no training picture is of.

An interrupted experiment is started again, and finds its features in the cache.
docs/formats.md has the keys of the file.

examples:
  leafid experiment recipes imageclef2011
  leafid experiment collections imageclef2011 garden swedish --output mine
  leafid experiment few-shots leaves --label-from '[a-z]+' --format latex > few.tex
  leafid experiment my.toml collection --output mine --cluster tcp://head-node:8786
"""

from pathlib import Path

from leafid.cli.arguments import (
    CacheOptions,
    PictureOptions,
    TableOptions,
    option,
    positional,
)
from leafid.cli.computing import open_loader
from leafid.cli.outputs import Console, check_output, print_tables
from leafid.cli.scoring_options import ScoringOptions
from leafid.files import write_text
from leafid.pictures.picture import EmptyClass
from leafid.studies.api import experiment
from leafid.studies.plan import read_experiment


class Options(PictureOptions, ScoringOptions, TableOptions, CacheOptions):
    experiment: str = positional(
        "EXPERIMENT", "a TOML file, or the name of a shipped experiment"
    )
    collections: list[str] = positional("COLLECTION", "labelled pictures", nargs="+")
    output: str | None = option(
        "write the tables there as well, as CSV and LaTeX, and diagrams as SVG",
        metavar="DIR",
    )


def run(options: Options, console: Console) -> int:
    """Run the experiment; return 1 when any picture could not be read."""
    plan = read_experiment(options.experiment)
    output = Path(options.output or "", Path(options.experiment).stem)
    if options.output:
        check_output(options.output, [], file=f"{output.name}.csv")
    with open_loader(options, console) as loader:
        study = experiment(
            plan,
            *(options.read(path, EmptyClass) for path in options.collections),
            **options.as_arguments(),
            cache=loader,
        )
    if options.output:
        files = {"": study, **{f"-{name}": of for name, of in study.tables.items()}}
        for suffix, records in files.items():
            write_text(f"{output}{suffix}.csv", records.render("csv"))
            write_text(f"{output}{suffix}.tex", records.render("latex", options.digits))
        for name, diagram in study.diagrams.items():
            write_text(f"{output}-ranks-{name}.svg", diagram)
    print_tables(study.all_tables, options, console, options.digits)
    return int(bool(loader.unreadable))
