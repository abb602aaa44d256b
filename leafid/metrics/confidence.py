"""Scores of how sure a system is: whether it is right as often as it says, and surer where it can be right."""

import numpy as np
from numpy.typing import ArrayLike

from leafid.metrics.averages import accuracy_score

N_BINS = 15


def expected_calibration_error(
    confidence: ArrayLike,
    is_correct: ArrayLike,
    n_bins: int = N_BINS,
    *,
    is_equal_width: bool = False,
) -> float:
    """Average the difference between confidence and accuracy over bins; in [0, 1], NaN without pictures.

    `confidence` is the probability of the species that is named, float (n,) in [0, 1]. Bins of equal mass [1]_ hold
    consecutive pictures in the order of their confidence; pictures of equal confidence share a bin. A bin of equal
    width [2]_ includes its upper end, but not its lower one.

    References
    ----------
    .. [1] J. Nixon et al., "Measuring calibration in deep learning", CVPR Workshops 2019, section 3
    .. [2] C. Guo et al., "On calibration of modern neural networks", ICML 2017, section 2

    Examples
    --------
    Two of three pictures with a confidence of 0.9 are correct, one of three with 0.4:

    >>> round(expected_calibration_error([0.9, 0.9, 0.9, 0.4, 0.4, 0.4], [1, 1, 0, 1, 0, 0], n_bins=2), 3)
    0.15
    """
    probabilities = np.asarray(confidence, np.float64)
    if not len(probabilities):
        return float("nan")
    if is_equal_width:
        bins = np.searchsorted(np.linspace(0, 1, n_bins + 1)[1:], probabilities)
    else:
        # Pictures of equal confidence share a bin, so that their order makes no difference.
        _, level, counts = np.unique(
            probabilities, return_inverse=True, return_counts=True
        )
        middle = (np.cumsum(counts) - counts / 2) / len(probabilities)
        bins = (middle * n_bins).astype(np.intp)[level]
    gaps = probabilities - np.asarray(is_correct, np.float64)
    return float(np.abs(np.bincount(bins, gaps)).sum() / len(probabilities))


#: The probability from which on an unknown picture that gets a name counts as named with confidence.
CONFIDENT = 0.9


def area_under_roc(known: ArrayLike, unknown: ArrayLike) -> float:
    """Compute the area under the ROC curve, which is that of correct classification where all names are correct."""
    return open_set_classification_rate(known, np.ones_like(known), unknown)


def open_set_classification_rate(
    known: ArrayLike, is_correct: ArrayLike, unknown: ArrayLike
) -> float:
    """Compute the area under the curve of the correct classification rate over the false positive rate (OSCR).

    At a threshold, the former is the share of known pictures, (n,), that are accepted and named correctly, bool (n,),
    the latter the share of unknown ones, (m,), that are accepted. The area by the trapezoidal rule is the share of
    pairs of a known and an unknown picture in which the known one is named correctly and has the higher score; ties
    count half. It is at most the accuracy; NaN without pictures of both kinds.

    References
    ----------
    .. [1] A. R. Dhamija, M. Günther, T. E. Boult, "Reducing network agnostophobia", NeurIPS 2018, section 4

    Examples
    --------
    >>> open_set_classification_rate([0.9, 0.8], [True, False], [0.1])
    0.5
    """
    scores, rejected = (
        np.asarray(known, np.float64),
        np.sort(np.asarray(unknown, np.float64)),
    )
    if not len(scores) or not len(rejected):
        return float("nan")
    below = np.searchsorted(rejected, scores, "left") + np.searchsorted(
        rejected, scores, "right"
    )
    return float((below * np.asarray(is_correct, bool)).mean() / (2 * len(rejected)))


def false_positive_rate(
    known: ArrayLike, unknown: ArrayLike, true_positive_rate: float = 0.95
) -> float:
    """Compute the share of unknown pictures, (m,), that are accepted where a share of the known ones, (n,), is.

    The threshold is the highest that accepts this share; NaN without pictures of both kinds.

    Examples
    --------
    >>> false_positive_rate([0.9, 0.8, 0.7, 0.1], [0.75, 0.2], 0.75)
    0.5
    """
    scores = np.sort(np.asarray(known, np.float64))[::-1]
    rejected = np.asarray(unknown, np.float64)
    if not len(scores) or not len(rejected):
        return float("nan")
    n_accepted = max(1, int(np.ceil(true_positive_rate * len(scores) - 1e-9)))
    return accuracy_score(rejected >= scores[n_accepted - 1])
