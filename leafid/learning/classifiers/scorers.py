"""Trained classifiers of vectors, which make the rows that they were trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from leafid.learning.classifiers.linear import LinearClassifier, apply_feature_map


@dataclass(frozen=True, slots=True)
class LinearScorer:
    """A trained linear classifier."""

    #: One of {"none", "chi2"}: explicit feature map that is applied first.
    map: str
    #: float (n_mapped, n_species).
    coefficients: np.ndarray
    #: float (n_species,).
    intercepts: np.ndarray

    def scores(self, vectors: np.ndarray) -> np.ndarray:
        """Score every species for vectors (n, d); a higher score is better.

        The scores are float32 (n, n_species).
        """
        return (
            apply_feature_map(vectors, self.map)
            @ np.asarray(self.coefficients, np.float32)
            + self.intercepts
        )


@dataclass(frozen=True, eq=False)
class RowTransform:
    """Turns vectors into centred rows like the rows of a training."""

    #: The feature map.
    map: str
    #: Means of the mapped vectors by domain, float32 (n_columns,).
    means: Mapping[int, np.ndarray]
    #: Mean of all rows, for domains without a mean: float32 (n_columns,).
    mean: np.ndarray
    #: Factors of the columns, as in `TrainingRows`.
    scale: np.ndarray | None = None

    def transform(self, vectors: np.ndarray, domains: np.ndarray) -> np.ndarray:
        """Turn vectors (n, d) of domains, int (n,), into rows (n, n_columns)."""
        rows = apply_feature_map(vectors.astype(np.float32), self.map)
        rows = rows - np.array(
            [self.means.get(domain, self.mean) for domain in domains.tolist()]
        )
        if self.scale is None:
            return rows
        return rows * self.scale

    def select_domain(self, domain: int) -> RowTransform:
        """Make a transform that takes all vectors for vectors of one domain."""
        return replace(self, means={}, mean=self.means.get(domain, self.mean))

    def make_scorer(
        self, coefficients: np.ndarray, intercepts: np.ndarray, domain: int = 0
    ) -> LinearScorer:
        """Turn a classifier of centred rows into one of vectors of a domain."""
        mean = self.means.get(domain, self.mean)
        unscaled = coefficients
        if self.scale is not None:
            unscaled = coefficients * self.scale[:, None]
        return LinearScorer(
            self.map,
            unscaled.astype(np.float32),
            (intercepts - mean @ unscaled).astype(np.float32),
        )

    def read_scorer(self, scorer: LinearScorer, domain: int) -> LinearClassifier:
        """Turn the result of `make_scorer` into a classifier of centred rows again."""
        coefficients = scorer.coefficients.astype(np.float64)
        intercepts = (
            scorer.intercepts + self.means.get(domain, self.mean) @ coefficients
        )
        if self.scale is not None:
            # The coefficients of a constant column are 0.
            coefficients /= np.where(self.scale > 0, self.scale, 1)[:, None]
        return coefficients, intercepts


@dataclass(frozen=True, eq=False)
class EstimatorScorer:
    """A trained classifier of vectors that is not linear."""

    #: Turns vectors into the rows that the classifier was trained on.
    transform: RowTransform
    #: The classifier as `leafid.learning.classifiers.estimator_bytes.dump` writes it.
    content: bytes

    @cached_property
    def estimator(self) -> Any:
        """The classifier.

        A `ValueError` is raised when the content has types of other packages than
        scikit-learn.
        """
        from leafid.learning.classifiers.estimator_bytes import load

        return load(self.content)

    def scores(self, vectors: np.ndarray) -> np.ndarray:
        """Score every species for vectors (n, d); a higher score is better.

        The scores are float32 (n, n_species).
        """
        from leafid.learning.classifiers.estimators import score

        return score(
            self.estimator,
            self.transform.transform(vectors, np.zeros(len(vectors), int)),
        )
