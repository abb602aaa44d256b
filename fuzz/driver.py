"""Fuzz the readers of leafid one after the other, and print a table of the results.

.. code-block:: sh

  scripts/fuzz                            # every reader, 100,000 inputs each
  scripts/fuzz recipe model               # these
  scripts/fuzz --inputs 2000 --seed 7     # shorter, with other inputs
  scripts/fuzz --again OUTPUT/recipe/raised-0123456789ab recipe
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fuzz.targets import NAMES, load


def main(words: Sequence[str] | None = None) -> int:
    """Fuzz the targets; return 1 if there is any finding."""
    parser = argparse.ArgumentParser(
        "fuzz",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help=f"of {', '.join(NAMES)} (default: all)",
    )
    parser.add_argument(
        "--inputs",
        type=int,
        default=100_000,
        metavar="N",
        help="a target (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="of everything random (default: 0)",
    )
    parser.add_argument(
        "--engine",
        choices=("atheris", "mutations"),
        help="default: atheris where it is installed",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("fuzz-output"),
        help="where inputs with findings are kept (%(default)s)",
    )
    parser.add_argument(
        "--again",
        type=Path,
        metavar="FILE",
        help="give one input to one target, and show the error",
    )
    arguments = parser.parse_args(words)
    if unknown := sorted(set(arguments.targets) - set(NAMES)):
        parser.error(
            f"unknown target {unknown[0]!r}; expected one of {', '.join(NAMES)}"
        )
    if arguments.again:
        if len(arguments.targets) != 1:
            parser.error("--again: name one target")
        return _repeat_input(arguments)
    engine = arguments.engine or (
        "atheris" if importlib.util.find_spec("atheris") else "mutations"
    )
    if engine == "mutations" and arguments.engine is None:
        print(
            "atheris is not installed: mutations without coverage guidance",
            file=sys.stderr,
        )
    results = []
    for name in arguments.targets or NAMES:
        results.append(_run_worker(name, arguments, engine))
        print(f"{name}: {_summarise(results[-1])}", file=sys.stderr, flush=True)
    print(format_results(results))
    for result in results:
        for finding in result["findings"]:
            print(
                f"\n{result['target']}: {finding['kind']} at {finding['place']}, "
                f"{finding['times']} times"
            )
            print(
                f"  {finding['what']}\n  "
                f"{arguments.output / result['target'] / finding['input']}"
            )
    return 1 if any(result["findings"] for result in results) else 0


def format_results(results: Iterable[dict[str, Any]]) -> str:
    """Write results as a Markdown table."""
    lines = [
        "| target | inputs | accepted | seconds | inputs/s | slowest input | peak "
        "memory | findings |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for result in results:
        numbers = [f"{result[key]:,.0f}" for key in ("inputs", "accepted", "seconds")]
        numbers.append(f"{result['inputs'] / max(result['seconds'], 1e-9):,.0f}")
        sizes = [
            f"{1000 * result['slowest']:.0f} ms",
            f"{result['peak_mib']} MiB",
            str(len(result["findings"])),
        ]
        lines.append("| " + " | ".join([result["target"], *numbers, *sizes]) + " |")
    return "\n".join(lines)


def _run_worker(
    name: str, arguments: argparse.Namespace, engine: str
) -> dict[str, Any]:
    """Run a target in a separate process, which a decoder may crash."""
    output = (arguments.output / name).resolve()
    output.mkdir(parents=True, exist_ok=True)
    result = output / "result.json"
    result.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-m",
        "fuzz.worker",
        name,
        "--engine",
        engine,
        "--output",
        str(output),
    ]
    command += ["--inputs", str(arguments.inputs), "--seed", str(arguments.seed)]
    with (output / "log").open("w") as log:
        status = subprocess.run(command, stdout=log, stderr=log, check=False).returncode
    if result.exists():
        return json.loads(result.read_text())
    ended = {
        "kind": "ended",
        "place": f"status {status}",
        "what": "the process ended early",
        "input": "log",
        "times": 1,
    }
    empty = {"inputs": 0, "accepted": 0, "seconds": 0.0, "slowest": 0.0, "peak_mib": 0}
    return {"target": name, **empty, "findings": [ended]}


def _summarise(result: dict[str, Any]) -> str:
    return (
        f"{result['inputs']} inputs in {result['seconds']:.0f} s, "
        f"{len(result['findings'])} findings"
    )


def _repeat_input(arguments: argparse.Namespace) -> int:
    import tempfile

    (name,) = arguments.targets
    with tempfile.TemporaryDirectory() as folder:
        load(name).call(arguments.again.read_bytes(), Path(folder).resolve())
    print("accepted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
