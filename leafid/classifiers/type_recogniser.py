"""Tells the acquisition type of a picture from the picture itself."""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np

from leafid.classifiers.linear import fit_linear, picture_weights
from leafid.classifiers.rows import Rows
from leafid.collection.picture import AcquisitionType
from leafid.features.type_features import N_TYPE_FEATURES


class TypeRecogniser:
    """Recognises acquisition types by logistic regression on `type_features`.

    Attributes
    ----------
    types_ : tuple of AcquisitionType
    scorer_ : LinearScorer
    """

    #: How many numbers a picture's features become in front of the classifier.
    N_VALUES = 2 * N_TYPE_FEATURES

    def fit(self, features: np.ndarray, types: Sequence[AcquisitionType]) -> TypeRecogniser:
        """Learn from pictures of known type.

        Parameters
        ----------
        features : ndarray of float32, shape (n, 27)
            As `type_features` gives them; n at least 1.
        types : sequence of AcquisitionType
            Of the n pictures.

        Returns
        -------
        TypeRecogniser
            Itself.
        """
        words = np.array([str(type_) for type_ in types])
        names, labels = np.unique(words, return_inverse=True)
        self.types_ = tuple(AcquisitionType(str(name)) for name in names)
        rows = Rows(_expanded(features), "none", standardise=True)
        weights = picture_weights(labels, [""] * len(labels), 1.0, 0.0)
        self.scorer_ = rows.scorer(*fit_linear("logistic", rows.rows, labels, 1e-3, weights))
        return self

    def recognise_features(
        self, features: np.ndarray, among: Container[AcquisitionType] | None = None
    ) -> list[AcquisitionType]:
        """Tell the types of pictures by their features (n, 27), maybe among some types: one or more of `types_`."""
        scores = self.scorer_.scores(_expanded(features))
        if among is not None:
            scores[:, [type_ not in among for type_ in self.types_]] = -np.inf
        return [self.types_[best] for best in scores.argmax(axis=1)]


def _expanded(features: np.ndarray) -> np.ndarray:
    # Squares let a linear classifier single out a middle range: a sheet is neither pure white nor dark.
    return np.hstack([features, features**2])
