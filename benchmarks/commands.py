"""Whole commands, each in a process of its own: time of all its threads, and its memory at the peak."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.measure import Cost, summarise_times
from benchmarks.pictures import REPOSITORY, SAMPLE

#: One library thread for each command, as in the workers of leafid.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Command:
    """A command to run.

    Attributes
    ----------
    name : str
    words : tuple of str
        Arguments of `python`.
    before : callable, optional
        Run before each time, untimed.
    slow : bool
        Skipped in a quick benchmark.
    """

    name: str
    words: tuple[str, ...]
    before: Callable[[], object] | None = None
    slow: bool = False


Turns = Iterable[tuple[int, Command]]
Progress = Callable[[Turns, str], Turns]


@dataclass(frozen=True)
class Spent:
    """Seconds of CPU and on the wall, and resident memory at the peak in 10⁶ bytes, of a process that has ended."""

    cpu: float
    wall: float
    peak_mb: float


def leafid(*words: object) -> tuple[str, ...]:
    """Arguments of `python` that run a command of leafid."""
    return ("-m", "leafid", *map(str, words))


def list_sample_commands(folder: Path) -> list[Command]:
    """List the commands on the bundled sample.

    Parameters
    ----------
    folder : Path
        For the files that they write.
    """
    model, store, run_file = folder / "sample.leafid", folder / "store", folder / "run.txt"
    picture = SAMPLE / "Test" / "5.jpg"

    train = leafid("train", SAMPLE, "--output", model, "--cache", store, "--jobs", 1)

    def empty_store() -> None:
        for file in store.glob("*"):
            file.unlink()

    def trained() -> None:
        if not model.exists() or not any(store.glob("*")):
            run(train)

    predict = leafid("predict", SAMPLE, "--model", model, "--output", run_file, "--no-cache", "--jobs", 1)
    return [
        Command("command/start", leafid("--version")),
        Command("command/first answer", leafid("predict", picture, "--no-cache", "--jobs", 1)),
        Command("command/train, empty store", train, before=empty_store, slow=True),
        Command("command/train, full store", train, before=trained, slow=True),
        Command("command/predict 72 pictures", predict, before=trained, slow=True),
    ]


def measure_commands(
    commands: Sequence[Command], yardstick: Callable[[], object], rounds: int, progress: Progress
) -> dict[str, Cost]:
    """Run the commands round by round, and the yardstick before and after each.

    The commands of a round run in the given order, since a command may need the output of an earlier one.

    Parameters
    ----------
    commands : sequence of Command
    yardstick : callable
        Decodes a picture.
    rounds : int
    progress : callable
        ``progress(items, what)`` passes the items on.
    """
    times = {command.name: np.empty((1, rounds, 3)) for command in commands}
    peaks = dict.fromkeys(times, 0.0)
    for turn, command in progress(list(product(range(rounds), commands)), "commands"):
        if command.before:
            command.before()
        before = _per_call(yardstick)
        spent = run(command.words)
        after = _per_call(yardstick)
        times[command.name][0, turn] = spent.cpu, spent.wall, (before + after) / 2
        peaks[command.name] = max(peaks[command.name], spent.peak_mb)
    return {name: summarise_times(times[name], peaks[name]) for name in times}


def run(words: Sequence[str]) -> Spent:
    """Run `python` with some arguments, without showing its output.

    Raises
    ------
    RuntimeError
        If it fails; the message ends with its last words on stderr.
    """
    path = os.pathsep.join([str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _LAUNCHER, sys.executable, *words],
        env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        raise RuntimeError(f"python {' '.join(words)}: exit status {done.returncode}: {done.stderr[-500:]}")
    cpu, wall, peak = map(float, done.stdout.split())
    # Linux counts in kibibytes, macOS in bytes.
    return Spent(cpu, wall, peak * (1 if sys.platform == "darwin" else 1024) / 1e6)


# The peak memory of a process starts at that of its parent: hence a small parent.
_LAUNCHER = """
import os, sys, time
started = time.perf_counter()
null = os.open(os.devnull, os.O_WRONLY)
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
_, status, used = os.wait4(child, 0)
print(used.ru_utime + used.ru_stime, time.perf_counter() - started, used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status) and 1)
"""


def _per_call(yardstick: Callable[[], object], least: float = 0.1) -> float:
    yardstick()
    calls, started = 0, time.process_time()
    while True:
        yardstick()
        calls += 1
        spent = time.process_time() - started
        if spent >= least:
            return spent / calls
