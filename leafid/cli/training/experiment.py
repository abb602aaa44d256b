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
from leafid.cli.computing import (
    assign_types_and_warn,
    open_loader,
    read_training_pictures,
)
from leafid.cli.outputs import Console, check_output, print_tables
from leafid.cli.scoring_options import ScoringOptions
from leafid.errors import LeafidError
from leafid.files import write_text
from leafid.scoring.tables import render
from leafid.studies.experiment import read_experiment, tabulate_experiment


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
    experiment = read_experiment(options.experiment)
    scoring = options.as_score_options()
    output = Path(options.output or "", Path(options.experiment).stem)
    if options.output:
        check_output(options.output, [], file=f"{output.name}.csv")
    names = [Path(path).name or path for path in options.collections]
    if len(set(names)) < len(names):
        raise LeafidError(
            "expected collections whose folders have different names, found "
            f"{', '.join(names)}"
        )
    all_parts = any(
        protocol.kind == "parts" for protocol in experiment.make_protocols()
    )
    with open_loader(options, console) as loader:
        collections = {}
        for name, path in zip(names, options.collections, strict=True):
            pictures, _ = read_training_pictures(path, options, all_parts=all_parts)
            collections[name] = assign_types_and_warn(pictures, loader, console)
        tables, diagrams = tabulate_experiment(
            experiment,
            collections,
            loader=loader,
            options=scoring,
            note=console.note,
        )
    if options.output:
        for name, table in tables.items():
            file = str(output) if name == "scores" else f"{output}-{name}"
            write_text(f"{file}.csv", render([table], "csv"))
            write_text(f"{file}.tex", render([table], "latex", options.digits))
        for name, diagram in diagrams.items():
            write_text(f"{output}-ranks-{name}.svg", diagram)
    print_tables([*tables.values()], options, console, options.digits)
    return int(bool(loader.unreadable))
