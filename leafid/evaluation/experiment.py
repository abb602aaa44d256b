"""Experiments: recipes by collections, types, protocols and seeds, from a TOML file."""

import fnmatch
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from leafid.descriptors.registry import FAMILIES
from leafid.errors import LeafidError
from leafid.evaluation.ablation import vary_recipe
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe
from leafid.features.recipe_reader import load_recipe, parse_recipe
from leafid.learning.held_out import HeldOutAnswers, rank_labels
from leafid.model.crossvalidation import cross_validate
from leafid.model.identifier import Identifier
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.protocols import KINDS, UNITS, Protocol
from leafid.textfiles import read_text

_KEYS = {"summary", "baseline", "seeds", "folds", "types", "collections", "recipes", "protocols", "shared_codebooks"}
_RECIPE_KEYS = {"name", "base", "only", "without", "keys", "expert_keys", "vary", "matching", "classifiers"}
_PROTOCOL_KEYS = {"name", "kind", "by", "folds", "shots", "shots_of", "test_type"}
_VARY = ("parts", "families")
# Number of pictures that are identified without a cache to measure the time.
_TIMED = 5


@dataclass(frozen=True)
class Experiment:
    """What a TOML file says: the grid, and the recipe or protocol that others are compared with."""

    recipes: Sequence[Mapping[str, Any]]
    protocols: Sequence[Protocol]
    baseline: str
    seeds: tuple[int, ...] = (0, 1, 2)
    types: tuple[AcquisitionType, ...] = ()
    collections: tuple[str, ...] = ()
    #: Learn codebooks once from all pictures, without their labels.
    shared_codebooks: bool = False
    summary: str = ""

    def make_recipes(self, type_: AcquisitionType) -> dict[str, Recipe]:
        """Make the recipes of a type, by their names."""
        recipes: dict[str, Recipe] = {}
        for entry in self.recipes:
            for name, recipe in _make_recipes(entry, type_):
                if recipes.setdefault(name, recipe) is not recipe:
                    raise LeafidError(f"recipes: expected names that differ, found {name!r} twice")
        if self.baseline not in {*recipes, *(protocol.name for protocol in self.protocols)}:
            raise LeafidError(f"baseline: expected a recipe or protocol of the experiment, found {self.baseline!r}")
        return recipes


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
    #: Of all folds, with the features that were cached.
    seconds: float = 0.0
    #: To identify a picture from its file in one process, without a cache.
    seconds_a_picture: float | None = None
    peak_megabytes: float | None = None


def list_experiments() -> list[str]:
    """List the names of the shipped experiments."""
    folder = resources.files("leafid.evaluation") / "experiments"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def read_experiment(name: str) -> Experiment:
    """Read a shipped experiment, or a TOML file; a `LeafidError` says what is wrong with it."""
    if name in list_experiments():
        text = (resources.files("leafid.evaluation") / "experiments" / f"{name}.toml").read_text(encoding="utf-8")
    elif Path(name).is_file():
        text = read_text(name)
    else:
        raise LeafidError(f"{name}: no such experiment; expected a file, or one of {', '.join(list_experiments())}")
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise LeafidError(f"{name}: not valid TOML: {error}") from error
    try:
        return _parse_experiment(data)
    except LeafidError as error:
        raise LeafidError(f"{name}: {error}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise LeafidError(f"{name}: expected the values of docs/formats.md, found an error: {error}") from error


def _parse_experiment(data: dict[str, Any]) -> Experiment:
    _check_keys(data, _KEYS, "the experiment")
    entries = [{"name": entry, "base": entry} if isinstance(entry, str) else entry for entry in data.get("recipes", [])]
    if not entries:
        raise LeafidError("recipes: expected at least one recipe, found none")
    for entry in entries:
        _check_keys(entry, _RECIPE_KEYS, "recipes")
        if "name" not in entry and "vary" not in entry:
            raise LeafidError(f"recipes: expected a name, found {entry!r}")
        if entry.get("vary", _VARY[0]) not in _VARY:
            raise LeafidError(f"recipes: vary: expected one of {', '.join(_VARY)}, found {entry['vary']!r}")
    folds = int(data.get("folds", 5))
    found = []
    for entry in data.get("protocols", [{"name": f"{folds} folds"}]):
        _check_keys(entry, _PROTOCOL_KEYS, "protocols")
        protocol = Protocol(**{"folds": folds, **entry, "shots": tuple(entry.get("shots", ()))})
        if protocol.kind not in KINDS or protocol.by not in UNITS:
            raise LeafidError(f"protocols: expected kind {', '.join(KINDS)} and by {', '.join(UNITS)}, found {entry!r}")
        found.append(protocol)
    return Experiment(
        entries,
        found,
        str(data.get("baseline", entries[0].get("name"))),
        tuple(int(seed) for seed in data.get("seeds", (0, 1, 2))),
        tuple(AcquisitionType.parse(word) for word in data.get("types", ())),
        tuple(map(str, data.get("collections", ()))),
        bool(data.get("shared_codebooks", False)),
        str(data.get("summary", "")),
    )


def _check_keys(table: Mapping[str, Any], known: set[str], place: str) -> None:
    if unknown := table.keys() - known:
        raise LeafidError(f"{place}: expected keys {', '.join(sorted(known))}, found {', '.join(sorted(unknown))}")


def _make_recipes(entry: Mapping[str, Any], type_: AcquisitionType) -> Iterator[tuple[str, Recipe]]:
    """Make the recipe of an entry, or several where it varies one."""
    vary = entry.get("vary")
    if vary == "families":
        for family in FAMILIES:
            for kind in entry.get("classifiers", ("ridge",)):
                table = {"descriptor": "measures", "families": [family], "classifier": kind}
                yield f"{family}, {kind}", parse_recipe({"experts": {"measures": table}}, type_, "families")
        return
    base = load_recipe(str(entry.get("base", "default")), type_)
    data = base.to_dict() | entry.get("keys", {})
    names = entry.get("only", list(base.experts))
    changes = entry.get("expert_keys", {})
    patterns = [*names, *entry.get("without", ()), *changes]
    if unknown := [pattern for pattern in patterns if not fnmatch.filter(base.experts, pattern)]:
        known = ", ".join(base.experts)
        raise LeafidError(f"recipes: expected experts {known} of type {type_}, found {', '.join(unknown)}")
    data["experts"] = {name: data["experts"][name] for name in names if name not in entry.get("without", ())}
    for pattern, keys in changes.items():
        for name in fnmatch.filter(data["experts"], pattern):
            data["experts"][name] |= keys
    recipe = parse_recipe(data, type_, str(entry.get("name", vary)))
    if not vary:
        yield str(entry["name"]), recipe
        return
    for what, varied in vary_recipe(recipe):
        if any(fnmatch.fnmatchcase(what, pattern) for pattern in entry.get("matching", ["*"])):
            yield what, varied


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
        for protocol in experiment.protocols
        for seed in experiment.seeds
    ]
    for number, (name, type_, (recipe_name, recipe), protocol, seed) in enumerate(grid, 1):
        cell = Cell(name, str(type_), recipe_name, protocol.name, seed)
        loader.task = f"{number}/{len(grid)} {recipe_name}, {type_}"
        _compute_cell(cell, recipe, protocol, collections[name], loader, experiment.shared_codebooks)
        note(f"{number}/{len(grid)} {name}, {type_}, {recipe_name}, {protocol.name}, seed {seed}: {cell.seconds:.0f} s")
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
    test_type = AcquisitionType.parse(protocol.test_type) if protocol.test_type else None
    if test_type:
        recipe = replace(recipe, training_types=(recipe.type,))
    fitted: list[Identifier] = []
    _reset_peak()
    started = time.monotonic()
    splits = list(protocol.make_splits(pictures, (cell.seed,)))
    held_out = cross_validate(
        pictures,
        {recipe.type: recipe},
        loader,
        splits,
        shared_codebooks=shared_codebooks,
        test_type=test_type,
        observe=fitted.append,
    )
    for answers in held_out:
        cell.ranks.setdefault(answers.setting, []).extend(_list_ranks(answers.held_out))
        fitted[1:] = []
    cell.seconds = round(time.monotonic() - started, 3)
    cell.peak_megabytes = _read_peak()
    queries = [p for p in pictures if p.type == (test_type or recipe.type)][:_TIMED]
    if fitted and queries:
        cell.seconds_a_picture = _time_pictures(queries, fitted[0])


def _time_pictures(pictures: Sequence[Picture], identifier: Identifier) -> float | None:
    """Identify pictures one by one, the first once more to start with; return the median of the seconds."""
    times = []
    for picture in [pictures[0], *pictures]:
        started = time.monotonic()
        (features,) = FeatureLoader().load([picture], identifier.extractor)
        if features is not None:
            identifier.predict_proba([features])
            times.append(time.monotonic() - started)
    return round(float(np.median(times[1:])), 4) if times[1:] else None


def _list_ranks(answers: HeldOutAnswers) -> Iterator[tuple[str, str, str, int]]:
    for picture, rank in zip(answers.pictures, rank_labels(answers).tolist(), strict=True):
        yield str(picture.file), picture.group, picture.author or "", rank


def _reset_peak() -> None:
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # Linux: forget the peak so far.


def _read_peak() -> float | None:
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / 1024, 1)
    return None
