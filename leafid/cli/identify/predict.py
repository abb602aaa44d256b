"""Name the species of pictures.

For each picture, predict says how likely it shows a leaf, how likely a leaf is of a species that the model knows, and
how likely each species is. The probabilities of species hold if there is a leaf, and of a known species; they are
calibrated if the model's training set had species with several plants. If a collection has a test part, only that part
is named. A picture that can't be read is reported and skipped.

Where leaf and known species are not probable enough, the verdict is 'unknown' or 'no leaf', and --format text has a
ranking only if --top, --set or --back-off ask for it. --reject-at sets how many leaves of known species may be rejected
for that. A species is 'uncertain' where its probability, times those of a leaf and of a known species, is below 50%.

--format text is for the screen. json (a list), jsonl (a line for each picture) and csv (a row for each species of the
ranking) have everything, also for pictures that can't be read. run is the run file of the ImageCLEF plant task, one
line for each prediction: picture, species, rank, probability. It holds the ranking of every picture; --open-world
multiplies its probabilities by those of a leaf and of a known species, so that scores of pictures can be compared.
annotation2016 is the run file of another task: each species with its probability and with the bounding box of the leaf.

--output appears when it is complete. An interrupted run is started again, and finds its features in the cache.

--together makes one answer from all pictures, which show one plant, in any mix of types; --group-by makes one for each
plant of a collection, or for each folder. Every picture gets its plant's ranking and verdict. Pictures of one plant
resemble each other: how much more several of them tell was learned from held-out plants. --group-by session keeps an
answer for each picture, which is supported by the other pictures that its author took on the same day at the same
place: they show few species.

--set reports a set of species for each picture: the K likeliest (top-K), K on average (average-K), or as many as are
needed to include the correct one with probability P (coverage-P). A set may be empty; a run file then has no line for
that picture. --back-off reports one name for each picture: a species or, where no species is probable enough, a genus,
family or order ('Quercus *'), or '*', also where no leaf is found; its probability holds, as those of species do, if
there is a leaf of a known species. Both use thresholds learned from held-out plants.

examples:
  leafid predict my-leaf.jpg
  leafid predict imageclef2011 --model clef11.leafid --output run.txt
  leafid predict holiday/*.jpg --assume-type photo --top 3
  leafid predict --together front.jpg back.jpg twig.jpg
  leafid predict holiday --format json --output holiday.json
  leafid predict imageclef2011 --set average-5 --output sets.txt
  leafid predict imageclef2011 --back-off --output backed-off.txt
  leafid predict holiday/*.jpg --format annotation2016 --top 10 --output boxes.txt
  leafid predict plants --model plants.leafid --output run.txt --cluster tcp://head-node:8786
"""

import argparse

from leafid.cli.arguments import READING, add_options, number_type, positive_int
from leafid.cli.computing import add_cache
from leafid.cli.environment import Environment
from leafid.cli.outputs import text_output_path

#: Formats of run files, whose pictures are known by their file names alone.
RUN_FORMATS = ("run", "annotation2016")
FORMATS = ("text", "json", "jsonl", "csv", *RUN_FORMATS)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "pictures", metavar="PICTURE", nargs="+", help="a picture, a folder of pictures, or a collection"
    )
    parser.add_argument("--model", metavar="MODEL", help="a trained model (default: the bundled model)")
    add_options(parser, "assume-type")
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=text_output_path,
        help="write a file instead of printing (-: to stdout)",
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="format of the answers (default: text, or with --output run)",
    )
    plants = parser.add_mutually_exclusive_group()
    plants.add_argument(
        "--together", dest="group_by", action="store_const", const="all", help="all pictures show one plant: one answer"
    )
    plants.add_argument(
        "--group-by",
        choices=("plant", "folder", "session"),
        help="one answer from all pictures of a plant, as the metadata tell, or of a folder; session: pictures of an "
        "author, day and place support one another",
    )
    names = parser.add_mutually_exclusive_group()
    names.add_argument(
        "--top",
        metavar="K",
        type=positive_int,
        help="number of species for each picture (default: 5 in text, otherwise all)",
    )
    names.add_argument("--set", metavar="RULE", help="a set of species for each picture: top-K, average-K, coverage-P")
    names.add_argument(
        "--back-off", action="store_true", help="one name for each picture: a species, genus, family, order, or '*'"
    )
    parser.add_argument(
        "--reject-at",
        metavar="SHARE",
        type=number_type("a share from 0 to 1", lambda value: 0 <= value <= 1),
        help="reject pictures as 'unknown' or 'no leaf' so that this share of the leaves of known species is rejected "
        "(default: 0.05)",
    )
    parser.add_argument(
        "--open-world",
        action="store_true",
        help="in a run file, multiply probabilities by those of a leaf and of a known species",
    )
    parser.add_argument(
        "--names",
        choices=("as-is", "underscore"),
        default="as-is",
        help="names of pictures in the run file, which can't hold blanks: underscore writes them as underscores "
        "(default: %(default)s)",
    )
    add_options(parser, *READING)
    add_cache(parser)
    add_options(parser, "jobs", "cluster")


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Name the pictures; 1 when any could not be read or is left out."""
    from leafid.cli.identify.naming import name_pictures

    return name_pictures(arguments, environment)
