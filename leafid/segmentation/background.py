"""The colour of the sheet behind a leaf, which drifts over the picture."""

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.pixels import Image, Mask, make_square, scale_size, shrink

Values = NDArray[np.float32]

# Side of the sampling grid. The surface is smooth: more samples change nothing but the
# time.
SAMPLES = 48
# No shade of the sheet is farther from its colour, in 8-bit Lab units.
_FAR = 25.0
# JPEG and rounding scatter a plain sheet by this much, in 8-bit Lab units.
_NOISE_FLOOR = 1.5
# Factor by which pictures are reduced to interpolate in them, and standard deviation of
# the blur there, in pixels.
_STEP = 4
_BLUR = 6.0

# Longest side of the picture in which the sheet's colour is estimated, in pixels.
_SIDE = 256
# Width of the rim around an erased leaf, which holds its shadow, as a part of the
# picture's longer side.
_RIM = 0.01


def fit_sheet_surface(image: Image, *, quick: bool = False) -> tuple[Values, float]:
    """Fit the sheet's colour as a surface, and the scatter around it (from 1.5).

    The surface lies on a coarse grid that spans the picture, float32 (h, w, 3) with at
    most `SAMPLES` a side. Surface and scatter are in OpenCV's 8-bit Lab: L scaled to
    0..255, a and b shifted by 128. `quick` halves the samples a side and the rounds of
    reweighting.

    A plane is fitted to the picture's border, with weights that ignore outliers (a leaf
    cut by the border, a scanner's dark rim), and then a surface of third order to all
    samples that resemble the plane. The weights are Geman and McClure's, 1 / (1 + (r /
    s)²)² [1]_.

    References
    ----------
    .. [1] P. W. Holland, R. E. Welsch, "Robust regression using iteratively reweighted
       least squares", Communications in Statistics 6(9), 1977,
       doi:10.1080/03610927708827533.
    """
    side = SAMPLES // 2 if quick else SAMPLES
    coarse = cv2.cvtColor(shrink(image, side), cv2.COLOR_BGR2LAB)
    rows, cols = coarse.shape[:2]
    samples = coarse.reshape(-1, 3).T.astype(np.float32)
    basis = _make_basis(rows, cols)
    # The samples in the outer 5 % of the grid's shorter side.
    width = max(1, round(0.05 * min(rows, cols)))
    inside = np.zeros((rows, cols), bool)
    inside[width:-width, width:-width] = True
    border = np.flatnonzero(~inside)

    outer = samples[:, border]
    plane = _fit_robust_plane(basis[:3, border], outer, 3 if quick else 6)
    surface = plane @ basis[:3]
    for terms in (6, 10) if quick else (6, 6, 10, 10):
        residual = _sum_squares(samples - surface)
        spread = max(_NOISE_FLOOR, _compute_root_median(residual[border]))
        weights = _compute_weights(residual, 2 * spread)
        weights *= residual < min(4 * spread, _FAR) ** 2
        surface = _solve_weighted(basis[:terms], samples, weights) @ basis[:terms]
    spread = _compute_root_median(_sum_squares(outer - surface[:, border]))
    return surface.T.reshape(rows, cols, 3), max(_NOISE_FLOOR, spread)


def interpolate_sheet(colours: NDArray[Any], weights: NDArray[Any]) -> Values:
    """Interpolate colours, (H, W, C), where their weights, (H, W), are small."""
    weights = weights[..., None].astype(np.float32)
    planes = np.concatenate([colours * weights, weights], axis=2)
    size = scale_size(planes, 1 / _STEP)
    small = cv2.resize(planes, size, interpolation=cv2.INTER_AREA)
    blurred = cv2.GaussianBlur(small, (0, 0), _BLUR)
    # Far from all sheet, its usual colour.
    mean = small[..., :-1].mean((0, 1)) / max(small[..., -1].mean(), 1e-6)
    sheet = (blurred[..., :-1] + 1e-4 * mean) / (blurred[..., -1:] + 1e-4)
    return cv2.resize(sheet, planes.shape[1::-1])


def erase(image: Image, mask: Mask, kept: Mask | bool = False) -> Image:
    """Paint a mask and its rim in the sheet's colour, except for what is `kept`."""
    width = 2 * max(1, round(_RIM * max(mask.shape))) + 1
    wide = cv2.dilate(mask.view(np.uint8), make_square(width))
    sheet = estimate_sheet(image, wide.view(bool) | kept)
    wide[kept] = 0
    return cv2.copyTo(sheet, wide, image.copy())


def estimate_sheet(image: Image, mask: Mask, *, in_lab: bool = False) -> Image:
    """Estimate the colour of the sheet everywhere from what lies outside a mask.

    It is in BGR, or 8-bit Lab.
    """
    small = shrink(image, _SIDE)
    size = small.shape[1::-1]
    share = cv2.resize(mask.view(np.uint8), size, interpolation=cv2.INTER_AREA)
    sheet = interpolate_sheet(small, share == 0).clip(0, 255).astype(np.uint8)
    if in_lab:
        sheet = cv2.cvtColor(sheet, cv2.COLOR_BGR2LAB)
    return cv2.resize(sheet, image.shape[1::-1])


def _fit_robust_plane(basis: Values, colours: Values, rounds: int) -> Values:
    middle = colours.shape[1] // 2
    fitted = np.partition(colours, middle, axis=1)[:, middle : middle + 1]
    for _ in range(rounds):
        residual = _sum_squares(colours - fitted)
        weights = _compute_weights(residual, 1.5 * _compute_root_median(residual))
        plane = _solve_weighted(basis, colours, weights)
        fitted = plane @ basis
    return plane


def _sum_squares(differences: Values) -> Values:
    """Sum the squares of three channels; shape (n,) from (3, n)."""
    squares = differences * differences
    return squares[0] + squares[1] + squares[2]


def _compute_root_median(squares: Values) -> float:
    """Compute the root of the upper median."""
    middle = squares.size // 2
    return float(np.partition(squares, middle)[middle]) ** 0.5


def _compute_weights(squares: Values, scale: float) -> Values:
    ratio = 1 + squares * np.float32(max(scale, _NOISE_FLOOR) ** -2)
    return np.reciprocal(ratio * ratio)


def _solve_weighted(basis: Values, values: Values, weights: Values) -> Values:
    """Fit channels, shape (3, n), by a basis, (t, n), in weighted least squares.

    Coefficients (3, t).
    """
    weighted = basis * weights
    # A penalty, tiny beside thousands of samples, keeps a picture one pixel wide
    # solvable.
    penalty = np.full(len(basis), 1e-2, np.float32)
    penalty[0] = 1e-6
    sums = weighted @ np.concatenate([basis, values]).T
    gram = sums[:, : len(basis)] + np.diag(penalty)
    # OpenCV's solver, because NumPy's needs longer to check such a small matrix than to
    # solve it.
    solution = cv2.solve(gram, sums[:, len(basis) :], flags=cv2.DECOMP_CHOLESKY)[1]
    return np.asarray(solution, np.float32).T


# Many pictures have one shape.
@lru_cache(maxsize=16)
def _make_basis(rows: int, cols: int) -> Values:
    """List monomials up to third order in row and column, from -1 to 1: (10, H · W)."""
    row, col = np.meshgrid(
        np.linspace(-1, 1, rows), np.linspace(-1, 1, cols), indexing="ij"
    )
    squares = [row**2, col**2, row * col]
    cubes = [row**3, col**3, row**2 * col, row * col**2]
    terms = [np.ones_like(row), row, col, *squares, *cubes]
    return np.stack(terms).reshape(10, -1).astype(np.float32)
