"""Change tuned constants one at a time, and list the changes that no test notices.

Each change of benchmarks/mutations.toml (a file, the old text, the new text, the tests
to run) is applied alone to a temporary copy of the repository. A change survives if its
tests still pass; a change is stale if its old text does not occur exactly once. Prints
a Markdown table. Exit status: 0, or 1 if a change survived or is stale.

    python -m benchmarks.mutations [--only TEXT] [--jobs 2]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

REPOSITORY = Path(__file__).parents[1]
MUTATIONS = Path(__file__).with_suffix(".toml")
#: Maximum time of the tests of a change, in seconds. A change that makes them hang is
#: noticed.
TIMEOUT = 900
#: What pytest returns if tests were run and some failed.
_TESTS_FAILED = 1

RunTests = Callable[[Path, Sequence[str]], int]


@dataclass(frozen=True)
class Mutation:
    """A change of one line, and the tests that should fail with it.

    Attributes
    ----------
    what : str
        The change in words.
    file : str
        Relative to the repository, like the paths of the tests.
    """

    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def read_mutations(path: Path = MUTATIONS) -> list[Mutation]:
    """Read a list of changes (TOML)."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["mutation"]
    return [Mutation(**{**table, "tests": tuple(table["tests"])}) for table in tables]


def copy_repository(folder: Path) -> Path:
    """Copy the files under version control, with uncommitted changes, into a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True
    ).stdout
    for name in filter(None, os.fsdecode(listed).split("\0")):
        if (REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, folder / name)
    return folder


def run_tests(folder: Path, tests: Sequence[str]) -> int:
    """Run tests in a copy of the repository until one fails.

    Return the exit status of pytest.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
        *tests,
    ]
    try:
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, timeout=TIMEOUT
        ).returncode
    except subprocess.TimeoutExpired:
        return _TESTS_FAILED


def apply_mutation(mutation: Mutation, folder: Path, run: RunTests = run_tests) -> str:
    """Apply a change to a copy of the repository, run its tests, and revert it.

    Returns
    -------
    {"noticed", "survived", "stale", "tests can't be run"}
    """
    file = folder / mutation.file
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    if text.count(mutation.old) != 1:
        return "stale"
    file.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    try:
        status = run(folder, mutation.tests)
    finally:
        file.write_text(text, encoding="utf-8")
    return {0: "survived", _TESTS_FAILED: "noticed"}.get(status, "tests can't be run")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        default="",
        metavar="TEXT",
        help="only changes with this text in words or file",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=2,
        metavar="N",
        help="changes tested at a time (default: 2)",
    )
    arguments = parser.parse_args(words)
    mutations = [
        m
        for m in read_mutations()
        if arguments.only in m.what or arguments.only in m.file
    ]
    outcomes: list[str] = []
    print("| file | change | outcome |\n|---|---|---|", flush=True)
    with (
        tempfile.TemporaryDirectory(prefix="leafid-mutations-") as folder,
        ThreadPoolExecutor(arguments.jobs) as pool,
    ):
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(arguments.jobs):
            copies.put(copy_repository(Path(folder) / str(number)))

        def test(mutation: Mutation) -> str:
            copy = copies.get()
            try:
                return apply_mutation(mutation, copy)
            finally:
                copies.put(copy)

        for mutation, outcome in zip(mutations, pool.map(test, mutations), strict=True):
            outcomes.append(outcome)
            print(f"| {mutation.file} | {mutation.what} | {outcome} |", flush=True)
    counts = {outcome: outcomes.count(outcome) for outcome in dict.fromkeys(outcomes)}
    print(
        ", ".join(f"{count} {outcome}" for outcome, count in counts.items()),
        file=sys.stderr,
    )
    return 0 if set(counts) <= {"noticed"} else 1


if __name__ == "__main__":
    sys.exit(main())
