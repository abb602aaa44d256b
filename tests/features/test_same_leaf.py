"""Pictures of the same leaf are found, others are not."""

import cv2
import numpy as np
import pytest

from leafid.features.loader import FeatureLoader
from leafid.features.same_leaf import count_matches, detect_points, find_similar
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.reading import read_collection


@pytest.fixture(scope="module")
def scans(drawn):
    return [
        p
        for p in read_collection(drawn).pictures
        if p.type is AcquisitionType.SCAN and p.species
    ]


@pytest.fixture
def rescan(tmp_path, scans):
    """Another scan of the first leaf: turned, smaller, darker and compressed."""
    image = cv2.rotate(read_image(scans[0].file), cv2.ROTATE_90_CLOCKWISE)
    image = cv2.resize(image, None, fx=0.9, fy=0.9, interpolation=cv2.INTER_AREA)
    file = tmp_path / "again.jpg"
    assert cv2.imwrite(
        str(file), (image * 0.95).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 90]
    )
    return type(scans[0])(file, type=scans[0].type, taxon=scans[0].taxon)


def test_similar_pictures_are_grouped(scans, rescan):
    assert list(find_similar([*scans, rescan], FeatureLoader())) == [[scans[0], rescan]]
    assert list(find_similar(scans, FeatureLoader(jobs=2))) == []


def test_no_points_match_nothing(scans):
    points = detect_points(scans[0])
    assert count_matches(points, points.take(np.array([], int))) == 0
