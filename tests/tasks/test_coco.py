import json

import numpy as np
import pytest

from leafid.errors import LeafidError
from leafid.tasks.interpretation.coco import (
    CocoImage,
    RunLengths,
    read_coco,
    read_segmentation,
)
from leafid.tasks.interpretation.regions import Box, BoxedObject

TRUTH = {
    "images": [
        {"id": 1, "file_name": "a.jpg", "width": 100, "height": 80},
        {"id": 2, "file_name": "b.jpg"},
    ],
    "categories": [
        {"id": 5, "name": "Quercus robur"},
        {"id": 6, "name": "Acer campestre"},
    ],
    "annotations": [
        {
            "id": 1,
            "image_id": 1,
            "category_id": 5,
            "bbox": [10, 10, 30, 40],
            "iscrowd": 0,
            "area": 1200,
        },
        {
            "id": 2,
            "image_id": 1,
            "category_id": 6,
            "bbox": [50.5, 10, 49.5, 70],
            "segmentation": [],
        },
    ],
}
SQUARE = [10, 10, 30, 10, 30, 30, 10, 30]
GOOD = {"id": 1, "image_id": 1, "category_id": 5, "bbox": [0, 0, 5, 5], "score": 0.5}


@pytest.fixture
def read(tmp_path):
    """Read a truth with other values of some keys, and, with annotations, results."""

    def run(*annotations, **changes):
        truth, result = tmp_path / "truth.json", tmp_path / "result.json"
        truth.write_text(json.dumps({**TRUTH, **changes}))
        result.write_text(json.dumps(annotations))
        return read_coco(result, read_coco(truth)) if annotations else read_coco(truth)

    return run


def test_a_ground_truth_and_a_list_of_results(read):
    first, second = Box(10, 10, 30, 40), Box(50.5, 10, 49.5, 70)
    objects = [
        BoxedObject("Quercus robur", first),
        BoxedObject("Acer campestre", second),
    ]
    assert read().objects == {"a.jpg": objects, "b.jpg": []}
    content = read(
        {"image_id": 2, "category_id": 6, "bbox": [0, 0, 5, 5], "score": 0.25}
    )
    assert content.objects == {
        "a.jpg": [],
        "b.jpg": [BoxedObject("Acer campestre", Box(0, 0, 5, 5), 0.25)],
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"image_id": 9}, r"annotations\[1\]: expected a known image_id, found 9"),
        (
            {"category_id": None},
            r"\[1\].category_id: expected a whole number or text, found nothing",
        ),
        (
            {"bbox": [0, 0, 0, 5]},
            r"annotations\[1\]: expected a box of some area, found 0x5\+0\+0",
        ),
        (
            {"bbox": [60, 0, 50, 5]},
            r"\[1\]: expected a box inside the picture of 100x80, found 50x5\+60\+0",
        ),
        (
            {"bbox": [0, 0, 5, float("nan")]},
            "expected finite numbers and text of Unicode characters",
        ),
        (
            {"bbox": [0, 0, 5]},
            r"\[1\].bbox: expected a list of length 4 or nothing, found \[0, 0, 5\]",
        ),
        (
            {"bbox": None},
            r"annotations\[1\]: expected a bbox or a segmentation, found neither",
        ),
        ({"score": 1.5}, r"\[1\].score: expected a number >= 0 <= 1, found 1.5"),
        (
            {"iscrowd": 1},
            r"\[1\]: expected a single object, found a crowd \(iscrowd 1\); remove it",
        ),
    ],
)
def test_bad_entries_are_named_with_their_index(read, change, message):
    entry = {**GOOD, "id": 2, "bbox": [1, 0, 5, 5], **change}
    with pytest.raises(LeafidError, match=rf"result.json:.*{message}"):
        read(
            GOOD,
            {
                key: value
                for key, value in entry.items()
                if value is not None or key != "bbox"
            },
        )


@pytest.mark.parametrize("score", [0.5, 0.7])
def test_an_object_twice_is_refused(read, score):
    """With multiple matching, copies of a good object would lower the error."""
    entry = {"image_id": 1, "category_id": 5, "bbox": [0, 0, 5, 5], "score": 0.5}
    others = [
        {**entry, "category_id": 6},
        {**entry, "bbox": [0, 0, 5, 6]},
        {**entry, "image_id": 2},
    ]
    assert read(entry, *others)
    with pytest.raises(
        LeafidError,
        match=r"annotations\[4\]: expected every object once, found .* annot.*\[0\]",
    ):
        read(entry, *others, {**entry, "score": score})


@pytest.mark.parametrize(
    ("part", "entries", "message"),
    [
        ("images", [], "images: expected at least one, and every file_name once"),
        ("images", None, "images: expected a list, found nothing"),
        (
            "images",
            [TRUTH["images"][0]] * 2,
            "expected every id of images and of categories once",
        ),
        (
            "images",
            [TRUTH["images"][0], {"id": 2, "file_name": "a.jpg"}],
            "and every file_name once",
        ),
        (
            "images",
            [{"id": 1, "file_name": "a.jpg", "width": 0, "height": 5}],
            "width: expected a whole number > 0",
        ),
        (
            "categories",
            [TRUTH["categories"][0]] * 2,
            "expected every id of images and of categories once",
        ),
    ],
)
def test_bad_ground_truths_are_refused(read, part, entries, message):
    with pytest.raises(LeafidError, match=message):
        read(**{"annotations": [], part: entries})


def test_a_result_may_only_name_pictures_and_classes_of_the_truth(tmp_path, read):
    truth = read()
    path = tmp_path / "result.json"
    path.write_text(
        json.dumps(
            {**TRUTH, "images": [{"id": 1, "file_name": "c.jpg"}], "annotations": []}
        )
    )
    with pytest.raises(
        LeafidError, match="images: expected images of the ground truth"
    ):
        read_coco(path, truth)
    path.write_text(
        json.dumps(
            {
                **TRUTH,
                "categories": [{"id": 5, "name": "Acer campestre"}],
                "annotations": [],
            }
        )
    )
    with pytest.raises(LeafidError, match="categories: expected the ground truth's"):
        read_coco(path, truth)


def count_runs(mask):
    """Count runs column by column, the first one outside."""
    counts, inside = [0], False
    for pixel in mask.T.ravel():
        if pixel != inside:
            counts.append(0)
            inside = not inside
        counts[-1] += 1
    return counts


def compress(counts):
    """Follow rleToString of the COCO API."""
    text = ""
    for index, count in enumerate(counts):
        value = count - counts[index - 2] if index > 2 else count
        more = True
        while more:
            code = value & 0x1F
            value >>= 5
            more = value != -1 if code & 0x10 else value != 0
            text += chr((code | 0x20 if more else code) + 48)
    return text


def paste(region, shape):
    mask = np.zeros(shape, bool)
    rows, columns = region.mask.shape
    mask[region.top : region.top + rows, region.left : region.left + columns] = (
        region.mask
    )
    return mask


@pytest.mark.parametrize(
    ("height", "width", "share"),
    [(40, 30, 0.5), (1, 40, 0.2), (40, 1, 0.9), (30, 300, 0.001)],
)
def test_runs_are_decoded(height, width, share):
    mask = np.random.default_rng(0).random((height, width)) < share
    counts = count_runs(mask)
    for encoded in (counts, compress(counts)):
        region = read_segmentation(
            RunLengths((height, width), encoded), CocoImage(1, "a", width, height)
        )
        assert np.array_equal(paste(region, mask.shape), mask)


def test_pixels_whose_centres_are_in_a_polygon():
    image = CocoImage(1, "a", 50, 40)
    region = read_segmentation([SQUARE], image)
    assert (region.area, region.top, region.left) == (400, 10, 10)
    assert read_segmentation([SQUARE, [0, 0, 2, 0, 2, 2, 0, 2]], image).area == 404
    assert read_segmentation([[0, 0, 40, 0, 0, 40]], image).area == pytest.approx(
        800, abs=25
    )


@pytest.mark.parametrize(
    ("segmentation", "message"),
    [
        ("all", "segmentation: expected"),
        (
            [[1, 2, 3, 4, 5, "x"]],
            r"segmentation\[0\]\[5\]: expected a number, found 'x'",
        ),
        ([[1, 2, 3, 4]], "of at least three points"),
        ([[1, 2, 60, 4, 5, 6]], "expected a polygon inside the picture of 50x40"),
        ([[1, 1, 1, 1, 1, 1]], "expected a segmentation of some area"),
        ({"size": [50, 40], "counts": [2000]}, r"expected runs of size \[40, 50\]"),
        ({"size": [40, 50], "counts": [2000]}, "expected a segmentation of some area"),
        ({"size": [40, 50], "counts": [1, 2]}, "add up to 2000 pixels"),
        ({"size": [40, 50], "counts": []}, "add up to 2000 pixels"),
        ({"size": [40, 50], "counts": "~~~"}, "expected compressed runs"),
        ({"size": [40, 50], "counts": "o" * 1000}, "expected compressed runs"),
        ({"size": [40, 50], "counts": "ooo"}, "add up to 2000 pixels"),
    ],
)
def test_bad_segmentations_are_refused(read, segmentation, message):
    images = [{"id": 1, "file_name": "a.jpg", "width": 50, "height": 40}]
    with pytest.raises(LeafidError, match=message):
        read(
            images=images,
            annotations=[
                {"image_id": 1, "category_id": 5, "segmentation": segmentation}
            ],
        )


def test_a_segmentation_needs_the_size_of_its_image(read):
    with pytest.raises(LeafidError, match=r"found a width and height of \?x\?"):
        read(annotations=[{"image_id": 2, "category_id": 5, "segmentation": [SQUARE]}])
