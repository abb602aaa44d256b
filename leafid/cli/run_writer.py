"""Writes the run file of predict batch by batch, and resumes one that was interrupted."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from leafid.cli.answers import Selector
from leafid.collection import Picture, hash_file
from leafid.console.environment import Environment
from leafid.identification.bundled import find_bundled_model
from leafid.resumable import ResumableFile, open_resumable
from leafid.tasks.annotation2016.files import format_line
from leafid.tasks.annotation2016.results import Subtask, localise_ranking

if TYPE_CHECKING:
    from leafid.features.loader import FeatureLoader
    from leafid.identification.model import Model
    from leafid.identification.prediction import Answer

#: From answers to the text of a run file, its number of predictions, and its number of empty sets.
Formatter = Callable[[Sequence["Answer"]], tuple[str, int, int]]

_RECORD_TYPES = {"pictures": int, "answered": int, "lines": int, "empty": int, "unreadable": list}


def write_run_file(
    arguments: argparse.Namespace,
    model: Model,
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    select: Selector,
    environment: Environment,
) -> int:
    """Write the run file ``--output`` in the format ``--format``; return the number of pictures answered."""
    from leafid.identification.prediction import predict_batches

    path = arguments.output
    is_localised = arguments.format == "annotation2016"
    if is_localised:
        format_answers = _make_localised_formatter(select, arguments.names, arguments.jobs)
    else:
        format_answers = _make_ranking_formatter(select, arguments.names)
    with (
        open_resumable(path, compute_run_fingerprint(arguments, pictures), _RECORD_TYPES) as run,
        _report_resume_status(path, run, len(pictures), environment),
        environment.bar(len(pictures), "describe", _count_pictures(run)) as bar,
    ):
        batches = predict_batches(
            model,
            pictures,
            loader,
            context=arguments.context,
            n_skipped=len(run.records),
            progress=bar.progress,
        )
        for batch in batches:
            text, n_lines, n_empty = format_answers(batch.answers)
            record = {
                "pictures": batch.n_pictures,
                "answered": len(batch.answers),
                "lines": n_lines,
                "empty": n_empty,
                "unreadable": list(batch.unreadable.values()),
            }
            run.append(text, record)
            bar.set_count(_count_pictures(run))
    totals = {key: sum(record[key] for record in run.records) for key in ("answered", "lines", "empty")}
    kind = "localised predictions" if is_localised else "predictions"
    remark = f"; {totals['empty']} sets are empty and have no line" if totals["empty"] else ""
    environment.note(f"{path}: {totals['lines']} {kind} for {totals['answered']} pictures{remark}")
    return totals["answered"]


def make_run_name(picture: Picture, naming: str) -> str:
    """Return the name of a picture in the run file; with the naming ``underscore``, blanks become underscores."""
    return re.sub(r"\s", "_", picture.name) if naming == "underscore" else picture.name


def compute_run_fingerprint(arguments: argparse.Namespace, pictures: Sequence[Picture]) -> str:
    """Hash everything that decides the content of a run file: program, model, options, and the state of each picture.

    The number of processes, the cluster and the feature cache are left out: results don't depend on them.
    """
    import leafid
    from leafid.features.extractor import FEATURE_VERSION
    from leafid.identification.prediction import BATCH_SIZE

    program = (leafid.__version__, FEATURE_VERSION, BATCH_SIZE)
    options = (arguments.top, str(arguments.set), arguments.back_off, arguments.context, arguments.format)
    total = hashlib.sha256(json.dumps([program, hash_file(arguments.model or find_bundled_model()), options]).encode())
    for picture in pictures:
        total.update(json.dumps(_list_picture_state(picture, arguments.names)).encode() + b"\n")
    return total.hexdigest()


def _list_picture_state(picture: Picture, naming: str) -> list[str | int | float | None]:
    place = picture.place
    coordinates = [place.latitude, place.longitude, place.altitude] if place else []
    try:
        status = os.stat(picture.file)  # noqa: PTH116  Path.stat() is slow for millions of files
        # The time of change also shows replacements that kept the size and the time of modification (cp -p, rsync).
        file_state = [status.st_size, status.st_mtime_ns, status.st_ctime_ns]
    except OSError:
        file_state = []
    return [make_run_name(picture, naming), picture.type, picture.date, *coordinates, *file_state]


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
        if run.is_resumable and (n_done := _count_pictures(run)):
            environment.note(f"{path}: {n_done} of {n_pictures} pictures are done; the same command resumes the run")
        raise


def _count_pictures(run: ResumableFile) -> int:
    return sum(record["pictures"] for record in run.records)


def _make_ranking_formatter(select: Selector, naming: str) -> Formatter:
    """Format answers as the run file of the ImageCLEF 2011 plant task."""
    from leafid.runs.imageclef2011 import format_run_line

    def format_answers(answers: Sequence[Answer]) -> tuple[str, int, int]:
        rankings = [(make_run_name(answer.picture, naming), select(answer)) for answer in answers]
        lines = [
            format_run_line(name, species, rank, score)
            for name, ranking in rankings
            for rank, (species, score) in enumerate(ranking, 1)
        ]
        return "".join(lines), len(lines), sum(not ranking for _, ranking in rankings)

    return format_answers


def check_localised_names(model: Model) -> None:
    """Raise before the work starts if the format of the ImageCLEF 2016 annotation task can't hold a species' name."""
    for species in model.species:
        format_line(Subtask.CONCEPTS, "species", localise_ranking([(species, 1.0)], (0, 1, 0, 1)))


def _make_localised_formatter(select: Selector, naming: str, jobs: int) -> Formatter:
    """Format answers as the run file of the ImageCLEF 2016 annotation task, subtask 1."""
    from leafid.identification.locating import locate_leaves

    def format_answers(answers: Sequence[Answer]) -> tuple[str, int, int]:
        boxes = locate_leaves([answer.picture for answer in answers], jobs)
        concepts = [localise_ranking(select(answer), box) for answer, box in zip(answers, boxes, strict=True)]
        lines = [
            format_line(Subtask.CONCEPTS, make_run_name(answer.picture, naming), found)
            for answer, found in zip(answers, concepts, strict=True)
        ]
        return "".join(lines), sum(map(len, concepts)), 0

    return format_answers
