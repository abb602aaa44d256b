"""How segment, describe and predict find the acquisition type of each picture."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from leafid.pictures import AcquisitionType, Picture

if TYPE_CHECKING:
    from leafid.model.recogniser import TypeRecogniser


def assume_type(arguments: argparse.Namespace, pictures: Sequence[Picture]) -> list[Picture]:
    """Give every picture the type of ``--assume-type``, if there is one."""
    if not arguments.assume_type:
        return list(pictures)
    return [replace(picture, type=AcquisitionType(arguments.assume_type)) for picture in pictures]


def recognise_type(recognition: TypeRecogniser | None, picture: Picture) -> AcquisitionType:
    """Recognise the type of a picture whose metadata don't say it."""
    from leafid.features.type_features import TYPE_SIDE, measure_type_features
    from leafid.pictures.decoding import read_image

    assert recognition is not None, "load_recogniser found no picture of unknown type"
    return recognition.recognise(measure_type_features(read_image(picture.file, TYPE_SIDE))[None])[0][0]
