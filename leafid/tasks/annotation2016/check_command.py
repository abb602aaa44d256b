"""Check run files of the ImageCLEF 2016 annotation task, listing every problem.

A line is '[subtask] [id] [results]', in ASCII:

  1 picture concept [conf:]WIDTHxHEIGHT+LEFT+TOP,... concept ...   at most 100 concepts, 100 boxes each
  2 picture A sentence.
  3 picture 0,2,5                                                 ids of the boxes selected
  4 document picture,picture,...                                  at most 100, the best first
  5 document latitude longitude                                   degrees

examples:
  leafid check-annotation run.txt
  leafid check-annotation --illustrations images.txt teaser1.txt
  leafid check-annotation --pictures ids.txt --concepts concepts.txt --sizes sizes.txt subtask1.txt
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, cast

from leafid.console.arguments import nonempty_path
from leafid.console.environment import Environment
from leafid.errors import to_one_line

if TYPE_CHECKING:
    from leafid.tasks.annotation2016.files import Known


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run files")
    parser.add_argument(
        "--subtask", type=int, choices=range(1, 6), help="the subtask (default: that of the first line)"
    )
    add_known(parser)


def add_known(parser: argparse.ArgumentParser) -> None:
    """Add the files that tell what a run may be about."""
    for option, what in (
        ("--pictures", "ids of the pictures or documents there are, one a line"),
        ("--concepts", "subtask 1: the concepts, one a line"),
        ("--sizes", "subtask 1: 'id width height' of every picture, in pixels"),
        ("--boxes", "subtask 3: the boxes given, as a run file"),
        ("--illustrations", "subtask 4: ids of the pictures to choose from"),
    ):
        parser.add_argument(option, metavar="FILE", type=nonempty_path, help=what)


def read_known(arguments: argparse.Namespace) -> Known:
    """Read the files of `add_known`."""
    from leafid.tasks.annotation2016.files import Known, read_annotation_run
    from leafid.tasks.annotation2016.lists import read_list, read_sizes
    from leafid.tasks.annotation2016.results import Subtask

    boxes = None
    if arguments.boxes:
        given = read_annotation_run(arguments.boxes, Subtask.SELECTION).results
        boxes = {identity: frozenset(cast(tuple[int, ...], numbers)) for identity, numbers in given.items()}
    return Known(
        ids=read_list(arguments.pictures) if arguments.pictures else None,
        concepts=read_list(arguments.concepts) if arguments.concepts else None,
        sizes=read_sizes(arguments.sizes) if arguments.sizes else None,
        boxes=boxes,
        illustrations=read_list(arguments.illustrations) if arguments.illustrations else None,
    )


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Check every run and print what is found."""
    from leafid.tasks.annotation2016.files import examine_annotation_run
    from leafid.tasks.annotation2016.results import Subtask

    known = read_known(arguments)
    subtask = Subtask(arguments.subtask) if arguments.subtask else None
    status = 0
    for path in arguments.runs:
        found, problems = examine_annotation_run(path, subtask, known)
        for problem in problems:
            environment.print(to_one_line(problem))
        if problems:
            status = 1
        else:
            environment.print(f"{path}: good: subtask {found.subtask.value}, {len(found.results)} lines")
    return status
