"""Selects, measures and reports the cases of `scripts/benchmark`."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import evaluation, stages, tables
from benchmarks.commands import Command, list_sample_commands, measure_commands
from benchmarks.measure import Cost, measure_peak_memory, select_names, summarise_times, time_alternately
from benchmarks.pictures import REPOSITORY, SAMPLE, Prepared, describe_sizes, select_pictures
from benchmarks.results import Results, compare_time, describe_machine
from leafid.files import open_output
from leafid.pictures import AcquisitionType, Picture

T = TypeVar("T")
Pictures = dict[AcquisitionType, list[Picture]]
DOCS = REPOSITORY / "docs" / "performance.md"
_ROUNDS, _QUICK_ROUNDS = 7, 3
_COMMAND_ROUNDS, _QUICK_COMMAND_ROUNDS = 3, 2


@dataclass
class Plan:
    """The cases to measure, and the number of rounds."""

    only: list[str]
    quick: bool
    rounds: int
    folder: Path
    pictures: dict[str, Pictures]

    @classmethod
    def of(cls, arguments: argparse.Namespace, folder: Path) -> Plan:
        """Draw the pictures that the arguments ask for."""
        real = arguments.real or os.environ.get("LEAFID_REAL_DATA")
        pictures = {"sample": select_pictures(SAMPLE, arguments.pictures or 8)}
        if real:
            pictures["real"] = select_pictures(Path(real), arguments.pictures or 20)
        rounds = arguments.rounds or (_QUICK_ROUNDS if arguments.quick else _ROUNDS)
        return cls(arguments.only, arguments.quick, rounds, folder, pictures)

    @property
    def shown_group(self) -> str:
        """The pictures whose figures the docs show: real ones where there are any."""
        return "real" if "real" in self.pictures else "sample"

    def list_names(self) -> list[str]:
        """Name the cases."""
        found = [
            f"{group}/{type_}/{case.name}"
            for group, pictures in self.pictures.items()
            for type_ in pictures
            for case in stages.list_cases(type_, pictures)
        ]
        return [*select_names(found, self.only), *(command.name for command in self._list_commands())]

    def describe_pictures(self) -> dict[str, str]:
        """Describe number and size of the pictures, by group and type."""
        return {
            f"{group}/{type_}": describe_sizes(own)
            for group, pictures in self.pictures.items()
            for type_, own in pictures.items()
        }

    def measure(self, before: Results) -> Results:
        """Measure all cases; those that differ from the baseline are measured twice."""
        cv2.setNumThreads(1)
        now = Results(pictures=self.describe_pictures())
        before = before.select_comparable(now.pictures)
        with threadpool_limits(1):
            for group, pictures in self.pictures.items():
                for type_ in pictures:
                    found = self._measure_type(group, type_, pictures, before.costs)
                    if found:
                        now.costs.update(found)
                        now.machines[group] = describe_machine()
            found = self._measure_commands(before.costs)
            now.costs.update(found)
            now.machines.update({name.partition("/")[0]: describe_machine() for name in found})
        measured = {"/".join(name.split("/")[:2]) for name in now.costs}
        now.pictures = {start: text for start, text in now.pictures.items() if start in measured}
        return now

    def _measure_type(
        self, group: str, type_: AcquisitionType, pictures: Pictures, before: Mapping[str, Cost]
    ) -> dict[str, Cost]:
        start = f"{group}/{type_}/"
        cases = {start + case.name: case for case in stages.list_cases(type_, pictures)}
        return measure_with_confirmation(
            lambda names: self._measure_pictures(pictures[type_], [cases[name] for name in names], start),
            select_names(list(cases), self.only),
            before,
        )

    def _measure_pictures(
        self, pictures: Sequence[Picture], cases: Sequence[stages.Case], start: str
    ) -> dict[str, Cost]:
        if not cases:
            return {}
        times: dict[str, list[np.ndarray]] = {case.name: [] for case in cases}
        peaks = Counter[str]()
        for picture in _progress(pictures, start + "…"):
            prepared = Prepared(picture)
            calls = {case.name: case.prepare(prepared) for case in cases}
            for name, own in time_alternately(calls, stages.decode(prepared), self.rounds).items():
                times[name].append(own)
            if not self.quick:
                for name, call in calls.items():
                    # In 10³ bytes: a Counter holds whole numbers.
                    peaks[name] = max(peaks[name], round(1000 * measure_peak_memory(call)))
        return {
            start + name: summarise_times(np.stack(own), None if self.quick else peaks[name] / 1000)
            for name, own in times.items()
        }

    def _list_commands(self) -> list[Command]:
        found = list_sample_commands(self.folder) + evaluation.list_evaluation_commands(self.folder, quick=self.quick)
        wanted = select_names([command.name for command in found], self.only)
        return [command for command in found if command.name in wanted and not (self.quick and command.slow)]

    def _measure_commands(self, before: Mapping[str, Cost]) -> dict[str, Cost]:
        picture = next(iter(self.pictures["sample"].values()))[0]
        rounds = _QUICK_COMMAND_ROUNDS if self.quick else _COMMAND_ROUNDS
        commands = {command.name: command for command in self._list_commands()}
        yardstick = stages.decode(Prepared(picture))
        return measure_with_confirmation(
            lambda names: measure_commands([commands[name] for name in names], yardstick, rounds, _progress),
            list(commands),
            before,
        )


def measure_with_confirmation(
    measure: Callable[[list[str]], dict[str, Cost]], names: list[str], before: Mapping[str, Cost]
) -> dict[str, Cost]:
    """Measure cases, and repeat those that differ from the baseline: the measurement nearer to it counts."""
    found = measure(names)
    doubtful = [name for name in names if compare_time(found[name], before.get(name)) in ("slower", "faster")]
    if doubtful:
        print(f"{len(doubtful)} cases differ from the baseline and are measured again", file=sys.stderr, flush=True)
        for name, second in measure(doubtful).items():
            found[name] = select_nearest(before[name], found[name], second)
    return found


def select_nearest(before: Cost, *measured: Cost) -> Cost:
    """Select the measurement nearest to the baseline: a change counts only if all measurements show it."""
    return min(measured, key=lambda cost: abs(math.log(cost.ratio / before.ratio)))


def rewrite_docs(regions: Mapping[str, str], page: Path = DOCS) -> None:
    """Put tables into docs/performance.md."""
    write_text(page, tables.rewrite_regions(page.read_text(encoding="utf-8"), regions))


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    path.parent.mkdir(exist_ok=True)
    with open_output(path) as stream:
        stream.write(text)


def _progress(items: Iterable[T], what: str) -> Iterator[T]:
    from tqdm import tqdm

    # Nothing is shown unless stderr is a terminal.
    yield from tqdm(items, what, file=sys.stderr, disable=None)
