"""The ground truth and the runs that scoring commands share, and how they are read."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from leafid.cli.arguments import PART, ReadingOptions, option, positional
from leafid.cli.environment import Environment
from leafid.errors import LeafidError, ProblemsError, UsageError
from leafid.scoring.plant_task import JudgedRun, judge_run
from leafid.scoring.run_reading import read_run
from leafid.scoring.runs import Run
from leafid.scoring.truth import GroundTruth, read_ground_truth
from leafid.tasks.file_kinds import suggesting_command
from leafid.workers import ordered_map

_Read = TypeVar("_Read")

# Minimum size of all runs, in bytes, for which worker processes are started: smaller ones are read before these run.
_PARALLEL_BYTES = 50e6


class TruthOptions(ReadingOptions):
    """A ground truth, the runs that it judges, and how to read it."""

    truth: str = positional("GROUND-TRUTH", "folder of XML, collection, or …GroundTruth.txt")
    runs: list[str] = positional("RUN", "run file", nargs="+")
    xml: str | None = option("the XML that belongs to a …GroundTruth.txt (default: its folder)", metavar="DIR")
    part: str | None = PART


def load_ground_truth(options: TruthOptions) -> GroundTruth:
    """Read the ground truth that the options name."""
    with suggesting_command(options.truth, "evaluate"):
        return read_ground_truth(options.truth, xml=options.xml, part=options.part, **options.as_keywords())


def load_judged_runs(
    files: Sequence[str], truth: GroundTruth, environment: Environment, *, official: bool = False, jobs: int = 1
) -> list[JudgedRun]:
    """Read and judge all runs; the problems of all bad ones are reported together."""
    if sum(Path(file).stat().st_size for file in files if Path(file).is_file()) < _PARALLEL_BYTES:
        jobs = 1
    read = partial(_read_or_return_error, partial(_read_judged_run, truth=truth, official=official))
    runs = _raise_errors(environment.progress(ordered_map(read, files, jobs, item_seconds=0.1), len(files), "runs"))
    for run in runs:
        if run.repeated:
            environment.warn(f"{run.name}: {run.repeated} lines repeat a picture's rank; the last one counts")
        n_missing = int((~run.covered).sum())
        if n_missing == len(truth):
            raise LeafidError(f"{run.name}: expected predictions for the {len(truth)} labelled pictures, found none")
        if n_missing:
            consequence = "are left out of the means" if official else "count 0"
            environment.warn(f"{run.name}: {n_missing} of {len(truth)} pictures are missing and {consequence}")
    return runs


def load_runs(files: Sequence[str], truth: GroundTruth) -> list[Run]:
    """Read all runs; the problems of all bad ones are reported together."""
    return _raise_errors(_read_or_return_error(partial(read_run, known=truth.known), file) for file in files)


def _read_judged_run(file: str, truth: GroundTruth, official: bool) -> JudgedRun:
    return judge_run(read_run(file, truth.known, official=official), truth)


def _read_or_return_error(read: Callable[[str], _Read], file: str) -> _Read | ProblemsError:
    try:
        with suggesting_command(file, "evaluate"):
            return read(file)
    except ProblemsError as error:
        return error
    except LeafidError as error:
        return ProblemsError([str(error)])


def _raise_errors(outcomes: Iterable[_Read | ProblemsError]) -> list[_Read]:
    results: list[_Read] = []
    problems: list[str] = []
    for outcome in outcomes:
        if isinstance(outcome, ProblemsError):
            problems += outcome.problems
        else:
            results.append(outcome)
    if problems:
        raise ProblemsError(problems)
    return results


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
