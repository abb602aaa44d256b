from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from leafid.pages.explaining import explain, note_missing_thumbnails
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType


@pytest.fixture(scope="module")
def explanations(model, drawn):
    answers = [answer for answer in model.identify(drawn) if answer.picture.part == "test"]
    return [(answer, explain(model, read_image(answer.picture.file), answer)) for answer in answers]


def test_every_type_is_explained(explanations):
    assert {answer.type for answer, _ in explanations} == set(AcquisitionType)
    for answer, found in explanations:
        assert found.picture == answer.picture.name
        assert answer.ranking[0][0] in found.verdict or answer.verdict == "no-leaf"
        assert (found.verdict, found.condition) == (answer.verdict_text, answer.condition)
        assert [(own.name, own.probability) for own in found.species] == answer.ranking[:5]


def test_the_outline_and_the_landmarks_lie_in_the_picture(explanations):
    for _, found in explanations:
        points = [point for polygon in (*found.outlines, *found.petioles) for point in polygon]
        points += [point for point in (found.tip, found.base) if point]
        assert points
        assert all(0 <= col <= found.width and 0 <= row <= found.height for col, row in points)


def test_experts_share_the_answer_and_each_has_its_own(explanations, model):
    for answer, found in explanations:
        identifier = model[answer.type].identifier
        assert {own.name for own in found.opinions} == set(identifier.recipe.experts)
        shares = [own.share for own in found.opinions]
        # No expert is trusted where no leaf was found.
        assert sum(shares) == pytest.approx(1) or not any(shares)
        assert shares == sorted(shares, reverse=True)
        if len(shares) == 1 and found.opinions[0].share:
            # A single expert that is fully trusted gives the answer itself.
            assert found.opinions[0].ranking[0][0] == answer.ranking[0][0]


def test_the_first_three_names_have_pictures_with_attribution(explanations):
    for answer, found in explanations:
        for own in found.species[:3]:
            assert own.thumbnails
            assert all(thumbnail.author for thumbnail in own.thumbnails)
            assert own.thumbnails[0].type is answer.type
        assert not any(own.thumbnails for own in found.species[3:])


def test_a_picture_that_is_rejected_as_no_leaf_has_no_traits_of_one(explanations, drawn, model):
    answer = next(answer for answer, found in explanations if found.traits)
    found = explain(model, read_image(answer.picture.file), replace(answer, decision="no-leaf"))
    assert found.verdict.startswith("No leaf")
    assert (found.outlines, found.traits, found.opinions, found.differences) == ((), {}, (), ())
    assert found.condition


def test_an_empty_picture_has_no_leaf(model):
    white = np.full((200, 200, 3), 255, np.uint8)
    [answer] = model.identify(white, assume_type="scan")
    found = explain(model, white, answer)
    assert found.verdict.startswith("No leaf")
    assert (found.outlines, found.traits, found.opinions, found.species) == ((), {}, (), ())


@pytest.mark.parametrize(("known", "is_uncertain"), [(0.5, True), (0.7, False), (None, False)])
def test_an_answer_is_uncertain_where_the_species_is_perhaps_unknown(known, is_uncertain, model, drawn):
    answer = next(own for own in model.identify(drawn) if own.has_leaf)
    (first, _), *rest = answer.ranking
    answer = replace(answer, leaf=0.9, known=known, decision="species", ranking=[(first, 0.85), *rest])
    found = explain(model, read_image(answer.picture.file), answer)
    assert found.verdict.startswith("Uncertain") == is_uncertain
    assert found.evidence == ("" if known is None else f"leaf 90%, of a known species {known:.0%}")


def test_a_picture_that_can_not_be_read_is_not_explained(model, tmp_path):
    (tmp_path / "a.jpg").write_text("no picture")
    [answer] = model.identify(tmp_path / "a.jpg")
    with pytest.raises(ValueError, match="could be read"):
        explain(model, np.zeros((20, 20, 3), np.uint8), answer)


def test_a_model_without_thumbnails_says_so(model, drawn):
    species = {name: structs.replace(own, thumbnails=(), traits={}) for name, own in model.species.items()}
    bare = replace(model, species=species)
    [answer, *_] = bare.identify(drawn)
    found = explain(bare, read_image(answer.picture.file), answer)
    assert found.differences == ()
    assert not any(own.thumbnails for own in found.species)
    assert any("no pictures of its species" in note for note in found.notes)
    assert note_missing_thumbnails(model) == ""
