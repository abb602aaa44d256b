"""Colour statistics of patches on a grid."""

import numpy as np

from leafid.descriptors.local.features import LocalFeatures
from leafid.descriptors.local.grid import N_CELLS, Grid, average_cells, read_patches

# Values of a cell: means and standard deviations of three channels.
_N_VALUES = 6
COLOUR_LENGTH = _N_VALUES * N_CELLS**2


def extract_dense_colour(lab: np.ndarray, region: np.ndarray | None = None, grid: Grid | None = None) -> LocalFeatures:
    """Extract means and standard deviations of the Lab channels in 4 × 4 cells, on the grid of `extract_dense_sift`.

    A descriptor has 96 values in [0, 1]: for each cell three means and three standard deviations.

    References
    ----------
    .. [1] F. Perronnin, J. Sánchez, T. Mensink, "Improving the Fisher kernel for large-scale image classification",
       ECCV 2010, section 4.1, doi:10.1007/978-3-642-15561-1_11
    """
    return read_patches(lab, region, grid or Grid(), _compute_colour_cells, lambda symmetry: np.arange(_N_VALUES))


def _compute_colour_cells(lab: np.ndarray, cell: int) -> np.ndarray:
    values = lab.astype(np.float32) / 255
    means = average_cells(values, cell)
    spread = np.sqrt(np.maximum(average_cells(values * values, cell) - means * means, 0))
    return np.concatenate([means, spread], axis=2)
