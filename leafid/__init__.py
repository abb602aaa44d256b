"""Names the tree a leaf came from, by classical computer vision, on an ordinary CPU."""

from __future__ import annotations

import importlib

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
    "evaluate": "leafid.scoring.evaluation",
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
