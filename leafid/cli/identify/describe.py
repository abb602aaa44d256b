"""Write the descriptors of pictures as a table.

Each picture is a row: its file, its acquisition type, its species where that is known, and the values of the descriptor
families, in columns like geometry.log_aspect_box. --assume-type sets the type; otherwise it is read from the metadata,
or recognised by the model as in predict.

The table is CSV. A picture that can't be read, or in which no leaf is found, is reported on stderr and left out; the
exit status is then 1.

examples:
  leafid describe my-leaf.jpg --families geometry,teeth
  leafid describe my-leaves --assume-type scan --output leaves.csv
  leafid describe --list
"""

import csv
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np

from leafid.cli.arguments import ASSUME_TYPE, ComputingOptions, ReadingOptions, option, positional, switch
from leafid.cli.computing import assume_type, on_workers, recognise_type
from leafid.cli.environment import Environment
from leafid.cli.outputs import refuse_inputs
from leafid.descriptors import FAMILIES, find_families, get_column_names, measure_families
from leafid.errors import ImageError, LeafidError, UsageError, naming_large_picture, to_one_line
from leafid.files import is_utf8, open_output
from leafid.model.bundled import load_recogniser
from leafid.model.recogniser import TypeRecogniser, warn_of_mixed_types
from leafid.pictures import Picture, read_and_warn
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation import segment
from leafid.textfiles import escape_formula
from leafid.workers import ordered_map

# Longest side of a picture in pixels; larger ones are shrunk, as descriptors work on leaves of a few hundred pixels.
_MAX_SIDE = 1200


class Options(ReadingOptions, ComputingOptions):
    """The options of describe."""

    pictures: list[str] = positional("PICTURE", "pictures, folders of them, or collections", nargs="*")
    model: str | None = option(
        "the model that recognises acquisition types (default: the bundled one)", metavar="MODEL"
    )
    assume_type: str | None = ASSUME_TYPE
    families: str | None = option("descriptor families to compute, in this order (default: all)", metavar="A,B,…")
    list: bool = switch("list the descriptor families and exit")
    output: str = option("CSV table to write (default: -, to stdout)", default="-", metavar="FILE")


def run(options: Options, environment: Environment) -> int:
    """Write the table; 1 when any picture is left out."""
    if options.list:
        _list_families(environment)
        return 0
    words = options.families
    names = None if words is None else [word.strip() for word in words.split(",") if word.strip()]
    families = [family.name for family in find_families(names)]
    if not options.pictures:
        raise UsageError("expected at least one picture, folder or collection; see 'leafid describe --help'")
    if options.output != "-":
        if Path(options.output).suffix.lower() != ".csv":
            raise UsageError(f"--output {options.output}: expected a name that ends in .csv, or -")
        refuse_inputs(options.output, options.pictures)
    collection = read_and_warn(options.pictures, **options.as_keywords(), unlabelled=True)
    pictures = assume_type(options.assume_type, collection.pictures)
    task = partial(_measure_file, families=families, recognition=load_recogniser(pictures, options.model))
    n_failed = 0
    recognised: Counter[AcquisitionType] = Counter()
    target = nullcontext(environment.stdout) if options.output == "-" else open_output(options.output)
    with on_workers(options, options.pictures), target as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(["picture", "type", "species", *get_column_names(families)])
        results = ordered_map(task, pictures, options.jobs, lambda picture, problem: f"{picture.file}: {problem}")
        outcomes = environment.progress(results, len(pictures), "describe")
        for picture, outcome in zip(pictures, outcomes, strict=True):
            if isinstance(outcome, str):
                n_failed += 1
                environment.note(f"leafid: error: {outcome}")
            else:
                table.writerow(outcome)
                recognised.update([AcquisitionType(outcome[1])] if picture.type is None else [])
    warn_of_mixed_types(recognised)
    if n_failed:
        environment.note(f"leafid: {n_failed} of {len(pictures)} pictures left out")
    return 1 if n_failed or collection.is_incomplete else 0


def _measure_file(picture: Picture, families: Sequence[str], recognition: TypeRecogniser | None) -> list[str] | str:
    """Measure a picture, for a row of the table; a problem is returned as its message."""
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
    # NumPy writes the fewest digits that read back as the same float32.
    numbers = np.concatenate(list(values.values())).astype(str).tolist()
    return [escape_formula(str(picture.file)), type_.value, escape_formula(picture.species or ""), *numbers]


def _list_families(environment: Environment) -> None:
    width = max(map(len, FAMILIES)) + 2
    for family in FAMILIES.values():
        environment.print(f"{family.name:<{width}}{len(family.value_names):>4} values  {family.summary}")
