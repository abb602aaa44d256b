"""Draw a collection of synthetic leaves, in the layout of the ImageCLEF 2011 plant task package.

The leaves of up to 28 species are drawn from formulas: scans, scan-likes (a leaf on a sheet) and photos (a leaf or a
branch outdoors), with plants, authors, dates and places, split by plant into training and test pictures. The same
options give the same bytes.

examples:
  leafid sample leaves                                 12 species, 5 plants each, 360 pictures of 800 pixels
  leafid sample leaves --species 28 --plants 20        more of both
  leafid sample small --size 320 --only-type scan --seed 7  small scans, other leaves
"""

import argparse

from leafid.cli.arguments import add_only_type, add_options, positive_int
from leafid.cli.environment import Environment
from leafid.pictures.picture import AcquisitionType


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="folder to write, new or empty")
    parser.add_argument(
        "--species", type=positive_int, default=12, metavar="N", help="number of species, at most 28 (default: 12)"
    )
    parser.add_argument("--plants", type=positive_int, default=5, metavar="N", help="plants per species (default: 5)")
    parser.add_argument(
        "--test-plants",
        type=int,
        metavar="N",
        help="test plants per species (default: one in five, and at least 1 of 2)",
    )
    parser.add_argument(
        "--pictures", type=positive_int, default=2, metavar="N", help="pictures per plant and type (default: 2)"
    )
    parser.add_argument(
        "--size",
        type=positive_int,
        default=800,
        metavar="PIXELS",
        help="longest side of a picture (default: 800)",
    )
    add_only_type(parser, "draw this acquisition type only (default: all three)")
    add_options(parser, "seed", "jobs")
    parser.add_argument("--force", action="store_true", help="replace a collection drawn by this command")


def run(arguments: argparse.Namespace, environment: Environment) -> int:
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
    environment.print(f"  plants   {settings.n_species * plants} ({test_plants} of {plants} per species for test)")
    environment.print(f"  authors  {authors}")
    environment.print(f"  train    {in_train} pictures in {written.folder / 'Train'}")
    environment.print(f"  test     {len(pictures) - in_train} pictures in {written.folder / 'Test'}")
    return 0
