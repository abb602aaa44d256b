"""Show the feature cache, where what was computed of pictures is kept, or remove values from it.

To show it changes nothing: only --clear and --cache-limit remove values. To do so loses nothing but time, as what is
missing is computed again.

examples:
  leafid cache
  leafid cache --cache-limit 20
  leafid cache --clear
"""

from __future__ import annotations

import argparse

from leafid.cli.computing import add_cache_folder, parse_gibibytes
from leafid.console.environment import Environment


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_cache_folder(parser)
    parser.add_argument(
        "--cache-limit",
        metavar="GIB",
        type=parse_gibibytes,
        help="forget the least recently used values until no more than this is left (default: forget nothing)",
    )
    parser.add_argument("--clear", action="store_true", help="forget everything")


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Show the store, with values removed first where that is asked for."""
    from contextlib import closing
    from pathlib import Path

    from leafid.features.cache import DEFAULT_LIMIT, FeatureCache, default_cache_folder, locate_database, measure_cache

    folder = Path(arguments.cache or default_cache_folder())
    if not locate_database(folder).exists():
        environment.print(f"{folder}: no feature cache there")
        return 0
    if arguments.clear or arguments.cache_limit:
        with closing(FeatureCache(folder, arguments.cache_limit or DEFAULT_LIMIT)) as store:
            forgotten = store.clear() if arguments.clear else store.shrink()
        if forgotten:
            environment.note(f"leafid: {forgotten} values forgotten")
    count, size = measure_cache(folder)
    limit = arguments.cache_limit or DEFAULT_LIMIT
    # Another command may have been given a larger one.
    most = f" of at most {limit / 2**30:g} GiB" if size <= limit else ""
    environment.print(f"store     {locate_database(folder)}")
    environment.print(f"values    {count}")
    environment.print(f"size      {size / 2**20:.1f} MiB{most}")
    # Why it can't be emptied the store has said.
    return 1 if arguments.clear and count else 0
