"""Experiments: recipes by collections, types, protocols and seeds, from a TOML file, to one table."""

import fnmatch
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from leafid.descriptors.registry import FAMILIES
from leafid.errors import LeafidError
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe
from leafid.features.recipe_reader import load_recipe, parse_recipe
from leafid.learning.averages import average_score, per_plant_score
from leafid.learning.held_out import HeldOutAnswers, rank_labels
from leafid.model.crossvalidation import cross_validate
from leafid.model.identifier import Identifier
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.protocols import KINDS, UNITS, Protocol
from leafid.scoring.ablation import vary_recipe
from leafid.scoring.resampling import (
    Bootstrap,
    WeightedScore,
    bootstrap_scores,
    correct_holm,
    randomisation_test,
)
from leafid.scoring.tables import Cell as TableCell
from leafid.scoring.tables import Table
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
    folder = resources.files("leafid.scoring") / "experiments"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def read_experiment(name: str) -> Experiment:
    """Read a shipped experiment, or a TOML file; a `LeafidError` says what is wrong with it."""
    if name in list_experiments():
        text = (resources.files("leafid.scoring") / "experiments" / f"{name}.toml").read_text(encoding="utf-8")
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
                yield f"{family}, {kind}", parse_recipe({"types": [type_], "experts": {"measures": table}}, "families")
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
    recipe = parse_recipe(data, str(entry.get("name", vary)))
    if not vary:
        yield str(entry["name"]), recipe
        return
    for what, varied in vary_recipe(recipe, type_):
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
        step = loader.with_step(f"{number}/{len(grid)} {recipe_name}, {type_}")
        _compute_cell(cell, recipe, protocol, collections[name], step, experiment.shared_codebooks)
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
    type_ = AcquisitionType(cell.type)
    test_type = AcquisitionType.parse(protocol.test_type) if protocol.test_type else None
    if test_type:
        recipe = replace(recipe, types=(type_,), training_types=(type_,))
    identifier: Identifier | None = None
    _reset_peak()
    started = time.monotonic()
    splits = list(protocol.make_splits(pictures, (cell.seed,)))
    held_out = cross_validate(
        pictures,
        {type_: recipe},
        loader,
        splits,
        shared_codebooks=shared_codebooks,
        test_type=test_type,
        keep_identifiers=True,
    )
    for answers in held_out:
        cell.ranks.setdefault(answers.setting, []).extend(_list_ranks(answers.held_out))
        identifier = identifier or answers.identifier
    cell.seconds = round(time.monotonic() - started, 3)
    cell.peak_megabytes = _read_peak()
    queries = [p for p in pictures if p.type == (test_type or type_)][:_TIMED]
    if identifier and queries:
        cell.seconds_a_picture = _time_pictures(queries, identifier)


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


@dataclass(frozen=True)
class Result:
    """A row of the table; scores are means over seeds."""

    collection: str
    type: str
    protocol: str
    #: Of the protocol: the number of training pictures or plants of each species, if it has several.
    setting: str
    recipe: str
    seeds: int
    pictures: int
    left_out: int
    top1: float
    top5: float
    per_plant: float
    #: S of the plant task.
    score: float
    #: Of top-1; NaN where no plant can be exchanged for another.
    interval: tuple[float, float]
    difference: float | None
    p: float | None
    milliseconds: float | None
    megabytes: float | None
    seconds: float

    @property
    def test(self) -> str:
        """The protocol with its setting."""
        return f"{self.protocol}, {self.setting}" if self.setting else self.protocol


def summarise_experiment(cells: Sequence[Cell], baseline: str, bootstrap: Bootstrap) -> list[Result]:
    """Score each recipe on each collection, type and setting of a protocol.

    Recipes are compared with the baseline on the same pictures, or protocols, if the baseline is one of these, by
    paired randomisation over plants. Left out are pictures whose species no recipe, or not every protocol, has training
    pictures of; where only some recipes have, the others are wrong.
    """
    compares_protocols = any(cell.protocol == baseline for cell in cells) and all(c.recipe != baseline for c in cells)
    blocks: dict[tuple[str, ...], dict[str, list[Cell]]] = {}
    for cell in cells:
        kept, compared = (cell.recipe, cell.protocol) if compares_protocols else (cell.protocol, cell.recipe)
        for setting in cell.ranks:
            block = blocks.setdefault((cell.collection, cell.type, kept, setting), {})
            block.setdefault(compared, []).append(cell)
    results: list[Result] = []
    for (*_, setting), block in blocks.items():
        results += _summarise_block(block, setting, baseline, bootstrap, needs_all=compares_protocols)
    return results


def _summarise_block(
    block: Mapping[str, Sequence[Cell]], setting: str, baseline: str, bootstrap: Bootstrap, *, needs_all: bool
) -> Iterator[Result]:
    rows = [(key, cell.seed, *row) for key, cells in block.items() for cell in cells for row in cell.ranks[setting]]
    found = {name: (plant, author) for _, _, name, plant, author, _ in rows}
    names, seeds = sorted(found), sorted({seed for _, seed, *_ in rows})
    # Of what is compared, by seed and picture; 0: the species has no training picture.
    rank_of = {(key, seed, name): rank for key, seed, name, _, _, rank in rows}
    ranks = np.array([[[rank_of.get((key, seed, name), 0) for name in names] for seed in seeds] for key in block])
    known = np.asarray((ranks > 0).any(axis=0))
    if needs_all:
        known = np.broadcast_to((ranks > 0).all(axis=(0, 1)), known.shape)
    is_scored = np.asarray(known.any(axis=0))
    if not is_scored.any():
        return
    names = [name for name, is_kept in zip(names, is_scored, strict=True) if is_kept]
    ranks, known = ranks[..., is_scored], known[:, is_scored]
    plants, authors = (np.array([found[name][column] for name in names]) for column in (0, 1))
    unit_names, units = np.unique(plants, return_inverse=True)
    one_group, equal_weights = np.zeros(len(names), np.intp), np.full(len(names), 1 / len(names))
    # A picture's share of the seeds in which it is known.
    top1 = dict(zip(block, ((ranks == 1) & known).sum(axis=1) / known.sum(axis=0), strict=True))
    top5 = dict(zip(block, ((ranks >= 1) & (ranks <= 5) & known).sum(axis=1) / known.sum(axis=0), strict=True))
    p_values = {
        name: randomisation_test((own - top1[baseline]) / len(names), units, seed=bootstrap.seed)
        for name, own in top1.items()
        if baseline in top1 and name != baseline
    }
    corrected = dict(zip(p_values, correct_holm([*p_values.values()]).tolist(), strict=True)) if p_values else {}
    for name, cells in block.items():
        weighted = WeightedScore(top1[name], equal_weights, one_group, units)
        samples = bootstrap_scores([weighted], len(unit_names), bootstrap)
        times = [cell.seconds_a_picture for cell in cells if cell.seconds_a_picture is not None]
        peaks = [cell.peak_megabytes for cell in cells if cell.peak_megabytes is not None]
        yield Result(
            *(cells[0].collection, cells[0].type, cells[0].protocol, setting, cells[0].recipe),
            *(len(cells), len(names), len(found) - len(names), float(top1[name].mean())),
            float(top5[name].mean()),
            per_plant_score(top1[name], authors, plants),
            average_score(top1[name], authors, plants),
            (float("nan"), float("nan")) if samples is None else bootstrap.compute_interval(samples[0]),
            float(top1[name].mean() - top1[baseline].mean()) if name in corrected else None,
            corrected.get(name),
            1000 * float(np.median(times)) if times else None,
            max(peaks, default=None),
            float(np.mean([cell.seconds for cell in cells])),
        )


def make_experiment_table(
    results: Sequence[Result], baseline: str, bootstrap: Bootstrap, *, is_complete: bool = True
) -> Table:
    """Tabulate results; unless it has to be complete, what all of them share is in the title alone."""
    keys = {
        "collection": [own.collection for own in results],
        "type": [own.type for own in results],
        "protocol": [own.test for own in results],
        "recipe": [own.recipe for own in results],
    }
    shared = [] if is_complete else [name for name, values in keys.items() if len(set(values)) == 1]
    columns = [name for name in keys if name not in shared]
    rows: list[list[TableCell]] = [
        [
            *(keys[name][index] for name in columns),
            *(own.pictures, own.left_out, own.score, own.top1, *own.interval, own.top5, own.per_plant),
            *(own.difference, own.p, *map(_round, (own.milliseconds, own.megabytes, own.seconds))),
        ]
        for index, own in enumerate(results)
    ]
    columns += ["pictures", "left out", "S", "top-1", "top-1 low", "top-1 high", "top-5", "per-plant"]
    columns += ["difference", "p (Holm)", "ms a picture", "MB", "s"]
    count = f"{results[0].seeds} seed{'s' if results[0].seeds > 1 else ''}"
    notes = [
        f"scores: means over {count}; low, high: {bootstrap.confidence:.0%} interval, bootstrap over plants, "
        f"{bootstrap.resamples} resamples; left out: no training picture of the species",
        f"difference: of top-1 from {baseline}; p: paired randomisation over plants, Holm's correction within a test",
        "ms: to identify a picture in one process without a cache; MB: peak memory of the main process; s: all folds "
        "of a seed, with the features that were cached",
    ]
    title = ", ".join(values[0] for name, values in keys.items() if name in shared)
    return Table(f"Experiment: {title}" if title else "Experiment", columns, rows, notes)


def _round(number: float | None) -> int | None:
    return None if number is None else round(number)
