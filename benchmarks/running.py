"""What `scripts/benchmark` does: which cases there are, measuring them, and writing what came out."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import evaluation, flame, stages, tables
from benchmarks.commands import Command, measure_commands, sample_commands
from benchmarks.measure import Cost, chosen, cost, python_peak, time_in_turns
from benchmarks.pictures import REPOSITORY, SAMPLE, Prepared, described_sizes, draw_pictures
from benchmarks.results import Results, machine, verdict
from leafid.collection import AcquisitionType, Picture
from leafid.files import open_output
from leafid.identification.identifier import Identifier
from leafid.recipes.reader import load_recipe

T = TypeVar("T")
Pictures = dict[AcquisitionType, list[Picture]]
DOCS = REPOSITORY / "docs" / "performance.md"
_ROUNDS, _QUICK_ROUNDS = 7, 3
_COMMAND_ROUNDS, _QUICK_COMMAND_ROUNDS = 3, 2
_FLAME_SECONDS = 12.0
_FLAME_TITLE = "leafid, recipe default: from the file to the probabilities of all species"


@dataclass
class Plan:
    """What is to be measured, and how thoroughly."""

    only: list[str]
    quick: bool
    rounds: int
    folder: Path
    pictures: dict[str, Pictures]

    @classmethod
    def of(cls, arguments: argparse.Namespace, folder: Path) -> Plan:
        """Draw the pictures that the arguments ask for."""
        real = arguments.real or os.environ.get("LEAFID_REAL_DATA")
        pictures = {"sample": draw_pictures(SAMPLE, arguments.pictures or 8)}
        if real:
            pictures["real"] = draw_pictures(Path(real), arguments.pictures or 20)
        rounds = arguments.rounds or (_QUICK_ROUNDS if arguments.quick else _ROUNDS)
        return cls(arguments.only, arguments.quick, rounds, folder, pictures)

    @property
    def shown_group(self) -> str:
        """The pictures whose figures the docs show: real ones where there are any."""
        return "real" if "real" in self.pictures else "sample"

    @property
    def flame_pictures(self) -> Pictures:
        """The pictures that the flame graph is made of."""
        return self.pictures[self.shown_group]

    def names(self) -> list[str]:
        """Name the cases."""
        found = [
            f"{group}/{type_}/{case.name}"
            for group, pictures in self.pictures.items()
            for type_ in pictures
            for case in stages.cases_of(type_, pictures)
        ]
        return [*chosen(found, self.only), *(command.name for command in self._commands())]

    def described(self) -> dict[str, str]:
        """Tell number and size of the pictures, by group and type."""
        return {
            f"{group}/{type_}": described_sizes(own)
            for group, pictures in self.pictures.items()
            for type_, own in pictures.items()
        }

    def measured(self, before: Results) -> Results:
        """Measure; what differs from the baseline is measured a second time, and that counts."""
        cv2.setNumThreads(1)
        now = Results(pictures=self.described())
        before = before.comparable(now.pictures)
        with threadpool_limits(1):
            for group, pictures in self.pictures.items():
                for type_ in pictures:
                    found = self._of_type(group, type_, pictures, before.costs)
                    if found:
                        now.costs.update(found)
                        now.machines[group] = machine()
            found = self._of_commands(before.costs)
            now.costs.update(found)
            now.machines.update({name.partition("/")[0]: machine() for name in found})
        measured = {"/".join(name.split("/")[:2]) for name in now.costs}
        now.pictures = {start: text for start, text in now.pictures.items() if start in measured}
        return now

    def _of_type(
        self, group: str, type_: AcquisitionType, pictures: Pictures, before: Mapping[str, Cost]
    ) -> dict[str, Cost]:
        start = f"{group}/{type_}/"
        cases = {start + case.name: case for case in stages.cases_of(type_, pictures)}
        return confirmed(
            lambda names: self._timed(pictures[type_], [cases[name] for name in names], start),
            chosen(list(cases), self.only),
            before,
        )

    def _timed(self, pictures: Sequence[Picture], cases: Sequence[stages.Case], start: str) -> dict[str, Cost]:
        if not cases:
            return {}
        times: dict[str, list[np.ndarray]] = {case.name: [] for case in cases}
        peaks = Counter[str]()
        for picture in _progress(pictures, start + "…"):
            prepared = Prepared(picture)
            calls = {case.name: case.prepare(prepared) for case in cases}
            for name, own in time_in_turns(calls, stages.decode(prepared), self.rounds).items():
                times[name].append(own)
            if not self.quick:
                for name, call in calls.items():
                    # In 10³ bytes, for a counter of whole numbers.
                    peaks[name] = max(peaks[name], round(1000 * python_peak(call)))
        return {
            start + name: cost(np.stack(own), None if self.quick else peaks[name] / 1000) for name, own in times.items()
        }

    def _commands(self) -> list[Command]:
        found = sample_commands(self.folder) + evaluation.evaluation_commands(self.folder, quick=self.quick)
        wanted = chosen([command.name for command in found], self.only)
        return [command for command in found if command.name in wanted and not (self.quick and command.slow)]

    def _of_commands(self, before: Mapping[str, Cost]) -> dict[str, Cost]:
        picture = next(iter(self.pictures["sample"].values()))[0]
        rounds = _QUICK_COMMAND_ROUNDS if self.quick else _COMMAND_ROUNDS
        commands = {command.name: command for command in self._commands()}
        yardstick = stages.decode(Prepared(picture))
        return confirmed(
            lambda names: measure_commands([commands[name] for name in names], yardstick, rounds, _progress),
            list(commands),
            before,
        )


def confirmed(
    measure: Callable[[list[str]], dict[str, Cost]], names: list[str], before: Mapping[str, Cost]
) -> dict[str, Cost]:
    """Measure cases, and those that differ from the baseline once more: what is nearer to it counts."""
    found = measure(names)
    doubtful = [name for name in names if verdict(found[name], before.get(name)) in ("slower", "faster")]
    if doubtful:
        print(f"{len(doubtful)} cases differ from the baseline and are measured again", file=sys.stderr, flush=True)
        for name, second in measure(doubtful).items():
            found[name] = nearest(before[name], found[name], second)
    return found


def nearest(before: Cost, *measured: Cost) -> Cost:
    """Choose the measurement that is nearest to the baseline: only what every one of them shows is a change."""
    return min(measured, key=lambda cost: abs(math.log(cost.ratio / before.ratio)))


def rewrite_docs(regions: Mapping[str, str], page: Path = DOCS) -> None:
    """Put tables into docs/performance.md."""
    write_text(page, tables.rewritten(page.read_text(encoding="utf-8"), regions))


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    path.parent.mkdir(exist_ok=True)
    with open_output(path) as stream:
        stream.write(text)


def draw_flame(pictures: Pictures, path: Path, *, docs: bool = False) -> None:
    """Draw the flame graph of the recipe ``default``, a graph for each type; with `docs` list its functions."""
    counts: Counter[flame.Stack] = Counter()
    cv2.setNumThreads(1)
    with threadpool_limits(1):
        for type_, own in pictures.items():
            identifier = stages.untrained_identifier(load_recipe("default", type_), pictures)
            answers = partial(_answer_all, identifier, own)
            answers()
            counts += flame.sample_stacks(flame.busy(_FLAME_SECONDS, answers), str(type_))
    write_text(path, flame.flame_svg(counts, _FLAME_TITLE))
    if docs:
        rewrite_docs({"profile": tables.markdown(("function", *pictures, "mostly"), flame.share_rows(counts, 20))})


def _answer_all(identifier: Identifier, pictures: Sequence[Picture]) -> None:
    for picture in pictures:
        stages.answer(identifier, picture)


def _progress(items: Iterable[T], what: str) -> Iterator[T]:
    from tqdm import tqdm

    # Where nobody looks on, nothing is shown.
    yield from tqdm(items, what, file=sys.stderr, disable=None)
