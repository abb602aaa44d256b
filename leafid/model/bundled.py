"""The bundled model: where it is, and what training takes from it."""

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from leafid.descriptors.encoding import Encoder
from leafid.errors import LeafidError
from leafid.features.codebooks import learn_encoders
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe
from leafid.model.model import Model
from leafid.model.recogniser import TypeRecogniser, recognise_frequent_types
from leafid.pictures.picture import AcquisitionType, Picture

DEFAULT_NAME = "imageclef2011.leafid"
# What decides how local descriptors are encoded.
_ENCODER_KEYS = ("descriptor", "encoder", "modes", "components", "position")


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


def find_encoders(recipe: Recipe, pictures: Sequence[Picture], loader: FeatureLoader, seed: int) -> dict[str, Encoder]:
    """Learn the encoders of a recipe from pictures, or take those of the bundled model if it says so."""
    return load_encoders(recipe) if recipe.codebooks == "bundled" else learn_encoders(pictures, recipe, loader, seed)


def load_encoders(recipe: Recipe) -> dict[str, Encoder]:
    """Load the encoders of a recipe from the bundled model, or raise a `LeafidError` where that has no such."""
    identifier = _read_model(find_bundled_model())[recipe.types[0]].identifier
    local = {name: expert for name, expert in recipe.experts.items() if expert.is_local}
    for name, expert in local.items():
        own = identifier.recipe.experts.get(name)
        if own is None or any(getattr(own, key) != getattr(expert, key) for key in _ENCODER_KEYS):
            raise LeafidError(
                f'codebooks = "bundled": expected an expert {", ".join(identifier.extractor.encoders)} with the '
                f"{', '.join(_ENCODER_KEYS)} of the bundled model, found others of expert {name!r}"
            )
    return {name: identifier.extractor.encoders[name] for name in local}


@lru_cache(maxsize=1)
def _read_model(path: Path) -> Model:
    return Model.read(path, only_for_answers=True)


def load_recogniser(pictures: Sequence[Picture], model: str | os.PathLike[str] | None = None) -> TypeRecogniser | None:
    """Read the type recogniser of a model, by default the bundled one; None if the type of every picture is known."""
    return None if all(p.type for p in pictures) else _read_model(Path(model or find_bundled_model())).recogniser


def recognise_types(
    pictures: Sequence[Picture], loader: FeatureLoader, recogniser: TypeRecogniser | None = None
) -> tuple[list[Picture], dict[AcquisitionType, int]]:
    """Give readable pictures without a type one that is frequent among them, and count what was given.

    The recogniser is that of the bundled model by default.
    """
    used = recogniser or load_recogniser(pictures)
    return recognise_frequent_types(used, pictures, loader) if used else (list(pictures), {})
