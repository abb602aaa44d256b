"""Statistics of training rows, by which a linear classifier learns further rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from leafid.learning.classifiers.scorers import RowTransform

#: Maximum number of principal components that are kept.
N_COMPONENTS = 24


@dataclass(frozen=True, eq=False)
class RowStatistics:
    """Weighted statistics of an expert's training rows, as the classifier sees them.

    The sum of the products of centred columns, X'WX, is approximated by C C' +
    diag(remainder).
    """

    #: float32 (n_columns, k): C, the leading principal components, each as long as the
    #: root of its eigenvalue.
    components: np.ndarray
    #: float32 (n_columns,): the part of the diagonal that the components leave.
    remainder: np.ndarray
    #: float32 (n_columns,): weighted mean of the rows.
    mean: np.ndarray
    #: Sum of the weights.
    weight: float
    transform: RowTransform
    #: Training weight of a picture whose species and plant have no other picture.
    base_weight: float = 1.0

    def update(self, rows: np.ndarray, weights: np.ndarray) -> RowStatistics:
        """Add rows (n, n_columns) with weights (n,)."""
        total = self.weight + weights.sum()
        mean = (self.weight * self.mean + weights @ rows) / total
        deviations = np.vstack(
            [
                (rows - mean) * np.sqrt(weights)[:, None],
                np.sqrt(self.weight) * (self.mean - mean),
            ]
        )
        factor = np.hstack([self.components, deviations.T])
        eigenvectors = np.linalg.eigh(factor.T @ factor).eigenvectors
        components = factor @ eigenvectors[:, -N_COMPONENTS:]
        remainder = (
            self.remainder + (factor**2).sum(axis=1) - (components**2).sum(axis=1)
        )
        updated = make_statistics(
            components,
            remainder,
            mean=mean,
            weight=float(total),
            transform=self.transform,
        )
        return replace(updated, base_weight=self.base_weight)


def make_statistics(
    components: np.ndarray,
    remainder: np.ndarray,
    mean: np.ndarray,
    weight: float,
    transform: RowTransform,
) -> RowStatistics:
    """Make statistics of arrays in double precision.

    Remainders below 0, which are rounding errors, become 0.
    """
    components, remainder, mean = (
        a.astype(np.float32) for a in (components, np.maximum(remainder, 0), mean)
    )
    return RowStatistics(
        components=components,
        remainder=remainder,
        mean=mean,
        weight=weight,
        transform=transform,
    )


def update_ridge(
    statistics: RowStatistics,
    rows: np.ndarray,
    weights: np.ndarray,
    residuals: np.ndarray,
    regularisation: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Have a ridge regression learn further rows, by recursive least squares.

    With A = X'WX + λ of the old rows, centred, and Z the new ones with the weights Ω,
    the coefficients change by A⁻¹Z'(Ω⁻¹ + Z A⁻¹Z')⁻¹R, where R are the residuals of the
    new rows, and the intercept is a column that is not penalised. The change is exact
    for exact statistics. A⁻¹ is applied by Woodbury's identity.

    Parameters
    ----------
    statistics : RowStatistics
        Of the old rows, none of which is needed.
    rows : ndarray of float, (n, n_columns)
        The new rows.
    weights : ndarray of float, (n,)
        0 or more; rows of weight 0 teach nothing.
    residuals : ndarray of float, (n, n_species)
        The targets of the new rows less their scores.
    regularisation : float
        λ, the penalty of the squared coefficients.

    Returns
    -------
    coefficients : ndarray of float64, (n_columns, n_species)
        The change of the coefficients.
    intercepts : ndarray of float64, (n_species,)
        The change of the intercepts.

    References
    ----------
    .. [1] A. H. Sayed, "Fundamentals of adaptive filtering", Wiley 2003, section 12.3
    """
    is_learned = weights > 0
    rows, weights, residuals = (a[is_learned] for a in (rows, weights, residuals))
    centred = rows.astype(np.float64) - statistics.mean
    components = statistics.components.astype(np.float64)
    diagonal = statistics.remainder + float(regularisation)
    scaled = components / diagonal[:, None]
    inner = np.eye(components.shape[1]) + components.T @ scaled
    solution = centred.T / diagonal[:, None]
    solution -= scaled @ np.linalg.solve(inner, components.T @ solution)
    kernel = centred @ solution + 1 / statistics.weight + np.diag(1 / weights)
    dual = np.linalg.solve(kernel, residuals.astype(np.float64))
    change = solution @ dual
    return change, dual.sum(axis=0) / statistics.weight - statistics.mean @ change
