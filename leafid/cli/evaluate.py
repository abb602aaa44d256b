"""Score run files against a ground truth with the plant task's metrics.

The ground truth is a folder of ImageCLEF XML, a collection in any layout, or a …GroundTruth.txt together with the
XML of its pictures. A picture that a run lacks counts 0, with a warning; a run with anything wrong in it is refused.

S is the official average classification score: the mean over authors of the mean over their plants of the mean over
each plant's pictures. inverse-rank is the same with 1 / rank of the right species for each picture. Their intervals
are bootstrapped over the plants within each author. --output writes all the files that the official scorer writes,
with the same numbers. --list names every metric of the program.

A set-valued run names only the species of each picture's set, of any number: --sets scores it as such.

examples:
  leafid evaluate imageclef2011/TestXmlWithGroundTruth run.txt
  leafid evaluate imageclef2011/testGroundTruth.txt a.txt b.txt --output scores
  leafid evaluate collection run.txt --by species --format csv > species.csv
  leafid evaluate --list
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from leafid.cli.arguments import (
    add_jobs,
    add_layout,
    add_part,
    add_seed,
    given_path,
    output_folder,
    positive_int,
    positive_ints,
    share,
)
from leafid.cli.environment import Environment
from leafid.errors import LeafidError, ProblemsError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafid.evaluation.answers import Answers
    from leafid.runs.truth import Truth

_FORMATS = ("text", "csv", "json", "markdown", "latex")
_GROUPS = ("species", "genus", "family", "author", "plant", "content")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "truth",
        metavar="GROUND-TRUTH",
        nargs="?",
        type=given_path,
        help="folder of XML, collection, or …GroundTruth.txt",
    )
    parser.add_argument("runs", metavar="RUN", nargs="*", help="run file")
    parser.add_argument("--list", action="store_true", help="list every metric: name, direction, range, citation")
    parser.add_argument("--output", metavar="DIR", type=given_path, help="write the official scorer's files there")
    parser.add_argument(
        "--official",
        action="store_true",
        help="reproduce the official scorer: missing pictures are left out of the means, the last of several lines "
        "of one rank counts, unknown species are wrong answers",
    )
    parser.add_argument(
        "--top", metavar="K,…", type=positive_ints, default=[1, 5], help="top-K accuracies (default: 1,5)"
    )
    parser.add_argument("--by", choices=_GROUPS, action="append", default=[], help="score groups of pictures as well")
    parser.add_argument("--sets", action="store_true", help="score the runs as set-valued predictions as well")
    parser.add_argument(
        "--training",
        metavar="COLLECTION",
        type=given_path,
        help="with --sets: count each species' training pictures there, for the bins",
    )
    parser.add_argument(
        "--intervals", choices=("S", "all", "none"), default="S", help="of which scores to give intervals (default: S)"
    )
    parser.add_argument(
        "--confidence", type=share, default=0.95, metavar="SHARE", help="of the intervals (default: 0.95)"
    )
    parser.add_argument(
        "--resamples", type=positive_int, default=1000, metavar="N", help="for the intervals (default: 1000)"
    )
    add_seed(parser)
    parser.add_argument("--format", choices=_FORMATS, default="text", help="of the tables (default: text)")
    add_truth(parser)
    add_jobs(parser)


def add_truth(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how to read the ground truth."""
    parser.add_argument(
        "--xml", metavar="DIR", type=given_path, help="the XML that belongs to a …GroundTruth.txt (default: its folder)"
    )
    add_part(parser)
    add_layout(parser)


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Score the runs."""
    from leafid.evaluation.official import official_files
    from leafid.evaluation.resampling import Bootstrap
    from leafid.evaluation.summary import measures
    from leafid.report import scores
    from leafid.report.tables import render

    if arguments.list:
        environment.stdout.write(render([scores.metrics_table()], arguments.format))
        return 0
    if not arguments.runs:
        raise UsageError("expected a ground truth and at least one run; see 'leafid evaluate --help'")
    if arguments.training and not arguments.sets:
        raise UsageError("expected --sets with --training")
    differ(arguments.runs)
    if arguments.output:
        _check_files(arguments.runs, arguments.output)
    truth = truth_of(arguments)
    answered = answers_of(arguments.runs, truth, environment, official=arguments.official, jobs=arguments.jobs)
    options = scores.Options(
        chosen=measures(arguments.top),
        leave_out_missing=arguments.official,
        bootstrap=Bootstrap(arguments.resamples, arguments.confidence, arguments.seed),
        intervals=arguments.intervals,
    )
    tables = [scores.type_table(truth, answered, options)]
    tables += [scores.group_table(truth, answered, group, options) for group in dict.fromkeys(arguments.by)]
    if arguments.sets:
        tables += scores.set_tables(truth, answered, _training_pictures(arguments.training))
    environment.stdout.write(render(tables, arguments.format))
    if arguments.output:
        files = official_files(truth, answered, leave_out_missing=arguments.official)
        _write(files, Path(arguments.output), environment)
    return 0


def truth_of(arguments: argparse.Namespace) -> Truth:
    """Read the ground truth that the arguments of `add_truth` name."""
    from leafid.runs.ground_truth import read_truth

    return read_truth(arguments.truth, xml=arguments.xml, layout=arguments.layout, part=arguments.part)


def answers_of(
    files: Sequence[str], truth: Truth, environment: Environment, *, official: bool = False, jobs: int = 1
) -> list[Answers]:
    """Read all runs; where several are bad, the problems of all of them are reported."""
    from leafid.parallel import ordered_map

    # Below some ten million bytes the runs are read before the workers have started.
    if sum(Path(file).stat().st_size for file in files if Path(file).is_file()) < 50e6:
        jobs = 1
    found: list[Answers] = []
    problems: list[str] = []
    for read in environment.progress(
        ordered_map(partial(_read, truth=truth, official=official), files, jobs), len(files), "runs"
    ):
        if isinstance(read, list):
            problems += read
        else:
            found.append(read)
    if problems:
        raise ProblemsError(problems)
    for answer in found:
        if answer.repeated:
            environment.warn(f"{answer.name}: {answer.repeated} lines repeat a picture's rank; the last one counts")
        if answer.missing:
            what = "are left out of the means" if official else "count 0"
            environment.warn(f"{answer.name}: {answer.missing} of {len(truth)} pictures are missing and {what}")
    return found


def _read(file: str, truth: Truth, official: bool) -> Answers | list[str]:
    from leafid.evaluation.answers import answers
    from leafid.runs import read_run

    try:
        return answers(read_run(file, truth.known, official=official), truth)
    except ProblemsError as error:
        return list(error.problems)
    except LeafidError as error:
        return [str(error)]


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


def check_output(folder: str, file: str) -> None:
    """Find out before the work whether a file can be written to the folder of ``--output``."""
    from leafid.files import check_writable

    check_writable(output_folder(folder) / file)


def _check_files(runs: Sequence[str], folder: str) -> None:
    """Find out before the work whether the official scorer's files can be written, each to a name of its own."""
    from leafid.evaluation.official import ALL_RUNS, MEAN_OF_RUNS, SCORES

    for file in runs if len(runs) > 1 else ():
        if (name := Path(file).stem) in {ALL_RUNS, MEAN_OF_RUNS}:
            raise UsageError(f"--output: expected no run called {name}, as the files about all runs are; rename {file}")
    check_output(folder, SCORES)


def _training_pictures(collection: str | None) -> dict[str, int] | None:
    if collection is None:
        return None
    from collections import Counter

    from leafid.collection import read_and_warn

    pictures = read_and_warn(collection).pictures
    trained = [picture for picture in pictures if picture.part == "train"] or pictures
    return dict(Counter(picture.species for picture in trained if picture.species))


def _write(files: dict[str, str], folder: Path, environment: Environment) -> None:
    from leafid.files import writing

    for name, text in files.items():
        with writing(folder / name) as stream:
            stream.write(text)
    environment.note(f"{len(files)} files written to {folder}")
