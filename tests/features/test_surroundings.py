import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leafid.features.extractor import N_TYPE_FEATURES
from leafid.features.surroundings import (
    measure_types_elsewhere,
    put_beside_chart,
    put_on_ground,
    put_on_table,
)

SIZES = st.tuples(st.integers(1, 40), st.integers(1, 40))


@given(SIZES.flatmap(lambda size: arrays(np.uint8, (*size, 3))), st.integers(0, 99))
@settings(deadline=None, max_examples=25)
def test_a_picture_of_any_size_is_shown_elsewhere(image, seed):
    before = image.copy()
    rows, cols = image.shape[:2]
    for show in (put_on_table, put_beside_chart):
        shown = show(image, np.random.default_rng(seed))
        assert shown.shape[0] >= rows
        assert shown.shape[1] >= cols
        windows = np.lib.stride_tricks.sliding_window_view(shown, image.shape)
        assert (windows == image).all(axis=(3, 4, 5)).any()
        np.testing.assert_array_equal(show(image, np.random.default_rng(seed)), shown)
    values = measure_types_elsewhere(image)
    assert values.shape == (2 * N_TYPE_FEATURES,)
    assert np.isfinite(values).all()
    np.testing.assert_array_equal(image, before)


def test_a_leaf_stays_and_its_sheet_becomes_ground_of_many_colours():
    image = np.full((60, 80, 3), 240, np.uint8)
    leaf = np.zeros((60, 80), bool)
    leaf[20:40, 30:50] = True
    image[leaf] = (40, 120, 60)
    grounds = [
        put_on_ground(image, leaf, np.random.default_rng(seed)) for seed in range(60)
    ]
    for shown in grounds:
        np.testing.assert_array_equal(shown[24:36, 34:46], image[24:36, 34:46])
    colours = np.array([np.median(shown[:10], axis=(0, 1)) for shown in grounds])
    assert (colours.max(axis=1) < 40).any()
    assert (colours.min(axis=1) > 150).any()
    assert (np.ptp(colours, axis=1) > 100).any()
