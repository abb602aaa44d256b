"""Show the size of the feature cache, which keeps computed values, or remove it.

Removed features are computed again when they are needed.

examples:
  leafid cache
  leafid cache --clear
"""

from pathlib import Path

from leafid.cli.arguments import CACHE, switch
from leafid.cli.outputs import Console
from leafid.features.feature_cache import DATABASE, choose_cache_folder, remove_cache


class Options:
    cache: str | None = CACHE
    clear: bool = switch("remove all features")


def run(options: Options, console: Console) -> None:
    folder = Path(options.cache or choose_cache_folder())
    file = folder / DATABASE
    if not file.exists():
        console.print(f"{folder}: no feature cache there")
    elif options.clear:
        remove_cache(folder)
        console.note(f"leafid: {file} removed")
    else:
        console.print(f"{file}: {file.stat().st_size / 2**20:.1f} MiB")
