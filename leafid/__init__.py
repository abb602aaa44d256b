"""Names the tree a leaf came from, by classical computer vision, on an ordinary CPU."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leafid.api import extend as extend
    from leafid.api import load_model as load_model
    from leafid.api import measure as measure
    from leafid.api import segment as segment
    from leafid.api import train as train
    from leafid.errors import LeafidError as LeafidError
    from leafid.model.answer import Answer as Answer
    from leafid.model.model import Model as Model
    from leafid.pictures.collection import Collection as Collection
    from leafid.pictures.decoding import read_image as read_image
    from leafid.pictures.picture import AcquisitionType as AcquisitionType
    from leafid.pictures.picture import Picture as Picture
    from leafid.pictures.reading import read_collection as read_collection
    from leafid.scoring.api import evaluate as evaluate
    from leafid.segmentation.result import Segmentation as Segmentation

__version__ = "0.1.0"

# Where each public name is defined. Imported when first used, so that `import leafid` takes no time.
_HOMES = {
    "AcquisitionType": "leafid.pictures.picture",
    "Answer": "leafid.model.answer",
    "Collection": "leafid.pictures.collection",
    "LeafidError": "leafid.errors",
    "Model": "leafid.model.model",
    "Picture": "leafid.pictures.picture",
    "Segmentation": "leafid.segmentation.result",
    "evaluate": "leafid.scoring.api",
    "extend": "leafid.api",
    "load_model": "leafid.api",
    "measure": "leafid.api",
    "read_collection": "leafid.pictures.reading",
    "read_image": "leafid.pictures.decoding",
    "segment": "leafid.api",
    "train": "leafid.api",
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'leafid' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
