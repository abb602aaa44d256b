from dataclasses import replace

import cv2
import numpy as np
import pytest

import leafid
from leafid.model.species import HeldOutRecord, Species, TraitRange, TypeRecord
from leafid.pages.comparing import choose_rival, compare_species
from leafid.pages.explaining import explain
from leafid.pages.rendering import format_range, render_page
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import Taxon
from leafid.translation import using_language
from tests.drawing.collection import TYPES
from tests.drawing.leaves import Form, draw_leaf


@pytest.fixture(scope="module")
def explanations(model, drawn):
    # So small a model may take a leaf for none.
    answers = [
        replace(answer, decision="species") for answer in model.identify(drawn / "Test")
    ]
    return [
        (answer, explain(model, read_image(answer.picture.file), answer))
        for answer in answers
    ]


def test_every_type_is_explained(explanations):
    assert {answer.type for answer, _ in explanations} == set(TYPES)
    for answer, explanation in explanations:
        assert explanation.answer == answer
        shown = [
            (species["name"], species["probability"]) for species in explanation.species
        ]
        assert shown == [
            (name, answer.calibrate(probability))
            for name, probability in answer.ranking[:5]
        ]


def test_lobes_that_are_leaflets_of_the_named_species_are_told_nowhere(real_data):
    # The leaflets of horse chestnuts overlap.
    folder = real_data / "imageclef2011" / "Train"
    file = folder / "2580.jpg"
    [measures] = leafid.measure(file, "scan-like")
    explanation = leafid.explain(file)
    assert explanation.answer.name == "Aesculus hippocastanum"
    assert "doesn't fit" in explanation.note
    assert not {"compound", "lobes", "teeth"} & explanation.traits.keys()
    for name in ("leaflets", "lobes", "teeth"):
        assert (measures[name], measures[f"{name}_confidence"]) == (None, 0), name
    # A simple leaf keeps what is seen.
    [measures] = leafid.measure(folder / "1879.jpg", "scan")
    assert (measures["leaflets"], measures["lobes"]) == (1, 3)


def test_the_outline_and_the_landmarks_lie_in_the_picture(explanations):
    for _, explanation in explanations:
        points = [
            point
            for polygon in (*explanation.outlines, *explanation.petioles)
            for point in polygon
        ]
        points += [point for point in (explanation.tip, explanation.base) if point]
        assert points
        assert all(
            0 <= col <= explanation.width and 0 <= row <= explanation.height
            for col, row in points
        )


def explain_blurred(model, image, blur):
    """Explain a picture as that of a known species: the confidence by trait."""
    picture = cv2.GaussianBlur(image, (0, 0), blur)
    [answer] = model.identify(picture, assume_type="scan")
    explanation = explain(model, picture, replace(answer, decision="species"))
    rows = explanation.to_dict()["statements"]
    return {row["trait"]: row["sure"] for row in rows}


def test_statements_are_less_sure_where_the_picture_is_blurred(model):
    image = np.full((600, 400, 3), 250, np.uint8)
    cv2.ellipse(image, (200, 250), (80, 200), 0, 0, 360, (40, 130, 60), -1)
    cv2.line(image, (200, 440), (200, 570), (40, 130, 60), 6)
    sharp, blurred = (explain_blurred(model, image, blur) for blur in (0.3, 4.5))
    assert sharp["length_width"] > 0.95
    assert blurred["length_width"] < sharp["length_width"]


def test_what_is_less_sure_than_not_is_left_out(model):
    redbud = draw_leaf(Form(1.12, 0.42, 0.5, cordate=0.17, petiole=0.5)).picture
    assert explain_blurred(model, redbud, 1)["margin"] > 0.9
    blurred = explain_blurred(model, redbud, 6)
    assert "margin" not in blurred
    assert blurred["form"] >= 0.5


def test_a_person_can_choose_tip_and_base(explanations, model):
    answer, explanation = next(pair for pair in explanations if pair[1].tip)
    image = read_image(answer.picture.file)
    ends = [
        share
        for column, row in (explanation.base, explanation.tip)
        for share in (
            (column - 0.5) / explanation.width,
            (row - 0.5) / explanation.height,
        )
    ]
    turned = explain(model, image, answer, ends)
    assert turned.tip == pytest.approx(explanation.base)
    assert turned.base == pytest.approx(explanation.tip)
    assert turned.traits["petiole"] != explanation.traits["petiole"]


def test_the_first_three_names_have_pictures_with_attribution(explanations):
    for answer, explanation in explanations:
        for species in explanation.species[:3]:
            assert species["thumbnails"]
            assert all(thumbnail.author for thumbnail in species["thumbnails"])
            assert species["thumbnails"][0].type is answer.type
        assert not any(species["thumbnails"] for species in explanation.species[3:])


def test_a_picture_that_is_rejected_as_no_leaf_has_no_traits_of_one(
    explanations, drawn, model
):
    answer = next(answer for answer, explanation in explanations if explanation.traits)
    explanation = explain(
        model, read_image(answer.picture.file), replace(answer, decision="no-leaf")
    )
    assert (
        explanation.outlines,
        explanation.statements,
        explanation.opinions,
        explanation.differences,
    ) == ([], [], [], [])


def test_a_picture_that_can_not_be_judged_has_names_that_it_is_most_like(
    explanations, drawn, model
):
    clear = next(shown for _, shown in explanations if shown.traits)
    answer = replace(
        clear.answer,
        decision="unclear",
        reasons=("it is blurred: hold the camera still",),
    )
    explanation = explain(model, read_image(answer.picture.file), answer)
    names = [species["name"] for species in explanation.species]
    assert names == [name for name, _ in answer.ranking[: len(names)]] != []
    # What is seen may be something else.
    assert explanation.traits == clear.traits
    assert explanation.traits_text == f"If it is a leaf: {clear.traits_text}"
    page = render_page("explanations.html", explanations=[explanation])
    assert "What it looks like, if it is a leaf" in page
    assert "What this leaf looks like" not in page
    assert "<h3>What it is most like</h3>" in page
    assert page.count("; it is blurred: hold the camera still") == 2


def record(**ranges):
    return Species(
        Taxon("A a"),
        traits={name: TraitRange(*quantiles) for name, quantiles in ranges.items()},
    )


RECORDS = {
    "A a": record(
        teeth=(28, 34, 40, 9),
        length_width=(2.0, 2.2, 2.4, 9),
        petiole=(0.1, 0.1, 0.1, 2),
    ),
    "B b": record(
        teeth=(0, 0, 2, 9), length_width=(2.0, 2.3, 2.6, 9), petiole=(0.9, 0.9, 0.9, 9)
    ),
}


def test_only_traits_in_which_the_species_differ_are_listed():
    [difference] = compare_species(
        RECORDS, ["A a", "B b"], {"teeth": 30, "length_width": 2.2, "petiole": 0.5}
    )
    # The ranges of length to width overlap, and two pictures of A give no range of the
    # petiole.
    assert (difference["title"], difference["value"], difference["favours"]) == (
        "teeth",
        30,
        "A a",
    )
    assert [traits.median for traits in difference["ranges"]] == [34, 0]


@pytest.mark.parametrize(
    ("teeth", "favours"),
    [
        (35, "A a"),
        (12, "B b"),
        (27, "neither"),
        (60, "against both"),
        # Outside both, but near the one: it speaks for none.
        (41, "neither"),
    ],
)
def test_a_value_speaks_for_a_species_only_outside_the_range_of_the_next(
    teeth, favours
):
    records = {
        "A a": record(teeth=(26, 34, 40, 9)),
        "B b": record(teeth=(4, 10, 28, 9)),
    }
    [difference] = compare_species(records, ["A a", "B b"], {"teeth": teeth})
    assert difference["favours"] == favours


def test_a_value_that_reads_as_an_end_of_a_range_lies_in_it():
    records = {
        "A a": record(apex_angle=(66.69, 75, 82, 9)),
        "B b": record(apex_angle=(20, 30, 40, 9)),
    }
    [difference] = compare_species(records, ["A a", "B b"], {"apex_angle": 66.66})
    assert (difference["value"], difference["favours"]) == (67, "A a")
    first, _ = difference["ranges"]
    assert format_range(first.low, first.high, "°") == "67 to 82°"
    assert format_range(0, 0, "%") == "0%"
    with using_language("de"):
        assert format_range(10, 12, "%") == "10 bis 12\N{NO-BREAK SPACE}%"


def test_close_names_always_have_a_table_even_where_the_species_agree():
    for value, favours in ((4, "against both"), (2.2, "neither")):
        [difference] = compare_species(RECORDS, ["A a", "B b"], {"length_width": value})
        assert difference["favours"] == favours


def test_the_look_alike_is_what_the_species_is_taken_for(explanations):
    answer, _ = explanations[0]
    first, second, *_ = (name for name, _ in answer.ranking)
    held_out = HeldOutRecord(9, 7, 9, {"C c": 2})
    species = {
        first: Species(Taxon(first), types={answer.type: TypeRecord(9, 9, held_out)}),
        second: Species(Taxon(second)),
        "C c": Species(Taxon("C c")),
    }
    # Of a model this small, no answer is sure.
    sure = replace(
        answer,
        ranking=[(first, 0.9999), (second, 0.0001)],
        p_leaf=1,
        p_known=1,
        calibration=(1, 0),
    )
    close = replace(sure, ranking=[(first, 0.6), (second, 0.4)])
    assert choose_rival(close, species) == [second]
    assert choose_rival(sure, species) == ["C c"]
    species[first] = Species(Taxon(first))
    assert choose_rival(sure, species) == []


def test_no_species_is_favoured_by_ends_that_can_not_be_told_apart(model):
    def compare(has_petiole):
        image = np.full((600, 400, 3), 250, np.uint8)
        cv2.ellipse(image, (200, 250), (80, 200), 0, 0, 360, (40, 130, 60), -1)
        if has_petiole:
            cv2.line(image, (200, 440), (200, 570), (40, 130, 60), 6)
        answer = replace(
            next(model.identify(image, assume_type="scan")),
            decision="species",
            calibration=(1.0, 0.0),
        )
        first, second, *_ = (name for name, _ in answer.ranking)
        ranges = {
            "length_width": (2, 2.5, 3, 9),
            "widest": (0.4, 0.5, 0.6, 9),
            "petiole": (0.1, 0.3, 0.5, 9),
        }
        apart = {"widest": (0.1, 0.2, 0.3, 9), "length_width": (4, 5, 6, 9)}
        known = {
            first: record(**ranges),
            second: record(**ranges | apart),
        }
        close = replace(answer, ranking=[(first, 0.6), (second, 0.4)], p_leaf=None)
        explanation = explain(
            replace(model, species={**model.species, **known}), image, close
        )
        return {
            row["title"]: row["favours"] == first for row in explanation.differences
        }

    with_petiole, without = compare(has_petiole=True), compare(has_petiole=False)
    assert with_petiole["greatest width (base 0%, tip 100%)"]
    assert without == {"length to width": True}
