"""The probability that a picture shows a leaf.

Leaves on sheets are distinguished from other things by a forest of randomised trees: a
linear classifier of the same measures mostly distinguishes cameras, while deep trees
learn what leaves by all cameras have in common. Photos of leaves on the tree are
distinguished from other photos by linear classifiers of the experts' vectors, which
hold for another photographer's photos, too. A recipe that serves both has the forest.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from leafid.learning.classifiers.scorers import LinearScorer
from leafid.learning.forest import Forest
from leafid.learning.logistic import apply_logistic, take_logits

#: A picture with a lower probability shows no leaf.
MIN_LEAF = 0.5
#: A picture with a lower probability surely shows none, however it was taken.
POSSIBLE_LEAF = 0.1
# The smallest probability whose logarithm is taken.
_LEAST = 1e-15
# More than the rounding of an offset.
_ROUNDING = 1e-5


class Leafness(msgspec.Struct, frozen=True, eq=False):
    """What scores the vectors of a picture, and the calibration of the sum.

    All scorers give one score, which is higher for leaves.
    """

    #: By the name of the vector.
    forests: Mapping[str, Forest]
    scorers: Mapping[str, LinearScorer]
    #: float32 (2,): slope and offset of the logit of the sum of the scores.
    calibration: np.ndarray

    @property
    def vector_names(self) -> list[str]:
        """The names of the vectors that are scored."""
        return [*self.forests, *self.scorers]

    def admit(self, probability: float) -> Leafness:
        """Raise the offset until this probability is `MIN_LEAF` at least."""
        slope, offset = self.calibration
        missing = _ROUNDING - float(take_logits(np.array(probability), _LEAST))
        calibration = np.array([slope, offset + max(0.0, missing)], np.float32)
        return msgspec.structs.replace(self, calibration=calibration)


def predict_leafness(
    vectors: Mapping[str, np.ndarray], leafness: Leafness
) -> np.ndarray:
    """Give the probability that pictures show a leaf, float64 (n,).

    The vectors, float (n, n_columns), are by name.
    """
    parts = [
        *(forest.scores(vectors[name]) for name, forest in leafness.forests.items()),
        *(scorer.scores(vectors[name]) for name, scorer in leafness.scorers.items()),
    ]
    return calibrate(np.hstack(parts).sum(axis=1), leafness.calibration)


def calibrate(scores: np.ndarray, calibration: np.ndarray) -> np.ndarray:
    """Turn sums of scores, (n,), into probabilities by `Leafness.calibration`."""
    slope, offset = calibration.astype(np.float64)
    return apply_logistic(slope * scores + offset)
