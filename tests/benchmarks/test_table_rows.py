from pathlib import Path

import numpy as np

from benchmarks.table_rows import format_cells
from leafid.learning.held_out import HeldOutAnswers
from leafid.model.crossvalidation import FoldAnswers
from leafid.pictures.picture import AcquisitionType, Picture, Taxon


def test_a_missing_figure_is_a_dash():
    """Every fold's pictures are of species that its training part lacks."""
    picture = Picture(Path("a.jpg"), taxon=Taxon("Quercus ilex"))
    unseen = HeldOutAnswers([picture], np.array([[0.5, 0.5]]), ("Acer campestre", "Olea europaea"), np.zeros(1, bool))
    assert format_cells([FoldAnswers(AcquisitionType.SCAN, 0, 0, unseen)]) == ["-", "-", "-", "-", "0"]
