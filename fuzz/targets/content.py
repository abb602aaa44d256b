"""Drawings with unusual masks and contours, through the whole pipeline."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from fuzz.drawings import DRAWINGS
from fuzz.target import Target
from leafid import AcquisitionType, Model, describe, load_model, segment

_KINDS = tuple(DRAWINGS)
_TYPES = tuple(AcquisitionType)


@cache
def _load_model() -> Model:
    return load_model()


def target() -> Target:
    """Identify and measure a drawing, which the bytes choose, as one type."""

    def call(data: bytes, folder: Path) -> None:
        kind, type_, *seed = [*data, 0, 0]
        drawing = _KINDS[kind % len(_KINDS)]
        image = DRAWINGS[drawing](np.random.default_rng(seed))
        _check_drawing(_load_model(), image, _TYPES[type_ % len(_TYPES)], drawing)

    def make_seeds() -> list[bytes]:
        # Sheets and photos are segmented in different ways.
        types = [
            _TYPES.index(type_)
            for type_ in (AcquisitionType.SCAN_LIKE, AcquisitionType.PHOTO)
        ]
        return [
            bytes([kind, type_, 1]) for kind in range(len(_KINDS)) for type_ in types
        ]

    # The picture is identified, cut out and measured, each by itself.
    return Target("content", "pictures of anything", make_seeds, call, max_seconds=5.0)


def _check_drawing(
    model: Model, image: np.ndarray, type_: AcquisitionType, name: str
) -> None:
    """Identify and measure a picture.

    Raise if an answer is no ranking, or a measure no number.
    """
    (answer,) = model.identify(image, assume_type=type_)
    total = sum(probability for _, probability in answer.ranking)
    if answer.problem or not 0.999 < total <= 1 + 1e-9:
        raise AssertionError(
            f"{name} as {type_}: expected probabilities that sum to 1, found {total}: "
            f"{answer}"
        )
    leaf = segment(image, type_)
    if leaf.mask.any() and not all(map(np.isfinite, describe(image, leaf).values())):
        raise AssertionError(f"{name} as {type_}: expected finite measures")
