import cv2
import numpy as np
import pytest
from PIL import Image

from leafid.errors import LeafidError, ProblemsError
from leafid.tasks.interpretation.label_masks import (
    list_masks,
    make_objects,
    read_label_mask,
    read_mask_pairs,
    read_objects,
)
from leafid.tasks.interpretation.regions import Box


def labels(shape=(24, 30), top=2):
    mask = np.zeros(shape, np.int32)
    mask[2:10, 3:9], mask[12:20, 3:9] = 1, top
    return mask


def save(path, mask, kind=np.uint8):
    path.parent.mkdir(exist_ok=True)
    cv2.imwrite(str(path), mask.astype(kind))


@pytest.mark.parametrize(("kind", "top"), [(np.uint8, 255), (np.uint16, 40_000)])
def test_values_are_labels(tmp_path, kind, top):
    save(tmp_path / "m.png", labels(top=top), kind)
    assert np.array_equal(read_label_mask(tmp_path / "m.png"), labels(top=top))


def test_palettes_are_labels_by_their_index(tmp_path):
    picture = Image.fromarray(labels().astype(np.uint8), "L").convert("P")
    picture.putpalette([0, 0, 0, 200, 30, 30, 10, 10, 250] + [0] * 759)
    picture.putdata(labels().ravel().tolist())
    picture.save(tmp_path / "m.png")
    assert np.array_equal(read_label_mask(tmp_path / "m.png"), labels())


def test_other_files_and_damage_are_refused(tmp_path):
    cv2.imwrite(str(tmp_path / "colour.png"), np.zeros((20, 20, 3), np.uint8))
    cv2.imwrite(str(tmp_path / "grey.jpg"), np.zeros((20, 20), np.uint8))
    save(tmp_path / "cut.png", np.random.default_rng(0).integers(0, 255, (100, 100)))
    (tmp_path / "cut.png").write_bytes((tmp_path / "cut.png").read_bytes()[:3000])
    # A chunk that ends early: Pillow raises an IndexError for it.
    chunks = (
        "89504e470d0a1a0a0000000d4948445200000014000000141000000000f8729e920000001e49444154"
        "789c636018468091819138854cc09a38800a59463d334815020030d30025d7a3844600000000694343506082"
    )
    (tmp_path / "early.png").write_bytes(bytes.fromhex(chunks))
    for name in ("colour.png", "grey.jpg", "cut.png", "early.png"):
        with pytest.raises(
            LeafidError, match=rf"{name}: expected a (label mask|whole picture).* found"
        ):
            read_label_mask(tmp_path / name)


def test_objects_of_a_label_mask(tmp_path):
    mask = np.zeros((20, 20), int)
    mask[3:6, 4:9], mask[10, 10] = 7, 2
    first, second = make_objects(
        mask,
        tmp_path / "m.png",
        {("m.png", 2): ("oak", 0.5), ("m.png", 7): ("ash", 1.0)},
    )
    assert (first.name, first.confidence, first.box) == ("oak", 0.5, Box(10, 10, 1, 1))
    assert (second.name, second.box, second.region.area) == ("ash", Box(4, 3, 5, 3), 15)


def test_masks_are_paired_by_name(tmp_path):
    for name in ("a.png", "b.png"):
        save(tmp_path / "truth" / name, labels())
    save(tmp_path / "result" / "b.png", labels())
    pairs = list(read_mask_pairs(tmp_path / "truth", tmp_path / "result"))
    assert [(pair.picture, len(pair.truth), len(pair.result)) for pair in pairs] == [
        ("a.png", 2, 0),
        ("b.png", 2, 2),
    ]
    with pytest.raises(
        LeafidError,
        match=r"truth/a.png: expected a mask of the ground truth, found no a.png in",
    ):
        list(read_mask_pairs(tmp_path / "result", tmp_path / "truth"))
    # Two files may have different names.
    (pair,) = read_mask_pairs(
        tmp_path / "truth" / "a.png", tmp_path / "result" / "b.png"
    )
    assert (pair.picture, len(pair.result)) == ("a.png", 2)
    save(tmp_path / "result" / "b.png", labels((30, 24)))
    with pytest.raises(
        LeafidError, match=r"result/b.png: expected a mask of 30x24 pixels, found 24x30"
    ):
        list(read_mask_pairs(tmp_path / "truth", tmp_path / "result"))
    with pytest.raises(
        LeafidError, match=r"expected a label mask or a folder of them .* found none"
    ):
        list_masks(tmp_path)


def test_classes_beside_the_masks(tmp_path):
    for folder, kind in (("truth", "oak"), ("result", "ash")):
        save(tmp_path / folder / "m.png", labels())
        (tmp_path / folder / "objects.csv").write_text(
            f"mask,label,class,confidence\nm.png,1,oak,\nm.png,2,{kind},0.5\n"
        )
    (pair,) = read_mask_pairs(tmp_path / "truth", tmp_path / "result")
    assert [(item.name, item.confidence) for item in pair.truth] == [
        ("oak", 1),
        ("oak", 0.5),
    ]
    assert [(item.name, item.confidence) for item in pair.result] == [
        ("oak", 1),
        ("ash", 0.5),
    ]
    (tmp_path / "result" / "objects.csv").write_text("mask,label,class\nm.png,1,oak\n")
    with pytest.raises(
        LeafidError,
        match=r"result/objects.csv: expected a class of label 2 of m.png, found none",
    ):
        list(read_mask_pairs(tmp_path / "truth", tmp_path / "result"))
    (tmp_path / "result" / "objects.csv").unlink()
    with pytest.raises(
        LeafidError, match=r"result: expected objects.csv beside both or neither"
    ):
        list(read_mask_pairs(tmp_path / "truth", tmp_path / "result"))


def test_bad_objects_are_named(tmp_path):
    path = tmp_path / "objects.csv"
    path.write_text(
        "mask,label,class,confidence\nm,1,oak,1\nm,0,oak,1\nm,2,,1\nm,3,oak,nan\nm,4,oak,2\nm,1,ash,1\nm\n"
    )
    with pytest.raises(ProblemsError) as caught:
        read_objects(path)
    expected = (
        "expected a mask, a label from 1 up, a class, and a confidence from 0 to 1, "
        "found"
    )
    assert [problem.removeprefix(f"{path}:") for problem in caught.value.problems] == [
        f"3: {expected} ['m', '0', 'oak', '1']",
        f"4: {expected} ['m', '2', '', '1']",
        f"5: {expected} ['m', '3', 'oak', 'nan']",
        f"6: {expected} ['m', '4', 'oak', '2']",
        "7: expected every object once, found ('m', 1), as in line 2",
        f"8: {expected} ['m']",
    ]
    path.write_text("file,label\n")
    with pytest.raises(
        LeafidError, match="expected the columns mask, label and class, found"
    ):
        read_objects(path)
