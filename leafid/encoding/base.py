"""What the encoders have in common: a projection of the local features, and tables learned from its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np

from leafid.descriptors.local.sift import LocalFeatures
from leafid.encoding.projection import Projection
from leafid.errors import LeafidError


class ProjectedEncoder(ABC):
    """Encode a set of local features by tables learned from projected features.

    Parameters
    ----------
    n_modes : int
        Rows of the tables.
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
    """

    #: Names of the learned tables; each is an attribute with an underscore at its end.
    tables: ClassVar[tuple[str, ...]]
    #: What a row of them is called.
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
        """Learn the projection and the tables from the pooled local features of many pictures.

        Parameters
        ----------
        features : LocalFeatures
            At least as many as there are modes; 1,000 a mode are plenty.

        Returns
        -------
        Self
            Itself.

        Raises
        ------
        LeafidError
            When there are fewer features than modes.
        """
        # A spread can't be told from one feature.
        least = max(self.n_modes, 2)
        if len(features) < least:
            raise LeafidError(
                f"expected at least {least} local features to learn {self.n_modes} {self.mode_name} from, "
                f"found {len(features)}; use more pictures or a recipe with fewer {self.mode_name}"
            )
        self.projection_ = Projection(self.n_components, self.position_weight).fit(features)
        self._learn(self.projection_.transform(features))
        return self

    def transform(self, features: LocalFeatures) -> np.ndarray:
        """Encode the local features of one picture.

        Parameters
        ----------
        features : LocalFeatures

        Returns
        -------
        float32 (n_features,)
            All zero where there are no features.
        """
        if len(features) == 0:
            return np.zeros(self.n_features, np.float32)
        return self._encode(self.projection_.transform(features))

    def get_state(self) -> dict[str, np.ndarray]:
        """Give the learned arrays, as `set_state` takes them."""
        return {**{name: getattr(self, f"{name}_") for name in self.tables}, **self.projection_.get_state()}

    def get_state_shapes(self, n_values: int) -> dict[str, tuple[int, ...]]:
        """Give the shapes of the learned arrays for descriptors of `n_values` values."""
        projection = Projection(self.n_components, self.position_weight)
        return {**self._table_shapes(projection.row_length(n_values)), **projection.get_state_shapes(n_values)}

    def set_state(self, state: dict[str, np.ndarray]) -> Self:
        """Take learned arrays instead of learning."""
        for name in self.tables:
            setattr(self, f"{name}_", state[name])
        self.projection_ = Projection(self.n_components, self.position_weight).set_state(state)
        return self

    @abstractmethod
    def _learn(self, rows: np.ndarray) -> None:
        """Set the tables from projected features, float32 (n, row_length)."""

    @abstractmethod
    def _encode(self, rows: np.ndarray) -> np.ndarray:
        """Encode the projected features of one picture, at least one."""

    @abstractmethod
    def _table_shapes(self, row_length: int) -> dict[str, tuple[int, ...]]:
        """Give the shapes of the tables."""
