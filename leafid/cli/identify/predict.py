"""Name the species of pictures.

For each picture, predict says how likely it shows a leaf, how likely a leaf is of a species that the model knows, and
how likely each species is. The probabilities of species hold if there is a leaf, and of a known species; they are
calibrated if the model's training set had species with several plants. If a collection has a test part, only that part
is named. A picture that can't be read is reported and skipped.

Where leaf and known species are not probable enough, the verdict is 'unknown' or 'no leaf', and --format text has a
ranking only if --top, --set or --back-off ask for it. --reject-at sets how many leaves of known species may be rejected
for that.

--format text is for the screen. json (a list), jsonl (a line for each picture) and csv (a row for each species of the
ranking) have everything, also for pictures that can't be read. run is the run file of the ImageCLEF plant task, one
line for each prediction: picture, species, rank, probability. It holds the ranking of every picture; --open-world
multiplies its probabilities by those of a leaf and of a known species, so that scores of pictures can be compared.
annotation2016 is the run file of another task: each species with its probability and with the bounding box of the leaf.

What goes to --output is written to FILE.part and renamed to FILE when it is complete. The same command resumes an
interrupted run.

--together makes one answer from all pictures, which show one plant, in any mix of types; --group-by makes one for each
plant of a collection, or for each folder. Every picture gets its plant's ranking and verdict. Pictures of one plant
resemble each other: how much more several of them tell was learned from held-out plants.

--set reports a set of species for each picture: the K likeliest (top-K), K on average (average-K), or as many as are
needed to include the correct one with probability P (coverage-P). A set may be empty; a run file then has no line for
that picture. --back-off reports one name for each picture: a species or, where no species is probable enough, a genus,
family or order ('Quercus *'), or '*', also where no leaf is found; its probability holds, as those of species do, if
there is a leaf of a known species. Both use thresholds learned from held-out plants.

--context also uses where and on which day of the year a picture was taken, as far as its metadata say, and as far as
training found that this helps at places outside the training set.

examples:
  leafid predict my-leaf.jpg
  leafid predict imageclef2011 --model clef11.leafid --output run.txt
  leafid predict holiday/*.jpg --assume-type photo --top 3
  leafid predict --together front.jpg back.jpg twig.jpg
  leafid predict holiday --format json --output holiday.json
  leafid predict imageclef2011 --set average-5 --output sets.txt
  leafid predict imageclef2011 --back-off --output backed-off.txt
  leafid predict imageclef2011 --context --output in-context.txt
  leafid predict holiday/*.jpg --format annotation2016 --top 10 --output boxes.txt
  leafid predict plants --model plants.leafid --output run.txt --cluster tcp://head-node:8786
"""

import argparse
from collections.abc import Sequence

from leafid.cli.computing import add_cache, on_workers, open_loader
from leafid.cli.identify.answer_formats import FORMATS, RUN_FORMATS, check_localised_names, make_format, make_run_name
from leafid.cli.identify.answers import check_rejection, check_thresholds, make_selector, report_context
from leafid.cli.identify.run_writer import print_answers, write_answers
from leafid.cli.picture_types import assume_type
from leafid.collection import Picture, find_name_clashes, read_and_warn
from leafid.console.arguments import (
    READING,
    add_assume_type,
    add_options,
    get_reading_options,
    number_type,
    positive_int,
)
from leafid.console.environment import Environment
from leafid.console.outputs import refuse_inputs, text_output_path
from leafid.errors import LeafidError, ProblemsError, UsageError
from leafid.files import check_writable
from leafid.identification.bundled import find_bundled_model


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "pictures", metavar="PICTURE", nargs="+", help="a picture, a folder of pictures, or a collection"
    )
    parser.add_argument("--model", metavar="MODEL", help="a trained model (default: the bundled model)")
    add_assume_type(parser)
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
        choices=("plant", "folder"),
        help="one answer from all pictures of a plant, as the metadata tell, or of a folder",
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
        "--context", action="store_true", help="also use place and day of the year where they are known"
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
    _parse_options(arguments)
    model_file = arguments.model or find_bundled_model()
    if arguments.output:
        # Checked before the work starts.
        refuse_inputs(arguments.output, [model_file, *arguments.pictures])
        check_writable(arguments.output)

    from leafid.classifiers.rejection import REJECTED_SHARE
    from leafid.identification.modelfile import read_model
    from leafid.identification.prediction import Options, predict

    model = read_model(model_file)
    pictures, is_incomplete = _read_pictures(arguments, environment)
    check_thresholds(model, pictures, arguments)
    check_rejection(model, arguments)
    if arguments.format == "annotation2016":
        check_localised_names(model)
    if arguments.context:
        report_context(model, pictures, environment)
    reject_at = REJECTED_SHARE if arguments.reject_at is None else arguments.reject_at
    options = Options(arguments.context, reject_at, arguments.back_off, arguments.group_by)
    own_format = make_format(arguments, make_selector(arguments, model))
    with on_workers(arguments, arguments.pictures), open_loader(arguments, environment) as loader:
        if arguments.output:
            n_answered = write_answers(arguments, model, pictures, loader, own_format, options, environment)
        else:
            answers = predict(model, pictures, loader, options)
            n_answered = print_answers(answers, own_format, len(pictures), environment)
    n_failed = len(pictures) - n_answered
    if n_failed:
        environment.note(f"leafid: {n_failed} of {len(pictures)} pictures could not be read")
    return 1 if n_failed or is_incomplete else 0


def _parse_options(arguments: argparse.Namespace) -> None:
    from leafid.classifiers.thresholds import SetRule

    arguments.format = arguments.format or ("run" if arguments.output else "text")
    if arguments.format == "annotation2016" and arguments.back_off:
        raise UsageError("expected species with --format annotation2016; leave out --back-off")
    if arguments.names != "as-is" and arguments.format not in RUN_FORMATS:
        raise UsageError(f"expected --format run with --names {arguments.names}, which is about names in run files")
    if arguments.reject_at is not None and arguments.format in RUN_FORMATS:
        raise UsageError(
            f"expected --reject-at without --format {arguments.format}: a run file holds the ranking of every picture"
        )
    if arguments.open_world and arguments.format != "run":
        raise UsageError(f"expected --format run with --open-world; {arguments.format} has the probabilities")
    if arguments.group_by and arguments.context:
        raise UsageError("expected --context without --together and --group-by: it would count once for each picture")
    if arguments.set:
        arguments.set = SetRule.parse(arguments.set)
    if arguments.context and (arguments.back_off or (arguments.set and arguments.set.kind != "top")):
        raise UsageError(
            "expected --context without --back-off and with top-K sets only: the thresholds of the others were learned "
            "without context"
        )
    if arguments.group_by and arguments.set and arguments.set.kind != "top":
        raise UsageError(
            "expected top-K sets with --together and --group-by: the thresholds of the others were learned from single "
            "pictures"
        )


def _read_pictures(arguments: argparse.Namespace, environment: Environment) -> tuple[list[Picture], bool]:
    """List the pictures to name; also tell whether any of those on the command line are left out."""
    collection = read_and_warn(arguments.pictures, **get_reading_options(arguments), unlabelled=True)
    pictures = list(collection.pictures)
    if any(picture.part == "test" for picture in pictures):
        pictures = [picture for picture in pictures if picture.part == "test"]
    if arguments.group_by == "plant" and not any(picture.plant for picture in pictures):
        raise LeafidError(
            f"expected pictures whose metadata tell their plants, found none among {len(pictures)}; "
            "use --group-by folder, or --together for a single plant"
        )
    n_found = len(pictures)
    if arguments.format in RUN_FORMATS:
        pictures = _keep_writable(pictures, arguments, environment)
        clashes = find_name_clashes(pictures, lambda picture: make_run_name(picture, arguments.names))
        problems = [
            f"{name}: two pictures have this name ({', '.join(str(picture.file) for picture in same)}); "
            "a run file can't tell them apart: name them in two runs, or rename one"
            for name, same in clashes.items()
        ]
        if problems:
            raise ProblemsError(problems)
    return assume_type(arguments, pictures), collection.is_incomplete or len(pictures) < n_found


def _keep_writable(
    pictures: Sequence[Picture], arguments: argparse.Namespace, environment: Environment
) -> list[Picture]:
    """Leave out, with a warning, the pictures whose names a run file can't hold; raise if none remains."""
    kept, problems = [], []
    for picture in pictures:
        problem = _check_name(make_run_name(picture, arguments.names), arguments.format)
        if problem is None:
            kept.append(picture)
        else:
            has_blanks = picture.name.split() != [picture.name]
            remedy = "use --names underscore, or rename the file" if has_blanks else "rename the file"
            problems.append(f"{picture.file}: {problem}; {remedy}")
    if not kept:
        raise ProblemsError(problems)
    for line in problems:
        environment.warn(f"{line}; it is left out")
    return kept


def _check_name(name: str, run_format: str) -> str | None:
    """Give the reason why a run file can't hold a picture's name, if there is any."""
    from leafid.runs import find_name_problem

    if run_format == "annotation2016" and not name.isascii():
        return "expected a name in ASCII, as the run files of that task are"
    return find_name_problem(name)
