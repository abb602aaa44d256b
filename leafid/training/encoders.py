"""The encoders of local descriptors: learned from training pictures, or those of the bundled model."""

from collections.abc import Sequence

from leafid.descriptors.encoding import Encoder
from leafid.errors import LeafidError
from leafid.features.codebooks import learn_encoders
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe
from leafid.model.bundled import find_bundled_model, read_once
from leafid.pictures.picture import Picture

# What decides how local descriptors are encoded.
_ENCODER_KEYS = ("descriptor", "encoder", "modes", "components", "position")


def find_encoders(recipe: Recipe, pictures: Sequence[Picture], loader: FeatureLoader, seed: int) -> dict[str, Encoder]:
    """Learn the encoders of a recipe from pictures, or take those of the bundled model if it says so."""
    return load_encoders(recipe) if recipe.codebooks == "bundled" else learn_encoders(pictures, recipe, loader, seed)


def load_encoders(recipe: Recipe) -> dict[str, Encoder]:
    """Load the encoders of a recipe from the bundled model, or raise a `LeafidError` where it has others."""
    identifier = read_once(find_bundled_model())[recipe.types[0]].identifier
    local = {name: expert for name, expert in recipe.experts.items() if expert.is_local}
    for name, expert in local.items():
        bundled = identifier.recipe.experts.get(name)
        if bundled is None or any(getattr(bundled, key) != getattr(expert, key) for key in _ENCODER_KEYS):
            raise LeafidError(
                f'codebooks = "bundled": expected an expert {", ".join(identifier.extractor.encoders)} with the '
                f"{', '.join(_ENCODER_KEYS)} of the bundled model, found others of expert {name!r}"
            )
    return {name: identifier.extractor.encoders[name] for name in local}
