"""What commands that score run files share: their ground truth, their runs, and how both are read."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from leafid.console.arguments import add_layout, add_part, check_output_folder, nonempty_path
from leafid.console.environment import Environment
from leafid.console.outputs import refuse_inputs
from leafid.errors import LeafidError, ProblemsError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from leafid.evaluation.judged_run import JudgedRun
    from leafid.runs.ground_truth import GroundTruth
    from leafid.runs.run import Run

_Read = TypeVar("_Read")


def add_truth_and_runs(parser: argparse.ArgumentParser, runs: str = "run file", *, needed: bool = True) -> None:
    """Add the ground truth, the run files, and the options that say how to read the former."""
    parser.add_argument(
        "truth",
        metavar="GROUND-TRUTH",
        nargs=None if needed else "?",
        type=nonempty_path,
        help="folder of XML, collection, or …GroundTruth.txt",
    )
    parser.add_argument("runs", metavar="RUN", nargs="+" if needed else "*", help=runs)
    parser.add_argument(
        "--xml",
        metavar="DIR",
        type=nonempty_path,
        help="the XML that belongs to a …GroundTruth.txt (default: its folder)",
    )
    add_part(parser)
    add_layout(parser)


def truth_of(arguments: argparse.Namespace) -> GroundTruth:
    """Read the ground truth that the arguments of `add_truth_and_runs` name."""
    from leafid.runs.ground_truth_files import read_ground_truth

    return read_ground_truth(arguments.truth, xml=arguments.xml, layout=arguments.layout, part=arguments.part)


def answers_of(
    files: Sequence[str], truth: GroundTruth, environment: Environment, *, official: bool = False, jobs: int = 1
) -> list[JudgedRun]:
    """Read all runs and lay them beside the ground truth; the problems of all that are bad are reported together."""
    from leafid.parallel import ordered_map

    # Below some 50 MB the runs are read before the workers have started.
    if sum(Path(file).stat().st_size for file in files if Path(file).is_file()) < 50e6:
        jobs = 1
    read = partial(_read_answers, truth=truth, official=official)
    found = _all_good(environment.progress(ordered_map(partial(_tried, read), files, jobs), len(files), "runs"))
    for answer in found:
        if answer.repeated:
            environment.warn(f"{answer.name}: {answer.repeated} lines repeat a picture's rank; the last one counts")
        if answer.missing:
            what = "are left out of the means" if official else "count 0"
            environment.warn(f"{answer.name}: {answer.missing} of {len(truth)} pictures are missing and {what}")
    return found


def read_runs(files: Sequence[str], truth: GroundTruth) -> list[Run]:
    """Read all runs; the problems of all that are bad are reported together."""
    from leafid.runs import read_run

    return _all_good(_tried(partial(read_run, known=truth.known), file) for file in files)


def _read_answers(file: str, truth: GroundTruth, official: bool) -> JudgedRun:
    from leafid.evaluation.judged_run import judge_run
    from leafid.runs import read_run

    return judge_run(read_run(file, truth.known, official=official), truth)


def _tried(read: Callable[[str], _Read], file: str) -> _Read | ProblemsError:
    """Read a file; what is wrong with it is given back."""
    try:
        return read(file)
    except ProblemsError as error:
        return error
    except LeafidError as error:
        return ProblemsError([str(error)])


def _all_good(outcomes: Iterable[_Read | ProblemsError]) -> list[_Read]:
    found: list[_Read] = []
    problems: list[str] = []
    for outcome in outcomes:
        if isinstance(outcome, ProblemsError):
            problems += outcome.problems
        else:
            found.append(outcome)
    if problems:
        raise ProblemsError(problems)
    return found


def differ(files: Sequence[str]) -> None:
    """Refuse runs of one name: they could not be told apart in tables, and their files would overwrite each other."""
    stems: dict[str, str] = {}
    for file in files:
        stem = Path(file).stem
        if stem in stems:
            before = stems[stem]
            if Path(before).resolve() == Path(file).resolve():
                raise UsageError(f"expected every run once, found {file} twice; leave one out")
            raise UsageError(f"expected run files with names that differ, found {before} and {file}; rename one")
        stems[stem] = file


def check_output(folder: str, file: str, read: Sequence[str]) -> None:
    """Find out before the work whether a file, which may be none of those read, can be written to ``--output``."""
    from leafid.files import check_writable

    refuse_inputs(check_output_folder(folder) / file, read)
    check_writable(Path(folder) / file)
