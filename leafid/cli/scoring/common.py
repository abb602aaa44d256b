"""The ground truth and the runs that scoring commands share, and how they are read."""

from leafid.cli.arguments import TYPES, ReadingOptions, option, positional
from leafid.cli.outputs import Environment
from leafid.errors import LeafidError
from leafid.scoring.judging import JudgedRun, judge_run
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
    """Select the pictures of the acquisition type that the options name, if they name one."""
    if options.only_type:
        truth = truth.select(type_ == options.only_type for type_ in truth.type)
        if not len(truth):
            raise LeafidError(
                f"{options.truth}: expected pictures of type {options.only_type}, found none"
            )
    return truth


def read_runs(
    options: TruthOptions,
    truth: GroundTruth,
    environment: Environment,
    *,
    official: bool = False,
) -> tuple[list[Run], list[JudgedRun]]:
    """Read and judge the runs that the options name, and warn of what they lack."""
    reading = read_run_files(options.runs, truth.known, official=official)
    runs = [*environment.progress(reading, len(options.runs), "runs")]
    judged = [judge_run(run, truth) for run in runs]
    for run, judgement in zip(runs, judged, strict=True):
        if run.repeated:
            environment.warn(
                f"{run.name}: {run.repeated} lines repeat a picture's rank; the last one counts"
            )
        is_covered = judgement.covered[judgement.is_known]
        if not is_covered.any():
            expected = (
                f"expected predictions for the {len(is_covered)} labelled pictures"
            )
            raise LeafidError(f"{run.name}: {expected}, found none")
        if not is_covered.all():
            consequence = (
                "are left out of the means by type and group" if official else "count 0"
            )
            counts = f"{(~is_covered).sum()} of {len(is_covered)}"
            environment.warn(
                f"{run.name}: {counts} pictures are missing and {consequence}"
            )
    return runs, judged
