import json

import cv2
import numpy as np
import pytest

from leafid.errors import LeafidError
from leafid.tasks.interpretation.metric import read_distances

NAMES = ["Acer campestre", "Quercus ilex", "Quercus robur"]


def make_objects(*objects):
    return [
        {"image_id": image, "category_id": NAMES.index(name), "bbox": box}
        for image, name, box in objects
    ]


@pytest.fixture
def boxes(tmp_path):
    truth = make_objects(
        (1, "Quercus robur", [0, 0, 10, 10]),
        (1, "Acer campestre", [20, 0, 10, 10]),
        (2, "Quercus ilex", [0, 0, 10, 10]),
    )
    result = make_objects(
        (1, "Quercus robur", [2, 0, 10, 10]), (1, "Quercus ilex", [20, 0, 10, 10])
    )
    images = [
        {"id": 1, "file_name": "a.jpg"},
        {"id": 2, "file_name": "b.jpg"},
        {"id": 3, "file_name": "empty.jpg"},
    ]
    categories = [{"id": number, "name": name} for number, name in enumerate(NAMES)]
    content = {"images": images, "categories": categories, "annotations": truth}
    (tmp_path / "truth.json").write_text(json.dumps(content))
    (tmp_path / "result.json").write_text(json.dumps(result))
    return tmp_path / "truth.json", tmp_path / "result.json"


def read_means(outcome):
    assert outcome.status == 0, outcome.err
    return {row["metric"]: row["mean"] for row in outcome.json[0]["rows"]}


def test_boxes(cli, boxes):
    means = read_means(cli("evaluate-interpretation", *boxes, "--format", "json"))
    # a.jpg: 0.8 · 0.2 for the shift and 0.2 for the name, two objects; b.jpg: missed.
    assert means["interpretation-error"] == pytest.approx(((0.16 + 0.2) / 2 + 1) / 2)
    assert means["pas"] == pytest.approx((80 / 120 + 1) / 2)


def test_distances_and_parameters(cli, boxes, tmp_path):
    rows = ["Acer campestre,0,0.25,1", "Quercus ilex,1,0,0.5", "Quercus robur,1,0.5,0"]
    (tmp_path / "d.csv").write_text("\n".join([f",{','.join(NAMES)}", *rows]))
    options = [
        "--distances",
        tmp_path / "d.csv",
        "--alpha",
        0.5,
        "--matching",
        "one-to-one",
    ]
    means = read_means(
        cli("evaluate-interpretation", *boxes, *options, "--format", "json")
    )
    assert means["interpretation-error"] == pytest.approx(
        ((0.5 * 0.2 + 0.5 * 0.25) / 2 + 1) / 2
    )


def test_by_picture(cli, boxes):
    lines = cli("evaluate-interpretation", *boxes, "--by-picture").out.splitlines()
    assert lines[0] == "Interpretation and localisation"
    assert lines[1].split() == ["metric", "mean", "better", "what"]
    assert "Errors by picture" in lines
    assert "3 pictures, 3 objects: 1 missed, 0 invented; means over pictures" in lines
    assert (
        "1 of the pictures have no object in truth or result, and are left out" in lines
    )
    assert lines[-2].split()[:7] == ["b.jpg", "1", "0", "0", "1", "0", "1.0000"]


def test_masks(cli, tmp_path):
    mask = np.zeros((40, 40), np.uint8)
    mask[10:20, 10:20] = 255
    for folder in ("truth", "result"):
        (tmp_path / folder).mkdir()
        cv2.imwrite(str(tmp_path / folder / "a.png"), mask)
    cv2.imwrite(str(tmp_path / "truth" / "b.png"), mask)
    outcome = cli(
        "evaluate-interpretation",
        tmp_path / "truth",
        tmp_path / "result",
        "--format",
        "json",
    )
    assert read_means(outcome)["interpretation-error"] == 0.5
    assert read_means(outcome)["pas"] == 1
    assert f"{tmp_path}/result: lacks 1 mask (b.png first)" in outcome.err


def test_segmentations_count_and_not_their_boxes(cli, tmp_path):
    # Two triangles that share the diagonal of one box.
    box, triangles = (
        [10, 10, 20, 20],
        ([10, 10, 30, 30, 10, 30], [10, 10, 30, 10, 30, 30]),
    )
    objects = [
        {"image_id": 1, "category_id": 1, "bbox": box, "segmentation": [points]}
        for points in triangles
    ]
    images, categories = (
        [{"id": 1, "file_name": "a.jpg", "width": 50, "height": 40}],
        [{"id": 1, "name": "oak"}],
    )
    truth = {"images": images, "categories": categories, "annotations": objects}
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "result.json").write_text(json.dumps(objects))
    words = [
        "evaluate-interpretation",
        tmp_path / "truth.json",
        tmp_path / "result.json",
        "--format",
        "json",
    ]
    means = read_means(cli(*words))
    assert means["interpretation-error"] == 0
    assert means["pas"] == 1
    (tmp_path / "result.json").write_text(
        json.dumps([{"image_id": 1, "category_id": 1, "bbox": box}])
    )
    assert read_means(cli(*words))["pas"] == 1


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["truth.json", "masks"], 2, "expected boxes (.json) or label masks for both"),
        (
            ["truth.json", "bad.json"],
            1,
            "bad.json: annotations[0]: expected a known image_id, found 77",
        ),
        (
            ["truth.json", "result.json", "--threshold", "1"],
            2,
            "--threshold: expected a number from 0 to 0.999999",
        ),
        (["truth.json", "nowhere.json"], 1, "nowhere.json"),
    ],
)
def test_bad_input(cli, boxes, tmp_path, monkeypatch, words, status, message):
    (tmp_path / "bad.json").write_text(
        '[{"image_id": 77, "category_id": 1, "bbox": [0, 0, 1, 1]}]'
    )
    monkeypatch.chdir(tmp_path)
    outcome = cli("evaluate-interpretation", *words)
    assert (outcome.status, outcome.out) == (status, "")
    assert message in outcome.err


def test_distances(tmp_path):
    file = tmp_path / "classes.csv"
    file.write_text("class,oak,ash\nash,0.4,0\noak,0,0.5\n")
    distance = read_distances(file)
    assert [distance("oak", "ash"), distance("ash", "oak"), distance("ash", "ash")] == [
        0.5,
        0.4,
        0,
    ]
    with pytest.raises(LeafidError, match="found none of 'elm'"):
        distance("oak", "elm")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("class,oak,oak\n", ":1: expected an empty cell and the classes, each once"),
        ("", ":1: expected an empty cell and the classes"),
        (
            "class,oak\nelm,0\n",
            ":2: expected a class of the first line and 1 distances from 0 to 1, found "
            ".*elm",
        ),
        (
            "class,oak\noak,0\noak,0\n",
            ":3: expected every class once, found 'oak', as in line 2",
        ),
        (
            "class,oak\noak,0,1\n",
            ":2: expected a class of the first line and 1 distances from 0 to 1, found",
        ),
        (
            "class,oak\noak,nan\n",
            ":2: expected a class of the first line and 1 distances from 0 to 1, found "
            ".*nan",
        ),
        ("class,oak,ash\noak,0,1\n", "expected a line for each of 2 classes, found 1"),
    ],
)
def test_bad_distances_are_refused(tmp_path, content, message):
    file = tmp_path / "classes.csv"
    file.write_text(content)
    with pytest.raises(LeafidError, match=message):
        read_distances(file)
