"""Writes the run file of predict as the work goes on, and goes on with one that was interrupted."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from leafid.console.environment import Environment

if TYPE_CHECKING:
    from leafid.cli.answers import Choice
    from leafid.collection import Picture
    from leafid.features.loader import FeatureLoader
    from leafid.identification.model import Model
    from leafid.identification.prediction import Answer
    from leafid.resumable import ResumableFile

#: From answers to the lines of a run file, and how many predictions and empty sets there are in them.
Lines = Callable[[Sequence["Answer"]], tuple[str, int, int]]


def write_run_file(
    arguments: argparse.Namespace,
    model: Model,
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    choose: Choice,
    environment: Environment,
) -> int:
    """Write the run file that the arguments ask for; give the number of pictures answered."""
    from leafid.identification.prediction import predict_batches
    from leafid.resumable import open_resumable

    path = arguments.output
    localised = arguments.format == "annotation2016"
    lines = _make_localised_formatter(choose, arguments.jobs) if localised else _make_ranking_formatter(choose)
    with (
        open_resumable(path, compute_run_fingerprint(arguments, pictures)) as pieces,
        _report_resume_status(path, pieces, len(pictures), environment),
        environment.bar(len(pictures), "describe", _count_pictures(pieces)) as bar,
    ):
        batches = predict_batches(
            model,
            pictures,
            loader,
            context=arguments.context,
            n_skipped=len(pieces.records),
            progress=bar.progress,
        )
        for batch in batches:
            text, n_lines, n_empty = lines(batch.answers)
            facts = {
                "pictures": batch.n_pictures,
                "answered": len(batch.answers),
                "lines": n_lines,
                "empty": n_empty,
                "unreadable": list(batch.unreadable.values()),
            }
            pieces.append(text, facts)
            bar.set_count(_count_pictures(pieces))
    answered, n_lines, n_empty = (sum(one[name] for one in pieces.records) for name in ("answered", "lines", "empty"))
    if localised:
        environment.note(f"{path}: {n_lines} localised predictions for {answered} pictures")
    else:
        note = f"; {n_empty} sets are empty and have no line" if n_empty else ""
        environment.note(f"{path}: {n_lines} predictions for {answered} pictures{note}")
    return answered


def compute_run_fingerprint(arguments: argparse.Namespace, pictures: Sequence[Picture]) -> str:
    """Give a number for all that decides about the content of a run file.

    Parameters
    ----------
    arguments : Namespace
        Of predict. The number of processes, the cluster and the store don't count: results don't depend on them.
    pictures : sequence of Picture
        Their files by name, size and time of change.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    import leafid
    from leafid.collection import hash_file
    from leafid.features.extractor import FEATURE_VERSION
    from leafid.identification.bundled import default_model
    from leafid.identification.prediction import BATCH_SIZE

    asked = (arguments.top, str(arguments.set), arguments.back_off, arguments.context, arguments.format)
    program = (leafid.__version__, FEATURE_VERSION, BATCH_SIZE)
    total = hashlib.sha256(json.dumps([program, hash_file(arguments.model or default_model()), asked]).encode())
    for picture in pictures:
        total.update(json.dumps(_picture_state(picture)).encode() + b"\n")
    return total.hexdigest()


def _picture_state(picture: Picture) -> list[str | int | float | None]:
    place = picture.place
    where = [place.latitude, place.longitude, place.altitude] if place else []
    try:
        state = os.stat(picture.file)  # noqa: PTH116  a Path is made anew by stat(), which takes long for millions
        found = [state.st_size, state.st_mtime_ns]
    except OSError:
        found = []
    return [picture.name, picture.type, picture.date, *where, *found]


@contextmanager
def _report_resume_status(
    path: str, pieces: ResumableFile, n_pictures: int, environment: Environment
) -> Iterator[None]:
    """Say what is gone on with, and, when it is interrupted, that the same command goes on."""
    if pieces.is_restarted:
        environment.note(f"{path}: what {pieces.part} holds is of a run with other inputs or options; it is discarded")
    done = _count_pictures(pieces)
    if done:
        environment.note(f"{path}: goes on after {done} of {n_pictures} pictures, answered before")
        for one in pieces.records:
            for problem in one["unreadable"]:
                environment.warn(problem)
    try:
        yield
    except BaseException:
        done = _count_pictures(pieces)
        if done and pieces.is_resumable:
            environment.note(f"{path}: answers for {done} of {n_pictures} pictures are kept; the same command goes on")
        raise


def _count_pictures(pieces: ResumableFile) -> int:
    return sum(one["pictures"] for one in pieces.records)


def _make_ranking_formatter(choose: Choice) -> Lines:
    """Write the 2011 format."""
    from leafid.runs.imageclef2011 import format_run_line

    def lines(answers: Sequence[Answer]) -> tuple[str, int, int]:
        rankings = [(answer.picture.name, choose(answer)) for answer in answers]
        text = [
            format_run_line(name, species, rank, score)
            for name, ranking in rankings
            for rank, (species, score) in enumerate(ranking, 1)
        ]
        return "".join(text), len(text), sum(not ranking for _, ranking in rankings)

    return lines


def _make_localised_formatter(choose: Choice, jobs: int) -> Lines:
    """Write the format of the 2016 annotation task, subtask 1."""
    from leafid.identification.locating import locate
    from leafid.tasks.annotation2016.files import format_line
    from leafid.tasks.annotation2016.results import Subtask, localise_ranking

    def lines(answers: Sequence[Answer]) -> tuple[str, int, int]:
        places = locate([one.picture for one in answers], jobs)
        found = [
            (one.picture.name, localise_ranking(choose(one), place)) for one, place in zip(answers, places, strict=True)
        ]
        text = [format_line(Subtask.CONCEPTS, name, concepts) for name, concepts in found]
        return "".join(text), sum(len(concepts) for _, concepts in found), 0

    return lines
