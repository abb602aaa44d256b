"""Name the species of pictures.

With --output, writes a run file in the ImageCLEF format, a line for each prediction: picture, species, rank, and a
calibrated probability. Without it, prints a ranking for a person to read. Of a collection with a test part only that
part is named. A picture that can't be read is reported, and costs nothing of the work done on the others.

examples:
  leafid predict my-leaf.jpg
  leafid predict imageclef2011 --model clef11.leafid --output run.txt
  leafid predict holiday/*.jpg --type photo --top 3
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from leafid.cli.arguments import add_jobs, add_layout, add_type, positive_int
from leafid.cli.environment import Environment
from leafid.cli.learning import add_store, open_descriptions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafid.collection import Picture
    from leafid.learning.model import Model
    from leafid.learning.prediction import Answer


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "pictures", metavar="PICTURE", nargs="+", help="a picture, a folder of pictures, or a collection"
    )
    parser.add_argument("--model", metavar="MODEL", help="a trained model (default: the one that comes along)")
    parser.add_argument("--output", metavar="RUN", help="write a run file instead of printing a ranking")
    parser.add_argument(
        "--top", metavar="K", type=positive_int, help="species a picture (default: all in a run file, 5 in a ranking)"
    )
    add_type(parser, "how all the pictures were taken (default: what the metadata say, else recognised)")
    add_layout(parser)
    add_store(parser)
    add_jobs(parser)


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Name the pictures; 1 when any could not be read."""
    from leafid.files import check_writable

    if arguments.output:
        # Found out now rather than after the work.
        check_writable(arguments.output)

    from leafid.learning.bundled import default_model
    from leafid.learning.modelfile import read_model
    from leafid.learning.prediction import predict

    model = read_model(arguments.model or default_model())
    pictures = _pictures_to_name(arguments, environment)
    with open_descriptions(arguments, environment) as descriptions:
        if arguments.output:
            answers = predict(model, pictures, descriptions, arguments.top)
            n_answered = _write(arguments.output, answers, environment)
        else:
            n_answered = _print(predict(model, pictures, descriptions, arguments.top or 5), model, environment)
    failed = len(pictures) - n_answered
    if failed:
        environment.note(f"leafid: {failed} of {len(pictures)} pictures could not be read")
    return 1 if failed else 0


def _pictures_to_name(arguments: argparse.Namespace, environment: Environment) -> list[Picture]:
    from dataclasses import replace

    from leafid.collection import AcquisitionType, duplicate_names, read_collection
    from leafid.errors import ProblemsError

    collection = read_collection(arguments.pictures, arguments.layout)
    for problem in collection.problems:
        environment.warn(problem)
    pictures = list(collection.pictures)
    if any(picture.part == "test" for picture in pictures):
        pictures = [picture for picture in pictures if picture.part == "test"]
    if arguments.output:
        problems = [
            f"{name}: two pictures have this name ({', '.join(str(picture.file) for picture in same)}); "
            "a run file can't tell them apart: name them in two runs, or rename one"
            for name, same in duplicate_names(pictures).items()
        ]
        problems += [
            f"{picture.file}: a run file can't hold a picture name with blanks; rename the file"
            for picture in pictures
            if len(picture.name.split()) != 1
        ]
        if problems:
            raise ProblemsError(problems)
    if arguments.type:
        pictures = [replace(picture, type=AcquisitionType(arguments.type)) for picture in pictures]
    return pictures


def _write(path: str, answers: Iterable[Answer], environment: Environment) -> int:
    from leafid.runs.imageclef2011 import write_run

    rankings = {answer.picture.name: answer.ranking for answer in answers}
    write_run(path, rankings)
    lines = sum(map(len, rankings.values()))
    environment.note(f"{path}: {lines} predictions for {len(rankings)} pictures")
    return len(rankings)


def _print(answers: Iterable[Answer], model: Model, environment: Environment) -> int:
    count = 0
    for count, answer in enumerate(answers, 1):
        if count > 1:
            environment.print()
        environment.print(f"{answer.picture.file}  ({answer.picture.type})")
        width = max(len(species) for species, _ in answer.ranking)
        for rank, (species, probability) in enumerate(answer.ranking, 1):
            info = model.species.get(species)
            common = ", ".join(info.vernacular_names[:2]) if info else ""
            environment.print(f"  {rank}  {probability:6.1%}  {species:<{width}}  {common}".rstrip())
    return count
