"""The pictures of the benchmarks: evenly selected, the same every time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from leafid.features.extractor import segment_as_type
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.reading import read_collection
from leafid.segmentation.result import Segmentation

REPOSITORY = Path(__file__).parents[1]
SAMPLE = REPOSITORY / "data" / "sample"


def select_pictures(
    folder: Path, per_type: int
) -> dict[AcquisitionType, list[Picture]]:
    """Select pictures of each acquisition type, evenly spread over a collection.

    Parameters
    ----------
    folder : Path
        A collection, or the parent folder of ``imageclef2011``.
    per_type : int
    """
    inner = folder / "imageclef2011"
    pictures = (
        read_collection(inner if inner.is_dir() else folder).select_labelled().pictures
    )
    selected = {}
    for type_ in AcquisitionType:
        candidates = [picture for picture in pictures if picture.type == type_]
        indices = (
            np.linspace(0, len(candidates) - 1, min(per_type, len(candidates)))
            .round()
            .astype(int)
        )
        if candidates:
            selected[type_] = [candidates[index] for index in indices]
    return selected


def describe_sizes(pictures: Sequence[Picture]) -> str:
    """Describe number and sizes of pictures: ``20 of 800 × 533 (median) pixels``."""
    sizes = np.array(
        [sorted(read_image(picture.file).shape[:2]) for picture in pictures]
    )
    short, long = np.median(sizes, axis=0)
    return f"{len(pictures)} of {long:.0f} × {short:.0f} (median) pixels"


class Prepared:
    """A picture with its cached image and segmentation."""

    def __init__(self, picture: Picture) -> None:
        if picture.type is None:
            raise ValueError(f"{picture.file}: expected a picture of known type")
        self.picture = picture
        self.type: AcquisitionType = picture.type
        self.data = np.frombuffer(picture.file.read_bytes(), np.uint8)
        self.image = cache(self._image)
        self.segmentation = cache(self._segmentation)

    def _image(self, longest_side: int) -> np.ndarray:
        return read_image(self.picture.file, longest_side)

    def _segmentation(self, longest_side: int) -> Segmentation:
        return segment_as_type(self.image(longest_side), self.type)
