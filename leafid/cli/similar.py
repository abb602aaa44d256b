"""Writes the table of plants of ``leafid info --similar``."""

import argparse

from leafid.cli.environment import Environment
from leafid.features.loader import FeatureLoader
from leafid.features.similar import find_similar
from leafid.files import write_text
from leafid.grouping import count_noun
from leafid.model.bundled import load_recogniser
from leafid.model.recogniser import recognise_frequent_types
from leafid.pictures import Collection
from leafid.pictures.readers.records import get_relative_path
from leafid.scoring.tables import Cell, format_csv

_MAX_NAMED, _MAX_LENGTH = 20, 400


def write_similar(arguments: argparse.Namespace, collection: Collection, environment: Environment) -> None:
    """Write the table of plants, in which the pictures of each group of similar ones are one plant."""
    loader = FeatureLoader(jobs=arguments.jobs, progress=environment.progress)
    pictures = [picture for picture in collection.select_labelled().pictures if picture.file.is_file()]
    recognition = load_recogniser(pictures)
    typed = recognise_frequent_types(recognition, pictures, loader)[0] if recognition else pictures
    groups = list(find_similar(typed, loader))
    plants = {picture.file: group[0].plant or group[0].name for group in groups for picture in group}
    rows: list[list[Cell]] = [
        [str(get_relative_path(p.file, collection.root)), p.species, plants.get(p.file) or p.plant or p.name]
        for p in pictures
    ]
    write_text(arguments.similar, format_csv([["file", "label", "plant"], *rows]))
    for group in groups[:_MAX_NAMED]:
        environment.note(f"one leaf: {', '.join(picture.name for picture in group)[:_MAX_LENGTH]}")
    environment.note(
        f"{count_noun(len(groups), 'group')} of pictures of one leaf; {arguments.similar} has plants, for --metadata"
    )
