"""What train, crossval and predict have in common."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from leafid.console.arguments import TYPES, number_type
from leafid.console.environment import Environment

if TYPE_CHECKING:
    from leafid.collection import Picture
    from leafid.collection.picture import AcquisitionType
    from leafid.features.loader import FeatureLoader
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


def add_store_folder(parser: argparse._ActionsContainer) -> None:
    """``--cache``: where the descriptor store is."""
    parser.add_argument(
        "--cache", metavar="DIR", help="where descriptors are kept (default: $LEAFID_CACHE, or ~/.cache/leafid)"
    )


def gibibytes(word: str) -> int:
    """Read a number of GiB above 0, as bytes."""
    return round(_gibibytes(word) * 2**30)


_gibibytes = number_type("a number of GiB above 0", lambda found: 0 < found < 2**30)


def add_store(parser: argparse.ArgumentParser) -> None:
    """``--cache-limit`` and ``--no-cache`` beside the option of `add_store_folder`: the descriptor store."""
    which = parser.add_mutually_exclusive_group()
    add_store_folder(which)
    which.add_argument("--no-cache", action="store_true", help="keep no descriptors, and use none that were kept")
    parser.add_argument(
        "--cache-limit",
        metavar="GIB",
        type=gibibytes,
        default=4 * 2**30,
        help="how large the store may get; beyond it the least recently used go (default: 4)",
    )


@contextmanager
def on_workers(arguments: argparse.Namespace, pictures: Sequence[str], folders: Sequence[str] = ()) -> Iterator[None]:
    """Work on the cluster that the arguments ask for, if any.

    Parameters
    ----------
    arguments : Namespace
        With ``cluster`` and ``jobs``.
    pictures : sequence of str
        The pictures and collections of the command line, which workers must see.
    folders : sequence of str, optional
        What else they must see.
    """
    if not arguments.cluster:
        yield
        return
    from leafid.cluster import on_cluster

    # Of thousands of files the folders will do.
    seen = dict.fromkeys(path if path.is_dir() else path.parent for path in map(Path, (*pictures, *folders)))
    with on_cluster(arguments.cluster, seen, arguments.jobs):
        yield


@contextmanager
def open_loader(arguments: argparse.Namespace, environment: Environment) -> Iterator[FeatureLoader]:
    """Open the descriptor store that the arguments ask for, and what describes pictures with it."""
    from contextlib import ExitStack
    from tempfile import TemporaryDirectory

    from leafid.errors import LeafidError
    from leafid.features.cache import FeatureCache, default_cache_folder
    from leafid.features.loader import FeatureLoader

    with ExitStack() as stack:
        folder = arguments.cache or default_cache_folder()
        if arguments.no_cache:
            # What the types share is still computed once only; it is gone with the command.
            folder = stack.enter_context(TemporaryDirectory(prefix="leafid-"))
        store = None
        try:
            store = FeatureCache(folder, arguments.cache_limit)
            stack.callback(store.close)
        except LeafidError as error:
            # It costs the cache, and not the work.
            environment.warn(f"{error}; nothing is kept")
        yield FeatureLoader(store, arguments.jobs, environment.progress)


def training_pictures(arguments: argparse.Namespace, environment: Environment) -> list[Picture]:
    """Read the labelled pictures of a collection's training part, each with its acquisition type."""
    from dataclasses import replace

    from leafid.collection import AcquisitionType, read_and_warn
    from leafid.errors import LeafidError

    collection = read_and_warn(arguments.collection, arguments.layout)
    parts = {picture.part for picture in collection.pictures}
    pictures = [p for p in collection.pictures if p.species is not None and (p.part == "train" or "train" not in parts)]
    if not pictures:
        raise LeafidError(
            f"{arguments.collection}: expected pictures of known species, found {len(collection)} without; where "
            "there is no XML, put those of a species directly into a folder named after it ('Acer campestre') and name "
            "the folder above"
        )
    assumed = arguments.assume_type
    if arguments.type and all(picture.type is None for picture in pictures):
        assumed = assumed or arguments.type
    if assumed:
        return [replace(picture, type=AcquisitionType(assumed)) for picture in pictures]
    typed = [picture for picture in pictures if picture.type is not None]
    if not typed:
        raise LeafidError(f"{arguments.collection}: the acquisition type of its pictures is unknown; say --assume-type")
    if len(typed) < len(pictures):
        environment.warn(f"{len(pictures) - len(typed)} pictures of unknown acquisition type are left out")
    return typed


def chosen_recipes(arguments: argparse.Namespace, pictures: list[Picture]) -> dict[AcquisitionType, Recipe]:
    """Load the recipes for the types that are asked for and present."""
    from leafid.collection import AcquisitionType
    from leafid.recipes.reader import load_recipe
    from leafid.recipes.recipe import choose_types_to_train

    word = arguments.only_type or arguments.type
    only = AcquisitionType(word) if word else None
    return {type_: load_recipe(arguments.recipe, type_) for type_ in choose_types_to_train(pictures, only)}


def score_line(name: str, scores: dict[str, float]) -> str:
    """Write the scores of one type on a line."""
    if "S" not in scores:
        return f"{name:<10} no picture of a species with another plant to learn from; probabilities are not calibrated"
    return (
        f"{name:<10} S {scores['S']:.3f}   top-1 {scores['top1']:.3f}   top-5 {scores['top5']:.3f}   "
        f"per plant {scores['per_plant']:.3f}   ({scores['pictures']:.0f} pictures, {scores['unseen']:.0f} left out)"
    )
