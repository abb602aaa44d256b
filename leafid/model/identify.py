"""Answers for whatever a Python user has: paths, folders, collections, images in memory."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count, groupby
from pathlib import Path
from typing import cast

import numpy as np

from leafid.errors import LeafidError
from leafid.features.loader import FeatureLoader
from leafid.features.type_features import TYPE_SIDE, measure_type_features
from leafid.model.answer import Answer
from leafid.model.model import Model
from leafid.model.plants import fuse_answers
from leafid.model.prediction import Options, back_off_answer, make_answers, predict
from leafid.pictures.collection import Collection
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.reading import read_and_warn
from leafid.segmentation.result import Image, shrink

Source = str | os.PathLike[str] | Image | Picture | Collection
Sources = Source | Iterable[Source]


def identify(
    model: Model, sources: Sources, assume_type: AcquisitionType | str | None, jobs: int, options: Options
) -> Iterator[Answer]:
    """Rank the model's species for pictures; `leafid.Model.identify` documents it."""
    type_ = AcquisitionType.parse(assume_type) if assume_type else None
    if type_ is not None:
        model.identifier(type_)
    is_single = isinstance(sources, (str, os.PathLike, np.ndarray, Picture, Collection))
    items = cast(Iterable[Source], [sources] if is_single else sources)
    numbers = count(1)
    # Files that follow one another go to the workers together; images in memory are answered here, one by one.
    for is_image, group in groupby(items, lambda item: isinstance(item, np.ndarray)):
        if is_image:
            for image in group:
                yield _identify_image(model, cast(Image, image), type_, f"image {next(numbers)}", options)
        else:
            yield from predict(model, _list_pictures(group, type_), FeatureLoader(jobs=jobs), options)


def identify_plant(
    model: Model, sources: Sources, assume_type: AcquisitionType | str | None, jobs: int, options: Options
) -> Answer:
    """Give one answer from several pictures of a plant; `leafid.Model.identify_plant` documents it."""
    single = replace(options, back_off=False)
    answers = list(identify(model, sources, assume_type, jobs, single))
    if not answers:
        raise LeafidError("expected at least one picture of the plant, found none")
    answer = fuse_answers(model, answers, options.reject_at)
    return back_off_answer(answer, model) if options.back_off else answer


def _identify_image(model: Model, image: Image, assumed: AcquisitionType | None, name: str, options: Options) -> Answer:
    type_, probability = assumed, None
    if type_ is None:
        type_, probability = model.type_recogniser.recognise(measure_type_features(shrink(image, TYPE_SIDE)))
    extractor = model.identifier(type_).extractor
    features = extractor.extract(shrink(image, extractor.longest_side), type_)
    (answer,) = make_answers(model, [(Picture(Path(name), type=type_), probability)], [features], options)
    return answer


def _list_pictures(sources: Iterable[Source], assumed: AcquisitionType | None) -> list[Picture]:
    pictures: list[Picture] = []
    paths: list[str] = []
    # Paths that follow one another are read together: one that leads nowhere then costs only itself.
    for source in (*sources, None):
        if isinstance(source, (str, os.PathLike)):
            paths.append(os.fspath(source))
            continue
        if paths:
            pictures += read_and_warn(paths, unlabelled=True).pictures
            paths = []
        if isinstance(source, Collection):
            pictures += source.pictures
        elif isinstance(source, Picture):
            pictures.append(source)
    return [replace(picture, type=assumed) for picture in pictures] if assumed else pictures
