"""The base of all encoders: principal components of the local features, and tables learned from them."""

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np

from leafid.descriptors.local import LocalFeatures
from leafid.errors import LeafidError


class ProjectedEncoder(ABC):
    """Encoder of sets of local features by tables learned from short uncorrelated rows, one for each feature.

    The tables have `n_modes` rows: Gaussians of a mixture, or visual words. `n_components` principal components of a
    descriptor are kept, or as many as it has values. With a `position_weight` above 0, row, column and scale of a patch
    are appended to these, as standard scores times the weight. The `seed` is that of the mixture, or of k-means.

    ``scale_`` is the standard deviation of the first component, by which the rows are divided: the covariance keeps its
    shape, and regularisation and tolerance of the mixture mean the same for every kind of descriptor.
    """

    #: Names of the learned tables; each is an attribute that ends in an underscore.
    tables: ClassVar[tuple[str, ...]]
    #: What a row of the tables is called in messages.
    mode_name: ClassVar[str]

    mean_: np.ndarray
    components_: np.ndarray
    scale_: np.ndarray
    position_mean_: np.ndarray
    position_scale_: np.ndarray

    def __init__(self, n_modes: int, n_components: int, position_weight: float = 0.0, seed: int = 0) -> None:
        self.n_modes = n_modes
        self.n_components = n_components
        self.position_weight = position_weight
        self.seed = seed

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Length of an encoded vector."""

    def fit(self, features: LocalFeatures) -> Self:
        """Learn the components and the tables from local features of many pictures; 1,000 a mode are plenty.

        Fewer features than modes raise a `LeafidError`.
        """
        # One feature has no standard deviation.
        minimum = max(self.n_modes, 2)
        if len(features) < minimum:
            raise LeafidError(
                f"expected at least {minimum} local features to learn {self.n_modes} {self.mode_name} from, "
                f"found {len(features)}; use more pictures or a recipe with fewer {self.mode_name}"
            )
        descriptors = features.descriptors.astype(np.float64)
        self.mean_ = descriptors.mean(axis=0).astype(np.float32)
        values, vectors = np.linalg.eigh(np.cov(descriptors, rowvar=False))
        order = np.argsort(values)[::-1][: self.n_components]
        axes = vectors[:, order]
        # The sign of an eigenvector is free: fix it, so that every machine learns the same codebook.
        axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
        self.components_ = axes.astype(np.float32)
        self.scale_ = np.asarray(np.sqrt(np.float32(max(values[order[0]], 1e-12))))
        positions = np.column_stack([features.positions, features.scales])
        self.position_mean_ = positions.mean(axis=0)
        self.position_scale_ = np.maximum(positions.std(axis=0), 1e-3)
        self._fit_tables(self.project(features))
        return self

    def project(self, features: LocalFeatures) -> np.ndarray:
        """Return a float32 row for each local feature, of its components and its position."""
        # In the memory order they were learned in: axes read from a file have the other, and would round differently.
        axes = np.asfortranarray(self.components_ / self.scale_)
        rows = features.descriptors @ axes - self.mean_ @ axes
        if not self.position_weight:
            return rows
        positions = np.column_stack([features.positions, features.scales])
        standard = (positions - self.position_mean_) / self.position_scale_
        return np.concatenate([rows, np.float32(self.position_weight) * standard], axis=1)

    def transform(self, features: LocalFeatures) -> np.ndarray:
        """Encode the local features of one picture; float32 (n_features,), all zero without features."""
        if len(features) == 0:
            return np.zeros(self.n_features, np.float32)
        return self._encode(self.project(features))

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the learned arrays."""
        names = (*self.tables, "mean", "components", "scale", "position_mean", "position_scale")
        return {name: getattr(self, f"{name}_") for name in names}

    def get_state_shapes(self, n_values: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the learned arrays for descriptors of `n_values` values."""
        n_axes = min(self.n_components, n_values)
        return {
            **self._get_table_shapes(n_axes + (3 if self.position_weight else 0)),
            "mean": (n_values,),
            "components": (n_values, n_axes),
            "scale": (),
            "position_mean": (3,),
            "position_scale": (3,),
        }

    def set_state(self, state: dict[str, np.ndarray]) -> Self:
        """Take arrays that `get_state` returned."""
        for name, array in state.items():
            setattr(self, f"{name}_", array)
        return self

    @abstractmethod
    def _fit_tables(self, rows: np.ndarray) -> None:
        """Learn the tables from projected features, float32 (n, n_row_values)."""

    @abstractmethod
    def _encode(self, rows: np.ndarray) -> np.ndarray:
        """Encode the projected features of one picture, at least one."""

    @abstractmethod
    def _get_table_shapes(self, n_row_values: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the tables."""
