import json

import pytest

from leafid.errors import LeafidError, ProblemsError
from leafid.tasks.interpretation.box import Box
from leafid.tasks.interpretation.coco import read_coco
from leafid.tasks.interpretation.region import BoxedObject

TRUTH = {
    "images": [{"id": 1, "file_name": "a.jpg", "width": 100, "height": 80}, {"id": 2, "file_name": "b.jpg"}],
    "categories": [{"id": 5, "name": "Quercus robur"}, {"id": 6, "name": "Acer campestre"}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 5, "bbox": [10, 10, 30, 40]},
        {"id": 2, "image_id": 1, "category_id": 6, "bbox": [50.5, 10, 49.5, 70]},
    ],
}


@pytest.fixture
def truth_file(tmp_path):
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(TRUTH))
    return path


def read_result(tmp_path, truth_file, *annotations):
    path = tmp_path / "result.json"
    path.write_text("[\n" + ",\n".join(map(json.dumps, annotations)) + "\n]\n")
    return read_coco(path, read_coco(truth_file))


def test_a_ground_truth(truth_file):
    truth = read_coco(truth_file)
    assert truth.objects == {
        "a.jpg": [
            BoxedObject("Quercus robur", Box(10, 10, 30, 40)),
            BoxedObject("Acer campestre", Box(50.5, 10, 49.5, 70)),
        ],
        "b.jpg": [],
    }
    assert truth.sizes == {"a.jpg": (100, 80)}


def test_a_list_of_results(tmp_path, truth_file):
    found = read_result(tmp_path, truth_file, {"image_id": 2, "category_id": 6, "bbox": [0, 0, 5, 5], "score": 0.25})
    assert found.objects == {"a.jpg": [], "b.jpg": [BoxedObject("Acer campestre", Box(0, 0, 5, 5), 0.25)]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"image_id": 9}, "expected a known image_id, found 9"),
        ({"category_id": None}, "expected a known category_id, found None"),
        ({"bbox": [0, 0, 0, 5]}, "expected a box of some area, found 0x5+0+0"),
        ({"bbox": [0, 0, -3, 5]}, "expected a box of some area, found -3x5+0+0"),
        ({"bbox": [-1, 0, 5, 5]}, "expected a box inside the picture, found 5x5+-1+0"),
        ({"bbox": [60, 0, 50, 5]}, "expected a box inside the picture of 100x80, found 50x5+60+0"),
        ({"bbox": [0, 0, 5, float("nan")]}, "expected a box of finite numbers, found 5xnan+0+0"),
        ({"bbox": [0, 0, 5]}, "expected bbox as [left, top, width, height], found [0, 0, 5]"),
        ({"bbox": "all"}, "expected bbox as [left, top, width, height], found 'all'"),
        ({"score": float("nan")}, "expected a score from 0 to 1, found nan"),
        ({"score": 1.5}, "expected a score from 0 to 1, found 1.5"),
        ({"score": True}, "expected a score from 0 to 1, found True"),
        ({"id": "x"}, "expected a whole number as id, found 'x'"),
        ({"id": True}, "expected a whole number as id, found True"),
        ({"image_id": True}, "expected a known image_id, found True"),
    ],
)
def test_bad_entries_are_named_with_their_line(tmp_path, truth_file, change, message):
    good = {"id": 1, "image_id": 1, "category_id": 5, "bbox": [0, 0, 5, 5], "score": 0.5}
    with pytest.raises(ProblemsError) as caught:
        read_result(tmp_path, truth_file, good, {**good, "id": 2, "bbox": [1, 0, 5, 5], **change})
    assert [problem.removeprefix(f"{tmp_path}/") for problem in caught.value.problems] == [f"result.json:3: {message}"]


def test_repeated_ids_are_named(tmp_path, truth_file):
    entry = {"id": 1, "image_id": 1, "category_id": 5, "bbox": [0, 0, 5, 5]}
    with pytest.raises(ProblemsError, match=r"json:4: expected every id of annotations once, found 1, as in line 2"):
        read_result(tmp_path, truth_file, entry, {**entry, "id": 2}, entry)


@pytest.mark.parametrize("score", [0.5, 0.7])
def test_an_object_twice_is_refused(tmp_path, truth_file, score):
    """With multiple matching, copies of a good object would lower the error."""
    entry = {"image_id": 1, "category_id": 5, "bbox": [0, 0, 5, 5], "score": 0.5}
    others = [{**entry, "category_id": 6}, {**entry, "bbox": [0, 0, 5, 6]}, {**entry, "image_id": 2}]
    assert read_result(tmp_path, truth_file, entry, *others)
    with pytest.raises(ProblemsError, match=r"expected every object once, found Quercus robur of a\.jpg"):
        read_result(tmp_path, truth_file, entry, *others, {**entry, "score": score})


def test_a_key_twice_is_refused(tmp_path, truth_file):
    path = tmp_path / "result.json"
    path.write_text('[{"image_id": 1, "category_id": 5, "bbox": [0, 0, 5, 5], "score": 0.1, "score": 0.9}]')
    with pytest.raises(LeafidError, match=r"result\.json: expected JSON, .* the key 'score' is twice in an object"):
        read_coco(path, read_coco(truth_file))


@pytest.mark.parametrize("name", ["a\0.jpg", "a\ud800.jpg", "a\n.jpg"])
def test_file_names_that_are_no_text_are_refused(tmp_path, name):
    path = tmp_path / "truth.json"
    path.write_text(json.dumps({**TRUTH, "images": [{"id": 1, "file_name": name}], "annotations": []}))
    with pytest.raises(ProblemsError, match="expected a file_name without invisible characters, found 'a"):
        read_coco(path)


@pytest.mark.parametrize(
    ("part", "entries", "message"),
    [
        ("images", [], "expected at least one image"),
        ("images", None, "expected a list of images, found NoneType"),
        ("images", [3], "expected objects in images, found 3"),
        ("images", [{"id": 1, "file_name": ""}], "expected a whole number as id and a text as file_name"),
        ("images", [TRUTH["images"][0]] * 2, "expected every id of images once, found 1, as in line"),
        (
            "images",
            [TRUTH["images"][0], {"id": 2, "file_name": "a.jpg"}],
            "expected every file_name once",
        ),
        *(
            ("images", [{"id": 1, "file_name": "a.jpg", **size}], "expected a width and a height above 0, found")
            for size in (
                {"width": 0, "height": 5},
                {"width": 40, "height": float("nan")},
                {"width": float("inf"), "height": 40},
            )
        ),
        ("images", [{"id": True, "file_name": "a.jpg"}], "expected a whole number as id and a text as file_name"),
        (
            "categories",
            [{"id": 5, "name": "x"}, {"id": 5, "name": "y"}],
            "expected every id of categories once",
        ),
    ],
)
def test_bad_ground_truths_are_refused(tmp_path, part, entries, message):
    path = tmp_path / "truth.json"
    path.write_text(json.dumps({**TRUTH, "annotations": [], part: entries}, indent=1))
    with pytest.raises(ProblemsError, match=message):
        read_coco(path)


def test_an_image_named_twice_on_one_line(tmp_path):
    path = tmp_path / "truth.json"
    images = [TRUTH["images"][0], {"id": 2, "file_name": "b.jpg"}, {"id": 3, "file_name": "a.jpg"}]
    path.write_text(json.dumps({**TRUTH, "images": images, "annotations": []}))
    with pytest.raises(ProblemsError) as caught:
        read_coco(path)
    assert caught.value.problems == (f"{path}:1: expected every file_name once, found 'a.jpg', as in line 1",)


def test_a_result_may_only_name_pictures_and_classes_of_the_truth(tmp_path, truth_file):
    path = tmp_path / "result.json"
    path.write_text(json.dumps({**TRUTH, "images": [{"id": 1, "file_name": "c.jpg"}], "annotations": []}))
    with pytest.raises(ProblemsError, match=r"expected an image of the ground truth, found 'c.jpg' as number 1"):
        read_coco(path, read_coco(truth_file))
    path.write_text(json.dumps({**TRUTH, "categories": [{"id": 5, "name": "Acer campestre"}], "annotations": []}))
    with pytest.raises(ProblemsError, match="expected class 'Quercus robur' as number 5"):
        read_coco(path, read_coco(truth_file))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"images": [\n}', r"boxes.json:2: expected JSON, found an error at column 1"),
        (b"[]", "boxes.json:1: expected an object with images, categories and annotations, found a list"),
        (b"3", "boxes.json:1: expected a COCO object or list, found int"),
        (b"\xff", "boxes.json:1: expected UTF-8 text"),
        (b"[" * 100_000, "boxes.json"),
    ],
)
def test_files_that_are_no_json_are_refused(tmp_path, content, message):
    path = tmp_path / "boxes.json"
    path.write_bytes(content)
    with pytest.raises(LeafidError, match=message):
        read_coco(path)
