"""Studies from Python: the functions ``leafid.crossval`` and ``leafid.experiment``."""

import os
from collections.abc import Sequence
from pathlib import Path

from leafid.api import load_recipes, open_loader, read_training_pictures
from leafid.errors import InputError
from leafid.files import StrPath
from leafid.pictures.picture import AcquisitionType, Collection, Picture
from leafid.pictures.splits import SplitProtocol
from leafid.scoring.evaluation import Records, make_options
from leafid.scoring.metrics import DEFAULT_METRICS
from leafid.scoring.score_table import Intervals
from leafid.studies.cross_validation import cross_validate
from leafid.studies.experiment import read_experiment, tabulate_experiment
from leafid.studies.held_out_runs import make_cross_validation_table


def crossval(
    collection: Collection | StrPath | Sequence[Picture],
    recipe: str = "default",
    *,
    folds: int | StrPath = 5,
    repeats: int = 3,
    metrics: Sequence[str] = DEFAULT_METRICS,
    intervals: Intervals = "none",
    shared_codebooks: bool = False,
    assume_type: AcquisitionType | str | None = None,
    only_type: AcquisitionType | str | None = None,
    jobs: int = 1,
    cache: StrPath | bool = True,
    seed: int = 0,
) -> Records:
    """Cross-validate a recipe by plants, as ``leafid crossval`` does.

    `folds` is their number or a table of them, `repeats` the number of seeds;
    `shared_codebooks` learns codebooks once, from all pictures without their labels,
    which is much faster. `metrics`, `intervals` and what is returned are those of
    `leafid.evaluate`, the other parameters those of `leafid.train`.
    """
    options = make_options(metrics, intervals)
    for name, value, least in (("folds", folds, 2), ("repeats", repeats, 1)):
        is_file = name == "folds" and isinstance(value, str | os.PathLike)
        if not is_file and not (isinstance(value, int) and value >= least):
            raise InputError(
                f"{name}: expected a whole number from {least}, found {value!r}"
            )
    with open_loader(jobs, cache) as loader:
        pictures = read_training_pictures(collection, assume_type, loader)
        recipes = load_recipes(recipe, pictures, only_type)
        if not isinstance(folds, int):
            folds = os.fspath(folds)
        protocol = SplitProtocol("", folds=folds)
        splits = list(protocol.make_splits(pictures, range(seed, seed + repeats)))
        answers = list(
            cross_validate(pictures, recipes, loader, splits, shared_codebooks)
        )
    return Records(make_cross_validation_table(Path(recipe).stem, answers, options))


def experiment(
    plan: StrPath,
    *collections: StrPath,
    metrics: Sequence[str] = DEFAULT_METRICS,
    intervals: Intervals = "none",
    jobs: int = 1,
    cache: StrPath | bool = True,
) -> Records:
    """Run an experiment, a file or a shipped one, as ``leafid experiment`` does.

    `differences` of what is returned are those from the first recipe. The parameters
    are those of `crossval`.
    """
    if not collections:
        raise InputError("collections: expected at least one, found none")
    options = make_options(metrics, intervals)
    grid = read_experiment(os.fspath(plan))
    with open_loader(jobs, cache) as loader:
        named = {
            Path(path).name: read_training_pictures(path, None, loader)
            for path in collections
        }
        tables = tabulate_experiment(grid, named, loader, options, lambda _: None)
    return Records(*tables)
