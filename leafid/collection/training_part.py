"""Chooses the pictures of a collection that a model may learn from."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from leafid.collection.picture import AcquisitionType, Picture
from leafid.errors import LeafidError

_log = logging.getLogger(__name__)


def select_training_pictures(
    pictures: Sequence[Picture], assume_type: AcquisitionType | None = None, source: str = "the collection"
) -> list[Picture]:
    """Choose the labelled pictures of the training part, or of all parts where there is none, each of a known type.

    With `assume_type`, every picture counts as one of this type. Without it, pictures of unknown type are left out,
    with a warning. Messages call the collection `source`. A `LeafidError` is raised when no picture is left.
    """
    parts = {picture.part for picture in pictures}
    chosen = [p for p in pictures if p.species is not None and (p.part == "train" or "train" not in parts)]
    if not chosen:
        raise LeafidError(
            f"{source}: expected pictures of known species, found {len(pictures)} without; where there is no XML, put "
            "those of a species directly into a folder named after it ('Acer campestre') and name the folder above"
        )
    if assume_type is not None:
        return [replace(picture, type=assume_type) for picture in chosen]
    typed = [picture for picture in chosen if picture.type is not None]
    if not typed:
        raise LeafidError(
            f"{source}: the acquisition type of its pictures is unknown; say --assume-type (in Python: assume_type)"
        )
    if len(typed) < len(chosen):
        _log.warning("%d pictures of unknown acquisition type are left out", len(chosen) - len(typed))
    return typed
