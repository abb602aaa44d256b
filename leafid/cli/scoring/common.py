"""The ground truth and the runs that scoring commands share, and how they are read."""

from pathlib import Path

from leafid.cli.arguments import PART, ReadingOptions, positional
from leafid.cli.environment import Environment
from leafid.errors import LeafidError, UsageError
from leafid.scoring.plant_task import JudgedRun, judge_run
from leafid.scoring.run_reading import read_run
from leafid.scoring.runs import Run
from leafid.scoring.truth import GroundTruth, read_ground_truth


class TruthOptions(ReadingOptions):
    """A ground truth, the runs that it judges, and how to read it."""

    truth: str = positional("GROUND-TRUTH", "folder of XML, collection, or …GroundTruth.txt")
    runs: list[str] = positional("RUN", "run file", nargs="+")
    part: str | None = PART


def load_ground_truth(options: TruthOptions) -> tuple[GroundTruth, GroundTruth]:
    """Read the ground truth that the options name: all of it, and its pictures of known species."""
    # Tables couldn't tell runs of one name apart, and their output files would overwrite each other.
    if len({Path(file).stem for file in options.runs}) < len(options.runs):
        raise UsageError(f"expected run files with names that differ, found {', '.join(options.runs)}; rename one")
    truth = read_ground_truth(options.truth, part=options.part, **options.as_keywords())
    known, n_unknown = truth.split_known()
    if known is None:
        raise LeafidError(f"{options.truth}: expected pictures of known species, found {n_unknown} unknown ones only")
    return truth, known


def load_runs(
    options: TruthOptions, truth: GroundTruth, environment: Environment, *, official: bool = False
) -> tuple[list[Run], list[JudgedRun]]:
    """Read and judge the runs that the options name, and warn of what they lack."""
    runs = [
        read_run(file, truth.known, official=official)
        for file in environment.progress(options.runs, len(options.runs), "runs")
    ]
    judged = [judge_run(run, truth) for run in runs]
    for run, own in zip(runs, judged, strict=True):
        if run.repeated:
            environment.warn(f"{run.name}: {run.repeated} lines repeat a picture's rank; the last one counts")
        n_missing = int((~own.covered).sum())
        if n_missing == len(truth):
            raise LeafidError(f"{run.name}: expected predictions for the {len(truth)} labelled pictures, found none")
        if n_missing:
            consequence = "are left out of the means" if official else "count 0"
            environment.warn(f"{run.name}: {n_missing} of {len(truth)} pictures are missing and {consequence}")
    return runs, judged
