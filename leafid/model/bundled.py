"""The bundled model: where it is, and its recogniser of acquisition types."""

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from leafid.errors import LeafidError
from leafid.features.loader import FeatureLoader
from leafid.model.model import Model
from leafid.model.recogniser import TypeRecogniser, recognise_frequent_types
from leafid.pictures.picture import AcquisitionType, Picture

DEFAULT_NAME = "imageclef2011.leafid"


def find_bundled_model() -> Path:
    """Return the path of the model that is used where none is named."""
    package = Path(__file__).resolve().parents[1]
    # Installed, models/ lies inside the package; in a checkout, beside it.
    for folder in (package / "models", package.parent / "models"):
        if (folder / DEFAULT_NAME).is_file():
            return folder / DEFAULT_NAME
    raise LeafidError(
        f"the bundled model ({DEFAULT_NAME}) is missing from this installation; "
        "name one with --model, or train one with 'leafid train'; to recognise no types, say --assume-type"
    )


@lru_cache(maxsize=1)
def read_once(path: Path) -> Model:
    """Read a model for answers, the same object for the same path."""
    return Model.read(path, only_for_answers=True)


def load_recogniser(pictures: Sequence[Picture], model: str | os.PathLike[str] | None = None) -> TypeRecogniser | None:
    """Read the type recogniser of a model, by default the bundled one; None if the type of every picture is known."""
    return None if all(p.type for p in pictures) else read_once(Path(model or find_bundled_model())).recogniser


def recognise_types(
    pictures: Sequence[Picture], loader: FeatureLoader, recogniser: TypeRecogniser | None = None
) -> tuple[list[Picture], dict[AcquisitionType, int]]:
    """Give readable pictures without a type one that is frequent among them, and count what was given.

    The recogniser is that of the bundled model by default.
    """
    used = recogniser or load_recogniser(pictures)
    return recognise_frequent_types(used, pictures, loader) if used else (list(pictures), {})
