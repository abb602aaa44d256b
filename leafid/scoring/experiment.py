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
from leafid.metrics.averages import encode, top_k_scores
from leafid.metrics.held_out import average_answers, rank_labels, title_scores
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.splits import Protocol
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
            raise LeafidError(f"recipes: expected experts {known} of type {type_}, found {', '.join(unknown)}")
        data = msgspec.to_builtins(base)
        experts = {
            name: expert | self.expert_keys.get("*", {}) | self.expert_keys.get(name, {})
            for name, expert in data["experts"].items()
            if name in (self.only or base.experts) and name not in self.without
        }
        recipe = parse_recipe(data | {"experts": experts} | self.keys, self.name or "vary")
        if self.vary is None:
            yield self.name, recipe
            return
        for name, expert in recipe.experts.items():
            yield f"only {name}", replace(recipe, experts={name: expert})
        for name in recipe.experts:
            if remaining := {key: expert for key, expert in recipe.experts.items() if key != name}:
                yield f"without {name}", replace(recipe, experts=remaining)


class Experiment(Struct, frozen=True, forbid_unknown_fields=True):
    """What a TOML file says: a grid, in which recipes are compared with the first one."""

    recipes: Annotated[tuple[str | RecipeEntry, ...], Meta(min_length=1)]
    protocols: tuple[Protocol, ...] = ()
    seeds: Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(min_length=1)] = (0, 1, 2)
    folds: Annotated[int, Meta(ge=2)] = 5
    #: Acquisition types, by default those of a collection.
    types: tuple[AcquisitionType, ...] = ()
    #: Learn codebooks once from all pictures, without their labels.
    shared_codebooks: bool = False

    def make_protocols(self) -> list[Protocol]:
        """Make the protocols; by default folds of plants."""
        protocols = self.protocols or (Protocol(f"{self.folds} folds"),)
        return [replace(protocol, folds=protocol.folds or self.folds) for protocol in protocols]

    def make_recipes(self, type_: AcquisitionType) -> dict[str, Recipe]:
        """Make the recipes of a type, by their names."""
        recipes: dict[str, Recipe] = {}
        for entry in self.recipes:
            changes = RecipeEntry(entry, entry) if isinstance(entry, str) else entry
            for name, recipe in changes.make_recipes(type_):
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
    #: The protocol's name, with the number of training pictures or plants of each species if it limits these.
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
    blocks = group_by(cells, lambda cell: (cell.collection, cell.type, cell.protocol))
    records = [record for block in blocks.values() for record in _score_block(block, bootstrap)]
    if not records:
        raise LeafidError("expected species with training pictures in a fold, found none")
    # What all rows share is in the title.
    shared = [key for key in ("collection", "type", "protocol") if len({record[key] for record in records}) == 1]
    title = ", ".join(str(records[0][key]) for key in shared)
    columns = [heading for heading in records[0] if heading not in shared]
    rows = [[record[heading] for heading in columns] for record in records]
    seeds = {seed for cell in cells for seed, _ in cell.ranks}
    notes = [
        f"scores: means over {count_noun(len(seeds), 'seed')}; low, high: {100 * bootstrap.confidence:g}% interval, "
        f"bootstrap over plants, {bootstrap.resamples} resamples; left out: no training picture of the species",
        f"difference: of top-1 from {cells[0].recipe}; p: paired randomisation over plants, Holm's correction within a "
        "test",
    ]
    return Table(f"Experiment: {title}" if title else "Experiment", columns, rows, notes)


def _score_block(cells: Sequence[GridCell], bootstrap: Bootstrap) -> Iterator[dict[str, Cell]]:
    """Make a row of each recipe, by heading; there is none where no picture is scored."""
    pictures = dict(sorted((item for cell in cells for item in cell.pictures.items()), key=lambda item: str(item[0])))
    seeds = sorted({seed for cell in cells for seed, _ in cell.ranks})
    ranks = np.array([[[cell.ranks.get((seed, file), 0) for file in pictures] for seed in seeds] for cell in cells])
    known = np.asarray((ranks > 0).any(axis=0))
    is_scored = np.asarray(known.any(axis=0))
    if not is_scored.any():
        return
    ranks, known = ranks[..., is_scored], known[:, is_scored]
    scored = [picture for picture, is_kept in zip(pictures.values(), is_scored, strict=True) if is_kept]
    n_scored, plants = len(scored), encode([picture.group for picture in scored])
    # A picture's score is the share of correct answers over the seeds with which any recipe knows its species.
    top1, top5 = (top_k_scores(ranks, k).sum(axis=1) / known.sum(axis=0) for k in (1, 5))
    p_values = [randomisation_test((scores - top1[0]) / n_scored, plants, seed=bootstrap.seed) for scores in top1[1:]]
    for cell, is_first, is_in_top5, p in zip(cells, top1, top5, [None, *correct_holm(p_values).tolist()], strict=True):
        weighted = WeightedScore(is_first, np.full(n_scored, 1 / n_scored), np.zeros(n_scored, np.intp), plants)
        samples = bootstrap_scores([weighted], int(plants.max()) + 1, bootstrap)
        low, high = (None, None) if samples is None else bootstrap.compute_interval(samples[0])
        counts = {"pictures": n_scored, "unseen": len(pictures) - n_scored}
        scores = average_answers(scored, is_first, is_in_top5) | counts
        yield {
            **{key: getattr(cell, key) for key in ("collection", "type", "protocol", "recipe")},
            **title_scores(scores, low={"top1": low}, high={"top1": high}),
            "difference": None if p is None else float(is_first.mean() - top1[0].mean()),
            "p (Holm)": p,
        }
