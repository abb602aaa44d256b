import itertools
import json

import cv2
import numpy as np
import pytest

from leafid.cli.tasks import study_interpretation as study_command
from leafid.tasks.interpretation.alterations import ALTERATIONS, study_alterations
from leafid.tasks.interpretation.box import Box
from leafid.tasks.interpretation.metric import Parameters
from leafid.tasks.interpretation.region import BoxedObject, Region, make_objects
from tests.tasks.coco_writing import write_coco

STRENGTHS = [0, 0.25, 0.5, 0.75, 1]
PICTURE = [BoxedObject(name, Box(200 * i, 100, 40, 30)) for i, name in enumerate(["oak", "ash", "oak", "elm"])]


def study(name, objects=PICTURE, parameters=None):
    return study_alterations([objects, []], STRENGTHS, parameters or Parameters(), [name])[name]


def test_the_command_knows_all_alterations():
    assert tuple(ALTERATIONS) == study_command._ALTERATIONS


@pytest.mark.parametrize("name", ALTERATIONS)
def test_unaltered_objects_have_no_error_and_more_alteration_costs_more(name):
    errors = study(name)
    assert errors[0] == 0
    assert all(weaker <= stronger for weaker, stronger in itertools.pairwise(errors))
    # Halves are inside their object, so they cost nothing.
    assert errors[-1] > 0 or name == "split"


def test_errors_by_hand():
    assert study("remove") == [0, 1 / 4, 2 / 4, 3 / 4, 1]
    assert study("add") == [0, 1 / 5, 2 / 6, 3 / 7, 4 / 8]
    assert study("relabel") == pytest.approx([0, 0.05, 0.1, 0.15, 0.2])
    # The error of 0.8 times the shift, until the overlap of 1/7 is no match. A quarter of 30 rows is rounded to 8.
    assert study("shift") == pytest.approx([0, 0.2, 0.4, 1, 1], abs=0.01)
    # One region contains the other, until the overlap of 1/6.25 at a factor of 2.5 is no match.
    assert study("scale") == [0, 0, 0, 1, 1]
    # Each of up to four merged objects has an overlap of at least 1/4; names other than the first are wrong.
    assert study("merge") == pytest.approx([0, 0, 0.2 / 4, 0.2 / 4, 0.4 / 4])
    # At a threshold of 0.5 the merged objects are missed, and one of them is paired with what is found.
    assert study("merge", parameters=Parameters(threshold=0.5)) == pytest.approx([0, 0, 2 / 4, 3 / 4, 1])


def test_a_single_class_is_relabelled_as_another():
    objects = [item._replace(name="oak") for item in PICTURE]
    assert study("relabel", objects) == pytest.approx([0, 0.05, 0.1, 0.15, 0.2])


def test_regions_are_shifted_scaled_and_split():
    region = Region(np.array([[1, 1, 1, 1], [1, 0, 0, 0]], bool), 3, 5)
    assert region.shift(1, -2).box == Box(3, 4, 4, 2)
    double = region.scale(2)
    assert (double.area, double.box) == (4 * region.area, Box(3, 2, 8, 4))
    left, right = region.split()
    assert (left.area, right.area, right.box) == (3, 2, Box(7, 3, 2, 1))
    assert len(Region(np.ones((1, 1), bool)).split()) == 1


def test_objects_of_a_label_mask():
    mask = np.zeros((20, 20), int)
    mask[3:6, 4:9], mask[10, 10] = 7, 2
    first, second = make_objects(mask)
    assert (first.box, second.box) == (Box(10, 10, 1, 1), Box(4, 3, 5, 3))
    assert second.region.area == 15


@pytest.mark.parametrize("ending", ["svg", "pdf"])
def test_curves_are_drawn(cli, tmp_path, ending):
    write_coco(tmp_path / "truth.json", {"a.jpg": PICTURE})
    words = ["study-interpretation", tmp_path / "truth.json", "--steps", 4, "--format", "json"]
    outcome = cli(*words, "--output", tmp_path / f"curves.{ending}", "--alteration", "remove", "--alteration", "add")
    assert outcome.status == 0, outcome.err
    table = json.loads(outcome.out)[0]
    assert [row["strength"] for row in table["rows"]] == [0, 0.25, 0.5, 0.75, 1]
    assert [row["remove"] for row in table["rows"]] == [0, 0.25, 0.5, 0.75, 1]
    assert table["notes"] == ["1 pictures with 4 objects; mean interpretation errors"]
    drawn = (tmp_path / f"curves.{ending}").read_bytes()
    cli(*words, "--output", tmp_path / f"curves.{ending}", "--alteration", "remove", "--alteration", "add")
    assert (tmp_path / f"curves.{ending}").read_bytes() == drawn


def test_masks_can_be_studied(cli, tmp_path):
    mask = np.zeros((60, 60), np.uint8)
    mask[10:30, 10:30] = 5
    cv2.imwrite(str(tmp_path / "truth.png"), mask)
    outcome = cli("study-interpretation", tmp_path / "truth.png", "--steps", 2)
    assert outcome.status == 0, outcome.err
    assert outcome.out.split()[:8] == ["strength", *ALTERATIONS]


def test_bad_use_is_refused(cli, tmp_path):
    write_coco(tmp_path / "truth.json", {"a.jpg": PICTURE})
    words = ["study-interpretation", tmp_path / "truth.json"]
    assert "expected a name that ends in .svg or .pdf" in cli(*words, "--output", tmp_path / "curves.txt").err
    (tmp_path / "curves.svg").symlink_to(tmp_path / "truth.json")
    assert "found one that is read" in cli(*words, "--output", tmp_path / "curves.svg").err
    write_coco(tmp_path / "truth.json", {"a.jpg": []})
    assert "truth.json: expected at least one object, found none" in cli(*words).err
