"""Writes what predict answers, batch by batch, and resumes an output that was interrupted."""

import argparse
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any

import leafid
from leafid.cli.identify.answer_formats import AnswerFormat, make_run_name
from leafid.cli.identify.predict import RUN_FORMATS
from leafid.console.environment import Environment, advance
from leafid.features.extractor import FEATURE_VERSION
from leafid.features.loader import FeatureLoader
from leafid.model import prediction
from leafid.model.answer import Answer
from leafid.model.bundled import find_bundled_model
from leafid.model.model import Model
from leafid.model.prediction import Options, predict_batches
from leafid.pictures import Picture, hash_file
from leafid.resumable import ResumableFile, open_resumable

_MAX_COUNT = 2**31
_COUNTS = ("pictures", "answered", "lines", "empty")


def write_answers(
    arguments: argparse.Namespace,
    model: Model,
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    own_format: AnswerFormat,
    options: Options,
    environment: Environment,
) -> int:
    """Write the answers to ``--output``; return the number of pictures answered."""
    path = arguments.output
    with (
        open_resumable(path, compute_run_fingerprint(arguments, pictures), _is_record) as run,
        _report_resume_status(path, run, len(pictures), environment),
        environment.bar(len(pictures), "describe", _count_pictures(run)) as bar,
    ):
        n_skipped = len(run.records)
        show = partial(advance, bar)
        for answers in predict_batches(model, pictures, loader, options, n_skipped=n_skipped, progress=show):
            entries = own_format.format(answers)
            expanded = [own for answer in answers for own in answer.expand()]
            unreadable = [answer.problem for answer in expanded if answer.problem]
            is_last = _count_pictures(run) + len(expanded) == len(pictures)
            text = own_format.join(list(chain(*entries)), is_first=not run.records, is_last=is_last)
            record = {
                "pictures": len(expanded),
                "answered": len(expanded) - len(unreadable),
                "lines": sum(map(len, entries)),
                "empty": sum(not own and not answer.problem for own, answer in zip(entries, answers, strict=True)),
                "unreadable": unreadable,
            }
            run.append(text, record)
            # Those that can't be read may not pass through `progress`.
            bar.update(_count_pictures(run) - bar.n)
    totals = {key: sum(record[key] for record in run.records) for key in ("answered", "lines", "empty")}
    remark = f"; {totals['empty']} sets are empty and have no line" if totals["empty"] else ""
    environment.note(f"{path}: {totals['lines']} {own_format.kind} for {totals['answered']} pictures{remark}")
    return totals["answered"]


def print_answers(
    answers: Iterable[Answer], own_format: AnswerFormat, n_pictures: int, environment: Environment
) -> int:
    """Print the answers; return the number of pictures answered."""
    n_done = n_answered = n_entries = 0
    for answer in answers:
        (entries,) = own_format.format([answer])
        expanded = answer.expand()
        n_done += len(expanded)
        text = own_format.join(entries, is_first=not n_entries, is_last=n_done == n_pictures)
        environment.stdout.write(text)
        n_entries += len(entries)
        n_answered += sum(not own.problem for own in expanded)
    return n_answered


def compute_run_fingerprint(arguments: argparse.Namespace, pictures: Sequence[Picture]) -> str:
    """Hash everything that decides the content of a run file: program, model, options, and the state of each picture.

    The number of processes, the cluster and the feature cache are left out: results don't depend on them.
    """
    program = (leafid.__version__, FEATURE_VERSION, prediction.BATCH_SIZE)
    names = ("top", "set", "back_off", "context", "reject_at", "open_world", "group_by", "format")
    options = [str(getattr(arguments, name)) for name in names]
    total = hashlib.sha256(json.dumps([program, hash_file(arguments.model or find_bundled_model()), options]).encode())
    for picture in pictures:
        total.update(json.dumps(_list_picture_state(picture, arguments)).encode() + b"\n")
    return total.hexdigest()


def _list_picture_state(picture: Picture, arguments: argparse.Namespace) -> list[str | int | float | None]:
    place = picture.place
    coordinates = [place.latitude, place.longitude, place.altitude] if place else []
    try:
        status = os.stat(picture.file)  # noqa: PTH116  Path.stat() is slow for millions of files
        # The time of change also shows replacements that kept the size and the time of modification (cp -p, rsync).
        file_state = [status.st_size, status.st_mtime_ns, status.st_ctime_ns]
    except OSError:
        file_state = []
    name = make_run_name(picture, arguments.names) if arguments.format in RUN_FORMATS else str(picture.file)
    return [name, picture.type, picture.author, picture.date, *coordinates, *file_state]


def _is_record(record: dict[str, Any]) -> bool:
    """Check what a journal holds, as it may come from elsewhere."""
    counts, problems = [record.get(key) for key in _COUNTS], record.get("unreadable")
    are_counts = all(isinstance(count, int) and 0 <= count <= _MAX_COUNT for count in counts)
    return are_counts and isinstance(problems, list) and all(isinstance(problem, str) for problem in problems)


@contextmanager
def _report_resume_status(path: str, run: ResumableFile, n_pictures: int, environment: Environment) -> Iterator[None]:
    """Report what an earlier process has written; after an interruption, report how to resume."""
    if run.is_restarted:
        environment.note(f"{path}: what {run.part} holds is of a run with other inputs or options; it is discarded")
    if n_done := _count_pictures(run):
        environment.note(f"{path}: resuming after {n_done} of {n_pictures} pictures")
        for record in run.records:
            for problem in record["unreadable"]:
                environment.warn(problem)
    try:
        yield
    except BaseException:
        if run.part and (n_done := _count_pictures(run)):
            environment.note(f"{path}: {n_done} of {n_pictures} pictures are done; the same command resumes the run")
        raise


def _count_pictures(run: ResumableFile) -> int:
    return sum(record["pictures"] for record in run.records)
