"""Write the descriptors of pictures as a table.

Each picture is a row: its file, its acquisition type, its species where that is known, and the values of the descriptor
families, in columns like geometry.log_aspect_box. --assume-type sets the type; otherwise it is read from the metadata,
or recognised by the model as in predict.

The table is CSV, or Parquet where --output ends in .parquet (needs: pip install pyarrow). A picture that can't be read,
or in which no leaf is found, is reported on stderr and left out; the exit status is then 1.

examples:
  leafid describe my-leaf.jpg --families geometry,teeth
  leafid describe my-leaves --assume-type scan --output leaves.csv
  leafid describe imageclef2011 --output leaves.parquet
  leafid describe --list
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from leafid.cli.arguments import READING, add_options, get_reading_options
from leafid.cli.computing import on_workers
from leafid.cli.environment import Environment
from leafid.cli.outputs import refuse_inputs
from leafid.cli.picture_types import assume_type, recognise_type
from leafid.descriptors import FAMILIES, find_families, get_column_names, measure_families
from leafid.errors import ImageError, LeafidError, UsageError, naming_large_picture, to_one_line
from leafid.files import is_utf8
from leafid.model.bundled import load_recogniser
from leafid.pictures import Picture, read_and_warn
from leafid.pictures.decoding import read_image
from leafid.workers import ordered_map

if TYPE_CHECKING:
    from leafid.cli.measurement_table import Row
    from leafid.model.recogniser import TypeRecogniser

# Longest side of a picture in pixels; larger ones are shrunk, as descriptors work on leaves of a few hundred pixels.
_MAX_SIDE = 1200


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pictures", nargs="*", metavar="PICTURE", help="pictures, folders of them, or collections")
    parser.add_argument(
        "--model", metavar="MODEL", help="the model that recognises acquisition types (default: the bundled one)"
    )
    add_options(parser, "assume-type")
    add_options(parser, *READING)
    parser.add_argument(
        "--families", metavar="A,B,…", help="descriptor families to compute, in this order (default: all)"
    )
    parser.add_argument("--list", action="store_true", help="list the descriptor families and exit")
    parser.add_argument(
        "--output",
        default="-",
        metavar="FILE",
        help="table to write, .csv or .parquet (default: -, CSV to stdout)",
    )
    add_options(parser, "jobs", "cluster")


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Write the table; 1 when any picture is left out."""
    from leafid.cli.measurement_table import check_table_output, write_table

    if arguments.list:
        _list_families(environment)
        return 0
    words = arguments.families
    names = None if words is None else [word.strip() for word in words.split(",") if word.strip()]
    families = [family.name for family in find_families(names)]
    if not arguments.pictures:
        raise UsageError("expected at least one picture, folder or collection; see 'leafid describe --help'")
    check_table_output(arguments.output)
    if arguments.output != "-":
        refuse_inputs(arguments.output, arguments.pictures)
    collection = read_and_warn(arguments.pictures, **get_reading_options(arguments), unlabelled=True)
    pictures = assume_type(arguments, collection.pictures)
    task = partial(_measure_file, families=families, recognition=load_recogniser(pictures, arguments.model))
    problems: list[str] = []

    def generate_rows() -> Iterator[Row]:
        results = ordered_map(task, pictures, arguments.jobs, lambda picture, problem: f"{picture.file}: {problem}")
        for outcome in environment.progress(results, len(pictures), "describe"):
            if isinstance(outcome, str):
                problems.append(outcome)
                environment.note(f"leafid: error: {outcome}")
            else:
                yield outcome

    with on_workers(arguments, arguments.pictures):
        write_table(arguments.output, environment.stdout, get_column_names(families), generate_rows())
    if problems:
        environment.note(f"leafid: {len(problems)} of {len(pictures)} pictures left out")
    return 1 if problems or collection.is_incomplete else 0


def _measure_file(picture: Picture, families: Sequence[str], recognition: TypeRecogniser | None) -> Row | str:
    """Measure a picture; a problem is returned as its message."""
    import numpy as np

    from leafid.cli.measurement_table import Row
    from leafid.segmentation import segment

    if not is_utf8(str(picture.file)):
        return to_one_line(f"{picture.file}: expected a name in UTF-8, as tables are; rename it")
    try:
        with naming_large_picture(picture.file):
            image = read_image(picture.file, _MAX_SIDE)
            type_ = picture.type or recognise_type(recognition, picture)
            values = measure_families(image, segment(image, type_), families)
    except ImageError as error:
        return str(error)
    except LeafidError as error:
        return f"{picture.file}: {error}"
    return Row(str(picture.file), type_.value, picture.species, np.concatenate(list(values.values())))


def _list_families(environment: Environment) -> None:
    width = max(map(len, FAMILIES)) + 2
    for family in FAMILIES.values():
        citation = f" ({family.citation})" if family.citation else ""
        environment.print(f"{family.name:<{width}}{len(family.value_names):>4} values  {family.summary}{citation}")
