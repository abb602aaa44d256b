"""Studies from Python: ``leafid.make_folds``, ``crossval`` and ``experiment``."""

import logging
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from leafid.api import (
    assign_types_and_warn,
    load_recipes,
    name_source,
    open_loader,
    read_with_type,
    select_pictures,
)
from leafid.checking import PositiveInt, Seed, check_arguments
from leafid.errors import InputError, LeafidError, UsageError
from leafid.features.loader import FeatureLoader
from leafid.files import StrPath
from leafid.pictures.columns import Labelled, TypeName, is_path, list_values
from leafid.pictures.picture import Picture
from leafid.pictures.splitting.folds import (
    Folds,
    FoldsLike,
    are_indices,
    check_folds,
    choose_folds,
)
from leafid.pictures.splitting.protocol import Kind, SplitProtocol
from leafid.pictures.splitting.units import Unit
from leafid.scoring.evaluation import make_options
from leafid.scoring.reading.runs import check_picture_names
from leafid.scoring.resampling import Bootstrap
from leafid.scoring.score_table import Intervals
from leafid.studies.cross_validation import (
    cross_validate,
    cross_validate_open_world,
    pool_evidence_of_folds,
)
from leafid.studies.experiment import run_experiment
from leafid.studies.held_out_runs import (
    make_cross_validation_table,
    write_held_out_runs,
)
from leafid.studies.open_world import make_open_world_tables
from leafid.studies.plan import Experiment, read_experiment
from leafid.studies.study import Study

_log = logging.getLogger(__name__)


@check_arguments
def make_folds(
    collection: Labelled,
    folds: FoldsLike = 5,
    *,
    repeats: PositiveInt | None = None,
    by: Unit = "plant",
    hold_out: Unit | None = None,
    parts: bool = False,
    shots: int | Iterable[int] = (),
    seed: Seed = 0,
    assume_type: TypeName | None = None,
) -> Folds:
    """Make the folds of `leafid.crossval`, to train and test any system on them.

    Parameters
    ----------
    collection, folds, by, hold_out, parts, shots, seed, assume_type
        As in `leafid.crossval`.
    repeats : int, optional
        The number of seeds; by default 1, or as many as given folds have.

    Returns
    -------
    Folds
        A list of pairs of arrays: the indices of the training and of the test pictures
        in its `pictures`. ``leafid.crossval(folds.pictures, folds=folds)`` tests
        leafid on them.

    Raises
    ------
    LeafidError
        When an argument is wrong, or there are too few plants for the folds.

    Examples
    --------
    >>> import leafid
    >>> folds = leafid.make_folds("data/sample", 3)
    >>> [(len(train), len(test)) for train, test in folds]
    [(120, 60), (120, 60), (120, 60)]
    """
    check_folds(folds, repeats, by, hold_out, parts=parts)
    protocol = _make_protocol(by, hold_out, shots, parts=parts)
    pictures = _select(collection, folds, assume_type, parts=parts)
    return choose_folds(pictures, folds, protocol, range(seed, seed + (repeats or 1)))


@check_arguments
def crossval(
    collection: Labelled,
    recipe: StrPath = "default",
    *,
    folds: FoldsLike = 5,
    repeats: PositiveInt | None = None,
    by: Unit = "plant",
    hold_out: Unit | None = None,
    parts: bool = False,
    shots: int | Iterable[int] = (),
    sessions: bool = False,
    open_world: bool = False,
    models: bool = False,
    metrics: Iterable[str] | None = None,
    intervals: Intervals = "none",
    bootstrap: Bootstrap | None = None,
    shared_codebooks: bool = False,
    assume_type: TypeName | None = None,
    only_type: TypeName | None = None,
    output: StrPath | None = None,
    jobs: int = 1,
    cache: StrPath | bool | FeatureLoader = True,
    seed: Seed = 0,
) -> Study:
    """Cross-validate a recipe by plants, as ``leafid crossval`` does.

    Parameters
    ----------
    collection, recipe, assume_type, only_type, jobs, cache, seed
        As in `leafid.train`.
    folds : int, path-like, Folds, splitter or pairs of indices, default 5
        The number of folds, at least 2; or a CSV table of the fold of each picture; or
        `leafid.make_folds`; or a splitter of scikit-learn, which gets the species as
        `y` and the plants as `groups`; or the indices of the training and of the test
        pictures of each split in the collection, all of whose pictures have a label.
    repeats : int, optional
        The number of seeds, which start at `seed`: by default 3, or as many as given
        folds have, whose numbers then are the seeds.
    by : {"plant", "author", "place", "day", "collection"}, default "plant"
        What folds keep together.
    hold_out : {"plant", "author", "place", "day", "collection"}, optional
        Test on each of these in turn, with a model of the others, instead of folds.
    parts : bool, default False
        Train on the training part, and test on the test part, with each seed.
    shots : int or several, optional
        Train on so few pictures of each species and type.
    sessions : bool, default False
        Let the answers to pictures of one author, day and place support one another.
    open_world : bool, default False
        Score how unknown species and pictures without a leaf are rejected, by scores of
        its own without intervals.
    models : bool, default False
        Train complete models, which takes longer, and hand them out. They have
        codebooks of their own.
    metrics, intervals, bootstrap
        As in `leafid.evaluate`.
    shared_codebooks : bool, default False
        Learn the codebooks once, from all pictures without their labels, which is much
        faster.
    output : path-like, optional
        The folder to write a run file for each seed, and ``folds.csv``, to.

    Returns
    -------
    Study
        A list of records, one for each acquisition type, as `leafid.evaluate` returns
        them: scores are means over the seeds. Its `folds`, `answers` and `runs` are
        what the scores are of. In an open world, the records are of leaves, and those
        of pictures without a leaf are ``tables["no leaf"]``.

    Raises
    ------
    LeafidError
        When an argument is wrong, or there are too few plants for the folds.
    """
    check_folds(folds, repeats, by, hold_out, parts=parts)
    protocol = _make_protocol(by, hold_out, shots, parts=parts)
    if open_world and (sessions or output or models or metrics is not None):
        raise UsageError(
            "expected --open-world without --sessions, --output and --metrics"
        )
    options = make_options(metrics, intervals, bootstrap)
    with open_loader(jobs, cache) as loader:
        labelled = _select(collection, folds, assume_type, parts=parts)
        if output:
            check_picture_names([p for p in labelled if p.part == "test" or not parts])
        typed = {p.file: p for p in assign_types_and_warn(labelled, loader)}
        # Indices are of all pictures: unreadable ones remain, without a type.
        pictures = [typed.get(picture.file, picture) for picture in labelled]
        seeds = range(seed, seed + (repeats or 3))
        splits = choose_folds(pictures, folds, protocol, seeds)
        recipes = load_recipes(recipe, pictures, only_type)
        validate: Any = partial(cross_validate, keep_models=models)
        if open_world:
            validate = cross_validate_open_world
        answers = []
        for fold in validate(pictures, recipes, loader, splits, shared_codebooks):
            where = [f"seed {fold.seed}", f"fold {fold.fold + 1}", fold.setting]
            _log.info("%s: %s done", ", ".join(filter(None, where)), fold.type)
            answers.append(fold)
    if not answers:
        expected = "pictures to test on"
        if open_world:
            expected = "more species to hold some out"
        raise LeafidError(f"the collection: expected {expected}, found too few")
    if open_world:
        leaves, non_leaves = make_open_world_tables(answers)
        return Study(leaves, answers, splits, {"no leaf": non_leaves})
    if sessions:
        answers = pool_evidence_of_folds(answers)
    table = make_cross_validation_table(Path(recipe).stem, answers, options)
    study = Study(table, answers, splits)
    if output:
        write_held_out_runs(Path(output), study.runs, splits)
    return study


def _make_protocol(
    by: Unit, hold_out: Unit | None, shots: int | Iterable[int], *, parts: bool
) -> SplitProtocol:
    numbers = list_values("shots", shots, int)
    if any(number < 1 for number in numbers):
        raise InputError(f"shots: expected whole numbers from 1, found {numbers}")
    kind: Kind = "parts" if parts else "folds"
    if hold_out:
        kind = "leave-one-out"
    return SplitProtocol("", kind, hold_out or by, shots=tuple(sorted(numbers)))


def _select(
    collection: Labelled,
    folds: FoldsLike,
    assume_type: TypeName | None,
    *,
    parts: bool,
) -> list[Picture]:
    """Select the labelled pictures that folds are of: with indices, all pictures."""
    pictures = read_with_type(collection, assume_type)
    has_indices = are_indices(folds)
    all_parts = parts or has_indices
    if isinstance(folds, Folds):
        all_parts = {picture.part for picture in folds.pictures} != {"train"}
    selected = select_pictures(
        pictures, all_parts=all_parts, source=name_source(collection)
    )
    if has_indices and len(selected) < len(pictures):
        raise InputError(
            f"folds: expected a label of all {len(pictures)} pictures with indices, or "
            f"a splitter, found {len(selected)} labels; take the labelled pictures"
        )
    return selected


@check_arguments
def experiment(
    plan: StrPath | Mapping[str, Any] | Experiment,
    *collections: Labelled,
    metrics: Iterable[str] | None = None,
    intervals: Intervals = "none",
    bootstrap: Bootstrap | None = None,
    models: bool = False,
    assume_type: TypeName | None = None,
    jobs: int = 1,
    cache: StrPath | bool | FeatureLoader = True,
) -> Study:
    """Run an experiment, a file or a shipped one, as ``leafid experiment`` does.

    Parameters
    ----------
    plan : path-like or mapping
        A TOML file, the name of a shipped experiment, or the keys of such a file.
    *collections : as in `leafid.train`
        At least one collection of labelled pictures. One that is no path or
        `Collection` is called after its position.
    metrics, intervals, bootstrap, models, assume_type, jobs, cache
        As in `leafid.crossval`.

    Returns
    -------
    Study
        A list of records, one for each recipe and group. Its `differences` are from the
        first recipe; its `folds`, `answers` and `runs` are what the scores are of. Of
        several collections, its `tables` has the scores by collection with mean ranks,
        "collections", and their tests, "ranks".

    Raises
    ------
    LeafidError
        When an argument is wrong, or the plan can't be read.
    """
    if not collections:
        raise InputError("collections: expected at least one, found none")
    options = make_options(metrics, intervals, bootstrap)
    grid = read_experiment(plan)
    named: dict[str, Labelled] = {}
    for number, collection in enumerate(collections, 1):
        source = name_source(collection, f"collection {number}")
        if is_path(collection):
            source = str(collection)
        name = Path(source).name or source
        if name in named:
            raise LeafidError(
                "expected collections whose folders have different names, found "
                f"{name} twice"
            )
        named[name] = collection
    has_parts = any(protocol.kind == "parts" for protocol in grid.make_protocols())
    with open_loader(jobs, cache) as loader:
        pictures = {}
        for name, collection in named.items():
            labelled = _select(collection, 5, assume_type, parts=has_parts)
            pictures[name] = assign_types_and_warn(labelled, loader)
        return run_experiment(
            grid, pictures, loader=loader, options=options, keep_models=models
        )
