"""The base of all encoders: a projection of the local features, and tables learned from projected features."""

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np

from leafid.descriptors.encoding.projection import Projection
from leafid.descriptors.local import LocalFeatures
from leafid.errors import LeafidError


class ProjectedEncoder(ABC):
    """Encoder of sets of local features by tables learned from projected features.

    The tables have `n_modes` rows: Gaussians of a mixture, or visual words. `n_components` principal components of a
    descriptor are kept. With a `position_weight` above 0, row, column and scale of a patch are appended to these, as
    standard scores times the weight. The `seed` is that of the mixture, or of k-means.
    """

    #: Names of the learned tables; each is an attribute that ends in an underscore.
    tables: ClassVar[tuple[str, ...]]
    #: What a row of the tables is called in messages.
    mode_name: ClassVar[str]

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
        """Learn the projection and the tables from local features of many pictures; 1,000 a mode are plenty.

        Fewer features than modes raise a `LeafidError`.
        """
        # One feature has no standard deviation.
        minimum = max(self.n_modes, 2)
        if len(features) < minimum:
            raise LeafidError(
                f"expected at least {minimum} local features to learn {self.n_modes} {self.mode_name} from, "
                f"found {len(features)}; use more pictures or a recipe with fewer {self.mode_name}"
            )
        self.projection_ = Projection(self.n_components, self.position_weight).fit(features)
        self._fit_tables(self.projection_.transform(features))
        return self

    def transform(self, features: LocalFeatures) -> np.ndarray:
        """Encode the local features of one picture; float32 (n_features,), all zero without features."""
        if len(features) == 0:
            return np.zeros(self.n_features, np.float32)
        return self._encode(self.projection_.transform(features))

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the learned arrays."""
        return {**{name: getattr(self, f"{name}_") for name in self.tables}, **self.projection_.get_state()}

    def get_state_shapes(self, n_values: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the learned arrays for descriptors of `n_values` values."""
        projection = Projection(self.n_components, self.position_weight)
        return {**self._get_table_shapes(projection.count_values(n_values)), **projection.get_state_shapes(n_values)}

    def set_state(self, state: dict[str, np.ndarray]) -> Self:
        """Take arrays that `get_state` returned."""
        for name in self.tables:
            setattr(self, f"{name}_", state[name])
        self.projection_ = Projection(self.n_components, self.position_weight).set_state(state)
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
