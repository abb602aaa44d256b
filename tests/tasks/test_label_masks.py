import cv2
import numpy as np
import pytest
from PIL import Image

from leafid.errors import LeafidError, ProblemsError
from leafid.tasks.interpretation.label_masks import (
    ObjectName,
    list_masks,
    read_label_mask,
    read_mask_pairs,
    read_objects,
)


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


def test_one_bit_masks(tmp_path):
    Image.fromarray(labels() > 0).save(tmp_path / "m.png")
    assert np.array_equal(read_label_mask(tmp_path / "m.png"), labels() > 0)


def test_colour_pictures_are_refused(tmp_path):
    cv2.imwrite(str(tmp_path / "m.png"), np.zeros((20, 20, 3), np.uint8))
    with pytest.raises(
        LeafidError, match=r"m.png: expected a label mask \(PNG of one channel\), found one of mode RGB"
    ):
        read_label_mask(tmp_path / "m.png")


def test_other_formats_and_damage_are_refused(tmp_path):
    cv2.imwrite(str(tmp_path / "m.jpg"), np.zeros((20, 20), np.uint8))
    with pytest.raises(LeafidError, match=r"m.jpg: expected a label mask"):
        read_label_mask(tmp_path / "m.jpg")
    save(tmp_path / "m.png", np.random.default_rng(0).integers(0, 255, (100, 100)))
    (tmp_path / "m.png").write_bytes((tmp_path / "m.png").read_bytes()[:3000])
    with pytest.raises(LeafidError, match=r"m.png: expected a label mask"):
        read_label_mask(tmp_path / "m.png")


def test_a_chunk_that_ends_early_is_refused(tmp_path):
    """Pillow raises an IndexError for it."""
    chunks = (
        "89504e470d0a1a0a0000000d4948445200000014000000141000000000f8729e920000001e49444154"
        "789c636018468091819138854cc09a38800a59463d334815020030d30025d7a3844600000000694343506082"
    )
    (tmp_path / "mask.png").write_bytes(bytes.fromhex(chunks))
    with pytest.raises(LeafidError, match=r"mask.png: expected a label mask \(PNG of one channel\), found: index out"):
        read_label_mask(tmp_path / "mask.png")


def test_another_size_is_refused(tmp_path):
    save(tmp_path / "truth" / "m.png", labels())
    save(tmp_path / "result" / "m.png", labels((30, 24)))
    with pytest.raises(LeafidError, match=r"result/m.png: expected a mask of 30x24 pixels, found 24x30"):
        list(read_mask_pairs(tmp_path / "truth", tmp_path / "result"))


def test_a_mask_that_the_result_lacks_is_empty(tmp_path):
    for name in ("a.png", "b.png"):
        save(tmp_path / "truth" / name, labels())
    save(tmp_path / "result" / "b.png", labels())
    pairs = list(read_mask_pairs(tmp_path / "truth", tmp_path / "result"))
    assert [(pair.picture, pair.result.any()) for pair in pairs] == [("a.png", False), ("b.png", True)]
    with pytest.raises(LeafidError, match=r"truth/a.png: expected a mask of the ground truth, found no a.png in"):
        list(read_mask_pairs(tmp_path / "result", tmp_path / "truth"))


def test_two_files_may_have_different_names(tmp_path):
    save(tmp_path / "truth.png", labels())
    save(tmp_path / "found.png", labels())
    assert [pair.picture for pair in read_mask_pairs(tmp_path / "truth.png", tmp_path / "found.png")] == ["truth.png"]


def test_classes_beside_the_masks(tmp_path):
    for folder, kind in (("truth", "oak"), ("result", "ash")):
        save(tmp_path / folder / "m.png", labels())
        (tmp_path / folder / "objects.csv").write_text(
            f"mask,label,class,confidence\nm.png,1,oak,\nm.png,2,{kind},0.5\n"
        )
    (pair,) = read_mask_pairs(tmp_path / "truth", tmp_path / "result")
    assert pair.true_objects == {1: ObjectName("oak"), 2: ObjectName("oak", 0.5)}
    assert pair.objects == {1: ObjectName("oak"), 2: ObjectName("ash", 0.5)}
    (tmp_path / "result" / "objects.csv").write_text("mask,label,class\nm.png,1,oak\n")
    with pytest.raises(LeafidError, match=r"result/objects.csv: expected a class of label 2 of m.png, found none"):
        list(read_mask_pairs(tmp_path / "truth", tmp_path / "result"))
    (tmp_path / "result" / "objects.csv").unlink()
    with pytest.raises(LeafidError, match=r"result: expected objects.csv beside both or neither"):
        list(read_mask_pairs(tmp_path / "truth", tmp_path / "result"))


def test_all_problems_of_objects_are_reported_together(tmp_path):
    path = tmp_path / "objects.csv"
    path.write_text(
        "mask,label,class,confidence\nm,1,oak,1\nm,0,oak,1\nm,x,oak,1\nm,2,,1\nm,3,oak,nan\nm,4,oak,2\nm,1,ash,1\n"
    )
    with pytest.raises(ProblemsError) as caught:
        read_objects(path)
    assert [problem.removeprefix(f"{path}:") for problem in caught.value.problems] == [
        "3: expected a label from 1 up, found '0'",
        "4: expected a label from 1 up, found 'x'",
        "5: expected a class, found nothing",
        "6: expected a confidence from 0 to 1, found 'nan'",
        "7: expected a confidence from 0 to 1, found '2'",
        "8: expected every object once, found label 1 of m, as in line 2",
    ]
    path.write_text("label,class,mask\n1,oak,m\n1,oak\n\n2\n3,oak,\n")
    with pytest.raises(ProblemsError) as caught:
        read_objects(path)
    assert [problem.removeprefix(f"{path}:") for problem in caught.value.problems] == [
        f"{line}: expected the file name of a mask, found nothing" for line in (3, 5, 6)
    ]
    path.write_text("file,label\n")
    with pytest.raises(LeafidError, match="expected the columns mask, label and class, found no class, mask"):
        read_objects(path)


def test_missing_masks_are_refused(tmp_path):
    with pytest.raises(LeafidError, match="found none"):
        list_masks(tmp_path)
    with pytest.raises(LeafidError, match="found nothing"):
        list_masks(tmp_path / "nowhere")
