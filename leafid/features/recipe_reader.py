"""Recipes as TOML files: finding, reading and checking them."""

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from leafid.errors import LeafidError
from leafid.features.recipe import Recipe
from leafid.pictures.picture import AcquisitionType
from leafid.schema import convert, parse_toml
from leafid.textfiles import read_text


def load_recipe(name: str, acquisition_type: AcquisitionType) -> Recipe:
    """Read the recipe of an acquisition type: a shipped one, one of a folder with ``.toml`` files, or a ``.toml`` file.

    A `LeafidError` is raised when there is none that serves the type, or one isn't valid: the file, the key, what was
    expected and found.
    """
    files = _find_files(name)
    recipes = [parse_recipe(parse_toml(text, dict, source), source) for source, text in files.items()]
    found = [recipe for recipe in recipes if acquisition_type in recipe.types]
    if len(found) != 1:
        served = ", ".join(type_ for recipe in recipes for type_ in recipe.types)
        raise LeafidError(f"recipe {name}: expected one file that serves {acquisition_type}, found types {served}")
    return found[0]


def _find_files(name: str) -> dict[str, str]:
    """Read the files of a recipe; the texts by what messages call the files."""
    if name in list_recipes():
        folder: Traversable = resources.files("leafid.features") / "recipes" / name
        return {f"recipe {name}/{file.name}": file.read_text(encoding="utf-8") for file in _list_toml(folder)}
    path = Path(name)
    if path.is_file():
        return {str(path): read_text(path)}
    if path.is_dir() and (files := [path / file.name for file in _list_toml(path)]):
        return {str(file): read_text(file) for file in files}
    known = ", ".join(list_recipes())
    raise LeafidError(f"{path}: no such recipe; expected one of {known}, a folder with .toml files, or such a file")


def _list_toml(folder: Traversable) -> list[Traversable]:
    return sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)


def list_recipes() -> list[str]:
    """List the names of the shipped recipes."""
    folder = resources.files("leafid.features") / "recipes"
    return sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and _list_toml(entry))


def parse_recipe(data: Any, source: str) -> Recipe:
    """Make a recipe from plain data, as TOML or JSON gives it, checking every value.

    The table ``defaults`` holds values of all experts that don't have their own. A `LeafidError`, whose message begins
    with `source`, is raised at the first value that is not as expected.
    """
    data = dict(convert(data, dict, source))
    defaults = convert(data.pop("defaults", {}), dict, f"{source}: defaults")
    experts = data.get("experts")
    if isinstance(experts, dict):
        data["experts"] = {
            name: defaults | table if isinstance(table, dict) else table for name, table in experts.items()
        }
    data.setdefault("training_types", data.get("types", ()))
    return convert(data, Recipe, source)
