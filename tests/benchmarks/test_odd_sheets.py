import cv2
import numpy as np

from benchmarks.odd_sheets import measure_overlaps, vary_picture


def test_the_leaf_is_where_its_mask_is_in_every_changed_picture(tmp_path):
    image, mask = np.full((120, 90, 3), 245, np.uint8), np.zeros((120, 90), np.uint8)
    for canvas, colour in ((image, (40, 110, 60)), (mask, 1)):
        cv2.ellipse(canvas, (45, 60), (20, 35), 10, 0, 360, colour, -1)
    found = list(vary_picture(image, mask > 0))
    assert len({what for what, _, _ in found}) == len(found)
    for what, picture, leaf in found:
        assert picture.shape[:2] == leaf.shape, what
        assert np.count_nonzero(leaf) == np.count_nonzero(mask)
        inside = cv2.erode(leaf.astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
        # The colour of the leaf, or its grey value.
        grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)[inside]
        assert np.abs(grey.astype(int) - int(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)[60, 45])).max() <= 1, what
    cv2.imwrite(str(tmp_path / "leaf.png"), image)
    assert [what for what, _ in measure_overlaps(tmp_path / "leaf.png")] == [what for what, _, _ in found]
    cv2.imwrite(str(tmp_path / "blank.png"), np.full((120, 90, 3), 245, np.uint8))
    assert measure_overlaps(tmp_path / "blank.png") == []
