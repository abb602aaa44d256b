"""The colour of the sheet behind a leaf, which drifts over the picture."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.result import Image, shrink

# The surface is smooth: more samples a side than this change nothing but the time.
SAMPLES = 48

_FAR = 25.0  # 8-bit Lab units: further off than any shade of the sheet
_NOISE_FLOOR = 1.5  # Lab units: JPEG and rounding alone scatter a plain sheet this much


def fit_sheet_surface(image: Image, *, quick: bool = False) -> tuple[NDArray[np.float32], float]:
    """Fit the sheet's colour as a surface over the picture.

    A plane is fitted to the picture's border with weights that ignore what is far off (a leaf cut by the edge, a
    scanner's dark rim), and then a surface of third order to all that looks like that plane.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        BGR.
    quick : bool, default False
        Take half as many samples a side, and half as many rounds of reweighting.

    Returns
    -------
    surface : ndarray of float32, shape (h, w, 3)
        The sheet's colour on a coarse grid that spans the picture, `h` and `w` at most `SAMPLES`, in 8-bit Lab as
        OpenCV makes it: L scaled to 0..255, a and b shifted by 128.
    spread : float
        The sheet's own scatter around the surface, in the same 8-bit units; at least 1.5.

    Notes
    -----
    Weights are Geman and McClure's, 1 / (1 + (r / s)²)², whose influence falls to nothing for far samples.

    References
    ----------
    .. [1] P. W. Holland, R. E. Welsch, "Robust regression using iteratively reweighted least squares",
       Communications in Statistics 6(9), 1977, doi:10.1080/03610927708827533.
    """
    coarse = cv2.cvtColor(shrink(image, SAMPLES // 2 if quick else SAMPLES), cv2.COLOR_BGR2LAB)
    rows, cols = coarse.shape[:2]
    samples = coarse.reshape(-1, 3).T.astype(np.float32)
    basis = _basis(rows, cols)
    border = index_border(rows, cols)

    outer, outer_basis = samples[:, border], basis[:3, border]
    rounds = 3 if quick else 6
    plane = _robust_plane(outer_basis, outer, rounds)
    if _is_leaf(plane, basis, samples, rows, cols):
        far = _squares(outer - plane @ outer_basis) > _FAR**2
        plane = _robust_plane(outer_basis[:, far], outer[:, far], rounds)
    surface = plane @ basis[:3]
    for terms in (6, 10) if quick else (6, 6, 10, 10):
        residual = _squares(samples - surface)
        spread = max(_NOISE_FLOOR, _middle(residual[border]) ** 0.5)
        weights = _weights(residual, 2 * spread) * (residual < min(4 * spread, 25.0) ** 2)
        surface = _solve(basis[:terms], samples, weights) @ basis[:terms]
    spread = max(_NOISE_FLOOR, _middle(_squares(outer - surface[:, border])) ** 0.5)
    return surface.T.reshape(rows, cols, 3), spread


def _robust_plane(basis: NDArray[np.float32], colours: NDArray[np.float32], rounds: int) -> NDArray[np.float32]:
    fitted = _medians(colours)
    for _ in range(rounds):
        residual = _squares(colours - fitted)
        plane = _solve(basis, colours, _weights(residual, 1.5 * _middle(residual) ** 0.5))
        fitted = plane @ basis
    return plane


def _is_leaf(
    plane: NDArray[np.float32], basis: NDArray[np.float32], samples: NDArray[np.float32], rows: int, cols: int
) -> bool:
    """Tell whether most of the border is leaf: then two corners or more are something else, and lighter."""
    corners = [0, cols - 1, (rows - 1) * cols, rows * cols - 1]
    difference = samples[:, corners] - plane @ basis[:3, corners]
    far = _squares(difference) > _FAR**2
    return bool(np.count_nonzero(far) >= 2 and np.all(difference[0, far] > 0))


def _squares(differences: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sum the squares of three channels; shape (n,) from (3, n)."""
    squares = differences * differences
    total: NDArray[np.float32] = squares[0] + squares[1] + squares[2]
    return total


def _medians(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the median of each row as a column; what numpy's own does beside takes most of its time."""
    low, high = (values.shape[1] - 1) // 2, values.shape[1] // 2
    ordered = np.partition(values, (low, high), axis=1)
    return np.asarray((ordered[:, low : low + 1] + ordered[:, high : high + 1]) / np.float32(2))


def _middle(values: NDArray[np.float32]) -> float:
    """Return the upper median; numpy's own takes five times as long on so few values."""
    return float(np.partition(values, values.size // 2)[values.size // 2])


def _weights(squares: NDArray[np.float32], scale: float) -> NDArray[np.float32]:
    ratio = 1 + squares * np.float32(max(scale, _NOISE_FLOOR) ** -2)
    return np.reciprocal(ratio * ratio)


def _solve(
    basis: NDArray[np.float32], values: NDArray[np.float32], weights: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Fit channels, shape (3, n), by a basis, (t, n), and return the coefficients, (3, t)."""
    weighted = basis * weights
    # The ridge, tiny beside the thousands of samples, keeps a picture of one pixel's width solvable.
    ridge = _ridge(basis.shape[0])
    # OpenCV's solver, as numpy's needs longer to check such a small matrix than to solve it.
    solution = cv2.solve(weighted @ basis.T + ridge, weighted @ values.T, flags=cv2.DECOMP_CHOLESKY)[1]
    return np.asarray(solution, np.float32).T


@lru_cache(maxsize=32)
def _ridge(terms: int) -> NDArray[np.float32]:
    ridge = 1e-2 * np.eye(terms, dtype=np.float32)
    ridge[0, 0] = 1e-6
    return ridge


@lru_cache(maxsize=32)
def _basis(rows: int, cols: int) -> NDArray[np.float32]:
    """List the monomials in row and column up to third order, both running from -1 to 1; shape (10, rows · cols)."""
    row, col = np.meshgrid(np.linspace(-1, 1, rows), np.linspace(-1, 1, cols), indexing="ij")
    one = np.ones_like(row)
    terms = [one, row, col, row**2, col**2, row * col, row**3, col**3, row**2 * col, row * col**2]
    return np.stack(terms).reshape(10, -1).astype(np.float32)


@lru_cache(maxsize=32)
def index_border(rows: int, cols: int) -> NDArray[np.intp]:
    """Index the samples in the outer 5 % of the grid's shorter side."""
    width = max(1, round(0.05 * min(rows, cols)))
    inside = np.zeros((rows, cols), bool)
    inside[width:-width, width:-width] = True
    return np.flatnonzero(~inside)
