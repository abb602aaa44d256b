"""Show the descriptor store, where what was computed of pictures is kept, or empty it.

To empty it loses nothing but time: what is missing is computed again.

examples:
  leafid cache
  leafid cache --cache-limit 20
  leafid cache --clear
"""

from __future__ import annotations

import argparse

from leafid.cli.environment import Environment
from leafid.cli.learning import add_store_folder


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_store_folder(parser)
    parser.add_argument("--clear", action="store_true", help="forget everything")


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Show the store, emptied first where that is asked for."""
    from contextlib import closing

    from leafid.learning.store import Store, default_folder

    with closing(Store(arguments.cache or default_folder(), arguments.cache_limit)) as store:
        forgotten = store.clear() if arguments.clear else store.shrink()
        if forgotten:
            environment.note(f"leafid: {forgotten} values forgotten")
        environment.print(f"store     {store.file}")
        environment.print(f"values    {store.count()}")
        environment.print(f"size      {store.size() / 2**20:.1f} MiB of at most {store.limit / 2**30:g} GiB")
        # Why it can't be emptied the store has said.
        return 1 if arguments.clear and store.count() else 0
