import numpy as np
import pytest

from benchmarks.composites import BACKGROUNDS, Leaf, paste


@pytest.mark.parametrize("name", BACKGROUNDS)
def test_a_leaf_is_where_its_mask_is(name):
    rows, cols = np.ogrid[:300, :200]
    mask = ((rows - 140) / 110) ** 2 + ((cols - 100) / 50) ** 2 < 1
    image = np.where(mask[..., None], (10, 250, 10), (250, 250, 250)).astype(np.uint8)
    photos = [np.random.default_rng(1).integers(0, 200, (400, 500, 3), dtype=np.uint8)]
    random = np.random.default_rng(0)
    background = BACKGROUNDS[name](random, photos)
    assert background.shape == (600, 800, 3)
    assert background.dtype == np.uint8
    picture, pasted = paste(Leaf(image, mask, "Acer campestre", "drawn"), background, random)
    assert 0.05 < pasted.mean() < 0.6
    # The leaf's own colour inside, and nowhere outside; no rim of its sheet.
    is_leaf = (np.abs(picture.astype(int) - (10, 250, 10)).max(axis=2)) < 40
    assert is_leaf[pasted].mean() > 0.97
    assert is_leaf[~pasted].mean() < 0.02
