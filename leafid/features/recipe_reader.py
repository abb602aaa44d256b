"""Recipes as TOML files: finding, reading and checking them."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import Field
from importlib import resources
from pathlib import Path
from typing import Any

from leafid.descriptors.registry import LOCAL_DESCRIPTORS
from leafid.errors import LeafidError, suggest
from leafid.features.recipe import EXPERT_PARTS, MEASURES, Expert, Measures, Recipe
from leafid.features.recipe_keys import list_keys
from leafid.pictures.picture import AcquisitionType
from leafid.textfiles import read_text

RECIPE_KEYS = list_keys(Recipe)
EXPERT_KEYS = {name: entry for part in EXPERT_PARTS for name, entry in list_keys(part).items()}


def load_recipe(name: str, acquisition_type: AcquisitionType) -> Recipe:
    """Read the recipe of an acquisition type: a shipped one, a folder with a ``<type>.toml``, or a ``.toml`` file.

    A `LeafidError` is raised when there is none, or it isn't valid: the file, the key, what was expected and found.
    """
    file_name = f"{acquisition_type}.toml"
    if name in list_recipes():
        entry = resources.files("leafid.features") / "recipes" / name / file_name
        if not entry.is_file():
            raise LeafidError(f"recipe {name}: expected a {file_name}, found none; use another recipe for this type")
        content = entry.read_text(encoding="utf-8")
        source = f"recipe {name}/{file_name}"
    else:
        path = Path(name)
        if path.is_dir():
            path = path / file_name
        if not path.is_file():
            known = ", ".join(list_recipes())
            raise LeafidError(f"{path}: no such recipe; expected one of {known}, a folder with {file_name}, or a file")
        content = read_text(path)
        source = str(path)
    try:
        data = tomllib.loads(content)
    except (ValueError, RecursionError) as error:  # ValueError also for an integer of thousands of digits.
        raise LeafidError(f"{source}: not valid TOML: {error}") from error
    return parse_recipe(data, acquisition_type, source)


def list_recipes() -> list[str]:
    """List the names of the shipped recipes."""
    folder = resources.files("leafid.features") / "recipes"
    return sorted(
        entry.name
        for entry in folder.iterdir()
        if entry.is_dir() and any(file.name.endswith(".toml") for file in entry.iterdir())
    )


def parse_recipe(data: dict[str, Any], acquisition_type: AcquisitionType, source: str) -> Recipe:
    """Make a recipe from plain data, as TOML or JSON gives it, checking every value.

    A `LeafidError`, whose message begins with `source`, is raised at the first value that is not as expected.
    """
    values = _parse_values(data, RECIPE_KEYS, source, {"defaults", "experts"})
    types = values.setdefault("training_types", (acquisition_type,))
    if acquisition_type not in types:
        found = data["training_types"]
        raise LeafidError(f"{source}: training_types: expected {str(acquisition_type)!r} among them, found {found}")
    experts = data.get("experts")
    if not isinstance(experts, dict) or not experts:
        raise LeafidError(f"{source}: expected at least one table [experts.NAME], found none")
    defaults = _parse_values(data.get("defaults", {}), EXPERT_KEYS, f"{source}: [defaults]")
    parsed = {
        name: _parse_expert(name, table, defaults, f"{source}: [experts.{name}]") for name, table in experts.items()
    }
    return Recipe(acquisition_type, parsed, **values)


def _parse_expert(name: str, table: Any, defaults: dict[str, Any], source: str) -> Expert:
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise LeafidError(f"{source}: expected a name of letters, digits, - and _, found {name!r}")
    own = _parse_values(table, EXPERT_KEYS, source)
    values = {**defaults, **own}
    if "descriptor" not in values:
        raise LeafidError(
            f"{source}: descriptor is missing; expected one of {', '.join((MEASURES, *LOCAL_DESCRIPTORS))}"
        )
    if values["descriptor"] != MEASURES:
        if "families" in own:
            raise LeafidError(
                f"{source}: families: only 'measures' has families, found descriptor {values['descriptor']!r}"
            )
    elif "families" not in values:
        raise LeafidError(f"{source}: families is missing; expected a list of descriptor families")
    expert = Expert.from_keys(**values)
    patches = expert.features
    if isinstance(patches, Measures):
        return expert
    if patches.coverage > patches.max_coverage:
        raise LeafidError(
            f"{source}: coverage: expected at most max_coverage, {patches.max_coverage}, found {patches.coverage}"
        )
    if patches.descriptor == "outline-sift" and patches.view == "picture":
        raise LeafidError(f"{source}: view: 'outline-sift' needs the leaf's outline; expected 'leaf' or 'upright'")
    return expert


def _parse_values(
    table: Any, keys: Mapping[str, Field], source: str, other_keys: set[str] | frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Check and convert the values of a table; `other_keys` are allowed in it, but left to the caller."""
    if not isinstance(table, dict):
        raise LeafidError(f"{source}: expected a table, found {table!r}")
    known = {*keys, *other_keys}
    values = {}
    for key, value in table.items():
        if key not in known:
            hint = suggest(key, known, f"; expected {', '.join(sorted(known))}")
            raise LeafidError(f"{source}: unknown key {key!r}{hint}")
        if key in keys:
            try:
                values[key] = keys[key].metadata["key"].parse(value)
            except LeafidError as error:
                raise LeafidError(f"{source}: {key}: {error}") from error
    return values
