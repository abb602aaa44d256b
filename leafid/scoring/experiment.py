"""Experiments: recipes by collections, types, protocols and seeds, from a TOML file to one table."""

import dataclasses
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import replace

from leafid.errors import LeafidError
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe, load_recipe, parse_recipe
from leafid.grouping import count_noun, group_by
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.splits import Split, SplitProtocol
from leafid.schema import parse_toml
from leafid.scoring.held_out_runs import (
    HeldOutTruth,
    add_held_out_notes,
    judge_folds,
)
from leafid.scoring.judging import judge_run
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.runs import Run, check_picture_names
from leafid.scoring.reading.truth import collect_known_names
from leafid.scoring.score_table import (
    ScoredGroup,
    ScoreOptions,
    make_comparison_table,
    make_score_table,
)
from leafid.scoring.tables import Table
from leafid.textfiles import read_text
from leafid.training.cross_validation import FoldAnswers, cross_validate

logger = logging.getLogger(__name__)

_SHIPPED = Path(__file__).parent / "experiments"


class RecipeEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A recipe by its changes to another one, or each of its experts alone and left out."""

    name: str = ""
    base: str = "default"
    #: The experts to keep, all by default, and those to leave out.
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    #: Changed keys of the recipe, and of experts by their names; ``"*"`` stands for all experts.
    keys: dict[str, Any] = {}
    expert_keys: dict[str, dict[str, Any]] = {}
    vary: Literal["experts"] | None = None

    def __post_init__(self) -> None:
        if not self.name and self.vary is None:
            raise ValueError("expected a name or 'vary', found neither")

    def make_recipes(self, type_: AcquisitionType) -> Iterator[tuple[str, Recipe]]:
        """Make the recipe of a type, or several, each with its name."""
        base = load_recipe(self.base, type_)
        named = {*self.only, *self.without, *self.expert_keys} - {"*"}
        if unknown := sorted(named - base.experts.keys()):
            known = ", ".join(base.experts)
            raise LeafidError(
                f"recipes: expected experts {known} of type {type_}, found {', '.join(unknown)}"
            )
        data = msgspec.to_builtins(base)
        experts = {
            name: expert
            | self.expert_keys.get("*", {})
            | self.expert_keys.get(name, {})
            for name, expert in data["experts"].items()
            if name in (self.only or base.experts) and name not in self.without
        }
        recipe = parse_recipe(
            data | {"experts": experts} | self.keys, self.name or "vary"
        )
        if self.vary is None:
            yield self.name, recipe
            return
        for name, expert in recipe.experts.items():
            yield f"only {name}", replace(recipe, experts={name: expert})
        for name in recipe.experts:
            if remaining := {
                key: expert for key, expert in recipe.experts.items() if key != name
            }:
                yield f"without {name}", replace(recipe, experts=remaining)


class ExternalRun(Struct, frozen=True, forbid_unknown_fields=True):
    """Another system's answers on the same folds: a run file for each repeat."""

    name: str
    files: Annotated[tuple[str, ...], Meta(min_length=1)]


class Experiment(Struct, frozen=True, forbid_unknown_fields=True):
    """What a TOML file says: a grid, in which recipes are compared with the first one."""

    recipes: Annotated[tuple[str | RecipeEntry, ...], Meta(min_length=1)]
    protocols: tuple[SplitProtocol, ...] = ()
    seeds: Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(min_length=1)] = (
        0,
        1,
        2,
    )
    #: How many, or a file that has them; paths are relative to the TOML file.
    folds: Annotated[int, Meta(ge=2)] | str = 5
    #: Answers of other systems, which become rows of the table; then folds have to be a file.
    runs: tuple[ExternalRun, ...] = ()
    #: Acquisition types, by default those of a collection.
    types: tuple[AcquisitionType, ...] = ()
    #: Learn codebooks once from all pictures, without their labels.
    shared_codebooks: bool = False

    def __post_init__(self) -> None:
        if self.runs and (isinstance(self.folds, int) or self.protocols):
            raise ValueError(
                "expected a file as 'folds' and no 'protocols' with 'runs', which answer its folds"
            )

    def make_protocols(self) -> list[SplitProtocol]:
        """Make the protocols; by default folds of plants."""
        protocols = self.protocols or (
            SplitProtocol(
                f"{self.folds} folds" if isinstance(self.folds, int) else "folds"
            ),
        )
        return [
            replace(protocol, folds=protocol.folds or self.folds)
            for protocol in protocols
        ]

    def make_recipes(self, type_: AcquisitionType) -> dict[str, Recipe]:
        """Make the recipes of a type, by their names."""
        recipes: dict[str, Recipe] = {}
        for entry in self.recipes:
            changes = RecipeEntry(entry, entry) if isinstance(entry, str) else entry
            for name, recipe in changes.make_recipes(type_):
                if recipes.setdefault(name, recipe) is not recipe:
                    raise LeafidError(
                        f"recipes: expected names that differ, found {name!r} twice"
                    )
        return recipes


def list_experiments() -> list[str]:
    """List the names of the shipped experiments."""
    return sorted(file.stem for file in _SHIPPED.iterdir())


def read_experiment(name: str) -> Experiment:
    """Read a shipped experiment, or a TOML file; a `LeafidError` says what is wrong with it."""
    path = _SHIPPED / f"{name}.toml" if name in list_experiments() else Path(name)
    if not path.is_file():
        raise LeafidError(
            f"{name}: no such experiment; expected a file, or one of {', '.join(list_experiments())}"
        )
    experiment = parse_toml(read_text(path), Experiment, name)
    folds = (
        experiment.folds
        if isinstance(experiment.folds, int)
        else str(path.parent / experiment.folds)
    )
    runs = [
        replace(run, files=tuple(str(path.parent / file) for file in run.files))
        for run in experiment.runs
    ]
    return replace(experiment, folds=folds, runs=tuple(runs))


@dataclass(frozen=True)
class GridCell:
    """The answers of one recipe under one setting of a protocol."""

    collection: str
    type: str
    #: The protocol's name, with the number of training pictures or plants of each species if it limits these.
    protocol: str
    recipe: str
    answers: list[FoldAnswers] = field(default_factory=list)


def tabulate_experiment(
    experiment: Experiment,
    collections: Mapping[str, Sequence[Picture]],
    loader: FeatureLoader,
    options: ScoreOptions,
    note: Callable[[str], None],
) -> list[Table]:
    """Run an experiment, and tabulate it as `make_experiment_tables` does.

    The pictures of each collection are labelled and of known types.
    """
    splits = {
        (name, protocol): list(protocol.make_splits(pictures, experiment.seeds))
        for name, pictures in collections.items()
        for protocol in experiment.make_protocols()
    }
    external: dict[str, list[Run]] = {}
    if experiment.runs:
        external = _read_external_runs(experiment, collections, splits.values())
    cells: dict[tuple[str, str, str, str], GridCell] = {}
    grid = [
        (name, type_, protocol, recipe)
        for name, pictures in collections.items()
        for type_ in experiment.types
        or [t for t in AcquisitionType if any(p.type == t for p in pictures)]
        for protocol in experiment.make_protocols()
        for recipe in experiment.make_recipes(type_).items()
    ]
    for number, (collection, type_, protocol, (name, recipe)) in enumerate(grid, 1):
        if protocol.test_type:
            recipe = replace(recipe, types=(type_,), training_types=(type_,))
        held_out = cross_validate(
            collections[collection],
            {type_: recipe},
            loader.with_step(f"{number}/{len(grid)} {name}, {type_}"),
            splits[collection, protocol],
            shared_codebooks=experiment.shared_codebooks,
            test_type=protocol.test_type,
        )
        for answers in held_out:
            setting = (
                f"{protocol.name}, {answers.setting}"
                if answers.setting
                else protocol.name
            )
            key = (collection, str(type_), setting, name)
            cells.setdefault(key, GridCell(*key)).answers.append(answers)
        note(f"{number}/{len(grid)} {collection}, {type_}, {protocol.name}, {name}")
    return make_experiment_tables(list(cells.values()), options, external)


def _read_external_runs(
    experiment: Experiment,
    collections: Mapping[str, Sequence[Picture]],
    splits: Iterable[list[Split]],
) -> dict[str, list[Run]]:
    """Read the runs of other systems by name, before hours of training: what is wrong with them is raised."""
    if len(collections) > 1:
        raise LeafidError(
            f"runs: expected a single collection with runs, found {len(collections)}"
        )
    (pictures,) = collections.values()
    types = experiment.types or {picture.type for picture in pictures if picture.type}
    recipes = {name for type_ in types for name in experiment.make_recipes(type_)}
    (folds,) = splits
    n_repeats = len({fold.seed for fold in folds})
    indices = {index for fold in folds for index in fold.test.tolist()}
    tested = {pictures[i].name for i in indices if pictures[i].type in types}
    check_picture_names(pictures)
    known = collect_known_names(pictures)
    runs: dict[str, list[Run]] = {}
    for system in experiment.runs:
        if system.name in recipes or system.name in runs:
            raise LeafidError(
                f"runs: expected names that differ, also from the recipes', found {system.name!r}"
            )
        if len(system.files) != n_repeats:
            expected = f"expected {count_noun(n_repeats, 'file')}, one for each repeat of the folds"
            raise LeafidError(
                f"runs: {expected}, found {len(system.files)} of {system.name}"
            )
        runs[system.name] = [read_run(file, known) for file in system.files]
        for run in runs[system.name]:
            if missing := len(tested - {*run.pictures}):
                logger.warning(
                    "%s: %d of %d pictures are missing and count 0",
                    run.name,
                    missing,
                    len(tested),
                )
    return runs


def make_experiment_tables(
    cells: Sequence[GridCell],
    options: ScoreOptions,
    external: Mapping[str, Sequence[Run]] | None = None,
) -> list[Table]:
    """Tabulate the scores on each collection, type and setting of a protocol, and differences from the first recipe.

    Scores are means over the seeds. Left out are pictures whose species no recipe has training pictures of; where only
    some have, the others are wrong. A `LeafidError` is raised where that leaves no picture.
    """
    keys = {(cell.collection, cell.type, cell.protocol): None for cell in cells}
    # What all rows share is in the title.
    varying = [
        index for index in range(3) if len({key[index] for key in keys}) > 1
    ] or [1]
    shared = ", ".join(
        value
        for index, value in enumerate(next(iter(keys), ()))
        if index not in varying
    )
    groups = []
    for key, block in group_by(
        cells, lambda cell: (cell.collection, cell.type, cell.protocol)
    ).items():
        name = ", ".join(key[index] for index in varying)
        group = _make_group(name, block, external or {})
        groups += (
            [group] if any(repeat.is_known.any() for repeat in group.runs[0]) else []
        )
    if not groups:
        raise LeafidError(
            "expected species with training pictures in a fold, found none"
        )
    heading = ", ".join(("collection", "type", "protocol")[index] for index in varying)
    title = f"Experiment: {shared}" if shared else "Experiment"
    scores = make_score_table(title, heading, groups, options)
    tables = [add_held_out_notes(scores, len(groups[0].runs[0]))]
    if len(groups[0].runs) > 1:
        tables.append(make_comparison_table(heading, groups, options, "first"))
    return tables


def _make_group(
    name: str, cells: Sequence[GridCell], external: Mapping[str, Sequence[Run]]
) -> ScoredGroup:
    truth = HeldOutTruth(
        [
            picture
            for cell in cells
            for fold in cell.answers
            for picture in fold.held_out.pictures
        ]
    )
    runs = [judge_folds(cell.recipe, cell.answers, truth) for cell in cells]
    for system, of_repeats in external.items():
        runs.append(
            [
                dataclasses.replace(judge_run(run, truth.truth), name=system)
                for run in of_repeats
            ]
        )
    known = [
        np.any([run.is_known for run in repeat[: len(cells)]], axis=0)
        for repeat in zip(*runs, strict=True)
    ]
    scored = [
        [
            dataclasses.replace(run, is_known=is_known)
            for run, is_known in zip(repeats, known, strict=True)
        ]
        for repeats in runs
    ]
    return ScoredGroup(name, scored, [np.arange(len(truth.truth))])
