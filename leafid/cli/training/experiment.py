"""Run an experiment: recipes by collections, types, protocols and seeds, to one table for a paper.

EXPERIMENT is a TOML file, or one of those that are shipped: ablation, cross-type, few-shots,
held-apart, recipes. The table has the scores of each recipe with an interval, the difference from the baseline
with a p value (paired by plant, corrected by Holm's method). DIR/report.html has the table and plots.

An interrupted experiment is started again, and finds its features in the cache. docs/formats.md has the keys of the
file.

examples:
  leafid experiment recipes imageclef2011 --output recipes
  leafid experiment few-shots leaves --label-from '[a-z]+' --output few --format latex > few-shots.tex
  leafid experiment my.toml --output mine --cluster tcp://head-node:8786
"""

from pathlib import Path

from msgspec.structs import replace

from leafid.cli.arguments import (
    CacheOptions,
    IntervalOptions,
    TableOptions,
    check_output_folder,
    option,
    positional,
    positive_int,
)
from leafid.cli.computing import on_workers, open_loader
from leafid.cli.environment import Environment
from leafid.cli.outputs import print_tables
from leafid.cli.training.input import PictureOptions, complete_pictures, read_training_pictures
from leafid.errors import LeafidError
from leafid.files import write_text
from leafid.pages.experiment_page import make_experiment_page
from leafid.scoring.crossvalidation import make_experiment_table, summarise_experiment
from leafid.scoring.experiment import read_experiment, run_experiment
from leafid.scoring.resampling import Bootstrap

REPORT = "report.html"


class Options(PictureOptions, IntervalOptions, TableOptions, CacheOptions):
    """The options of experiment."""

    experiment: str = positional("EXPERIMENT", "a TOML file, or the name of a shipped experiment")
    collections: list[str] = positional(
        "COLLECTION", "labelled pictures (default: those that the file names)", nargs="*"
    )
    output: str = option("the folder of the report", required=True, metavar="DIR")
    repeats: int | None = option("number of seeds (default: those of EXPERIMENT)", metavar="N", type=positive_int)


def run(options: Options, environment: Environment) -> int:
    """Run the experiment; 1 when any picture could not be read."""
    experiment = read_experiment(options.experiment)
    folder = check_output_folder(options.output)
    if options.repeats:
        experiment = replace(experiment, seeds=tuple(range(options.seed, options.seed + options.repeats)))
    paths = options.collections or list(experiment.collections)
    if not paths:
        raise LeafidError(f"{options.experiment}: expected a collection, found none; name one on the command line")
    all_parts = any(protocol.kind == "parts" for protocol in experiment.make_protocols())
    with on_workers(options, paths), open_loader(options, environment) as loader:
        collections = {}
        for path in paths:
            pictures, _ = read_training_pictures(path, options, all_parts=all_parts)
            collections[Path(path).name or path] = complete_pictures(pictures, loader, environment)
        if len(collections) < len(paths):
            raise LeafidError(f"expected collections whose folders have different names, found {', '.join(paths)}")
        cells = run_experiment(experiment, collections, loader, environment.note)
    bootstrap = Bootstrap(options.resamples, options.confidence, options.seed)
    results = summarise_experiment(cells, experiment.get_baseline(), bootstrap)
    if not results:
        raise LeafidError(f"{options.experiment}: expected species with training pictures in a fold, found none")
    table = make_experiment_table(results, experiment.get_baseline(), bootstrap)
    page = folder / REPORT
    write_text(page, make_experiment_page(Path(options.experiment).stem, experiment.summary, results, table))
    environment.note(str(page))
    if options.format not in ("csv", "json"):
        table = make_experiment_table(results, experiment.get_baseline(), bootstrap, is_complete=False)
    print_tables([table], options, environment)
    return 1 if loader.unreadable else 0
