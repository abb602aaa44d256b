from dataclasses import replace

import pytest

from leafid.model.species import Species, TraitRange
from leafid.pages.explaining import compare_species, explain
from leafid.pages.rendering import render_page
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType, Taxon


@pytest.fixture(scope="module")
def explanations(model, drawn):
    # So small a model may take a leaf for none.
    answers = [replace(answer, decision="species") for answer in model.identify(drawn / "Test")]
    return [(answer, explain(model, read_image(answer.picture.file), answer)) for answer in answers]


def test_every_type_is_explained(explanations):
    assert {answer.type for answer, _ in explanations} == set(AcquisitionType)
    for answer, explanation in explanations:
        assert explanation.answer == answer
        shown = [(species["name"], species["probability"]) for species in explanation.species]
        assert shown == [(name, answer.calibrate(probability)) for name, probability in answer.ranking[:5]]


def test_the_outline_and_the_landmarks_lie_in_the_picture(explanations):
    for _, explanation in explanations:
        points = [point for polygon in (*explanation.outlines, *explanation.petioles) for point in polygon]
        points += [point for point in (explanation.tip, explanation.base) if point]
        assert points
        assert all(0 <= col <= explanation.width and 0 <= row <= explanation.height for col, row in points)


def test_the_first_three_names_have_pictures_with_attribution(explanations):
    for answer, explanation in explanations:
        for species in explanation.species[:3]:
            assert species["thumbnails"]
            assert all(thumbnail.author for thumbnail in species["thumbnails"])
            assert species["thumbnails"][0].type is answer.type
        assert not any(species["thumbnails"] for species in explanation.species[3:])


def test_a_picture_that_is_rejected_as_no_leaf_has_no_traits_of_one(explanations, drawn, model):
    answer = next(answer for answer, explanation in explanations if explanation.traits)
    explanation = explain(model, read_image(answer.picture.file), replace(answer, decision="no-leaf"))
    assert (explanation.outlines, explanation.traits, explanation.opinions, explanation.differences) == ([], {}, [], [])


def test_a_picture_that_can_not_be_judged_has_no_names(explanations, drawn, model):
    answer = replace(explanations[0][0], decision="unclear", reasons=("it is blurred: hold the camera still",))
    explanation = explain(model, read_image(answer.picture.file), answer)
    assert (explanation.species, explanation.differences) == ([], [])
    page = render_page("explanations.html", explanations=[explanation])
    assert page.count("be judged: it is blurred: hold the camera still") == 2


def record(**ranges):
    return Species(Taxon("A a"), traits={name: TraitRange(*quantiles) for name, quantiles in ranges.items()})


RECORDS = {
    "A a": record(teeth=(28, 34, 40, 9), length_width=(2.0, 2.2, 2.4, 9), petiole=(0.1, 0.1, 0.1, 2)),
    "B b": record(teeth=(0, 0, 2, 9), length_width=(2.0, 2.3, 2.6, 9), petiole=(0.9, 0.9, 0.9, 9)),
}


def test_only_traits_in_which_the_species_differ_are_listed():
    [difference] = compare_species(RECORDS, ["A a", "B b"], {"teeth": 30, "length_width": 2.2, "petiole": 0.5})
    # The ranges of length to width overlap, and two pictures of A give no range of the petiole.
    assert (difference["title"], difference["value"], difference["favours"]) == ("teeth", 30, "A a")
    assert [traits.median for traits in difference["ranges"]] == [34, 0]


def test_a_value_between_both_speaks_for_neither():
    [difference] = compare_species(RECORDS, ["A a", "B b"], {"teeth": 5})
    assert difference["favours"] == "B b"
    even = {"A a": record(teeth=(28, 34, 40, 9)), "B b": record(teeth=(4, 10, 16, 9))}
    [difference] = compare_species(even, ["A a", "B b"], {"teeth": 22})
    assert difference["favours"] == ""
