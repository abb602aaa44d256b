import pytest

from leafid.features.extractor import LEAF_MEASURES, FeatureExtractor
from leafid.features.recipe import load_recipe
from leafid.pictures.picture import AcquisitionType


@pytest.mark.parametrize("type_", list(AcquisitionType))
def test_leaves_on_sheets_are_recognised_by_measures(type_):
    """Photos are recognised by all that their experts see, and have no measures."""
    recipe = load_recipe("default", type_)
    extractor = FeatureExtractor.from_recipe(recipe, {})
    experts = list(recipe.experts)
    if type_.lies_on_sheet:
        assert extractor.vector_names == [*experts, LEAF_MEASURES]
        assert extractor.leaf_vectors == [LEAF_MEASURES]
    else:
        assert extractor.vector_names == extractor.leaf_vectors == experts
