"""Show the feature cache, which keeps what was computed of pictures, or remove features from it.

Only --clear and --cache-limit remove anything. Removed features are computed again when they are needed.

examples:
  leafid cache
  leafid cache --cache-limit 20
  leafid cache --clear
"""

from contextlib import closing
from pathlib import Path

from leafid.cli.arguments import CACHE, option, parse_gibibytes, switch
from leafid.cli.environment import Environment
from leafid.features.feature_cache import (
    DEFAULT_LIMIT,
    FeatureCache,
    choose_cache_folder,
    locate_database,
    measure_cache,
    remove_cache,
)


class Options:
    """The options of cache."""

    cache: str | None = CACHE
    cache_limit: int | None = option(
        "remove the least recently used features until the cache is no larger than this (default: remove nothing)",
        metavar="GIB",
        type=parse_gibibytes,
    )
    clear: bool = switch("remove all features")


def run(options: Options, environment: Environment) -> int:
    """Remove features if the options say so, then show the cache."""
    folder = Path(options.cache or choose_cache_folder())
    if not locate_database(folder).exists():
        environment.print(f"{folder}: no feature cache there")
        return 0
    if options.clear:
        remove_cache(folder)
        environment.note(f"leafid: {locate_database(folder)} removed")
        return 0
    if options.cache_limit:
        with closing(FeatureCache(folder, options.cache_limit)) as store:
            n_removed = store.shrink()
        if n_removed:
            environment.note(f"leafid: {n_removed} values removed")
    count, size = measure_cache(folder)
    limit = options.cache_limit or DEFAULT_LIMIT
    # Another command may have used a larger limit.
    limit_text = f" of at most {limit / 2**30:g} GiB" if size <= limit else ""
    environment.print(f"cache     {locate_database(folder)}")
    environment.print(f"values    {count}")
    environment.print(f"size      {size / 2**20:.1f} MiB{limit_text}")
    return 0
