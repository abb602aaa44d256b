import pytest

from leafid.pictures.picture import AcquisitionType
from leafid.pictures.splitting.protocol import SplitProtocol
from leafid.studies.cross_validation import cross_validate

SCAN, SHEET = AcquisitionType.SCAN, AcquisitionType.SCAN_LIKE


@pytest.mark.slow
def test_each_seed_identifies_every_picture_by_a_model_that_did_not_see_its_plant(
    training, recipes, loader
):
    recipe, splits = (
        {SHEET: recipes[SHEET]},
        list(SplitProtocol("", folds=2).make_splits(training, (0, 1))),
    )
    answers = list(cross_validate(training, recipe, loader, splits))
    assert [(fold.seed, fold.fold, fold.type) for fold in answers] == [
        (s, f, SHEET) for s in (0, 1) for f in range(2)
    ]
    for fold, split in zip(answers, splits, strict=True):
        # Of whatever type: the same plant on a scan would give it away.
        plants = {training[index].plant for index in split.training}
        assert plants.isdisjoint(picture.plant for picture in fold.held_out.pictures)
    for seed in (0, 1):
        files = [
            p.file
            for fold in answers
            if fold.seed == seed
            for p in fold.held_out.pictures
        ]
        assert sorted(files) == sorted(p.file for p in training if p.type == SHEET)


def test_species_that_the_training_part_lacks_are_marked(training, recipes, loader):
    lone = [p for p in training if p.type == SHEET]
    species = lone[0].species
    kept = [p for p in lone if p.species != species or p.plant == lone[0].plant]
    answers = list(
        cross_validate(
            kept,
            {SHEET: recipes[SHEET]},
            loader,
            SplitProtocol("", folds=2).make_splits(kept, (0,)),
        )
    )
    unseen = [
        p
        for fold in answers
        for p, is_known in zip(
            fold.held_out.pictures, fold.held_out.is_known, strict=True
        )
        if not is_known
    ]
    assert [picture.species for picture in unseen] == [species]


def test_one_type_answers_for_another(training, recipes, loader):
    recipe = recipes[SCAN]
    splits = SplitProtocol("", folds=2).make_splits(training, (0,))
    answers = list(
        cross_validate(training, {SCAN: recipe}, loader, splits, test_type=SHEET)
    )
    assert {fold.type for fold in answers} == {SHEET}
    assert {p.type for fold in answers for p in fold.held_out.pictures} == {SHEET}
