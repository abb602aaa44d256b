"""Check run files of the ImageCLEF 2016 annotation task, listing the first 20 problems of each.

A line is '[subtask] [id] [results]', in ASCII:

  1 picture concept [conf:]WIDTHxHEIGHT+LEFT+TOP,... concept ...   at most 100 concepts, 100 boxes each
  2 picture A sentence.
  3 picture 0,2,5                                                 ids of the boxes selected
  4 document picture,picture,...                                  at most 100, best first
  5 document latitude longitude                                   degrees

examples:
  leafid check-annotation run.txt
  leafid check-annotation --illustrations images.txt teaser1.txt
  leafid check-annotation --pictures ids.txt --concepts concepts.txt --sizes sizes.txt subtask1.txt
"""

import argparse
from typing import cast

from leafid.cli.environment import Environment
from leafid.errors import UsageError, to_one_line
from leafid.tasks.annotation2016.files import examine_annotation_run, read_annotation_run
from leafid.tasks.annotation2016.known import Known, read_list, read_sizes
from leafid.tasks.annotation2016.results import Subtask
from leafid.tasks.file_kinds import find_other_command

#: Options that only one subtask uses.
_SUBTASK_OPTIONS = {"by_concept": 1, "concepts": 1, "sizes": 1, "boxes": 3, "k": 4, "illustrations": 4, "radius": 5}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run files")
    parser.add_argument(
        "--subtask", type=int, choices=range(1, 6), help="expected subtask (default: that of the first line)"
    )
    add_known(parser)


def add_known(parser: argparse.ArgumentParser) -> None:
    """Add the options that list what a run may name."""
    for option, description in (
        ("--pictures", "ids of all pictures or documents, one per line"),
        ("--concepts", "subtask 1: all concepts, one per line"),
        ("--sizes", "subtask 1: 'id width height' of every picture, in pixels"),
        ("--boxes", "subtask 3: the boxes given, as a run file"),
        ("--illustrations", "subtask 4: ids of the pictures to choose from"),
    ):
        parser.add_argument(option, metavar="FILE", help=description)


def read_known(arguments: argparse.Namespace) -> Known:
    """Read the files that the options of `add_known` name."""
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


def refuse_useless_options(arguments: argparse.Namespace, subtask: int) -> None:
    """Refuse options that only another subtask uses."""
    for option, used in _SUBTASK_OPTIONS.items():
        if getattr(arguments, option, None) and subtask != used:
            name = option.replace("_", "-")
            raise UsageError(
                f"--{name} is for subtask {used} and has no effect on this ground truth of subtask {subtask}"
            )


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    if arguments.subtask:
        refuse_useless_options(arguments, arguments.subtask)
    known = read_known(arguments)
    subtask = Subtask(arguments.subtask) if arguments.subtask else None
    status = 0
    for path in arguments.runs:
        found, problems = examine_annotation_run(path, subtask, known)
        if problems and (other := find_other_command(path, "check-annotation", "evaluate-annotation")):
            problems = [other]
        for problem in problems:
            environment.print(to_one_line(problem))
        if problems:
            status = 1
        else:
            environment.print(f"{path}: good: subtask {found.subtask.value}, {len(found.results)} lines")
    return status
