"""The ground truth and the runs that scoring commands share, and how they are read."""

from collections.abc import Sequence
from pathlib import Path

from leafid.cli.arguments import PART, ReadingOptions, option, positional
from leafid.cli.environment import Environment
from leafid.errors import LeafidError, UsageError
from leafid.scoring.plant_task import JudgedRun, judge_run
from leafid.scoring.run_reading import read_run
from leafid.scoring.truth import GroundTruth, read_ground_truth


class TruthOptions(ReadingOptions):
    """A ground truth, the runs that it judges, and how to read it."""

    truth: str = positional("GROUND-TRUTH", "folder of XML, collection, or …GroundTruth.txt")
    runs: list[str] = positional("RUN", "run file", nargs="+")
    xml: str | None = option("the XML that belongs to a …GroundTruth.txt (default: its folder)", metavar="DIR")
    part: str | None = PART


def load_ground_truth(options: TruthOptions) -> GroundTruth:
    """Read the ground truth that the options name."""
    return read_ground_truth(options.truth, xml=options.xml, part=options.part, **options.as_keywords())


def load_judged_runs(
    files: Sequence[str], truth: GroundTruth, environment: Environment, *, official: bool = False
) -> list[JudgedRun]:
    """Read and judge runs, and warn of what they lack."""
    runs = []
    for file in environment.progress(files, len(files), "runs"):
        run = judge_run(read_run(file, truth.known, official=official), truth)
        if run.repeated:
            environment.warn(f"{run.name}: {run.repeated} lines repeat a picture's rank; the last one counts")
        n_missing = int((~run.covered).sum())
        if n_missing == len(truth):
            raise LeafidError(f"{run.name}: expected predictions for the {len(truth)} labelled pictures, found none")
        if n_missing:
            consequence = "are left out of the means" if official else "count 0"
            environment.warn(f"{run.name}: {n_missing} of {len(truth)} pictures are missing and {consequence}")
        runs.append(run)
    return runs


def check_names_differ(files: Sequence[str]) -> None:
    """Refuse runs of one name: tables couldn't tell them apart, and their output files would overwrite each other."""
    file_of_stem: dict[str, str] = {}
    for file in files:
        stem = Path(file).stem
        if stem in file_of_stem:
            other = file_of_stem[stem]
            if Path(other).resolve() == Path(file).resolve():
                raise UsageError(f"expected every run once, found {file} twice; leave one out")
            raise UsageError(f"expected run files with names that differ, found {other} and {file}; rename one")
        file_of_stem[stem] = file
