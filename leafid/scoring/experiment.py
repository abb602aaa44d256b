"""Experiments: recipes by collections, types, protocols and seeds, from a TOML file to one table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from leafid.metrics.averages import average_score, per_plant_score
from leafid.metrics.held_out import rank_labels
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.protocols import Protocol
from leafid.schema import parse_toml
from leafid.scoring.resampling import Bootstrap, WeightedScore, bootstrap_scores, correct_holm, randomisation_test
from leafid.scoring.tables import Cell, Table
from leafid.textfiles import read_text
from leafid.training.cross_validation import cross_validate

_SHIPPED = Path(__file__).parent / "experiments"


class RecipeEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A recipe by its changes to another one, or each of its experts alone and left out."""

    name: str = ""
    base: str = "default"
    #: Experts to keep, all by default, and to leave out.
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    #: Keys of the recipe, and of experts by their names; ``"*"`` is all of them.
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
            raise LeafidError(f"recipes: expected experts {known} of type {type_}, found {', '.join(unknown)}")
        data = msgspec.to_builtins(base)
        experts = {
            name: own | self.expert_keys.get("*", {}) | self.expert_keys.get(name, {})
            for name, own in data["experts"].items()
            if name in (self.only or base.experts) and name not in self.without
        }
        recipe = parse_recipe(data | {"experts": experts} | self.keys, self.name or "vary")
        if self.vary is None:
            yield self.name, recipe
            return
        for name, expert in recipe.experts.items():
            yield f"only {name}", replace(recipe, experts={name: expert})
        for name in recipe.experts:
            if others := {key: own for key, own in recipe.experts.items() if key != name}:
                yield f"without {name}", replace(recipe, experts=others)


class Experiment(Struct, frozen=True, forbid_unknown_fields=True):
    """What a TOML file says: the grid, in which recipes are compared with the first one."""

    recipes: Annotated[tuple[str | RecipeEntry, ...], Meta(min_length=1)]
    protocols: tuple[Protocol, ...] = ()
    seeds: Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(min_length=1)] = (0, 1, 2)
    folds: Annotated[int, Meta(ge=2)] = 5
    #: By default those of a collection.
    types: tuple[AcquisitionType, ...] = ()
    #: Learn codebooks once from all pictures, without their labels.
    shared_codebooks: bool = False

    def make_protocols(self) -> list[Protocol]:
        """Make the protocols; by default folds of plants."""
        protocols = self.protocols or (Protocol(f"{self.folds} folds"),)
        return [replace(own, folds=own.folds or self.folds) for own in protocols]

    def make_recipes(self, type_: AcquisitionType) -> dict[str, Recipe]:
        """Make the recipes of a type, by their names."""
        recipes: dict[str, Recipe] = {}
        for entry in self.recipes:
            own = RecipeEntry(entry, entry) if isinstance(entry, str) else entry
            for name, recipe in own.make_recipes(type_):
                if recipes.setdefault(name, recipe) is not recipe:
                    raise LeafidError(f"recipes: expected names that differ, found {name!r} twice")
        return recipes


def list_experiments() -> list[str]:
    """List the names of the shipped experiments."""
    return sorted(file.stem for file in _SHIPPED.iterdir())


def read_experiment(name: str) -> Experiment:
    """Read a shipped experiment, or a TOML file; a `LeafidError` says what is wrong with it."""
    path = _SHIPPED / f"{name}.toml" if name in list_experiments() else Path(name)
    if not path.is_file():
        raise LeafidError(f"{name}: no such experiment; expected a file, or one of {', '.join(list_experiments())}")
    return parse_toml(read_text(path), Experiment, name)


@dataclass(frozen=True)
class GridCell:
    """The answers of one recipe under one setting of a protocol."""

    collection: str
    type: str
    #: With the number of training pictures or plants of each species, if it limits these.
    protocol: str
    recipe: str
    #: The pictures that were identified, by their files.
    pictures: dict[Path, Picture] = field(default_factory=dict)
    #: The rank of each picture's species, by seed and file; 0 where the species was not trained on.
    ranks: dict[tuple[int, Path], int] = field(default_factory=dict)


def run_experiment(
    experiment: Experiment,
    collections: Mapping[str, Sequence[Picture]],
    loader: FeatureLoader,
    note: Callable[[str], None],
) -> list[GridCell]:
    """Compute the cells of an experiment; the pictures of each collection are labelled and of known types."""
    cells: dict[tuple[str, str, str, str], GridCell] = {}
    grid = [
        (name, type_, protocol, recipe)
        for name, pictures in collections.items()
        for type_ in experiment.types or [t for t in AcquisitionType if any(p.type == t for p in pictures)]
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
            list(protocol.make_splits(collections[collection], experiment.seeds)),
            shared_codebooks=experiment.shared_codebooks,
            test_type=protocol.test_type,
        )
        for answers in held_out:
            setting = f"{protocol.name}, {answers.setting}" if answers.setting else protocol.name
            key = (collection, str(type_), setting, name)
            cell = cells.setdefault(key, GridCell(*key))
            for picture, rank in zip(answers.held_out.pictures, rank_labels(answers.held_out).tolist(), strict=True):
                cell.pictures[picture.file] = picture
                cell.ranks[answers.seed, picture.file] = rank
        note(f"{number}/{len(grid)} {collection}, {type_}, {protocol.name}, {name}")
    return list(cells.values())


def make_experiment_table(cells: Sequence[GridCell], bootstrap: Bootstrap) -> Table:
    """Tabulate the scores of each recipe on each collection, type and setting of a protocol, means over the seeds.

    Recipes are compared with the first one on the same pictures, by paired randomisation over plants. Left out are
    pictures whose species no recipe has training pictures of; where only some have, the others are wrong. A
    `LeafidError` is raised where that leaves no picture.
    """
    keys = ("collection", "type", "protocol", "recipe")
    blocks = group_by(cells, lambda cell: (cell.collection, cell.type, cell.protocol))
    rows = [row for block in blocks.values() for row in _summarise_block(block, bootstrap)]
    if not rows:
        raise LeafidError("expected species with training pictures in a fold, found none")
    # What all rows share is in the title.
    kept = [index for index, key in enumerate(keys) if key == "recipe" or len({row[index] for row in rows}) > 1]
    title = ", ".join(str(rows[0][index]) for index in range(len(keys)) if index not in kept)
    columns = [*(keys[index] for index in kept), "pictures", "left out", "S", "top-1", "top-1 low", "top-1 high"]
    columns += ["top-5", "per-plant", "difference", "p (Holm)"]
    seeds = {seed for cell in cells for seed, _ in cell.ranks}
    notes = [
        f"scores: means over {count_noun(len(seeds), 'seed')}; low, high: {100 * bootstrap.confidence:g}% interval, "
        f"bootstrap over plants, {bootstrap.resamples} resamples; left out: no training picture of the species",
        f"difference: of top-1 from {cells[0].recipe}; p: paired randomisation over plants, Holm's correction within a "
        "test",
    ]
    rows = [[*(row[index] for index in kept), *row[len(keys) :]] for row in rows]
    return Table(f"Experiment: {title}" if title else "Experiment", columns, rows, notes)


def _summarise_block(cells: Sequence[GridCell], bootstrap: Bootstrap) -> Iterator[list[Cell]]:
    """Make a row of each recipe; there is none where no picture is scored."""
    pictures = dict(sorted((item for cell in cells for item in cell.pictures.items()), key=lambda item: str(item[0])))
    seeds = sorted({seed for cell in cells for seed, _ in cell.ranks})
    ranks = np.array([[[cell.ranks.get((seed, file), 0) for file in pictures] for seed in seeds] for cell in cells])
    known = np.asarray((ranks > 0).any(axis=0))
    is_scored = np.asarray(known.any(axis=0))
    if not is_scored.any():
        return
    ranks, known = ranks[..., is_scored], known[:, is_scored]
    scored = [picture for picture, is_kept in zip(pictures.values(), is_scored, strict=True) if is_kept]
    authors = [picture.author or "" for picture in scored]
    n_scored, (plants, units) = len(scored), np.unique([picture.group for picture in scored], return_inverse=True)
    # Of each recipe, a picture's share of the seeds in which its species is known.
    top1 = ((ranks == 1) & known).sum(axis=1) / known.sum(axis=0)
    top5 = ((ranks >= 1) & (ranks <= 5) & known).sum(axis=1) / known.sum(axis=0)
    p_values = [randomisation_test((own - top1[0]) / n_scored, units, seed=bootstrap.seed) for own in top1[1:]]
    corrected = correct_holm(p_values).tolist()
    for index, (cell, own) in enumerate(zip(cells, top1, strict=True)):
        weighted = WeightedScore(own, np.full(n_scored, 1 / n_scored), np.zeros(n_scored, np.intp), units)
        samples = bootstrap_scores([weighted], len(plants), bootstrap)
        low, high = (None, None) if samples is None else bootstrap.compute_interval(samples[0])
        yield [
            *(cell.collection, cell.type, cell.protocol, cell.recipe),
            *(n_scored, len(pictures) - n_scored, average_score(own, authors, units)),
            *(float(own.mean()), low, high, float(top5[index].mean()), per_plant_score(own, authors, units)),
            *((float(own.mean() - top1[0].mean()), corrected[index - 1]) if index else (None, None)),
        ]
