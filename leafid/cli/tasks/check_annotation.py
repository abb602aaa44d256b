"""Check run files of the ImageCLEF 2016 annotation task, listing the first 20 problems of each.

A line is '[subtask] [id] [results]', in ASCII:

  1 picture concept [conf:]WIDTHxHEIGHT+LEFT+TOP,... concept ...   at most 100 concepts, 100 boxes each
  2 picture A sentence.
  3 picture 0,2,5                                                 ids of the boxes selected
  4 document picture,picture,...                                  at most 100, best first
  5 document latitude longitude                                   degrees

examples:
  leafid check-annotation run.txt
  leafid check-annotation --pictures ids.txt --concepts concepts.txt subtask1.txt
  leafid check-annotation --illustrations images.txt teaser1.txt
"""

import argparse

from leafid.cli.environment import Environment
from leafid.errors import LeafidError
from leafid.tasks.annotation2016.files import Known, read_annotation_run, read_list
from leafid.tasks.file_kinds import suggesting_command


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run files")
    add_known(parser)


def add_known(parser: argparse.ArgumentParser) -> None:
    """Add the options that list what a run may name."""
    for option, description in (
        ("--pictures", "ids of all pictures or documents, one per line"),
        ("--concepts", "subtask 1: all concepts, one per line"),
        ("--illustrations", "subtask 4: ids of the pictures to choose from, one per line"),
    ):
        parser.add_argument(option, metavar="FILE", help=description)


def read_known(*files: str | None) -> Known:
    """Read the files that the options of `add_known` name, in their order."""
    return Known(*(read_list(file) if file else None for file in files))


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    known = read_known(arguments.pictures, arguments.concepts, arguments.illustrations)
    status = 0
    for path in arguments.runs:
        try:
            with suggesting_command(path, "check-annotation", "evaluate-annotation"):
                found = read_annotation_run(path, None, known)
            environment.print(f"{path}: good: subtask {found.subtask.value}, {len(found.results)} lines")
        except LeafidError as error:
            environment.print(str(error))
            status = 1
    return status
