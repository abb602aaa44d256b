"""The plan of an experiment: recipes by protocols and seeds, from a TOML file."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from leafid.errors import InputError, LeafidError
from leafid.features.recipe import Recipe, list_recipes, load_recipe, parse_recipe
from leafid.files import StrPath
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.splitting.protocol import SplitProtocol
from leafid.schema import convert, parse_toml
from leafid.textfiles import read_text

_SHIPPED = Path(__file__).parent / "experiments"


class RecipeEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A recipe that changes another, or recipes of each expert alone and left out."""

    name: str = ""
    base: str = "default"
    #: The experts to keep (by default all), and the experts to leave out.
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    #: Changed keys of the recipe, and of experts by their names; ``"*"`` stands for all
    #: experts.
    keys: dict[str, Any] = {}
    expert_keys: dict[str, dict[str, Any]] = {}
    #: Make recipes of each expert alone, and without each.
    vary: Literal["experts"] | None = None

    def __post_init__(self) -> None:
        if not self.name and self.vary is None:
            raise ValueError("expected a name or 'vary', found neither")

    def make_recipes(self, type_: AcquisitionType) -> Iterator[tuple[str, Recipe]]:
        """Make the recipe of a type, or several, each with its name.

        A `LeafidError` is raised for an expert that the base doesn't have.
        """
        base = load_recipe(self.base, type_)
        names = {*self.only, *self.without, *self.expert_keys} - {"*"}
        if unknown := sorted(names - base.experts.keys()):
            known = ", ".join(base.experts)
            raise LeafidError(
                f"recipes: expected experts {known} of type {type_}, found "
                f"{', '.join(unknown)}"
            )
        data = msgspec.to_builtins(base)
        experts = {}
        for name, expert in data["experts"].items():
            if name in (self.only or base.experts) and name not in self.without:
                changes = self.expert_keys.get("*", {}) | self.expert_keys.get(name, {})
                experts[name] = expert | changes
        data |= {"experts": experts} | self.keys
        recipe = parse_recipe(data, self.name or "vary")
        if self.vary is None:
            yield self.name, recipe
            return
        for name, expert in recipe.experts.items():
            yield f"only {name}", replace(recipe, experts={name: expert})
        for name in recipe.experts:
            others = {**recipe.experts}
            del others[name]
            if others:
                yield f"without {name}", replace(recipe, experts=others)


class ExternalRun(Struct, frozen=True, forbid_unknown_fields=True):
    """Another system's answers on the same folds: a run file for each repeat."""

    name: str
    files: Annotated[tuple[str, ...], Meta(min_length=1)]


class Experiment(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a TOML file: a grid, in which the first recipe is the baseline."""

    recipes: Annotated[tuple[str | RecipeEntry, ...], Meta(min_length=1)]
    protocols: tuple[SplitProtocol, ...] = ()
    seeds: Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(min_length=1)] = (
        0,
        1,
        2,
    )
    #: Their number, or a file that has them; paths are relative to the TOML file.
    folds: Annotated[int, Meta(ge=2)] | str = 5
    #: Answers of other systems, which become rows of the table; then folds have to be a
    #: file.
    runs: tuple[ExternalRun, ...] = ()
    #: Acquisition types, by default all types of a collection.
    types: tuple[AcquisitionType, ...] = ()
    #: Learn codebooks once from all pictures, without their labels.
    shared_codebooks: bool = False

    def __post_init__(self) -> None:
        if self.runs and (isinstance(self.folds, int) or self.protocols):
            raise ValueError(
                "expected a file as 'folds' and no 'protocols' with 'runs', which "
                "answer its folds"
            )

    @property
    def bases(self) -> list[str]:
        """The recipes that the experiment takes, or changes."""
        return [_make_entry(entry).base for entry in self.recipes]

    def make_protocols(self) -> list[SplitProtocol]:
        """Make the protocols; by default folds of plants."""
        name = f"{self.folds} folds" if isinstance(self.folds, int) else "folds"
        protocols = self.protocols or [SplitProtocol(name)]
        return [replace(p, folds=p.folds or self.folds) for p in protocols]

    def make_recipes(self, type_: AcquisitionType) -> dict[str, Recipe]:
        """Make the recipes of a type, by names; equal names raise a `LeafidError`."""
        recipes: dict[str, Recipe] = {}
        for entry in self.recipes:
            for name, recipe in _make_entry(entry).make_recipes(type_):
                if recipes.setdefault(name, recipe) is not recipe:
                    raise LeafidError(
                        f"recipes: expected names that differ, found {name!r} twice"
                    )
        return recipes


def list_experiments() -> list[str]:
    """List the names of the shipped experiments."""
    return sorted(file.stem for file in _SHIPPED.iterdir())


def read_experiment(plan: StrPath | Mapping[str, Any] | Experiment) -> Experiment:
    """Read a shipped experiment, or a TOML file, or its keys.

    A `LeafidError` says what is wrong with it.
    """
    if isinstance(plan, Experiment):
        return plan
    if isinstance(plan, Mapping):
        try:
            return convert({**plan}, Experiment, "plan")
        except LeafidError as error:
            raise InputError(str(error)) from None
    name = os.fspath(plan)
    path = Path(name)
    if name in list_experiments():
        path = _SHIPPED / f"{name}.toml"
    if not path.is_file():
        raise LeafidError(
            f"{name}: no such experiment; expected a file, or one of "
            f"{', '.join(list_experiments())}"
        )
    experiment = parse_toml(read_text(path), Experiment, name)
    folder = path.parent
    recipes = []
    for entry in experiment.recipes:
        changes = _make_entry(entry)
        if changes.base not in list_recipes():
            changes = replace(changes, base=str(folder / changes.base))
        recipes.append(changes)
    runs = []
    for run in experiment.runs:
        files = tuple(str(folder / file) for file in run.files)
        runs.append(replace(run, files=files))
    folds = experiment.folds
    if isinstance(folds, str):
        folds = str(folder / folds)
    return replace(experiment, recipes=tuple(recipes), folds=folds, runs=tuple(runs))


def _make_entry(entry: str | RecipeEntry) -> RecipeEntry:
    """Make a table of a recipe's name."""
    return RecipeEntry(entry, entry) if isinstance(entry, str) else entry
