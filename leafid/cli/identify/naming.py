"""What predict does: reads the pictures, and has them identified and the answers written."""

import argparse
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import IO

from leafid.cli.arguments import get_reading_options
from leafid.cli.computing import on_workers, open_loader
from leafid.cli.environment import Environment, advance
from leafid.cli.identify.answer_formats import AnswerFormat, check_localised_names, make_format, make_run_name
from leafid.cli.identify.answers import check_rejection, check_thresholds, make_selector
from leafid.cli.identify.predict import RUN_FORMATS
from leafid.cli.outputs import refuse_inputs
from leafid.cli.picture_types import assume_type
from leafid.errors import LeafidError, ProblemsError, UsageError
from leafid.files import check_writable, open_output
from leafid.learning.rejection import REJECTED_SHARE
from leafid.learning.thresholds import SetRule
from leafid.model.answer import Answer
from leafid.model.bundled import find_bundled_model
from leafid.model.model import Model, Options
from leafid.model.sessions import find_session
from leafid.pictures import Picture, find_name_clashes, read_and_warn
from leafid.scoring.runs import find_name_problem


def name_pictures(arguments: argparse.Namespace, environment: Environment) -> int:
    """Name the pictures by the options of predict; 1 when any could not be read or is left out."""
    _parse_options(arguments)
    model_file = arguments.model or find_bundled_model()
    if arguments.output:
        # Checked before the work starts.
        refuse_inputs(arguments.output, [model_file, *arguments.pictures])
        check_writable(arguments.output)
    model = Model.read(model_file)
    pictures, is_incomplete = _read_pictures(arguments, environment)
    check_thresholds(model, pictures, arguments)
    check_rejection(model, arguments)
    if arguments.format == "annotation2016":
        check_localised_names(model)
    reject_at = REJECTED_SHARE if arguments.reject_at is None else arguments.reject_at
    options = Options(reject_at, arguments.back_off, arguments.group_by)
    own_format = make_format(arguments, make_selector(arguments, model))
    with on_workers(arguments, arguments.pictures), open_loader(arguments, environment) as loader:
        if not arguments.output:
            batches = model.predict_batches(pictures, loader, options)
            n_answered, *_ = _write_answers(environment.stdout, batches, own_format, len(pictures))
        else:
            with (
                open_output(arguments.output) as stream,
                environment.bar(len(pictures), "describe") as bar,
            ):
                batches = model.predict_batches(pictures, loader, options, progress=partial(advance, bar))
                n_answered, n_entries, n_empty = _write_answers(stream, batches, own_format, len(pictures))
            remark = f"; {n_empty} sets are empty and have no line" if n_empty else ""
            environment.note(f"{arguments.output}: {n_entries} {own_format.kind} for {n_answered} pictures{remark}")
    n_failed = len(pictures) - n_answered
    if n_failed:
        environment.note(f"leafid: {n_failed} of {len(pictures)} pictures could not be read")
    return 1 if n_failed or is_incomplete else 0


def _write_answers(
    stream: IO[str], batches: Iterable[list[Answer]], own_format: AnswerFormat, n_pictures: int
) -> tuple[int, int, int]:
    """Write the answers batch by batch; return the numbers of pictures answered, of entries, and of empty sets."""
    n_done = n_answered = n_entries = n_empty = 0
    for number, answers in enumerate(batches):
        entries = own_format.format(answers)
        expanded = [own for answer in answers for own in answer.expand()]
        n_done += len(expanded)
        n_answered += sum(not own.problem for own in expanded)
        n_entries += sum(map(len, entries))
        n_empty += sum(not own and not answer.problem for own, answer in zip(entries, answers, strict=True))
        text = own_format.join(list(chain(*entries)), is_first=number == 0, is_last=n_done == n_pictures)
        # A file name may hold bytes that are no text.
        stream.write(text.encode(errors="backslashreplace").decode())
        stream.flush()
    return n_answered, n_entries, n_empty


def _parse_options(arguments: argparse.Namespace) -> None:
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
    if arguments.set:
        arguments.set = SetRule.parse(arguments.set)
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
    if arguments.group_by == "session" and all(find_session(picture) == picture.file for picture in pictures):
        raise LeafidError(
            f"expected pictures whose metadata tell the day, and the author or the coordinates, found none among "
            f"{len(pictures)}; leave out --group-by session"
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
        name = make_run_name(picture, arguments.names)
        problem = find_name_problem(name)
        if arguments.format == "annotation2016" and not name.isascii():
            problem = "expected a name in ASCII, as the run files of that task are"
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
