"""Recipes that start from the codebooks of the bundled model."""

import numpy as np
import pytest
from msgspec import structs

from leafid.errors import LeafidError
from leafid.features.recipe import load_recipe
from leafid.model.bundled import find_bundled_model
from leafid.model.model import Model
from leafid.pictures.picture import AcquisitionType
from leafid.training.training_set import load_encoders
from tests.drawing.collection import TYPES


@pytest.mark.parametrize("acquisition_type", TYPES)
def test_the_small_recipe_has_the_codebooks_of_the_bundled_model(acquisition_type):
    recipe = load_recipe("small", acquisition_type)
    assert recipe.codebooks == "bundled"
    encoders = load_encoders(recipe)
    bundled = Model.read(find_bundled_model())[
        acquisition_type
    ].identifier.extractor.encoders
    assert encoders.keys() == bundled.keys()
    for name, encoder in encoders.items():
        for key, values in encoder.get_state().items():
            np.testing.assert_array_equal(values, bundled[name].get_state()[key])


def test_other_settings_than_those_of_the_bundled_model():
    recipe = load_recipe("small", AcquisitionType.SCAN)
    edges = recipe.experts["edges"]
    with pytest.raises(
        LeafidError,
        match=(
            r"expected an expert edges with the descriptor, .*, found others of expert "
            r"'edges'"
        ),
    ):
        load_encoders(
            structs.replace(recipe, experts={"edges": structs.replace(edges, modes=32)})
        )
    with pytest.raises(LeafidError, match="found others of expert 'other'"):
        load_encoders(structs.replace(recipe, experts={"other": edges}))
    # What is read may differ.
    assert load_encoders(
        structs.replace(
            recipe, experts={"edges": structs.replace(edges, max_patches=300)}
        )
    )
