"""The ground truth and the runs that scoring commands share, and how they are read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from leafid.cli.arguments import TYPES, ReadingOptions, option, positional
from leafid.cli.outputs import check_output
from leafid.scoring.reading.inputs import to_ground_truth
from leafid.scoring.reading.truth import GroundTruth


class TruthOptions(ReadingOptions):
    """A ground truth, the runs that it judges, and how to read it."""

    truth: str = positional(
        "GROUND-TRUTH",
        "folder of XML, collection, …GroundTruth.txt, or CSV of picture,species",
    )
    runs: list[str] = positional("RUN", "run file, CSV table or .npz", nargs="+")
    part: Any = option(
        "part to score (default: the test part if it has labels, else all)",
        choices=("train", "val", "test"),
    )
    only_type: str | None = option(
        "score only pictures of this type (default: all types)", choices=TYPES
    )


def read_truth(options: TruthOptions, taxonomy: str | None = None) -> GroundTruth:
    """Read the ground truth that the options name."""
    return to_ground_truth(
        options.truth,
        part=options.part,
        only_type=options.only_type,
        taxonomy=taxonomy,
        **options.as_keywords(),
    )


def check_results(folder: str, file: str, inputs: Sequence[str]) -> None:
    """Check a folder for `file` and other results, which may not replace an input."""
    check_output(folder, inputs, file=file)
    for path in map(Path, inputs):
        if path.suffix == ".csv" and path.resolve().is_relative_to(
            Path(folder).resolve()
        ):
            check_output(path.parent, inputs, file=path.name)
