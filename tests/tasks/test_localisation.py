import numpy as np
import pytest

from leafid.tasks.interpretation import localisation as loc
from leafid.tasks.interpretation.regions import Box, box_overlap


@pytest.mark.parametrize("seed", range(6))
def test_box_bounds(seed):
    truth, result = (
        Box(*box)
        for box in np.random.default_rng(seed).integers(1, 50, (2, 4)).tolist()
    )
    for error in (loc.rob_loc_error, loc.rob_com_error, loc.rob_cor_error):
        assert 0 <= error(truth, result) < 1
        assert error(truth, truth) == 0
    assert 0 <= box_overlap(truth, result) <= 1
    assert box_overlap(truth, truth) == 1
