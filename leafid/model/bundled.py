"""The bundled model: where it is, and what training takes from it."""

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from leafid.descriptors.encoding import Encoder
from leafid.errors import LeafidError
from leafid.features.codebooks import learn_encoders
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe
from leafid.model.identifier import TypeModel
from leafid.model.modelfile import read_parts, read_recogniser
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


def find_encoders(recipe: Recipe, pictures: Sequence[Picture], loader: FeatureLoader, seed: int) -> dict[str, Encoder]:
    """Learn the encoders of a recipe from pictures, or take those of the bundled model if it says so."""
    return load_encoders(recipe) if recipe.codebooks == "bundled" else learn_encoders(pictures, recipe, loader, seed)


def load_encoders(recipe: Recipe) -> dict[str, Encoder]:
    """Load the encoders of a recipe from the bundled model, or raise a `LeafidError` where that has no such."""
    identifier = _read_bundled_types()[recipe.types[0]].identifier
    bundled, source = identifier.extractor.encoders, 'codebooks = "bundled"'
    local = {name: expert for name, expert in recipe.experts.items() if expert.is_local}
    for name, expert in local.items():
        if name not in bundled:
            raise LeafidError(
                f"{source}: expected an expert of the bundled model ({', '.join(bundled)}), found {name!r}"
            )
        for key in ("descriptor", "encoder", "modes", "components", "position"):
            expected, found = (getattr(own, key) for own in (identifier.recipe.experts[name], expert))
            if found != expected:
                wanted = f"{key} = {expected!r} of expert {name!r}, as in the bundled model"
                raise LeafidError(f"{source}: expected {wanted}, found {found!r}")
    return {name: bundled[name] for name in local}


@lru_cache(maxsize=1)
def _read_bundled_types() -> Mapping[AcquisitionType, TypeModel]:
    return read_parts(find_bundled_model())[0]


def load_recogniser(pictures: Sequence[Picture], model: str | os.PathLike[str] | None = None) -> TypeRecogniser | None:
    """Read the type recogniser of a model, by default the bundled one; None if the type of every picture is known.

    A `LeafidError` is raised when there is no model, or it can't be read.
    """
    if all(picture.type for picture in pictures):
        return None
    return read_recogniser(model or find_bundled_model())


def recognise_types(
    pictures: Sequence[Picture], loader: FeatureLoader, model: str | os.PathLike[str] | None = None
) -> tuple[list[Picture], dict[AcquisitionType, int]]:
    """Give readable pictures without a type one that is frequent among them, and count what was given.

    The model is that of `load_recogniser`.
    """
    recogniser = load_recogniser(pictures, model)
    return recognise_frequent_types(recogniser, pictures, loader) if recogniser else (list(pictures), {})
