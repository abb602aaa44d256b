import numpy as np

from leafid.tasks.interpretation.box import Box
from leafid.tasks.interpretation.region import make_objects


def test_objects_of_a_label_mask():
    mask = np.zeros((20, 20), int)
    mask[3:6, 4:9], mask[10, 10] = 7, 2
    first, second = make_objects(mask)
    assert (first.box, second.box) == (Box(10, 10, 1, 1), Box(4, 3, 5, 3))
    assert second.region.area == 15
