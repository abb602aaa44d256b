from pathlib import Path

import numpy as np

from benchmarks.table_rows import format_cells
from leafid.classifiers.held_out import HeldOutAnswers
from leafid.collection.picture import AcquisitionType, Picture, Taxon
from leafid.identification.crossvalidation import FoldAnswers


def test_a_missing_figure_is_a_dash():
    """Every fold's pictures are of species that its training part lacks."""
    picture = Picture(Path("a.jpg"), taxon=Taxon("Quercus ilex"))
    unseen = HeldOutAnswers([picture], np.array([[0.5, 0.5]]), ("Acer campestre", "Olea europaea"), np.zeros(1, bool))
    assert format_cells([FoldAnswers(AcquisitionType.SCAN, 0, 0, unseen)]) == ["-", "-", "-", "-", "0"]
