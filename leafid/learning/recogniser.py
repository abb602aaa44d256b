"""Tells the acquisition type of a picture from the picture itself."""

from __future__ import annotations

from collections.abc import Container, Sequence

import cv2
import numpy as np

from leafid.collection.picture import AcquisitionType
from leafid.learning.linear import fit_linear, picture_weights
from leafid.learning.rows import Rows

N_TYPE_FEATURES = 27
#: Pictures are read at this longest side, in pixels.
TYPE_SIDE = 400
_SIDE = 48
_RIM = 3


def type_features(image: np.ndarray) -> np.ndarray:
    """Measure what tells a scanner, a sheet and the open air apart, whatever the sheet's tint.

    Parameters
    ----------
    image : uint8 (H, W, 3)
        BGR.

    Returns
    -------
    float32 (27,)
        Of a thumbnail in Lab, each channel in [0, 1]: lightness of the rim, how far the rim's colours lie from their
        median, spread of the rim and of the whole, how the light drifts from corner to corner, and how rough the rim
        and the whole are.
    """
    small = cv2.resize(image, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    lab = cv2.cvtColor(small, cv2.COLOR_BGR2LAB).astype(np.float32) / 255
    inner = np.zeros((_SIDE, _SIDE), bool)
    inner[_RIM:-_RIM, _RIM:-_RIM] = True
    rim = lab[~inner]
    lightness = rim[:, 0]
    strays = np.percentile(np.abs(rim - np.median(rim, axis=0)), (50, 75, 90), axis=0)
    rough = [np.abs(np.diff(lab, axis=axis)).mean(axis=2) for axis in (0, 1)]
    rim_rough = np.concatenate([rough[0][:, ~inner[0]].ravel(), rough[1][~inner[:, 0]].ravel()])
    corners = [lab[rows, cols].mean(axis=(0, 1)) for rows in _ENDS for cols in _ENDS]
    return np.concatenate(
        [
            np.percentile(lightness, (50, 5, 95)),
            np.log1p(100 * strays).ravel(),
            rim.std(axis=0),
            lab.std(axis=(0, 1)),
            np.ptp(corners, axis=0),
            np.log1p(100 * np.percentile(rim_rough, (25, 50, 75, 95))),
            np.log1p(100 * np.array([rough[0].mean(), rough[1].mean()])),
        ]
    ).astype(np.float32)


_ENDS = (slice(0, _SIDE // 6), slice(-(_SIDE // 6), None))


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
