"""Draw a collection of synthetic leaves, in the layout of the ImageCLEF 2011 plant task package.

Leaves of up to 28 species are drawn by formula: scans, scan-likes (a leaf on a sheet) and photos (a leaf or a branch
outdoors), with plants, authors, dates and places, split into train and test by plant. The same options give the same
files, byte for byte. Interrupted and started again with the same options, the command goes on where it was.

examples:
  leafid sample leaves                                 12 species, 5 plants each, 360 pictures of 800 pixels
  leafid sample leaves --species 28 --plants 20        more of both
  leafid sample small --size 320 --only-type scan --seed 7  small scans, other leaves
"""

from __future__ import annotations

import argparse
from pathlib import Path

from leafid.console.arguments import add_jobs, add_only_type, add_seed, positive_int
from leafid.console.environment import Environment


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("folder", metavar="DIR", type=Path, help="where to write; a new or empty folder")
    parser.add_argument(
        "--species", type=positive_int, default=12, metavar="N", help="species (default: 12, at most 28)"
    )
    parser.add_argument("--plants", type=positive_int, default=5, metavar="N", help="plants a species (default: 5)")
    parser.add_argument(
        "--test-plants",
        type=int,
        metavar="N",
        help="how many of a species' plants are test plants (default: one in five, at least 1 where there are 2)",
    )
    parser.add_argument(
        "--pictures", type=positive_int, default=2, metavar="N", help="pictures of a plant and type (default: 2)"
    )
    parser.add_argument(
        "--size", type=positive_int, default=800, metavar="PIXELS", help="longest side of a picture (default: 800)"
    )
    add_only_type(parser, "draw this acquisition type only (default: all three)")
    add_seed(parser)
    add_jobs(parser)
    parser.add_argument("--force", action="store_true", help="replace a collection that this command has drawn")


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Draw, write, and say what was written."""
    from leafid.collection.picture import AcquisitionType
    from leafid.synthetic.plan import Settings
    from leafid.synthetic.writer import write_collection

    plants = arguments.plants
    test_plants = arguments.test_plants
    if test_plants is None:
        test_plants = 0 if plants < 2 else max(1, plants // 5)
    types = (AcquisitionType(arguments.only_type),) if arguments.only_type else tuple(AcquisitionType)
    settings = Settings(
        arguments.species, plants, test_plants, arguments.pictures, types, arguments.size, arguments.seed
    )
    written = write_collection(
        arguments.folder,
        settings,
        force=arguments.force,
        jobs=arguments.jobs,
        progress=lambda items, total: environment.progress(items, total, "drawing"),
    )
    pictures = written.pictures
    by_type = ", ".join(f"{sum(p.type is kind for p in pictures)} {kind.value}" for kind in types)
    in_train = sum(p.part == "train" for p in pictures)
    authors = len({p.author for p in pictures})
    environment.print(f"{written.folder}: {len(pictures)} pictures, {written.n_bytes / 1e6:.1f} MB")
    environment.print(f"  types    {by_type}")
    environment.print(f"  species  {settings.n_species}")
    environment.print(f"  plants   {settings.n_species * plants} ({test_plants} of {plants} a species for test)")
    environment.print(f"  authors  {authors}")
    environment.print(f"  train    {in_train} pictures in {written.folder / 'Train'}")
    environment.print(f"  test     {len(pictures) - in_train} pictures in {written.folder / 'Test'}")
    if written.n_resumed:
        environment.note(f"{written.n_resumed} pictures were there from an interrupted call")
    return 0
