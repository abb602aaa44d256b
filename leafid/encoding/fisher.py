"""The Fisher vector: a set of local features as one vector, by how it would move a Gaussian mixture model."""

from __future__ import annotations

import numpy as np

from leafid.encoding.base import ProjectedEncoder

# Rows that stay in the processor's cache from one step of the encoding to the next.
_AT_ONCE = 1024


class FisherEncoder(ProjectedEncoder):
    """Encode sets of local features as Fisher vectors with power and L2 normalisation.

    Parameters
    ----------
    n_modes : int
        Gaussians of the mixture, with diagonal covariance.
    n_components : int
        Principal components that are kept of a descriptor.
    position_weight : float, default 0
        With a weight above 0, row, column and scale of a patch are appended to its components, as standard scores
        times this weight.
    seed : int, default 0

    Attributes
    ----------
    projection_ : Projection
        The principal components.
    weights_ : float32 (n_modes,)
    means_, variances_ : float32 (n_modes, n_values)

    References
    ----------
    .. [1] J. Sánchez, F. Perronnin, T. Mensink, J. Verbeek, "Image classification with the Fisher vector: theory and
       practice", IJCV 105(3), 2013, doi:10.1007/s11263-013-0636-x
    """

    tables = ("weights", "means", "variances")
    mode_name = "modes"

    weights_: np.ndarray
    means_: np.ndarray
    variances_: np.ndarray

    @property
    def n_features(self) -> int:
        """Length of a Fisher vector; its L2 norm is 1."""
        return 2 * self.means_.size

    def _learn(self, rows: np.ndarray) -> None:
        import warnings

        from sklearn.mixture import GaussianMixture

        mixture = GaussianMixture(
            self.n_modes,
            covariance_type="diag",
            reg_covar=1e-4,
            max_iter=40,
            tol=1e-2,
            init_params="k-means++",
            random_state=self.seed,
        )
        with warnings.catch_warnings():
            # A mixture that still moves a little after 40 rounds serves as a codebook just as well.
            warnings.simplefilter("ignore")
            mixture.fit(rows)
        self.weights_ = mixture.weights_.astype(np.float32)
        self.means_ = mixture.means_.astype(np.float32)
        self.variances_ = mixture.covariances_.astype(np.float32)

    def _encode(self, rows: np.ndarray) -> np.ndarray:
        posteriors = _Posteriors(self.weights_, self.means_, self.variances_)
        mass = np.zeros((self.n_modes, 1), np.float32)
        moments = np.zeros((self.n_modes, 2 * rows.shape[1]), np.float32)
        for start in range(0, len(rows), _AT_ONCE):
            part = rows[start : start + _AT_ONCE]
            # Rows and their squares side by side: each step is one product of matrices.
            both = np.concatenate([part, part * part], axis=1)
            occupancy = posteriors(both)
            mass += occupancy.sum(axis=1, keepdims=True)
            moments += occupancy @ both
        first, second = np.hsplit(moments, 2)
        deviations = np.sqrt(self.variances_)
        scale = 1 / (len(rows) * np.sqrt(self.weights_)[:, None])
        by_mean = scale * (first - self.means_ * mass) / deviations
        by_deviation = (
            scale / np.sqrt(2) * ((second - 2 * self.means_ * first + self.means_**2 * mass) / self.variances_ - mass)
        )
        vector = np.concatenate([by_mean.ravel(), by_deviation.ravel()])
        vector = np.sign(vector) * np.sqrt(np.abs(vector))
        return (vector / max(float(np.linalg.norm(vector)), 1e-12)).astype(np.float32)

    def _table_shapes(self, row_length: int) -> dict[str, tuple[int, ...]]:
        table = (self.n_modes, row_length)
        return {"weights": (self.n_modes,), "means": table, "variances": table}


class _Posteriors:
    """Tells how likely each feature came from each mode of a mixture."""

    def __init__(self, weights: np.ndarray, means: np.ndarray, variances: np.ndarray) -> None:
        precisions = 1 / variances
        self._coefficients = np.concatenate([means * precisions, -0.5 * precisions], axis=1)
        spread = (np.log(2 * np.pi * variances) + means**2 * precisions).sum(axis=1, keepdims=True)
        self._constant = np.log(weights)[:, None] - 0.5 * spread

    def __call__(self, both: np.ndarray) -> np.ndarray:
        """Take features and their squares side by side; give (n_modes, n), columns summing to 1."""
        # A row for each mode: maxima and sums over the modes then run along the features, many at a time.
        logs = self._coefficients @ both.T
        logs += self._constant
        logs -= logs.max(axis=0)
        np.exp(logs, out=logs)
        logs /= logs.sum(axis=0)
        return logs
