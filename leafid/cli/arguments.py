"""Arguments that several commands share."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from leafid.cluster import check_cluster_address
from leafid.errors import LeafidError, UsageError
from leafid.scoring.tables import FORMATS
from leafid.textfiles import parse_finite_number

# Copies of the names in leafid.pictures, whose import would slow down the help of every command.
TYPES = ("scan", "scan-like", "photo")
LAYOUTS = ("imageclef", "plantnet300k", "table", "species-folders", "pictures")


def number_type(expected: str, is_valid: Callable[[float], bool]) -> Callable[[str], float]:
    """Make an argparse type of finite numbers; `expected` says in messages what `is_valid` checks."""

    def parse(word: str) -> float:
        value = parse_finite_number(word)
        if value is None or not is_valid(value):
            raise argparse.ArgumentTypeError(f"expected {expected}, found {word!r}")
        return value

    return parse


def integer_type(expected: str, is_valid: Callable[[int], bool]) -> Callable[[str], int]:
    """Make an argparse type of whole numbers, as strict about digits as `parse_finite_number`."""

    def parse(word: str) -> int:
        try:
            value = int(word) if word.isascii() and "_" not in word else None
        except ValueError:
            value = None
        if value is None or not is_valid(value):
            raise argparse.ArgumentTypeError(f"expected {expected}, found {word!r}")
        return value

    return parse


fraction = number_type("a number between 0 and 1", lambda value: 0 < value < 1)
positive_int = integer_type("a whole number from 1 up", lambda value: value >= 1)
_resample_count = integer_type("a whole number from 1 to 1000000", lambda value: 1 <= value <= 1_000_000)
#: Number of worker processes; -1 means one per core, -2 one fewer, and so on.
job_count = integer_type("a number of processes, or -1 for one a core", lambda value: value != 0)
#: Seed of a random generator; every generator accepts this range.
seed = integer_type("a whole number from 0 to 2000000000", lambda value: 0 <= value <= 2_000_000_000)


def positive_ints(word: str) -> list[int]:
    """Parse whole numbers from 1 up, separated by commas."""
    return [positive_int(item) for item in word.split(",")]


def nonempty_word(word: str) -> str:
    """Refuse the empty word that an unset shell variable leaves: it would be ignored or mean the current folder.

    The parser of the command line applies it to every argument that has no type of its own.
    """
    if not word:
        raise argparse.ArgumentTypeError("expected a path or a word, found an empty word; is a variable unset?")
    return word


def check_output_folder(name: str) -> Path:
    """Return the folder that ``--output`` names; it need not exist, but must not be a file."""
    folder = Path(name)
    if folder.exists() and not folder.is_dir():
        raise LeafidError(f"{folder}: expected a folder to write to, found a file; name another --output")
    return folder


def add_only_type(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--only-type``, which leaves out pictures of other acquisition types."""
    parser.add_argument("--only-type", choices=TYPES, help=what)


def _cluster_address(word: str) -> str:
    try:
        return check_cluster_address(word)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_compare(parser: argparse.ArgumentParser, units: str) -> None:
    """Add ``--compare``, the test whether runs differ."""
    parser.add_argument(
        "--compare",
        action="store_true",
        help=f"test whether every two runs differ, by paired randomisation over {units} with Holm's correction",
    )


def check_runs_to_compare(runs: Sequence[str]) -> None:
    """Refuse ``--compare`` with a single run, or with one given twice."""
    if len(runs) < 2 or len(set(runs)) < len(runs):
        raise UsageError(f"expected two or more different runs with --compare, found {', '.join(runs)}")


_OPTIONS: dict[str, dict[str, Any]] = {
    "jobs": {
        "type": job_count,
        "default": -1,
        "metavar": "N",
        "help": "worker processes; -1 is one a core, -2 one less, and so on (default: -1); results don't depend on it",
    },
    "cluster": {
        "type": _cluster_address,
        "metavar": "ADDRESS",
        "help": "run on a Dask cluster: tcp://HOST:PORT of its scheduler, or local:N for N processes on this machine "
        "(needs: pip install distributed); results don't depend on it",
    },
    "seed": {"type": seed, "default": 0, "metavar": "N", "help": "seed of all random numbers (default: 0)"},
    "confidence": {
        "type": fraction,
        "default": 0.95,
        "metavar": "SHARE",
        "help": "confidence level of the intervals (default: 0.95)",
    },
    "resamples": {
        "type": _resample_count,
        "default": 1000,
        "metavar": "N",
        "help": "bootstrap resamples for the intervals (default: 1000)",
    },
    "format": {"choices": FORMATS, "default": "text", "help": "format of the tables (default: text)"},
    "table": {
        "type": positive_int,
        "metavar": "N",
        "help": "print only the Nth table (default: all; CSV holds a single one)",
    },
    "assume-type": {
        "choices": TYPES,
        "help": "take every picture for one of this type (default: the type in its metadata, else recognised)",
    },
    "part": {
        "choices": ("train", "val", "test"),
        "help": "part to score (default: the test part if it has labels, else all)",
    },
    "layout": {"choices": LAYOUTS, "help": "layout of the collection (default: detected)"},
    "metadata": {
        "metavar": "FILE",
        "help": "CSV table of the pictures with the column file and any of label, plant, type, author, date, latitude, "
        "longitude, split; or a COCO file (default: metadata.csv, labels.csv or annotations.json in the folder)",
    },
    "label-from": {
        "metavar": "REGEX",
        "help": "find labels, and whatever --metadata has, in the paths of pictures: "
        r"'(?P<label>[a-z]+)_(?P<plant>\d+)'",
    },
    "plants-from": {
        "metavar": "WHAT",
        "help": "the plants, whose pictures no fold separates: a column of --metadata, or a regular expression for "
        "paths",
    },
}
#: Options that say how to read a collection.
READING = ("layout", "metadata", "label-from", "plants-from")


def add_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add options that several commands share, such as ``jobs``."""
    for name in names:
        parser.add_argument(f"--{name}", **_OPTIONS[name])


# A command's `Options` are the object that its parser fills, so that they have types and argparse stays in this room.


class ReadingOptions:
    """How to read a collection: the options of `READING`."""

    layout: str | None
    metadata: str | None
    label_from: str | None
    plants_from: str | None

    def as_keywords(self) -> dict[str, Any]:
        """Give them as keyword arguments of `leafid.pictures.read_collection`."""
        names = [name.replace("-", "_") for name in READING]
        return {name: getattr(self, name) for name in names}


class ComputingOptions:
    """Where to compute."""

    jobs: int
    cluster: str | None


class CacheOptions(ComputingOptions):
    """Where to compute features, and to cache them; `cache_limit` in bytes."""

    cache: str | None
    no_cache: bool
    cache_limit: int


class TableOptions:
    """Which tables to print, and how."""

    format: str
    table: int | None
