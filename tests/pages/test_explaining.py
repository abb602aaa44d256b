from dataclasses import replace

import pytest

from leafid.pages.explaining import explain
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
