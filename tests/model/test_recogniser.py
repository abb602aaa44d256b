import numpy as np

from leafid.features.extractor import N_TYPE_FEATURES, measure_type_features
from leafid.pictures.picture import AcquisitionType
from leafid.training.model import fit_type_recogniser
from tests.drawing.collection import TYPES


def test_tells_bright_from_dark_and_middle_from_both():
    random = np.random.default_rng(0)
    grey = np.repeat([20, 128, 240], 8)
    pictures = [
        np.clip(random.normal(g, 5, (64, 64, 3)), 0, 255).astype(np.uint8) for g in grey
    ]
    types = [TYPES[n // 8] for n in range(24)]
    features = np.stack([measure_type_features(picture) for picture in pictures])
    recogniser = fit_type_recogniser(features[::2], types[::2])
    assert [recogniser.recognise(row)[0] for row in features[1::2]] == types[1::2]
    assert set(recogniser.types) == set(TYPES)
    two = fit_type_recogniser(features[:16], types[:16])
    assert [two.recognise(row)[0] for row in features[:16]] == types[:16]


def test_squares_single_out_a_middle_range():
    """Bright and dark pictures of one type against middling ones of another.

    No linear classifier of one measure separates them.
    """
    lightness = np.array([0.0, 0.1, 0.45, 0.5, 0.55, 0.9, 1.0], np.float32)
    features = np.zeros((7, N_TYPE_FEATURES), np.float32)
    features[:, 0] = lightness
    photo, scan = AcquisitionType.PHOTO, AcquisitionType.SCAN
    types = [photo, photo, scan, scan, scan, photo, photo]
    recogniser = fit_type_recogniser(features, types)
    assert [recogniser.recognise(row)[0] for row in features] == types
