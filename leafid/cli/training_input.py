"""The input of train and crossval: pictures with labels, and recipes; and how both print scores."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from leafid.console.arguments import TYPES

if TYPE_CHECKING:
    from leafid.collection import Picture
    from leafid.collection.picture import AcquisitionType
    from leafid.recipes.recipe import Recipe


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """``--recipe``: how pictures are described and classified."""
    parser.add_argument(
        "--recipe",
        default="default",
        metavar="R",
        help="a recipe that comes along (default, fast, baseline-bow), a folder with a TYPE.toml for each type, "
        "or a .toml file (default: %(default)s)",
    )


def add_training_types(parser: argparse.ArgumentParser) -> None:
    """``--only-type`` and ``--assume-type``; the older ``--type`` means the latter where no type is known."""
    parser.add_argument(
        "--only-type", choices=TYPES, help="learn to identify this acquisition type only (default: all types)"
    )
    parser.add_argument(
        "--assume-type",
        choices=TYPES,
        help="take every picture for one of this type (default: that of its metadata)",
    )
    parser.add_argument("--type", choices=TYPES, help=argparse.SUPPRESS)


def read_training_pictures(arguments: argparse.Namespace) -> list[Picture]:
    """Read the labelled pictures of a collection's training part, each with its acquisition type."""
    from leafid.collection import AcquisitionType, read_and_warn
    from leafid.collection.training_part import select_training_pictures

    pictures = read_and_warn(arguments.collection, arguments.layout).pictures
    assumed = arguments.assume_type
    if arguments.type and all(picture.type is None for picture in pictures):
        assumed = assumed or arguments.type
    return select_training_pictures(pictures, AcquisitionType(assumed) if assumed else None, arguments.collection)


def load_recipes(arguments: argparse.Namespace, pictures: list[Picture]) -> dict[AcquisitionType, Recipe]:
    """Load the recipes for the types that are asked for and present."""
    from leafid.collection import AcquisitionType
    from leafid.recipes.reader import load_recipe
    from leafid.recipes.recipe import choose_types_to_train

    word = arguments.only_type or arguments.type
    only = AcquisitionType(word) if word else None
    return {type_: load_recipe(arguments.recipe, type_) for type_ in choose_types_to_train(pictures, only)}


def format_score_line(name: str, scores: dict[str, float]) -> str:
    """Write the scores of one type on a line."""
    if "S" not in scores:
        return f"{name:<10} no picture of a species with another plant to learn from; probabilities are not calibrated"
    return (
        f"{name:<10} S {scores['S']:.3f}   top-1 {scores['top1']:.3f}   top-5 {scores['top5']:.3f}   "
        f"per plant {scores['per_plant']:.3f}   ({scores['pictures']:.0f} pictures, {scores['unseen']:.0f} left out)"
    )
