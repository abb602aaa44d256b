"""The ground truth and the runs that scoring commands share, and how they are read."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from leafid.cli.arguments import TYPES, ReadingOptions, option, positional
from leafid.cli.outputs import Console, check_output
from leafid.errors import LeafidError
from leafid.files import write_text
from leafid.scoring.judging import JudgedRun, judge_runs
from leafid.scoring.reading.run_reading import read_run_files
from leafid.scoring.reading.runs import Run
from leafid.scoring.reading.truth import GroundTruth, read_ground_truth


class TruthOptions(ReadingOptions):
    """A ground truth, the runs that it judges, and how to read it."""

    truth: str = positional(
        "GROUND-TRUTH",
        "folder of XML, collection, …GroundTruth.txt, or CSV of picture,species",
    )
    runs: list[str] = positional("RUN", "run file, CSV table or .npz", nargs="+")
    part: str | None = option(
        "part to score (default: the test part if it has labels, else all)",
        choices=("train", "val", "test"),
    )
    only_type: str | None = option(
        "score only pictures of this type (default: all types)", choices=TYPES
    )


def read_truth(options: TruthOptions, taxonomy: str | None = None) -> GroundTruth:
    """Read the ground truth that the options name.

    Some of its pictures have to be of known species.
    """
    truth = read_ground_truth(
        options.truth, part=options.part, taxonomy=taxonomy, **options.as_keywords()
    )
    truth = select_type(truth, options)
    truth.select_known(options.truth)
    return truth


def select_type(truth: GroundTruth, options: TruthOptions) -> GroundTruth:
    """Select the pictures of the acquisition type that the options may name."""
    if options.only_type:
        truth = truth.select(truth.type == options.only_type)
        if not len(truth):
            raise LeafidError(
                f"{options.truth}: expected pictures of type {options.only_type}, "
                "found none"
            )
    return truth


def read_runs(
    options: TruthOptions,
    truth: GroundTruth,
    console: Console,
    *,
    official: bool = False,
) -> tuple[list[Run], list[JudgedRun]]:
    """Read and judge the runs that the options name, and warn of what they lack."""
    reading = read_run_files(options.runs, truth.known, official=official)
    runs = [*console.progress(reading, len(options.runs), "runs")]
    judged = judge_runs(runs, truth)
    for run, judgement in zip(runs, judged, strict=True):
        is_covered = judgement.covered[judgement.is_known]
        n_pictures = len(is_covered)
        if n_missing := n_pictures - int(is_covered.sum()):
            consequence = "count 0"
            if official:
                consequence = "are left out of the means by type and group"
            console.warn(
                f"{run.name}: {n_missing} of {n_pictures} pictures are missing and "
                f"{consequence}"
            )
    return runs, judged


def write_files(folder: Path, files: Mapping[str, str], inputs: Sequence[str]) -> None:
    """Write files to a folder by their names, unless one of them is an input."""
    for name in files:
        check_output(folder, inputs, file=name)
    for name, text in files.items():
        write_text(folder / name, text)
