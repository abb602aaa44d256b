import pytest

from leafid.pictures.picture import AcquisitionType
from leafid.pictures.protocols import Protocol
from leafid.training.cross_validation import cross_validate

SCAN, SHEET = AcquisitionType.SCAN, AcquisitionType.SCAN_LIKE


@pytest.mark.slow
def test_every_picture_is_identified_once_per_seed_by_a_model_that_did_not_see_its_plant(training, recipes, loader):
    recipe, splits = {SHEET: recipes[SHEET]}, list(Protocol("", folds=3).make_splits(training, (0, 1)))
    found = list(cross_validate(training, recipe, loader, splits))
    assert [(one.seed, one.fold, one.type) for one in found] == [(s, f, SHEET) for s in (0, 1) for f in range(3)]
    for one, split in zip(found, splits, strict=True):
        # Of whatever type: the same plant on a scan would give it away.
        plants = {training[index].plant for index in split.training}
        assert plants.isdisjoint(picture.plant for picture in one.held_out.pictures)
    for seed in (0, 1):
        files = [p.file for one in found if one.seed == seed for p in one.held_out.pictures]
        assert sorted(files) == sorted(p.file for p in training if p.type == SHEET)


def test_species_that_the_training_part_lacks_are_marked(training, recipes, loader):
    lone = [p for p in training if p.type == SHEET]
    species = lone[0].species
    kept = [p for p in lone if p.species != species or p.plant == lone[0].plant]
    found = list(cross_validate(kept, {SHEET: recipes[SHEET]}, loader, Protocol("", folds=2).make_splits(kept, (0,))))
    unseen = [
        p
        for one in found
        for p, is_known in zip(one.held_out.pictures, one.held_out.is_known, strict=True)
        if not is_known
    ]
    assert [picture.species for picture in unseen] == [species]


def test_one_type_answers_for_another(training, recipes, loader):
    recipe = recipes[SCAN]
    splits = Protocol("", folds=3).make_splits(training, (0,))
    found = list(cross_validate(training, {SCAN: recipe}, loader, splits, test_type=SHEET))
    assert {one.type for one in found} == {SHEET}
    assert {p.type for one in found for p in one.held_out.pictures} == {SHEET}
