"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from leafid.errors import LeafidError
from leafid.textfiles import finite_number

# Copies of what leafid.collection knows, whose import would slow every command's help down.
TYPES = ("scan", "scan-like", "photo")
LAYOUTS = ("imageclef", "plantnet300k", "species-folders", "pictures")


def number(what: str, fits: Callable[[float], bool]) -> Callable[[str], float]:
    """Make a type of finite numbers for which `fits` holds."""

    def read(word: str) -> float:
        found = finite_number(word)
        if found is None or not fits(found):
            raise argparse.ArgumentTypeError(f"expected {what}, found {word!r}")
        return found

    return read


def whole_number(what: str, fits: Callable[[int], bool]) -> Callable[[str], int]:
    """Make a type of whole numbers for which `fits` holds."""

    def read(word: str) -> int:
        try:
            # As strict as `finite_number`.
            found = int(word) if word.isascii() and "_" not in word else None
        except ValueError:
            found = None
        if found is None or not fits(found):
            raise argparse.ArgumentTypeError(f"expected {what}, found {word!r}")
        return found

    return read


share = number("a number between 0 and 1", lambda found: 0 < found < 1)
positive_int = whole_number("a whole number from 1 up", lambda found: found >= 1)
#: Worker processes: -1 is one a core, -2 one less, and so on.
job_count = whole_number("a number of processes, or -1 for one a core", lambda found: found != 0)
#: Of random numbers; every generator takes these.
seed = whole_number("a whole number from 0 to 2000000000", lambda found: 0 <= found <= 2_000_000_000)


def positive_ints(word: str) -> list[int]:
    """Read whole numbers from 1 up, separated by commas: an option that takes several can stand before anything."""
    return [positive_int(number) for number in word.split(",")]


def given_path(word: str) -> str:
    """Read a path: an empty word, as an unset variable leaves it, would do nothing or name the current folder."""
    if not word:
        raise argparse.ArgumentTypeError("expected a path, found an empty word; is a variable unset?")
    return word


def output_folder(name: str) -> Path:
    """Give the folder that ``--output`` names, which need not be there yet; nothing else may have its name."""
    folder = Path(name)
    if folder.exists() and not folder.is_dir():
        raise LeafidError(f"{folder}: expected a folder to write to, found a file; name another --output")
    return folder


def add_type(parser: argparse.ArgumentParser, what: str) -> None:
    """``--type``: an acquisition type."""
    parser.add_argument("--type", choices=TYPES, help=what)


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """``--jobs``: worker processes."""
    parser.add_argument(
        "--jobs",
        type=job_count,
        default=-1,
        metavar="N",
        help="worker processes; -1 is one a core, -2 one less, and so on (default: -1); results don't depend on it",
    )


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """``--cluster``: worker processes on other machines."""
    parser.add_argument(
        "--cluster",
        type=_cluster_address,
        metavar="ADDRESS",
        help="work on a Dask cluster, tcp://HOST:PORT of its scheduler, or local:N for N processes here (needs: pip "
        "install distributed); results don't depend on it",
    )


def _cluster_address(word: str) -> str:
    from leafid.cluster import cluster_address
    from leafid.errors import UsageError

    try:
        return cluster_address(word)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_seed(parser: argparse.ArgumentParser) -> None:
    """``--seed``: of everything random."""
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of everything random (default: 0)")


def add_bootstrap(parser: argparse.ArgumentParser) -> None:
    """``--confidence`` and ``--resamples``: of intervals."""
    parser.add_argument(
        "--confidence", type=share, default=0.95, metavar="SHARE", help="of the intervals (default: 0.95)"
    )
    parser.add_argument(
        "--resamples", type=positive_int, default=1000, metavar="N", help="for the intervals (default: 1000)"
    )


def add_format(parser: argparse.ArgumentParser) -> None:
    """``--format``: of what is printed."""
    from leafid.report.tables import FORMATS

    parser.add_argument("--format", choices=FORMATS, default="text", help="of the tables (default: text)")


def add_part(parser: argparse.ArgumentParser) -> None:
    """``--part``: of a collection, the part that is scored."""
    parser.add_argument(
        "--part", choices=("train", "val", "test"), help="part to score (default: test where it is labelled, else all)"
    )


def add_layout(parser: argparse.ArgumentParser) -> None:
    """``--layout``: how a collection is laid out."""
    parser.add_argument(
        "--layout",
        choices=LAYOUTS,
        help="how the collection is laid out (default: found out)",
    )
