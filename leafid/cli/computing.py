"""Where a command computes: the workers of a cluster, and the cache of features."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from leafid.console.arguments import number_type
from leafid.console.environment import Environment

if TYPE_CHECKING:
    from leafid.features.loader import FeatureLoader


def add_cache_folder(parser: argparse._ActionsContainer) -> None:
    """``--cache``: where the feature cache is."""
    parser.add_argument(
        "--cache", metavar="DIR", help="where descriptors are kept (default: $LEAFID_CACHE, or ~/.cache/leafid)"
    )


def parse_gibibytes(word: str) -> int:
    """Read a number of GiB above 0, as bytes."""
    return round(_positive_gibibytes(word) * 2**30)


_positive_gibibytes = number_type("a number of GiB above 0", lambda found: 0 < found < 2**30)


def add_cache(parser: argparse.ArgumentParser) -> None:
    """``--cache-limit`` and ``--no-cache`` beside the option of `add_store_folder`: the feature cache."""
    which = parser.add_mutually_exclusive_group()
    add_cache_folder(which)
    which.add_argument("--no-cache", action="store_true", help="keep no descriptors, and use none that were kept")
    parser.add_argument(
        "--cache-limit",
        metavar="GIB",
        type=parse_gibibytes,
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
    """Open the feature cache that the arguments ask for, and what describes pictures with it."""
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
