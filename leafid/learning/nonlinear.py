"""Classifiers of scikit-learn that are not linear: fitted to weighted rows, and kept in the format of skops."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from leafid.learning.rows import RowTransform, TrainingRows
from leafid.learning.settings import ClassifierSettings
from leafid.learning.weighted_rows import WeightedRows


@dataclass(frozen=True, eq=False)
class EstimatorScorer:
    """A trained classifier of vectors, as `leafid.learning.linear.LinearScorer` is one that is linear."""

    #: What turns vectors into the rows that it was trained on.
    transform: RowTransform
    #: The classifier as `leafid.learning.estimator_bytes.dump` writes it.
    content: bytes

    @cached_property
    def estimator(self) -> Any:
        """The classifier; a `ValueError` is raised when the content has types of other packages than scikit-learn."""
        from leafid.learning.estimator_bytes import load

        return load(self.content)

    def scores(self, vectors: np.ndarray) -> np.ndarray:
        """Score every species for vectors (n, d), higher is better; float32 (n, n_species)."""
        from leafid.learning.estimators import score

        return score(self.estimator, self.transform.transform(vectors, np.zeros(len(vectors), int)))


class EstimatorFit(WeightedRows):
    """A classifier of scikit-learn that is not linear, of weighted rows.

    Parameters
    ----------
    rows, weights
        As in `WeightedRows`.
    labels : int (n,)
        Species from 0.
    settings : ClassifierSettings
    """

    def __init__(
        self, rows: TrainingRows, weights: np.ndarray, labels: np.ndarray, settings: ClassifierSettings
    ) -> None:
        from leafid.learning.estimators import fit_estimator

        super().__init__(rows, weights)
        self._n_species = int(labels.max()) + 1
        self._classes, targets = np.unique(labels[self.indices], return_inverse=True)
        values = self._read_centred(self.indices)
        self._estimator = fit_estimator(settings.make_estimator(), values, targets, self.weights)

    @property
    def classifiers(self) -> list[bytes]:
        """The classifier of centred rows, as `leafid.learning.estimator_bytes.dump` writes it."""
        from leafid.learning.estimator_bytes import dump

        return [dump(self._estimator)]

    def score(self, indices: np.ndarray) -> list[np.ndarray]:
        """Score any rows, given by their indices: float (n, n_species)."""
        from leafid.learning.estimators import score

        scores = np.zeros((len(indices), self._n_species), np.float32)
        scores[:, self._classes] = score(self._estimator, self._read_centred(indices))
        return [scores]

    def _read_centred(self, indices: np.ndarray) -> np.ndarray:
        return self.transform.transform(self.rows.vectors[indices], self.rows.domains[indices])
