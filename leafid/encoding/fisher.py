"""The Fisher vector: a set of local features as one vector, by how it would move a Gaussian mixture model."""

from __future__ import annotations

import numpy as np

from leafid.descriptors.local import LocalFeatures
from leafid.encoding.projection import Projection
from leafid.errors import LeafidError


class FisherEncoder:
    """Encode sets of local features as Fisher vectors with power and L2 normalisation.

    Parameters
    ----------
    n_modes : int, default 64
        Gaussians of the mixture, with diagonal covariance.
    n_components : int, default 62
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

    def __init__(self, n_modes: int = 64, n_components: int = 62, position_weight: float = 0.0, seed: int = 0) -> None:
        self.n_modes = n_modes
        self.n_components = n_components
        self.position_weight = position_weight
        self.seed = seed

    @property
    def n_features(self) -> int:
        """Length of a Fisher vector."""
        return 2 * self.means_.size

    def fit(self, features: LocalFeatures) -> FisherEncoder:
        """Learn the principal components and the mixture from the pooled local features of many pictures.

        Parameters
        ----------
        features : LocalFeatures
            At least as many as there are modes; 1,000 a mode are plenty.

        Returns
        -------
        FisherEncoder
            Itself.

        Raises
        ------
        LeafidError
            When there are fewer features than modes.
        """
        import warnings

        from sklearn.mixture import GaussianMixture

        # A spread can't be told from one feature.
        if len(features) < max(self.n_modes, 2):
            raise LeafidError(
                f"expected at least {max(self.n_modes, 2)} local features to learn {self.n_modes} modes from, "
                f"found {len(features)}; use more pictures or a recipe with fewer modes"
            )
        self.projection_ = Projection(self.n_components, self.position_weight).fit(features)
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
            mixture.fit(self.projection_.transform(features))
        self.weights_ = mixture.weights_.astype(np.float32)
        self.means_ = mixture.means_.astype(np.float32)
        self.variances_ = mixture.covariances_.astype(np.float32)
        return self

    def transform(self, features: LocalFeatures) -> np.ndarray:
        """Encode the local features of one picture.

        Parameters
        ----------
        features : LocalFeatures

        Returns
        -------
        float32 (n_features,)
            L2 norm 1; all zero where there are no features.
        """
        if len(features) == 0:
            return np.zeros(self.n_features, np.float32)
        values = self.projection_.transform(features)
        squares = values * values
        occupancy = self._posteriors(values, squares)
        mass = occupancy.sum(axis=0)[:, None]
        first = occupancy.T @ values
        second = occupancy.T @ squares
        deviations = np.sqrt(self.variances_)
        scale = 1 / (len(values) * np.sqrt(self.weights_)[:, None])
        by_mean = scale * (first - self.means_ * mass) / deviations
        by_deviation = (
            scale / np.sqrt(2) * ((second - 2 * self.means_ * first + self.means_**2 * mass) / self.variances_ - mass)
        )
        vector = np.concatenate([by_mean.ravel(), by_deviation.ravel()])
        vector = np.sign(vector) * np.sqrt(np.abs(vector))
        return (vector / max(float(np.linalg.norm(vector)), 1e-12)).astype(np.float32)

    def state(self) -> dict[str, np.ndarray]:
        """Give the learned arrays, as `restore` takes them."""
        return {
            "weights": self.weights_,
            "means": self.means_,
            "variances": self.variances_,
            **self.projection_.state(),
        }

    def shapes(self, n_values: int) -> dict[str, tuple[int, ...]]:
        """Give the shapes of the learned arrays for descriptors of `n_values` values."""
        projection = Projection(self.n_components, self.position_weight)
        table = (self.n_modes, projection.row_length(n_values))
        return {"weights": (self.n_modes,), "means": table, "variances": table, **projection.shapes(n_values)}

    def restore(self, state: dict[str, np.ndarray]) -> FisherEncoder:
        """Take learned arrays instead of learning."""
        self.weights_, self.means_, self.variances_ = state["weights"], state["means"], state["variances"]
        self.projection_ = Projection(self.n_components, self.position_weight).restore(state)
        return self

    def _posteriors(self, values: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """Tell how likely each feature came from each mode: (n, n_modes), rows summing to 1."""
        precisions = 1 / self.variances_
        constant = np.log(self.weights_) - 0.5 * (
            np.log(2 * np.pi * self.variances_) + self.means_**2 * precisions
        ).sum(axis=1)
        logs = values @ (self.means_ * precisions).T - 0.5 * (squares @ precisions.T) + constant
        logs -= logs.max(axis=1, keepdims=True)
        np.exp(logs, out=logs)
        logs /= logs.sum(axis=1, keepdims=True)
        return logs
