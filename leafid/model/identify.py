"""Answers for whatever a Python user has: paths, folders, collections, pictures in memory."""

import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from leafid.errors import InputError, LeafidError
from leafid.features.loader import FeatureLoader
from leafid.model.answer import Answer
from leafid.model.model import Model
from leafid.model.plants import fuse_answers
from leafid.model.prediction import Options, back_off_answer, predict
from leafid.pictures.collection import Collection
from leafid.pictures.conversion import EXPECTED, is_one_picture, to_picture
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.reading import read_and_warn

_log = logging.getLogger(__name__)


def identify(
    model: Model, sources: Any, assume_type: AcquisitionType | str | None, jobs: int, options: Options
) -> Iterator[Answer]:
    """Rank the model's species for pictures; `leafid.Model.identify` documents it."""
    type_ = AcquisitionType.parse(assume_type) if assume_type else None
    if type_ is not None:
        model.identifier(type_)
    pictures = list_pictures(sources)
    if type_ is not None:
        pictures = [replace(picture, type=type_) for picture in pictures]
    yield from predict(model, pictures, FeatureLoader(jobs=jobs), options)


def identify_plant(
    model: Model, sources: Any, assume_type: AcquisitionType | str | None, jobs: int, options: Options
) -> Answer:
    """Give one answer from several pictures of a plant; `leafid.Model.identify_plant` documents it."""
    single = replace(options, back_off=False)
    answers = list(identify(model, sources, assume_type, jobs, single))
    if not answers:
        raise LeafidError("expected at least one picture of the plant, found none")
    answer = fuse_answers(model, answers, options.reject_at)
    return back_off_answer(answer, model) if options.back_off else answer


def list_pictures(sources: Any) -> list[Picture]:
    """List the pictures of a path, picture in memory, `Picture`, `Collection`, or an iterable of these, in order.

    Among several, a path that can't be read remains in the list, for an answer that says why.
    """
    if isinstance(sources, (str, os.PathLike)):
        return list(read_and_warn(sources, unlabelled=True).pictures)
    if isinstance(sources, Collection):
        return list(sources.pictures)
    if is_one_picture(sources):
        return [to_picture(sources, "picture")]
    if not isinstance(sources, Iterable):
        raise InputError(f"pictures: {EXPECTED}, or several of these, found {type(sources).__name__}")
    return [picture for index, source in enumerate(sources) for picture in _list_item(source, f"pictures[{index}]")]


def _list_item(source: Any, name: str) -> Iterable[Picture]:
    if isinstance(source, Collection):
        return source.pictures
    if isinstance(source, (str, os.PathLike)) and Path(source).exists():
        try:
            return read_and_warn(source, unlabelled=True).pictures
        except LeafidError as error:
            _log.warning("%s", error)
    return [to_picture(source, name)]
