"""Measure time and memory of leafid, and compare them with a baseline.

Each case is timed alternately with decoding the same picture by OpenCV at full size: the ratio of the two is the same
on a busy machine as on an idle one, and nearly the same on another machine. Everything runs on one core. A case counts
as slower if the 99 % intervals of the ratios don't overlap, the ratios differ by 5 % or more, and a second measurement
agrees.

Cases are named group/type/part (real/scan/segment), group/type/recipe/part (sample/photo/fast/whole), command/… and
evaluate/…. The drawn sample is measured, and real pictures if --real or LEAFID_REAL_DATA names a folder of them.

Peak memory of a stage is what Python and NumPy allocate in it (with the images that OpenCV returns, without its
internal buffers); peak memory of a command is the resident memory of its process.

Exit status: 0; 1 with --check if a case became slower or needs more memory; 2 on errors.

examples:
  scripts/benchmark --quick
  scripts/benchmark --only segment --only family/
  scripts/benchmark --real pictures --save-baseline
  scripts/benchmark --docs
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tabulate import tabulate

from benchmarks import results, running, tables
from leafid.errors import LeafidError

RESULTS = Path(__file__).parent / "results" / "latest.md"
BASELINE = Path(__file__).parent / "baseline.json"


def parse_arguments(words: Sequence[str] | None) -> argparse.Namespace:
    description, _, epilog = (__doc__ or "").partition("\nexamples:")
    parser = argparse.ArgumentParser(
        prog="scripts/benchmark",
        description=description,
        epilog="examples:" + epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="cases with this in their name")
    parser.add_argument("--quick", action="store_true", help="few rounds, without slow commands and memory")
    parser.add_argument("--real", metavar="DIR", help="real pictures: a collection (default: $LEAFID_REAL_DATA)")
    parser.add_argument("--pictures", type=int, metavar="N", help="of each type (default: 20 real, 8 drawn)")
    parser.add_argument("--rounds", type=int, metavar="N", help="timings of a case and picture (default: 7; quick: 3)")
    parser.add_argument(
        "--baseline", type=Path, default=BASELINE, metavar="FILE", help="(default: benchmarks/baseline.json)"
    )
    parser.add_argument("--save-baseline", action="store_true", help="save the results as the new baseline")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a case became worse")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON instead of a table")
    parser.add_argument("--docs", action="store_true", help="rewrite the tables of docs/performance.md")
    parser.add_argument("--list", action="store_true", help="only list the cases")
    arguments = parser.parse_args(words)
    if arguments.pictures is not None and arguments.pictures < 1:
        parser.error("--pictures: expected 1 or more")
    if arguments.rounds is not None and arguments.rounds < 2:
        parser.error("--rounds: expected 2 or more, to estimate the noise")
    return arguments


def main(words: Sequence[str] | None = None) -> int:
    arguments = parse_arguments(words)
    try:
        return _run(arguments)
    except (LeafidError, RuntimeError) as error:
        print(f"benchmark: error: {error}", file=sys.stderr)
        return 2


def _run(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="leafid-benchmark-") as folder:
        plan = running.Plan.of(arguments, Path(folder))
        if arguments.list:
            print(*plan.list_names(), sep="\n")
            return 0
        before = results.read_results(arguments.baseline)
        now = plan.measure(before)
    if not now.costs:
        raise LeafidError(f"no case fits {', '.join(arguments.only)}; --list names them all")
    known = before.select_comparable(now.pictures).costs
    rows = tables.compare_rows(now.costs, known)
    if arguments.json:
        print(json.dumps({"machines": now.machines, "costs": {n: asdict(c) for n, c in now.costs.items()}}, indent=1))
    else:
        sides = ("left", *["right"] * 4, "left", "right", "left")
        print(tabulate(rows, tables.HEADINGS, disable_numparse=True, colalign=sides))
    running.write_text(RESULTS, tables.format_table(tables.HEADINGS, rows))
    if arguments.save_baseline:
        results.write_results(before.update(now), arguments.baseline)
    if arguments.docs:
        running.rewrite_docs(tables.format_regions(now, plan.shown_group))
    worse = results.list_regressions(now.costs, known)
    if worse:
        print(f"worse than before: {', '.join(worse)}", file=sys.stderr)
    return 1 if arguments.check and worse else 0


if __name__ == "__main__":
    sys.exit(main())
