"""The Fisher vector: a set of local features as one vector, the gradient of a Gaussian mixture's log-likelihood."""

import numpy as np

from leafid.descriptors.encoding.base import ProjectedEncoder

# Features encoded at once: few enough to stay in the processor's cache from one step to the next.
_BATCH_SIZE = 1024
# Iterations of expectation maximisation, features for each mode among which its first mean is chosen, and what is added
# to variances.
_N_ITERATIONS, _SEEDED_PER_MODE, _MIN_VARIANCE = 20, 100, np.float32(1e-4)


class FisherEncoder(ProjectedEncoder):
    """Encoder of sets of local features as Fisher vectors with power and L2 normalisation.

    The mixture has diagonal covariances.

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
        """Length of a Fisher vector."""
        return 2 * self.means_.size

    def _fit_tables(self, rows: np.ndarray) -> None:
        from sklearn.cluster import kmeans_plusplus

        random = np.random.RandomState(self.seed)
        sample = rows[np.sort(random.permutation(len(rows))[: _SEEDED_PER_MODE * self.n_modes])]
        self.means_, _ = kmeans_plusplus(sample, self.n_modes, random_state=random)
        self.weights_ = np.full(self.n_modes, 1 / self.n_modes, np.float32)
        self.variances_ = np.tile(rows.var(axis=0) + _MIN_VARIANCE, (self.n_modes, 1))
        # Expectation maximisation; the mixture need not have quite converged to serve as a codebook.
        for _ in range(_N_ITERATIONS):
            s_0, s_1, s_2 = self._sum_moments(rows)
            counts = s_0 + np.float32(1e-6)
            self.means_ = s_1 / counts
            self.variances_ = np.maximum(s_2 / counts - self.means_**2, 0) + _MIN_VARIANCE
            self.weights_ = (counts / counts.sum()).ravel()

    def _encode(self, rows: np.ndarray) -> np.ndarray:
        s_0, s_1, s_2 = self._sum_moments(rows)
        scale = 1 / (len(rows) * np.sqrt(self.weights_)[:, None])
        d_mu = scale * (s_1 - self.means_ * s_0) / np.sqrt(self.variances_)
        d_sigma = scale / np.sqrt(2) * ((s_2 - 2 * self.means_ * s_1 + self.means_**2 * s_0) / self.variances_ - s_0)
        vector = np.concatenate([d_mu.ravel(), d_sigma.ravel()])
        vector = np.sign(vector) * np.sqrt(np.abs(vector))
        return (vector / max(float(np.linalg.norm(vector)), 1e-12)).astype(np.float32)

    def _sum_moments(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sum the posteriors γ of each mode, (n_modes, 1), and γ x and γ x², (n_modes, d), over all features x."""
        precisions = 1 / self.variances_
        spread = (np.log(2 * np.pi * self.variances_) + self.means_**2 * precisions).sum(axis=1, keepdims=True)
        constant = np.log(self.weights_)[:, None] - 0.5 * spread
        # A, (n_modes, 2 d + 1): A (x, x², 1) is the log of each mode's weighted density at x.
        coefficients = np.concatenate([self.means_ * precisions, -0.5 * precisions, constant], axis=1)
        n_values = rows.shape[1]
        # Side by side: each batch is two matrix products.
        moments = np.zeros((self.n_modes, 2 * n_values + 1), np.float32)
        for start in range(0, len(rows), _BATCH_SIZE):
            batch = rows[start : start + _BATCH_SIZE]
            powers = np.concatenate([batch, batch * batch, np.ones((len(batch), 1), np.float32)], axis=1)
            # A row for each mode: maxima and sums over the modes run along the features, many at a time.
            posteriors = coefficients @ powers.T
            posteriors -= posteriors.max(axis=0)
            np.exp(posteriors, out=posteriors)
            posteriors /= posteriors.sum(axis=0)
            moments += posteriors @ powers
        s_1, s_2, s_0 = np.split(moments, (n_values, 2 * n_values), axis=1)
        return s_0, s_1, s_2

    def _get_table_shapes(self, n_row_values: int) -> dict[str, tuple[int, ...]]:
        table = (self.n_modes, n_row_values)
        return {"weights": (self.n_modes,), "means": table, "variances": table}
