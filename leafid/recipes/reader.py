"""Recipes as TOML files: finding, reading and checking them."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable
from dataclasses import MISSING, fields
from importlib import resources
from pathlib import Path
from typing import Any

from leafid.collection.picture import AcquisitionType
from leafid.descriptors.local import LOCAL_DESCRIPTORS, SYMMETRIES
from leafid.errors import LeafidError
from leafid.recipes.recipe import (
    CLASSIFIERS,
    ENCODERS,
    MAPS,
    TRUSTS,
    VIEWS,
    Expert,
    Recipe,
)
from leafid.textfiles import read_text


def load_recipe(name: str, acquisition_type: AcquisitionType) -> Recipe:
    """Read the recipe of an acquisition type.

    Parameters
    ----------
    name : str
        A recipe that comes along (`list_recipes`), a folder with a ``<type>.toml`` in it, or a ``.toml`` file.
    acquisition_type : AcquisitionType

    Returns
    -------
    Recipe

    Raises
    ------
    LeafidError
        When there is none, or it isn't valid: the file, the key, what was expected and what was found.
    """
    file_name = f"{acquisition_type}.toml"
    if name in list_recipes():
        entry = resources.files("leafid.recipes") / name / file_name
        if not entry.is_file():
            raise LeafidError(f"recipe {name}: expected a {file_name}, found none; use another recipe for this type")
        text = entry.read_text(encoding="utf-8")
        place = f"recipe {name}/{file_name}"
    else:
        path = Path(name)
        if path.is_dir():
            path = path / file_name
        if not path.is_file():
            known = ", ".join(list_recipes())
            raise LeafidError(f"{path}: no such recipe; expected one of {known}, a folder with {file_name}, or a file")
        text = read_text(path)
        place = str(path)
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # Also a whole number of thousands of digits.
        raise LeafidError(f"{place}: not valid TOML: {error}") from error
    return parse_recipe(data, acquisition_type, place)


def list_recipes() -> list[str]:
    """Name the recipes that come along."""
    folder = resources.files("leafid.recipes")
    return sorted(
        entry.name
        for entry in folder.iterdir()
        if entry.is_dir() and any(file.name.endswith(".toml") for file in entry.iterdir())
    )


def parse_recipe(data: dict[str, Any], acquisition_type: AcquisitionType, place: str) -> Recipe:
    """Make a recipe of plain data, as TOML or JSON gives it, checking every value.

    Raises
    ------
    LeafidError
        At the first value that is not as expected.
    """
    _known_keys(data, {"summary", "training_types", "defaults", "experts", *_RECIPE_NUMBERS}, place)
    words = data.get("training_types", [str(acquisition_type)])
    types = _types(words, f"{place}: training_types")
    if acquisition_type not in types:
        raise LeafidError(f"{place}: training_types: expected {str(acquisition_type)!r} among them, found {words}")
    experts = data.get("experts")
    if not isinstance(experts, dict) or not experts:
        raise LeafidError(f"{place}: expected at least one table [experts.NAME], found none")
    defaults = _expert_values(data.get("defaults", {}), f"{place}: [defaults]")
    summary = _checked(data.get("summary", ""), str, lambda _: True, "a text", place, "summary")
    numbers = {
        key: _checked(data.get(key, default), type(default), *_RANGES[key], place, key)
        for key, default in _RECIPE_NUMBERS.items()
    }
    return Recipe(
        acquisition_type,
        {name: _expert(name, table, defaults, place) for name, table in experts.items()},
        types,
        summary,
        **numbers,
    )


_RECIPE_NUMBERS: dict[str, Any] = {
    entry.name: entry.default for entry in fields(Recipe) if isinstance(entry.default, int | float)
}
# For every value that is a word: the words it may be; for every number: a condition and how to say it.
_CHOICES = {
    "descriptor": ("measures", *LOCAL_DESCRIPTORS),
    "view": VIEWS,
    "symmetry": tuple(SYMMETRIES),
    "encoder": ENCODERS,
    "map": MAPS,
    "classifier": CLASSIFIERS,
    "trust": TRUSTS,
}
_SIDE = (lambda n: 32 <= n <= 4096, "a whole number from 32 to 4096")
_SHARE = (lambda n: 0 <= n <= 1, "a number from 0 to 1")
_RANGES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "longest_side": _SIDE,
    "codebook_pictures": (lambda n: n >= 1, "1 or more"),
    "variants": (lambda n: 0 <= n <= 100, "a whole number from 0 to 100"),
    "variant_weight": (lambda n: 0.01 <= n <= 100, "a number from 0.01 to 100"),
    "staged": (lambda n: 0 <= n <= 100, "a whole number from 0 to 100"),
    "staged_weight": (lambda n: 0.01 <= n <= 100, "a number from 0.01 to 100"),
    "size": _SIDE,
    "cell": (lambda n: 2 <= n <= 64, "a whole number from 2 to 64"),
    "scales": (lambda n: 1 <= n <= 16, "a whole number from 1 to 16"),
    "patches": (lambda n: 0 <= n <= 10**6, "a whole number from 0 to 1000000"),
    "coverage": _SHARE,
    "most_coverage": _SHARE,
    "focus": (lambda n: n == 0 or 0.01 <= n <= 100, "0, or a number from 0.01 to 100"),
    "modes": (lambda n: 1 <= n <= 65536, "a whole number from 1 to 65536"),
    "components": (lambda n: 1 <= n <= 128, "a whole number from 1 to 128"),
    "position": (lambda n: 0 <= n <= 1000, "a number from 0 to 1000"),
    "regularisation": (lambda n: 1e-12 <= n <= 1e12, "a number from 1e-12 to 1e12"),
    "directions": (lambda n: 0 <= n <= 4096, "a whole number from 0 to 4096"),
    "softmax_regularisation": (lambda n: 1e-12 <= n <= 1e12, "a number from 1e-12 to 1e12"),
    "species_balance": (lambda n: 0 <= n <= 4, "a number from 0 to 4"),
    "plant_balance": (lambda n: 0 <= n <= 4, "a number from 0 to 4"),
}


def _expert(name: str, table: Any, defaults: dict[str, Any], place: str) -> Expert:
    place = f"{place}: [experts.{name}]"
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise LeafidError(f"{place}: expected a name of letters, digits, - and _, found {name!r}")
    own = _expert_values(table, place)
    values = {**defaults, **own}
    if values.get("descriptor") != "measures" and "families" not in own:
        # Like every default that an expert doesn't heed.
        values.pop("families", None)
    for entry in fields(Expert):
        if entry.default is MISSING and entry.name not in values:
            raise LeafidError(f"{place}: {entry.name} is missing; expected one of {', '.join(_CHOICES[entry.name])}")
    expert = Expert(**values)
    if expert.coverage > expert.most_coverage:
        raise LeafidError(
            f"{place}: coverage: expected at most most_coverage, {expert.most_coverage}, found {expert.coverage}"
        )
    if expert.is_local:
        if expert.families:
            raise LeafidError(
                f"{place}: families: only 'measures' has families, found descriptor {expert.descriptor!r}"
            )
    elif not expert.families:
        raise LeafidError(f"{place}: families is missing; expected a list of descriptor families")
    return expert


def _expert_values(table: Any, place: str) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise LeafidError(f"{place}: expected a table, found {table!r}")
    _known_keys(table, {entry.name for entry in fields(Expert)}, place)
    return {
        entry.name: _expert_value(entry.name, entry.default, table[entry.name], place)
        for entry in fields(Expert)
        if entry.name in table
    }


def _expert_value(key: str, default: Any, value: Any, place: str) -> Any:
    if key in _CHOICES:
        if value not in _CHOICES[key]:
            raise LeafidError(f"{place}: {key}: expected one of {', '.join(_CHOICES[key])}, found {value!r}")
        return value
    if key == "families":
        from leafid.descriptors.registry import find_families

        if not isinstance(value, list | tuple) or not value:
            raise LeafidError(f"{place}: families: expected a list of descriptor families, found {value!r}")
        try:
            find_families([str(word) for word in value])
        except LeafidError as error:
            raise LeafidError(f"{place}: families: {error}") from error
        return tuple(value)
    if key == "codebook_types":
        return _types(value, f"{place}: codebook_types")
    if isinstance(default, bool):
        return _checked(value, bool, lambda _: True, "true or false", place, key)
    condition, wording = _RANGES[key]
    return _checked(value, type(default), condition, wording, place, key)


def _types(words: Any, place: str) -> tuple[AcquisitionType, ...]:
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise LeafidError(f"{place}: expected a list of acquisition types, found {words!r}")
    try:
        return tuple(AcquisitionType.parse(word) for word in words)
    except LeafidError as error:
        raise LeafidError(f"{place}: {error}") from error


def _checked(value: Any, kind: type, condition: Callable[[Any], bool], wording: str, place: str, key: str) -> Any:
    # TOML writes 1 for 1.0; a truth value is a number to Python but not to the writer of a recipe.
    fits = isinstance(value, int | float) if kind is float else isinstance(value, kind)
    if not fits or (isinstance(value, bool) and kind is not bool) or not condition(value):
        raise LeafidError(f"{place}: {key}: expected {wording}, found {value!r}")
    return kind(value)


def _known_keys(table: dict[str, Any], known: set[str], place: str) -> None:
    for key in table:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"expected {', '.join(sorted(known))}"
            raise LeafidError(f"{place}: unknown key {key!r}; {hint}")
