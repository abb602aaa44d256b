"""Local features as short uncorrelated rows, with the patch's position appended where wanted."""

from typing import Self

import numpy as np

from leafid.descriptors.local import LocalFeatures

_STATE = ("mean", "components", "scale", "position_mean", "position_scale")


class Projection:
    """Principal components of the descriptors, at most as many as the descriptor has values.

    With a `position_weight` above 0, row, column and scale of the patch are appended. ``scale_`` is the standard
    deviation of the first component, by which the rows are divided: the covariance keeps its shape, and regularisation
    and tolerance of the mixture mean the same for every kind of descriptor.
    """

    def __init__(self, n_components: int, position_weight: float = 0.0) -> None:
        self.n_components = n_components
        self.position_weight = position_weight

    def fit(self, features: LocalFeatures) -> Self:
        """Learn the axes from local features of many pictures."""
        descriptors = features.descriptors.astype(np.float64)
        self.mean_ = descriptors.mean(axis=0).astype(np.float32)
        values, vectors = np.linalg.eigh(np.cov(descriptors, rowvar=False))
        order = np.argsort(values)[::-1][: self.n_components]
        axes = vectors[:, order]
        # The sign of an eigenvector is free: fix it, so that every machine learns the same codebook.
        axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
        self.components_ = axes.astype(np.float32)
        self.scale_ = np.sqrt(np.float32(max(values[order[0]], 1e-12)))
        positions = np.column_stack([features.positions, features.scales])
        self.position_mean_ = positions.mean(axis=0)
        self.position_scale_ = np.maximum(positions.std(axis=0), 1e-3)
        return self

    def transform(self, features: LocalFeatures) -> np.ndarray:
        """Return a float32 row for each local feature, of ``n_components`` (+ 3) values."""
        # In the memory order they were learned in: axes read from a file have the other, and would round differently.
        axes = np.asfortranarray(self.components_ / self.scale_)
        n_axes = axes.shape[1]
        rows = np.empty((len(features), self.count_values(len(axes))), np.float32)
        np.matmul(features.descriptors, axes, out=rows[:, :n_axes])
        if self.position_weight:
            for index, values in enumerate((*features.positions.T, features.scales)):
                standard = (values - self.position_mean_[index]) / self.position_scale_[index]
                rows[:, n_axes + index] = np.float32(self.position_weight) * standard
        # Whole rows at once: subtracting from a part of each takes twice as long.
        offset = np.zeros(rows.shape[1], np.float32)
        offset[:n_axes] = self.mean_ @ axes
        rows -= offset
        return rows

    def count_values(self, n_values: int) -> int:
        """Count the values of a row for descriptors of `n_values` values."""
        return min(self.n_components, n_values) + (3 if self.position_weight else 0)

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the learned arrays."""
        return {name: np.asarray(getattr(self, f"{name}_")) for name in _STATE}

    def get_state_shapes(self, n_values: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the learned arrays for descriptors of `n_values` values."""
        n_axes = min(self.n_components, n_values)
        return {
            "mean": (n_values,),
            "components": (n_values, n_axes),
            "scale": (),
            "position_mean": (3,),
            "position_scale": (3,),
        }

    def set_state(self, state: dict[str, np.ndarray]) -> Self:
        """Take arrays that `get_state` returned."""
        for name in _STATE:
            setattr(self, f"{name}_", state[name])
        return self
