"""From a set of local features to one vector: learn on many pictures, apply to one."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from leafid.descriptors.arrays import Singles
from leafid.descriptors.local.grid import LocalFeatures
from leafid.errors import LeafidError

# Features encoded at once: few enough to stay in the processor's cache from one step to
# the next.
_BATCH_SIZE = 1024
# Iterations of expectation maximisation, features for each mode among which its first
# mean is chosen, and the number that is added to variances.
_N_ITERATIONS = 20
_SEEDED_PER_MODE = 100
_MIN_VARIANCE = np.float32(1e-4)
# Smallest logarithm of a posterior, relative to the largest one: smaller ones would
# become subnormal numbers, with which many processors take ten times as long.
_MIN_LOGARITHM = np.float32(-40)


@dataclass(eq=False)
class Encoder(ABC):
    """Encoder of sets of local features by tables with a row for each mode.

    A mode is a Gaussian of a mixture, or a visual word. The tables are learned from
    local features that are projected on a few uncorrelated components, whose scale is
    ``scale_``, the standard deviation of the first one: the covariance keeps its shape,
    and regularisation and tolerance of the mixture mean the same for every kind of
    descriptor.

    Parameters
    ----------
    n_modes : int
        Rows of the tables.
    n_components : int
        Principal components of a descriptor that are kept, or as many as it has values.
    position_weight : float
        Above 0, row, column and scale of a patch are appended to the components, as
        standard scores times the weight.
    seed : int
        The seed of the mixture, or of k-means.
    """

    #: Names of the learned tables; each is an attribute that ends in an underscore.
    tables: ClassVar[tuple[str, ...]]
    n_modes: int
    n_components: int
    position_weight: float = 0.0
    seed: int = 0
    #: Length of an encoded vector.
    n_features: int = field(init=False, repr=False)

    def fit(self, features: LocalFeatures) -> Self:
        """Learn the components and the tables from local features of many pictures.

        Parameters
        ----------
        features : LocalFeatures
            A thousand for each mode are plenty.

        Returns
        -------
        Encoder
            This encoder.

        Raises
        ------
        LeafidError
            If there are fewer features than modes.
        """
        # One feature has no standard deviation.
        minimum = max(self.n_modes, 2)
        if len(features) < minimum:
            raise LeafidError(
                f"expected at least {minimum} local features to learn {self.n_modes} "
                f"modes from, found {len(features)}; use more pictures or a recipe "
                "with fewer modes"
            )
        descriptors = features.descriptors.astype(np.float64)
        mean = descriptors.mean(axis=0)
        self.mean_ = mean.astype(np.float32)
        # np.cov would copy them, which are the largest array of a training.
        descriptors -= mean
        values, vectors = np.linalg.eigh(
            descriptors.T @ descriptors * (1 / (len(descriptors) - 1))
        )
        del descriptors
        # The eigenvalues ascend.
        axes = vectors[:, ::-1][:, : self.n_components]
        # The sign of an eigenvector is free: fix it, so that every machine learns the
        # same codebook.
        axes = axes * np.sign(
            axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
        )
        self.components_ = axes.astype(np.float32)
        self.scale_ = np.asarray(np.sqrt(np.float32(max(values[-1], 1e-12))))
        positions = _list_positions(features)
        self.position_mean_ = positions.mean(axis=0)
        self.position_scale_ = np.maximum(positions.std(axis=0), 1e-3)
        self._prepare_projection()
        self._fit_tables(self.project(features))
        self._prepare_tables()
        return self

    def _prepare_projection(self) -> None:
        # The axes keep the memory order that they were learned in: in a file's order
        # they would round differently.
        self._axes = np.asfortranarray(self.components_ / self.scale_)
        self._shift = self.mean_ @ self._axes

    def project(self, features: LocalFeatures) -> Singles:
        """Return a float32 row for each local feature: its components and position."""
        rows = features.descriptors @ self._axes
        rows -= self._shift
        if not self.position_weight:
            return rows
        offsets = _list_positions(features) - self.position_mean_
        standard = offsets / self.position_scale_
        return np.hstack([rows, np.float32(self.position_weight) * standard])

    def transform(self, features: LocalFeatures) -> Singles:
        """Encode the local features of one picture.

        Parameters
        ----------
        features : LocalFeatures

        Returns
        -------
        float32 (n_features,)
            All zero without features.

        Raises
        ------
        LeafidError
            If the encoder of another package gives another number of values, or one
            that is not finite.
        """
        if len(features) == 0:
            return np.zeros(self.n_features, np.float32)
        vector = self._encode(self.project(features))
        if vector.shape != (self.n_features,) or not np.isfinite(vector).all():
            raise LeafidError(
                f"{type(self).__qualname__}: expected {self.n_features} finite "
                f"numbers, found {vector!s:.99}"
            )
        return vector

    def get_state(self) -> dict[str, Singles]:
        """Return the learned arrays."""
        names = ["mean", "components", "scale", "position_mean", "position_scale"]
        return {name: getattr(self, f"{name}_") for name in (*self.tables, *names)}

    def list_shapes(self, length: int) -> dict[str, tuple[int, ...]]:
        """List the shapes of the arrays of `get_state` by name.

        They depend on the length of the descriptors that the encoder is fitted to.
        """
        n_components = min(self.n_components, length)
        n_values = n_components + 3 * bool(self.position_weight)
        shapes = {
            name: (self.n_modes, n_values)[: 1 if name == "weights" else 2]
            for name in self.tables
        }
        shapes |= {"mean": (length,), "components": (length, n_components), "scale": ()}
        return shapes | {"position_mean": (3,), "position_scale": (3,)}

    def set_state(self, state: dict[str, Singles]) -> Self:
        """Take arrays that `get_state` returned."""
        for name, array in state.items():
            setattr(self, f"{name}_", array)
        self._prepare_projection()
        self._prepare_tables()
        return self

    @abstractmethod
    def _prepare_tables(self) -> None:
        """Compute from the tables what every picture needs, and `n_features`."""

    @abstractmethod
    def _fit_tables(self, rows: Singles) -> None:
        """Learn the tables from projected features, float32 (n, n_row_values)."""

    @abstractmethod
    def _encode(self, rows: Singles) -> Singles:
        """Encode the projected features of one picture, at least one."""


def _list_positions(features: LocalFeatures) -> Singles:
    """List row, column and scale of each feature, (n, 3)."""
    return np.column_stack([features.positions, features.scales])


class FisherEncoder(Encoder):
    """Encoder of local features as Fisher vectors with power and L2 normalisation.

    The mixture has diagonal covariances.

    References
    ----------
    .. [1] J. Sánchez, F. Perronnin, T. Mensink, J. Verbeek, "Image classification with
       the Fisher vector: theory and practice", IJCV 105(3), 2013,
       doi:10.1007/s11263-013-0636-x
    """

    tables = ("weights", "means", "variances")

    def _fit_tables(self, rows: Singles) -> None:
        from sklearn.cluster import kmeans_plusplus

        random = np.random.RandomState(self.seed)
        order = random.permutation(len(rows))
        sample = rows[np.sort(order[: _SEEDED_PER_MODE * self.n_modes])]
        self.means_, _ = kmeans_plusplus(sample, self.n_modes, random_state=random)
        self.weights_ = np.full(self.n_modes, 1 / self.n_modes, np.float32)
        self.variances_ = np.tile(rows.var(axis=0) + _MIN_VARIANCE, (self.n_modes, 1))
        # Expectation maximisation; the mixture need not have quite converged to serve
        # as a codebook.
        for _ in range(_N_ITERATIONS):
            self._prepare_tables()
            s_0, s_1, s_2 = self._sum_moments(rows)
            counts = s_0 + np.float32(1e-6)
            self.means_ = s_1 / counts
            variances = s_2 / counts - self.means_**2
            self.variances_ = np.maximum(variances, 0) + _MIN_VARIANCE
            self.weights_ = (counts / counts.sum()).ravel()

    def _prepare_tables(self) -> None:
        """Compute coefficients A of the modes' densities: float32 (n_modes, 2 d + 1).

        A (x, x², 1) is the logarithm of each mode's weighted density at x.
        """
        self.n_features = 2 * self.means_.size
        precisions = 1 / self.variances_
        spread = np.log(2 * np.pi * self.variances_) + self.means_**2 * precisions
        constant = np.log(self.weights_) - 0.5 * spread.sum(axis=1)
        self._coefficients = np.column_stack(
            [self.means_ * precisions, -0.5 * precisions, constant]
        )

    def _encode(self, rows: Singles) -> Singles:
        s_0, s_1, s_2 = self._sum_moments(rows)
        scale = 1 / (len(rows) * np.sqrt(self.weights_)[:, None])
        d_mu = scale * (s_1 - self.means_ * s_0) / np.sqrt(self.variances_)
        squares = s_2 - 2 * self.means_ * s_1 + self.means_**2 * s_0
        d_sigma = scale / np.sqrt(2) * (squares / self.variances_ - s_0)
        vector = np.concatenate([d_mu.ravel(), d_sigma.ravel()])
        vector = np.sign(vector) * np.sqrt(np.abs(vector))
        return (vector / max(float(np.linalg.norm(vector)), 1e-12)).astype(np.float32)

    def _sum_moments(self, rows: Singles) -> tuple[Singles, Singles, Singles]:
        """Sum the posteriors of each mode and their moments over all features x.

        These are γ, (n_modes, 1), and γ x and γ x², (n_modes, d).
        """
        n_values = rows.shape[1]
        # Side by side: each batch is two matrix products.
        moments = np.zeros((self.n_modes, 2 * n_values + 1), np.float32)
        # Allocating memory for each batch would take longer than to fill it.
        buffer = np.ones((_BATCH_SIZE, 2 * n_values + 1), np.float32)
        for start in range(0, len(rows), _BATCH_SIZE):
            batch = rows[start : start + _BATCH_SIZE]
            extended = buffer[: len(batch)]
            extended[:, :n_values] = batch
            np.multiply(batch, batch, out=extended[:, n_values:-1])
            # A row for each mode: maxima and sums over the modes run along the
            # features, many at a time.
            posteriors = self._coefficients @ extended.T
            posteriors -= posteriors.max(axis=0)
            # With both bounds, several times faster than `numpy.maximum`.
            posteriors.clip(_MIN_LOGARITHM, 0, out=posteriors)
            np.exp(posteriors, out=posteriors)
            posteriors /= posteriors.sum(axis=0)
            moments += posteriors @ extended
        s_1, s_2, s_0 = np.split(moments, (n_values, 2 * n_values), axis=1)
        return s_0, s_1, s_2


class BagOfWordsEncoder(Encoder):
    """Encoder of sets of local features as histograms of visual words, which sum to 1.

    The words, ``words_``, float32 (n_modes, n_values), are the centres of k-means.

    References
    ----------
    .. [1] G. Csurka, C. Dance, L. Fan, J. Willamowski, C. Bray, "Visual categorization
       with bags of keypoints", ECCV workshop on statistical learning in computer
       vision, 2004
    """

    tables = ("words",)

    def _fit_tables(self, rows: Singles) -> None:
        from sklearn.cluster import MiniBatchKMeans

        means = MiniBatchKMeans(
            self.n_modes, batch_size=4096, n_init=1, random_state=self.seed
        )
        self.words_ = means.fit(rows).cluster_centers_.astype(np.float32)

    def _prepare_tables(self) -> None:
        self.n_features = len(self.words_)
        self._lengths = (self.words_**2).sum(axis=1)

    def _encode(self, rows: Singles) -> Singles:
        # The squared length of a row is the same for every word, and left out.
        distances = self._lengths - 2 * (rows @ self.words_.T)
        counts = np.bincount(distances.argmin(axis=1), minlength=self.n_features)
        return (counts / len(rows)).astype(np.float32)


#: The encoders by the name that recipes have for them.
ENCODERS: dict[str, type[Encoder]] = {
    "fisher": FisherEncoder,
    "words": BagOfWordsEncoder,
}
