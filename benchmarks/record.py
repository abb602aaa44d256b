"""Records what users get from the program, and compares two records.

    python -m benchmarks.record make FOLDER
    python -m benchmarks.record compare OLD NEW

A record is a folder with what each command printed and wrote, with LEAFID_REAL_DATA
also on real pictures. Two are equal if their words are the same and their numbers
differ by at most 1e-6; `compare` prints where they differ, and its exit status is then
1.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "data" / "sample"
MODEL = ROOT / "models" / "imageclef2011.leafid"
TOLERANCE = 1e-6
N_REAL = 300
_NUMBER = re.compile(r"(-?\d+\.\d+(?:e-?\d+)?)")
_DIFFERENCES_SHOWN = 5
_MAX_LENGTH = 240


def list_commands(real: str | None, folder: Path) -> dict[str, list[str]]:
    """List the commands of a record by name.

    {} stands for the folder of what a command writes.
    """
    sample = str(SAMPLE)
    run = f"{folder}/made.txt"
    commands = {
        "predict": ["predict", sample, "--output", "{}/run.txt", "--no-cache"],
        "predict-json": [
            "predict",
            f"{SAMPLE}/Test/5.jpg",
            "--format",
            "json",
            "--no-cache",
        ],
        "predict-text": ["predict", f"{SAMPLE}/Test/5.jpg", "--no-cache"],
        "explain": ["explain", f"{SAMPLE}/Test/80.jpg"],
        "describe": ["describe", sample, "--output", "{}/measures.csv"],
        "info": ["info", sample],
        "check": ["check", run],
        "evaluate": ["evaluate", sample, run, "--part", "test", "--output", "{}"],
        "evaluate-official": ["evaluate", sample, run, "--part", "test", "--official"],
        "evaluate-intervals": [
            "evaluate",
            sample,
            run,
            "--part",
            "test",
            "--intervals",
            "bounds",
        ],
        "evaluate-list": ["evaluate", "--list"],
        "evaluate-plants": ["evaluate", sample, run, "--part", "test", "--plants"],
        "evaluate-average": [
            "evaluate",
            sample,
            run,
            "--part",
            "test",
            "--average",
            "2",
        ],
        "evaluate-reliability": [
            "evaluate",
            sample,
            run,
            "--part",
            "test",
            "--metrics",
            "S,confidence,ece",
        ],
        "hierarchy": ["evaluate-hierarchy", sample, run, "--part", "test"],
    }
    if real:
        pictures = f"{real}/imageclef2011"
        golden = Path(real) / "golden" / "imageclef2011" / "runs"
        commands["predict-real"] = [
            "predict",
            f"{folder}/real",
            "--output",
            "{}/run.txt",
            "--no-cache",
            "--jobs",
            "2",
        ]
        names = [str(golden / name) for name in ("alpha.txt", "beta.txt")]
        commands["golden"] = ["evaluate", pictures, *names, "--output", "{}"]
        commands["golden-compare"] = ["compare", pictures, *names]
        for name in ("partial", "repeated_rank"):
            commands[f"golden-{name}"] = [
                "evaluate",
                pictures,
                f"{golden}/{name}.txt",
                "--official",
                "--output",
                "{}",
            ]
    helps = [
        "predict",
        "explain",
        "serve",
        "segment",
        "describe",
        "train",
        "crossval",
        "experiment",
        "evaluate",
    ]
    helps += [
        "compare",
        "report",
        "check",
        "evaluate-hierarchy",
        "evaluate-irma",
        "evaluate-interpretation",
    ]
    helps += ["evaluate-annotation", "check-annotation", "info", "cache"]
    return commands | {f"help-{name}": [name, "--help"] for name in helps}


def write_run(file: Path) -> None:
    """Write a run of random probabilities for the sample's test pictures.

    The correct species is often first.
    """
    rng = np.random.default_rng(0)
    truth = [
        line.split()
        for line in (SAMPLE / "testGroundTruth.txt").read_text("utf-8").splitlines()
    ]
    species = [
        " ".join(word for word in words if not word.endswith(".jpg")) for words in truth
    ]
    lines = []
    for correct, words in enumerate(truth):
        for picture in (word for word in words if word.endswith(".jpg")):
            scores = np.exp(
                2 * rng.standard_normal(len(species))
                + 3 * (np.arange(len(species)) == correct)
            )
            ranked = sorted(
                zip(scores / scores.sum(), species, strict=True), reverse=True
            )
            lines += [
                f"{picture} {name} {rank} {score:.9f}"
                for rank, (score, name) in enumerate(ranked, 1)
            ]
    file.write_text("\n".join(lines) + "\n", "utf-8")


def make(folder: Path) -> None:
    """Run each command, and keep what it prints and writes."""
    real = os.environ.get("LEAFID_REAL_DATA")
    folder.mkdir(parents=True)
    write_run(folder / "made.txt")
    if real:
        (folder / "real").mkdir()
        files = sorted(
            Path(real, "imageclef2011", "Train").glob("*.jpg"),
            key=lambda file: int(file.stem),
        )
        for file in files[:: len(files) // N_REAL][:N_REAL]:
            shutil.copy(file, folder / "real")
            shutil.copy(file.with_suffix(".xml"), folder / "real")
    for name, words in list_commands(real, folder).items():
        output = folder / name
        output.mkdir()
        done = subprocess.run(
            [sys.executable, "-m", "leafid", *(word.format(output) for word in words)],
            capture_output=True,
            text=True,
            cwd=output,
            check=False,
            env={**os.environ, "COLUMNS": "100"},
        )
        shown = f"{done.stdout}\n== {done.returncode}\n{done.stderr}"
        (output / "shown").write_text(
            shown.replace(str(folder), "RECORD").replace(str(ROOT), "ROOT"),
            encoding="utf-8",
        )
        print(f"{name}: exit status {done.returncode}", flush=True)
    shutil.rmtree(folder / "real", ignore_errors=True)


def differs(old: str, new: str) -> bool:
    """Whether two lines differ in more than the last digits of numbers."""
    for position, (left, right) in enumerate(
        zip_longest(_NUMBER.split(old), _NUMBER.split(new), fillvalue="")
    ):
        if left == right:
            continue
        if (
            position % 2 == 0
            or not left
            or not right
            or abs(float(left) - float(right)) > TOLERANCE
        ):
            return True
    return False


def _read_lines(file: Path) -> list[str]:
    # Where the program was, and how fast, differs.
    lines = (
        line.partition("data/sample")[2] or line
        for line in file.read_text("utf-8").splitlines()
    )
    return [line for line in lines if not line.endswith(" left")]


def compare(old: Path, new: Path) -> int:
    """Print the differences of two records, and count the files that differ."""
    count = 0
    names = {
        str(path.relative_to(folder))
        for folder in (old, new)
        for path in folder.rglob("*")
        if path.is_file()
    }
    for name in sorted(names):
        if not ((old / name).exists() and (new / name).exists()):
            lines = [f"only in {old if (old / name).exists() else new}"]
        else:
            pairs = zip_longest(*(_read_lines(folder / name) for folder in (old, new)))
            lines = [
                f"{left!s}\n    {right!s}"
                for left, right in pairs
                if differs(str(left), str(right))
            ]
        if lines:
            count += 1
            print(f"{name}: {len(lines)} differences")
            print(
                *(f"  {line[:_MAX_LENGTH]}" for line in lines[:_DIFFERENCES_SHOWN]),
                sep="\n",
            )
    return count


def main() -> int:
    """Run the command of this file's docstring."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["make", "compare"])
    parser.add_argument("folders", nargs="+", type=Path)
    options = parser.parse_args()
    if options.action == "make":
        make(options.folders[0].resolve())
        return 0
    return int(compare(*options.folders) > 0)


if __name__ == "__main__":
    sys.exit(main())
