"""Measure time and memory of leafid, and compare them with a baseline.

Each case is timed alternately with decoding the same picture by OpenCV at full size:
the ratio of the two is the same on a busy machine as on an idle one, and differs by up
to a quarter between processors. Everything runs on one core. Cases are named
group/type/part (real/scan/segment) and group/type/recipe/part
(sample/photo/fast/whole).

The table is printed as Markdown. With --check, the exit status is 1 if the ratio of a
case is more than a tenth above the baseline's in two measurements.

examples:
  scripts/benchmark --rounds 2 --only /whole
  scripts/benchmark --only segment --only family/
  scripts/benchmark --real pictures --save-baseline
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from tabulate import tabulate
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from benchmarks import stages
from benchmarks.measure import (
    Cost,
    list_regressions,
    measure_peak_memory,
    select_names,
    summarise_times,
    time_alternately,
)
from benchmarks.pictures import SAMPLE, Prepared, describe_sizes, select_pictures
from leafid.pictures.picture import AcquisitionType, Picture

BASELINE = Path(__file__).parent / "baseline.json"
#: Minimum relative rise of a ratio that counts.
TOLERANCE = 0.1
#: How often a case with such a rise is measured again: other programs on the machine
#: slow some down for a while.
_REPETITIONS = 3
Pictures = dict[AcquisitionType, list[Picture]]


def parse_arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/benchmark",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TEXT",
        help="cases with this in their name",
    )
    parser.add_argument(
        "--real",
        metavar="DIR",
        help="real pictures: a collection (default: $LEAFID_REAL_DATA)",
    )
    parser.add_argument(
        "--pictures",
        type=int,
        metavar="N",
        help="of each type (default: 20 real, 8 drawn)",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=7,
        metavar="N",
        help="timings of a case and picture (default: 7)",
    )
    parser.add_argument(
        "--save-baseline",
        action="store_true",
        help="write the ratios to benchmarks/baseline.json",
    )
    parser.add_argument(
        "--check", action="store_true", help="exit with 1 when a case became slower"
    )
    parser.add_argument("--list", action="store_true", help="only list the cases")
    return parser.parse_args(words)


def measure_group(
    pictures: Pictures, group: str, names: Sequence[str], rounds: int
) -> dict[str, Cost]:
    """Measure the cases with these names on the pictures of a group."""
    costs: dict[str, Cost] = {}
    for type_, group_pictures in pictures.items():
        start = f"{group}/{type_}/"
        cases = [
            case
            for case in stages.list_cases(type_, pictures)
            if start + case.name in names
        ]
        times: dict[str, list[np.ndarray]] = {case.name: [] for case in cases}
        peaks = dict.fromkeys(times, 0.0)
        for picture in tqdm(
            group_pictures if cases else [], start + "…", file=sys.stderr, disable=None
        ):
            prepared = Prepared(picture)
            calls = {case.name: case.prepare(prepared) for case in cases}
            for name, measured in time_alternately(
                calls, stages.decode(prepared), rounds
            ).items():
                times[name].append(measured)
                peaks[name] = max(peaks[name], measure_peak_memory(calls[name]))
        costs |= {
            start + name: summarise_times(np.stack(measured), peaks[name])
            for name, measured in times.items()
        }
    return costs


def main(words: Sequence[str] | None = None) -> int:
    arguments = parse_arguments(words)
    groups = {"sample": select_pictures(SAMPLE, arguments.pictures or 8)}
    if real := arguments.real or os.environ.get("LEAFID_REAL_DATA"):
        groups["real"] = select_pictures(Path(real), arguments.pictures or 20)
    names = [
        f"{group}/{type_}/{case.name}"
        for group, pictures in groups.items()
        for type_ in pictures
        for case in stages.list_cases(type_, pictures)
    ]
    names = select_names(names, arguments.only)
    if arguments.list or not names:
        print(*names, sep="\n")
        return 0 if names else 2

    def measure(some: Sequence[str]) -> dict[str, Cost]:
        costs: dict[str, Cost] = {}
        for group, pictures in groups.items():
            costs |= measure_group(pictures, group, some, arguments.rounds)
        return costs

    cv2.setNumThreads(1)
    with threadpool_limits(1):
        costs = measure(names)
        before = json.loads(BASELINE.read_text("utf-8"))
        for _ in range(_REPETITIONS):
            doubtful = list_regressions(
                {name: cost.ratio for name, cost in costs.items()}, before, TOLERANCE
            )
            again = measure(doubtful) if doubtful else {}
            costs |= {
                name: min(costs[name], cost, key=lambda cost: cost.ratio)
                for name, cost in again.items()
            }
    for group, pictures in groups.items():
        sizes = (f"{type_}: {describe_sizes(p)}" for type_, p in pictures.items())
        print(f"{group}: {'; '.join(sizes)}")
    rows = [
        (
            name,
            f"{cost.ms:.1f}",
            f"{cost.ratio:.1f}",
            f"{before[name]:.1f}" if name in before else "",
            f"{cost.peak_mb:.1f}",
        )
        for name, cost in costs.items()
    ]
    headings = ("case", "ms", "times decoding", "baseline", "peak MB")
    print(
        tabulate(
            rows,
            headings,
            "github",
            disable_numparse=True,
            colalign=("left", *["right"] * 4),
        )
    )
    ratios = {name: float(f"{cost.ratio:.4g}") for name, cost in costs.items()}
    if arguments.save_baseline:
        BASELINE.write_text(json.dumps({**before, **ratios}, indent=1) + "\n", "utf-8")
    worse = list_regressions(ratios, before, TOLERANCE)
    if worse:
        print(f"slower than before: {', '.join(worse)}", file=sys.stderr)
    return 1 if arguments.check and worse else 0


if __name__ == "__main__":
    sys.exit(main())
