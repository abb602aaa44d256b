"""Local features as short uncorrelated rows, with their place beside them where wanted."""

from __future__ import annotations

import numpy as np

from leafid.descriptors.local.sift import LocalFeatures

_STATE = ("mean", "components", "scale", "position_mean", "position_scale")


class Projection:
    """Principal components of the descriptors, and row, column and scale of the patch appended.

    Parameters
    ----------
    n_components : int
        Principal components kept; at most as many as the descriptor has values.
    position_weight : float, default 0
        0 leaves the place out.

    Attributes
    ----------
    mean_ : float32 (d,)
    components_ : float32 (d, n_components)
    scale_ : float32 scalar array
        Standard deviation of the first component, which the rows are divided by: the covariance keeps its shape, and
        thresholds of the mixture (regularisation, tolerance) mean the same for every kind of descriptor.
    position_mean_, position_scale_ : float32 (3,)
    """

    def __init__(self, n_components: int, position_weight: float = 0.0) -> None:
        self.n_components = n_components
        self.position_weight = position_weight

    def fit(self, features: LocalFeatures) -> Projection:
        """Learn the axes from the pooled local features of many pictures."""
        descriptors = features.descriptors.astype(np.float64)
        self.mean_ = descriptors.mean(axis=0).astype(np.float32)
        values, vectors = np.linalg.eigh(np.cov(descriptors, rowvar=False))
        order = np.argsort(values)[::-1][: self.n_components]
        axes = vectors[:, order]
        # The sign of an eigenvector is free: fix it, so that every machine learns the same codebook.
        axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
        self.components_ = axes.astype(np.float32)
        self.scale_ = np.sqrt(np.float32(max(values[order[0]], 1e-12)))
        places = _places(features)
        self.position_mean_ = places.mean(axis=0)
        self.position_scale_ = np.maximum(places.std(axis=0), 1e-3)
        return self

    def transform(self, features: LocalFeatures) -> np.ndarray:
        """Give a float32 row for each local feature, of ``n_components`` (+ 3) values."""
        # As they lie when learned: read from a file they lie otherwise, and their product would round otherwise.
        axes = np.asfortranarray(self.components_ / self.scale_)
        n_axes = axes.shape[1]
        rows = np.empty((len(features), self.row_length(len(axes))), np.float32)
        np.matmul(features.descriptors, axes, out=rows[:, :n_axes])
        if self.position_weight:
            for number, values in enumerate((*features.positions.T, features.scales)):
                standard = (values - self.position_mean_[number]) / self.position_scale_[number]
                rows[:, n_axes + number] = np.float32(self.position_weight) * standard
        # Whole rows, in one go: of each a part would take twice as long.
        offset = np.zeros(rows.shape[1], np.float32)
        offset[:n_axes] = self.mean_ @ axes
        rows -= offset
        return rows

    def get_state(self) -> dict[str, np.ndarray]:
        """Give the learned arrays, as `set_state` takes them."""
        return {name: np.asarray(getattr(self, f"{name}_")) for name in _STATE}

    def get_state_shapes(self, n_values: int) -> dict[str, tuple[int, ...]]:
        """Give the shapes of the learned arrays for descriptors of `n_values` values."""
        n_axes = min(self.n_components, n_values)
        return {
            "mean": (n_values,),
            "components": (n_values, n_axes),
            "scale": (),
            "position_mean": (3,),
            "position_scale": (3,),
        }

    def row_length(self, n_values: int) -> int:
        """Tell how many values a row has for descriptors of `n_values` values."""
        return min(self.n_components, n_values) + (3 if self.position_weight else 0)

    def set_state(self, state: dict[str, np.ndarray]) -> Projection:
        """Take learned arrays instead of learning."""
        for name in _STATE:
            setattr(self, f"{name}_", state[name])
        return self


def _places(features: LocalFeatures) -> np.ndarray:
    return np.column_stack([features.positions, features.scales])
