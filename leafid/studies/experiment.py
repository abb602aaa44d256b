"""Experiments: recipes by collections, types, protocols and seeds, from a TOML file."""

import dataclasses
import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from msgspec.structs import replace

from leafid.errors import LeafidError
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import (
    Recipe,
    choose_types_to_train,
)
from leafid.grouping import count_noun, group_by
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.splitting.folds import Folds
from leafid.pictures.splitting.protocol import SplitProtocol
from leafid.pictures.splitting.selection import assume_plants
from leafid.scoring.comparison import make_comparison_table
from leafid.scoring.judging import judge_run
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.runs import Run, check_picture_names
from leafid.scoring.reading.truth import collect_known_names
from leafid.scoring.score_table import (
    ScoredGroup,
    ScoreOptions,
    compare_runs,
    make_score_table,
)
from leafid.scoring.tables import Table
from leafid.studies.cross_validation import FoldAnswers, cross_validate
from leafid.studies.held_out_runs import (
    add_held_out_notes,
    judge_folds,
    make_held_out_truth,
)
from leafid.studies.plan import Experiment
from leafid.studies.ranks import can_rank, rank_runs
from leafid.studies.study import Study

logger = logging.getLogger(__name__)

#: A collection, a type, a protocol (with its number of training pictures or plants of
#: each species if it limits these), and a recipe.
GridKey = tuple[str, str, str, str]
#: The folds of a protocol, of each collection or, by collection, of all together.
Splits = dict[tuple[str, SplitProtocol], Folds]


def run_experiment(
    experiment: Experiment,
    collections: Mapping[str, Sequence[Picture]],
    loader: FeatureLoader,
    options: ScoreOptions,
    *,
    keep_models: bool = False,
) -> Study:
    """Run an experiment, and tabulate it as `make_experiment_tables` does.

    The pictures of each collection are labelled and of known types. A protocol by
    collection splits all of them together.
    """
    splits = _make_splits(experiment, collections)
    external: dict[str, list[Run]] = {}
    if experiment.runs:
        external = _read_external_runs(experiment, splits)
    answers: dict[GridKey, list[FoldAnswers]] = {}
    grid = [*_list_grid(experiment, splits)]
    if len(collections) > 1 and not can_rank():
        logger.warning(
            "no ranks over collections: scikit-posthocs isn't installed; pip install "
            "'leafid[compare]'"
        )
    for number, (source, protocol, type_, name, recipe) in enumerate(grid, 1):
        title = name
        if protocol.test_type:
            title = f"{name} {type_}"
            recipe = replace(recipe, types=(type_,), training_types=(type_,))
        folds = splits[source, protocol]
        place = f"{number}/{len(grid)}"
        for fold in cross_validate(
            folds.pictures,
            {type_: recipe},
            loader.with_step(f"{place} {name}, {type_}"),
            folds,
            shared_codebooks=experiment.shared_codebooks,
            test_type=protocol.test_type,
            keep_models=keep_models,
        ):
            setting = ", ".join(filter(None, [protocol.name, fold.setting]))
            answer = dataclasses.replace(fold, recipe=title, setting=setting)
            for part in _split_by_collection(answer, source):
                key = (part.collection, str(type_), setting, name)
                answers.setdefault(key, []).append(part)
        logger.info("%s %s, %s, %s, %s", place, source, type_, protocol.name, name)
    tables, diagrams = make_experiment_tables(answers, options, external)
    return Study(
        scores=tables.pop("scores"),
        answers=[*chain(*answers.values())],
        folds={(source, p.name): folds for (source, p), folds in splits.items()},
        further=tables,
        diagrams=diagrams,
    )


def _split_by_collection(answers: FoldAnswers, source: str) -> Iterator[FoldAnswers]:
    """Split answers by the collections of the pictures, which may be the source."""
    held_out = answers.held_out
    collections = np.array([p.collection or source for p in held_out.pictures])
    for collection in np.unique(collections).tolist():
        part = held_out.select(collections == collection)
        yield dataclasses.replace(answers, collection=collection, held_out=part)


def _make_splits(
    experiment: Experiment, collections: Mapping[str, Sequence[Picture]]
) -> Splits:
    all_pictures = []
    for name, pictures in collections.items():
        for picture in pictures:
            collection = picture.collection or name
            all_pictures.append(dataclasses.replace(picture, collection=collection))
    splits = {}
    for protocol in experiment.make_protocols():
        sources = collections
        if protocol.by == "collection":
            sources = {" + ".join(collections): assume_plants(all_pictures)}
        for name, pictures in sources.items():
            folds = protocol.make_splits(pictures, experiment.seeds)
            splits[name, protocol] = Folds(folds, pictures)
    return splits


def _list_grid(
    experiment: Experiment, splits: Splits
) -> Iterator[tuple[str, SplitProtocol, AcquisitionType, str, Recipe]]:
    """List what is cross-validated: recipes by collections, protocols and types."""
    types_of: dict[str, Sequence[AcquisitionType]] = {}
    for (source, protocol), folds in splits.items():
        if source not in types_of:
            types_of[source] = experiment.types or choose_types_to_train(
                experiment.bases, folds.pictures
            )
        for type_ in types_of[source]:
            for name, recipe in experiment.make_recipes(type_).items():
                yield source, protocol, type_, name, recipe


def _read_external_runs(experiment: Experiment, splits: Splits) -> dict[str, list[Run]]:
    """Read the runs of other systems by name, and check them before any training."""
    if len(splits) > 1:
        raise LeafidError(
            f"runs: expected a single collection with runs, found {len(splits)}"
        )
    (folds,) = splits.values()
    pictures = folds.pictures
    types = experiment.types or {picture.type for picture in pictures if picture.type}
    names = {*chain(*map(experiment.make_recipes, types))}
    n_repeats = len({fold.seed for fold in folds})
    test = [pictures[index] for fold in folds for index in fold.test.tolist()]
    test_names = {picture.name for picture in test if picture.type in types}
    check_picture_names(pictures)
    known = collect_known_names(pictures)
    runs: dict[str, list[Run]] = {}
    for system in experiment.runs:
        if system.name in names | runs.keys():
            raise LeafidError(
                "runs: expected names that differ, also from the recipes', found "
                f"{system.name!r}"
            )
        if len(system.files) != n_repeats:
            raise LeafidError(
                f"runs: expected {count_noun(n_repeats, 'file')}, one for each repeat "
                f"of the folds, found {len(system.files)} of {system.name}"
            )
        runs[system.name] = [read_run(file, known) for file in system.files]
    for run in chain(*runs.values()):
        if missing := len(test_names.difference(run.pictures)):
            logger.warning(
                "%s: %d of %d pictures are missing and count 0",
                run.name,
                missing,
                len(test_names),
            )
    return runs


def make_experiment_tables(
    answers: Mapping[GridKey, Sequence[FoldAnswers]],
    options: ScoreOptions,
    external: Mapping[str, Sequence[Run]] | None = None,
) -> tuple[dict[str, Table], dict[str, str]]:
    """Tabulate the scores on each collection, type and setting of a protocol.

    The table "scores" comes first; "differences" has the differences from the first
    recipe; several collections also have the tables and diagrams of `rank_runs`. Scores
    are means over the seeds. Pictures are left out whose species no recipe has training
    pictures of; where only some have, the others are wrong. A `LeafidError` is raised
    where that leaves no picture. `external` has runs of other systems, one for each
    seed.
    """
    settings = group_by(answers, lambda key: key[:3])
    # The parts of settings that vary, or the type.
    parts = [[*dict.fromkeys(names)] for names in zip(*settings, strict=True)]
    varying = [index for index, names in enumerate(parts) if len(names) > 1] or [1]
    groups = []
    setting_of = {}
    for setting in sorted(settings, key=lambda key: [*map(list.index, parts, key)]):
        keys = settings[setting]
        name = ", ".join(setting[i] for i in varying)
        by_recipe = {key[3]: answers[key] for key in keys}
        setting_of[name] = setting
        group = _make_group(name, by_recipe, external or {})
        if any(repeat.is_known.any() for repeat in group.answers[0]):
            groups.append(group)
    if not groups:
        raise LeafidError(
            "expected pictures of the types, and training pictures of their species "
            "in a fold, found none"
        )
    heading = ", ".join(("collection", "type", "protocol")[i] for i in varying)
    # What all rows share is in the title.
    setting = min(settings)
    shared = ", ".join(name for i, name in enumerate(setting) if i not in varying)
    title = ": ".join(filter(None, ["Experiment", shared]))
    comparisons = compare_runs(groups, options)
    scores = make_score_table(title, heading, groups, options, comparisons)
    n_repeats = max(group.n_repeats for group in groups)
    tables = {"scores": add_held_out_notes(scores, n_repeats)}
    if len(groups[0].answers) > 1:
        tables["differences"] = make_comparison_table(
            heading, groups, options, comparisons, first_only=True
        )
    if 0 not in varying or not can_rank():
        return tables, {}
    ranks, diagrams = rank_runs(scores, setting_of, options.metrics)
    return tables | ranks, diagrams


def _make_group(
    name: str,
    answers: Mapping[str, Sequence[FoldAnswers]],
    external: Mapping[str, Sequence[Run]],
) -> ScoredGroup:
    """Judge the answers of each recipe, and the runs of other systems."""
    truth, names = make_held_out_truth(chain(*answers.values()))
    runs = [
        judge_folds(recipe, folds, truth, names) for recipe, folds in answers.items()
    ]
    # By repeat, the pictures whose species any recipe knows.
    known = np.any([[run.is_known for run in repeats] for repeats in runs], axis=0)
    for system, files in external.items():
        judged = [judge_run(run, truth) for run in files]
        runs.append([dataclasses.replace(run, name=system) for run in judged])
    group = []
    for repeats in runs:
        pairs = zip(repeats, known, strict=True)
        group.append([dataclasses.replace(run, is_known=mask) for run, mask in pairs])
    return ScoredGroup(name, group, len(known))
