"""Studies from Python: the functions ``leafid.crossval`` and ``leafid.experiment``."""

import os
from collections.abc import Sequence
from pathlib import Path

from leafid.api import Labelled, load_recipes, open_loader, read_training_pictures
from leafid.errors import InputError
from leafid.files import StrPath
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.splits import SplitProtocol, Unit
from leafid.scoring.evaluation import Records, make_options
from leafid.scoring.metrics import DEFAULT_METRICS
from leafid.scoring.score_table import Intervals
from leafid.studies.cross_validation import cross_validate
from leafid.studies.experiment import read_experiment, tabulate_experiment
from leafid.studies.held_out_runs import make_cross_validation_table


def crossval(
    collection: Labelled,
    recipe: str = "default",
    *,
    hold_out: Unit | None = None,
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

    Parameters
    ----------
    collection, recipe, assume_type, only_type, jobs, cache, seed
        As in `leafid.train`.
    hold_out : {"plant", "author", "place", "day", "collection"}, optional
        Test on each of these in turn, with a model of the others, instead of folds.
    folds : int or path-like, default 5
        The number of folds, at least 2, or a CSV table of the fold of each picture.
    repeats : int, default 3
        The number of seeds, which start at `seed`.
    metrics, intervals
        As in `leafid.evaluate`.
    shared_codebooks : bool, default False
        Learn the codebooks once, from all pictures without their labels, which is much
        faster.

    Returns
    -------
    list of dict
        A record for each acquisition type, as `leafid.evaluate` returns it. Scores are
        means over the seeds.

    Raises
    ------
    LeafidError
        When an argument is wrong, or there are too few plants for the folds.
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
        if hold_out is not None:
            protocol = SplitProtocol("", "leave-one-out", by=hold_out)
        splits = list(protocol.make_splits(pictures, range(seed, seed + repeats)))
        answers = list(
            cross_validate(
                pictures, recipes, loader, splits, shared_codebooks=shared_codebooks
            )
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

    Parameters
    ----------
    plan : path-like
        A TOML file, or the name of a shipped experiment.
    *collections : path-like
        At least one collection of labelled pictures.
    metrics, intervals, jobs, cache
        As in `leafid.crossval`.

    Returns
    -------
    list of dict
        A record for each recipe and group. Its `differences` are from the first recipe;
        of several collections, its `tables` has the scores by collection, the mean
        ranks and their tests: "collections", "friedman" and "ranks".

    Raises
    ------
    LeafidError
        When an argument is wrong, or the plan can't be read.
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
        tables, _ = tabulate_experiment(
            grid, named, loader=loader, options=options, note=lambda _: None
        )
    return Records(tables.pop("scores"), tables)
