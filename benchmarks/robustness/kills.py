"""Kill train and predict at random moments, start each again, and compare with an undisturbed run.

.. code-block:: sh

  python -m benchmarks.robustness.kills --moments 10 --seed 0 --folder /tmp/kills
  python -m benchmarks.robustness.kills --command predict --moments 3 --folder /tmp/kills
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from subprocess import TimeoutExpired

from benchmarks.robustness.load import make_pictures
from benchmarks.robustness.processes import start, wait_until_ended
from leafid.pictures.decoding import read_image
from leafid.runs.imageclef2011 import read_run
from leafid.synthetic.plan import Settings
from leafid.synthetic.writer import write_collection


class Work:
    """A command that writes a file, and whose interruption must leave no trace.

    Parameters
    ----------
    words : sequence of str
        Without ``--output`` and ``--cache``.
    folder : Path
        For the files of the command; cleared by `reset`.
    """

    def __init__(self, words: Sequence[object], folder: Path) -> None:
        self.words = words
        self.folder = folder
        self.output = folder / "output" / "file"

    def reset(self) -> None:
        """Remove everything that earlier processes wrote."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.output.parent.mkdir(parents=True)

    def run(self, kill_after: float | None = None) -> tuple[int, float]:
        """Run to the end, or kill the main process after some seconds; return status and seconds."""
        mark = f"kills-{os.getpid()}-{time.monotonic_ns()}"
        begun = time.monotonic()
        process = start(
            [*self.words, "--output", self.output, "--cache", self.folder / "cache", "--jobs", 2], mark, self.folder
        )
        try:
            status = process.wait(kill_after)
        except TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            status = process.wait()
        seconds = time.monotonic() - begun
        if not wait_until_ended(mark):
            raise AssertionError("processes are left over")
        return status, seconds

    def hash_output(self) -> str:
        """Hash the output."""
        return hashlib.sha256(self.output.read_bytes()).hexdigest()

    def list_leftovers(self) -> list[str]:
        """List files beside the output, in the temporary folder, and of the store beside its database."""
        places = {self.output.parent: {self.output.name}, self.folder / "tmp": set(),
                  self.folder / "cache": {"vectors.sqlite"}}  # fmt: skip
        return [
            str(file.relative_to(self.folder))
            for place, expected in places.items()
            if place.exists()
            for file in sorted(place.iterdir())
            if file.name not in expected
        ]

    def summarise_cache(self) -> tuple[int, str]:
        """Count the vectors of the cache, and hash their keys and values."""
        with closing(sqlite3.connect(self.folder / "cache" / "vectors.sqlite")) as connection:
            if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                raise AssertionError("the store is damaged")
            sums = hashlib.sha256()
            rows = connection.execute("SELECT key, value FROM vectors ORDER BY key").fetchall()
            for key, value in rows:
                sums.update(key + value)
            return len(rows), sums.hexdigest()[:12]


def check_interruption(work: Work, wanted: tuple[str, tuple[int, str]], moment: float) -> Iterator[str]:
    """Kill the command after some seconds, run it again, and yield differences from the undisturbed run."""
    while True:
        work.reset()
        work.output.write_text("what was there before\n")
        status, _ = work.run(moment)
        if status:
            break
        # The machine was less busy than during the undisturbed run.
        moment /= 2
    # A process that is killed after the renaming leaves the complete new file.
    if work.output.read_text(errors="replace") != "what was there before\n" and work.hash_output() != wanted[0]:
        yield "the output is neither the older file nor the whole new one"
    status, _ = work.run()
    if status:
        yield f"the second run ended with {status}: {(work.folder / 'err').read_text()[-500:]}"
        return
    if work.hash_output() != wanted[0]:
        yield "the file differs"
    if work.summarise_cache() != wanted[1]:
        yield f"the store differs: {work.summarise_cache()} {wanted[1]}"
    if left := work.list_leftovers():
        yield f"left over: {', '.join(left)}"
    if work.words[0] == "predict":
        read_run(work.output)  # raises where a picture has an answer twice


def main(words: Sequence[str] | None = None) -> int:
    """Run it; return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", choices=("train", "predict", "both"), default="both")
    parser.add_argument("--moments", type=int, default=10, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--folder", type=Path, required=True, metavar="DIR", help="to work in")
    parser.add_argument("--recipe", default="fast")
    arguments = parser.parse_args(words)
    folder, generator = arguments.folder, random.Random(arguments.seed)
    collection = folder / "drawn"
    write_collection(collection, Settings(3, 4, 1, 1, max_side=200))
    works = {"train": Work(["train", collection, "--recipe", arguments.recipe], folder / "train")}
    sources = [read_image(file) for file in sorted((collection / "Test").glob("*.jpg"))]
    # Predict writes its run in batches: there must be several.
    make_pictures(folder / "pictures", sources, 600, 0, arguments.seed)
    works["predict"] = Work(["predict", folder / "pictures", "--model", folder / "model"], folder / "predict")
    bad = 0
    print("| command | killed after | of | after the second run |\n|---|---:|---:|---|")
    for name, work in works.items():
        if name == "predict" and arguments.command == "train":
            continue
        work.reset()
        status, seconds = work.run()
        if status:
            print((work.folder / "err").read_text(), file=sys.stderr)
            return 1
        if name == "train":
            shutil.copyfile(work.output, folder / "model")
        wanted = work.hash_output(), work.summarise_cache()
        if arguments.command not in (name, "both"):
            continue
        for moment in sorted(generator.uniform(0.02, 0.99) * seconds for _ in range(arguments.moments)):
            problems = list(check_interruption(work, wanted, moment))
            bad += bool(problems)
            outcome = "; ".join(problems) or "the same bytes, nothing left over"
            print(f"| {name} | {moment:.2f} s | {seconds:.1f} s | {outcome} |", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
