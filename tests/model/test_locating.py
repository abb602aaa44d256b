import cv2
import numpy as np
import pytest

from leafid.errors import LeafidError
from leafid.model.locating import locate_leaf
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.workers import ordered_map


def drawn(file, rows, cols, leaf=None):
    image = np.full((rows, cols, 3), 245, np.uint8)
    if leaf:
        row0, row1, col0, col1 = leaf
        centre, axes = ((col0 + col1) // 2, (row0 + row1) // 2), ((col1 - col0) // 2, (row1 - row0) // 2)
        cv2.ellipse(image, centre, axes, 0, 0, 360, (40, 120, 50), -1)
    cv2.imwrite(str(file), image)
    return Picture(file, AcquisitionType.SCAN)


def test_in_pixels_of_the_picture_whatever_its_size(tmp_path):
    places = {(300, 400): (100, 220, 50, 250), (1500, 2000): (500, 1100, 250, 1250)}
    pictures = [drawn(tmp_path / f"{rows}.png", rows, cols, leaf) for (rows, cols), leaf in places.items()]
    for found, ((rows, _), expected) in zip(map(locate_leaf, pictures), places.items(), strict=True):
        # A hundredth of the picture: the outline's edge pixels, and what reducing a large picture rounds.
        assert np.abs(np.subtract(found, expected)).max() <= rows / 100


def test_the_whole_picture_where_nothing_stands_out(tmp_path):
    assert locate_leaf(drawn(tmp_path / "a.png", 1203, 907)) == (0, 1203, 0, 907)


def test_never_outside_the_picture(tmp_path):
    picture = drawn(tmp_path / "a.png", 1013, 1511, (-200, 1013, 300, 1700))
    row0, row1, col0, col1 = locate_leaf(picture)
    assert 0 <= row0 < row1 <= 1013
    assert 0 <= col0 < col1 <= 1511


def test_the_number_of_processes_does_not_matter(tmp_path):
    pictures = [drawn(tmp_path / f"{i}.png", 200, 300, (20, 100 + i, 30, 200)) for i in range(3)]
    assert list(ordered_map(locate_leaf, pictures, 2)) == list(map(locate_leaf, pictures))


def test_an_unknown_type(tmp_path):
    with pytest.raises(LeafidError, match="acquisition type is not known"):
        locate_leaf(Picture(drawn(tmp_path / "a.png", 50, 50).file))
