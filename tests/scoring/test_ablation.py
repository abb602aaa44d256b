import pytest

from leafid.descriptors.registry import FAMILIES
from leafid.features.recipe_reader import load_recipe, parse_recipe
from leafid.pictures import AcquisitionType
from leafid.scoring.experiment import vary_recipe


@pytest.mark.parametrize("type_", list(AcquisitionType))
@pytest.mark.parametrize("name", ["default", "fast", "baseline-bow"])
def test_every_row_is_of_another_recipe_that_a_recipe_file_may_hold(name, type_):
    base = load_recipe(name, type_)
    rows = list(vary_recipe(base, type_))
    assert len({what for what, _ in rows}) == len(rows)
    for what, recipe in rows:
        assert recipe != base, what
        assert parse_recipe(recipe.to_dict(), what) == recipe


def test_every_family_is_taken_away_or_added():
    rows = [what for what, _ in vary_recipe(load_recipe("default", AcquisitionType.SCAN), AcquisitionType.SCAN)]
    assert all((f"with {family}" in rows) != (f"without {family}" in rows) for family in FAMILIES)
