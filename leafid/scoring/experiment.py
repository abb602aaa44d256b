"""Experiments: recipes by collections, types, protocols and seeds, from a TOML file."""

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from leafid.descriptors.registry import FAMILIES
from leafid.errors import LeafidError
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe
from leafid.features.recipe_reader import load_recipe, parse_recipe
from leafid.learning.held_out import rank_labels
from leafid.model.validation import cross_validate
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.protocols import Protocol
from leafid.schema import parse_toml
from leafid.textfiles import read_text

# Sources of the families that measure the outline; the others measure the inside.
_OUTLINE_SOURCES = ("blade", "whole")
Count = Annotated[int, Meta(ge=1)]


class RecipeEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A recipe by its changes to another one, or several where it varies that."""

    name: str = ""
    base: str = "default"
    #: Experts to keep, all by default, and to leave out.
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    #: Keys of the recipe, and of experts by a pattern of their names.
    keys: dict[str, Any] = {}
    expert_keys: dict[str, dict[str, Any]] = {}
    vary: Literal["parts"] | None = None
    #: Patterns of the names of variations that are kept.
    matching: tuple[str, ...] = ("*",)

    def __post_init__(self) -> None:
        if not self.name and self.vary is None:
            raise ValueError("expected a name or 'vary', found neither")

    def make_recipes(self, type_: AcquisitionType) -> Iterator[tuple[str, Recipe]]:
        """Make the recipe of a type, or several, each with its name."""
        recipe = self._change(load_recipe(self.base, type_), type_)
        if self.vary is None:
            yield self.name, recipe
            return
        for what, varied in vary_recipe(recipe):
            if any(fnmatch.fnmatchcase(what, pattern) for pattern in self.matching):
                yield what, varied

    def _change(self, base: Recipe, type_: AcquisitionType) -> Recipe:
        names = self.only or tuple(base.experts)
        patterns = [*names, *self.without, *self.expert_keys]
        if unknown := [pattern for pattern in patterns if not fnmatch.filter(base.experts, pattern)]:
            known = ", ".join(base.experts)
            raise LeafidError(f"recipes: expected experts {known} of type {type_}, found {', '.join(unknown)}")
        data = msgspec.to_builtins(base)
        experts = {name: data["experts"][name] for name in names if name not in self.without}
        for pattern, keys in self.expert_keys.items():
            for name in fnmatch.filter(experts, pattern):
                experts[name] |= keys
        return parse_recipe(data | {"experts": experts} | self.keys, self.name or "parts")


class ProtocolEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """How training and test pictures are chosen; see `Protocol`."""

    name: str
    kind: Literal["folds", "leave-one-out", "parts"] = "folds"
    by: Literal["plant", "author", "place", "day"] = "plant"
    folds: Annotated[int, Meta(ge=2)] | None = None
    shots: tuple[Count, ...] = ()
    shots_of: Literal["pictures", "plants"] = "pictures"
    test_type: AcquisitionType | None = None


class Experiment(Struct, frozen=True, forbid_unknown_fields=True):
    """What a TOML file says: the grid, and the recipe or protocol that others are compared with."""

    recipes: Annotated[tuple[str | RecipeEntry, ...], Meta(min_length=1)]
    protocols: tuple[ProtocolEntry, ...] = ()
    #: By default the first recipe.
    baseline: str = ""
    seeds: Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(min_length=1)] = (0, 1, 2)
    folds: Annotated[int, Meta(ge=2)] = 5
    types: tuple[AcquisitionType, ...] = ()
    collections: tuple[str, ...] = ()
    #: Learn codebooks once from all pictures, without their labels.
    shared_codebooks: bool = False
    summary: str = ""

    def get_baseline(self) -> str:
        """Return the name that others are compared with."""
        first = self.recipes[0]
        return self.baseline or (first if isinstance(first, str) else first.name)

    def make_protocols(self) -> list[Protocol]:
        """Make the protocols; by default folds of plants."""
        entries = self.protocols or (ProtocolEntry(f"{self.folds} folds"),)
        return [Protocol(**msgspec.structs.asdict(entry) | {"folds": entry.folds or self.folds}) for entry in entries]

    def make_recipes(self, type_: AcquisitionType) -> dict[str, Recipe]:
        """Make the recipes of a type, by their names."""
        recipes: dict[str, Recipe] = {}
        for entry in self.recipes:
            own = RecipeEntry(entry, entry) if isinstance(entry, str) else entry
            for name, recipe in own.make_recipes(type_):
                if recipes.setdefault(name, recipe) is not recipe:
                    raise LeafidError(f"recipes: expected names that differ, found {name!r} twice")
        if self.get_baseline() not in {*recipes, *(protocol.name for protocol in self.protocols)}:
            found = self.get_baseline()
            raise LeafidError(f"baseline: expected a recipe or protocol of the experiment, found {found!r}")
        return recipes


def list_experiments() -> list[str]:
    """List the names of the shipped experiments."""
    return sorted(entry.name.removesuffix(".toml") for entry in _find_shipped().iterdir())


def read_experiment(name: str) -> Experiment:
    """Read a shipped experiment, or a TOML file; a `LeafidError` says what is wrong with it."""
    if name in list_experiments():
        text = (_find_shipped() / f"{name}.toml").read_text(encoding="utf-8")
    elif Path(name).is_file():
        text = read_text(name)
    else:
        raise LeafidError(f"{name}: no such experiment; expected a file, or one of {', '.join(list_experiments())}")
    return parse_toml(text, Experiment, name)


def _find_shipped() -> Any:
    return resources.files("leafid.scoring") / "experiments"


def vary_recipe(recipe: Recipe) -> Iterator[tuple[str, Recipe]]:
    """Yield variations of a type's recipe for an ablation, each with what it changes.

    Each expert is alone and left out, each family of measures left out or added, to the expert on the same part of the
    leaf.
    """
    experts = recipe.experts
    if len(experts) > 1:
        for name, expert in experts.items():
            yield f"only {name}", replace(recipe, experts={name: expert})
        for name in experts:
            yield f"without {name}", replace(recipe, experts={key: own for key, own in experts.items() if key != name})
    for name, expert in experts.items():
        if not expert.families:
            continue
        is_outline = any(FAMILIES[family].source in _OUTLINE_SOURCES for family in expert.families)
        for family in FAMILIES.values():
            if family.name in expert.families:
                word, families = "without", tuple(own for own in expert.families if own != family.name)
            elif (family.source in _OUTLINE_SOURCES) == is_outline:
                word, families = "with", (*expert.families, family.name)
            else:
                continue
            if families:
                changed = {**experts, name: replace(expert, families=families)}
                yield f"{word} {family.name}", replace(recipe, experts=changed)


@dataclass
class Cell:
    """The answers of one recipe to one seed of a protocol: for every setting the rank of each picture's species.

    The rank is 0 where the species was not trained on.
    """

    collection: str
    type: str
    recipe: str
    protocol: str
    seed: int
    #: By setting: name, plant, author and rank of each picture.
    ranks: dict[str, list[tuple[str, str, str, int]]] = field(default_factory=dict)


def run_experiment(
    experiment: Experiment,
    collections: Mapping[str, Sequence[Picture]],
    loader: FeatureLoader,
    note: Callable[[str], None],
) -> list[Cell]:
    """Compute the cells of an experiment; the pictures of each collection are labelled and of known types."""
    cells = []
    grid = [
        (name, type_, recipe, protocol, seed)
        for name, pictures in collections.items()
        for type_ in experiment.types or [t for t in AcquisitionType if any(p.type == t for p in pictures)]
        for recipe in experiment.make_recipes(type_).items()
        for protocol in experiment.make_protocols()
        for seed in experiment.seeds
    ]
    for number, (name, type_, (recipe_name, recipe), protocol, seed) in enumerate(grid, 1):
        cell = Cell(name, str(type_), recipe_name, protocol.name, seed)
        step = loader.with_step(f"{number}/{len(grid)} {recipe_name}, {type_}")
        _compute_cell(cell, recipe, protocol, collections[name], step, experiment.shared_codebooks)
        note(f"{number}/{len(grid)} {name}, {type_}, {recipe_name}, {protocol.name}, seed {seed}")
        cells.append(cell)
    return cells


def _compute_cell(
    cell: Cell,
    recipe: Recipe,
    protocol: Protocol,
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    shared_codebooks: bool,
) -> None:
    type_ = AcquisitionType(cell.type)
    test_type = AcquisitionType(protocol.test_type) if protocol.test_type else None
    if test_type:
        recipe = replace(recipe, types=(type_,), training_types=(type_,))
    held_out = cross_validate(
        pictures,
        {type_: recipe},
        loader,
        list(protocol.make_splits(pictures, (cell.seed,))),
        shared_codebooks=shared_codebooks,
        test_type=test_type,
    )
    for answers in held_out:
        own = answers.held_out
        ranks = zip(own.pictures, rank_labels(own).tolist(), strict=True)
        rows = [(str(picture.file), picture.group, picture.author or "", rank) for picture, rank in ranks]
        cell.ranks.setdefault(answers.setting, []).extend(rows)
