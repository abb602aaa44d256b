"""Scores of how sure a system is.

Whether it is right as often as it says, and surer where it can be right.
"""

import numpy as np
from numpy.typing import ArrayLike

from leafid.metrics.averages import accuracy_score

#: The number of bins of the calibration error.
N_BINS = 15
#: The probability from which on an unknown picture that gets a name counts as named
#: with confidence.
CONFIDENT = 0.9


def expected_calibration_error(
    confidence: ArrayLike,
    is_correct: ArrayLike,
    n_bins: int = N_BINS,
    *,
    is_equal_width: bool = False,
) -> float:
    """Average the difference between confidence and accuracy over bins.

    Bins of equal mass [1]_ hold consecutive pictures in the order of their confidence;
    pictures of equal confidence share a bin. A bin of equal width [2]_ includes its
    upper end, but not its lower one.

    Parameters
    ----------
    confidence : array_like, shape (n,)
        The probability of the species that is named, from 0 to 1.
    is_correct : array_like of bool, shape (n,)
    n_bins : int, default `N_BINS`
    is_equal_width : bool, default False

    Returns
    -------
    float
        From 0 to 1; NaN without pictures.

    References
    ----------
    .. [1] J. Nixon et al., "Measuring calibration in deep learning", CVPR Workshops
       2019, section 3
    .. [2] C. Guo et al., "On calibration of modern neural networks", ICML 2017,
       section 2

    Examples
    --------
    Two of three pictures with a confidence of 0.9 are correct, one of three with 0.4:

    >>> confidence = [0.9, 0.9, 0.9, 0.4, 0.4, 0.4]
    >>> is_correct = [1, 1, 0, 1, 0, 0]
    >>> round(expected_calibration_error(confidence, is_correct, n_bins=2), 3)
    0.15
    """
    probabilities = np.asarray(confidence, np.float64)
    if not len(probabilities):
        return np.nan
    if is_equal_width:
        bins = np.searchsorted(np.linspace(0, 1, n_bins + 1)[1:], probabilities)
    else:
        # Pictures of equal confidence share a bin, so that their order makes no
        # difference.
        _, level, counts = np.unique(
            probabilities, return_inverse=True, return_counts=True
        )
        middle = (np.cumsum(counts) - counts / 2) / len(probabilities)
        bins = (middle * n_bins).astype(np.intp)[level]
    gaps = probabilities - np.asarray(is_correct, np.float64)
    return float(np.abs(np.bincount(bins, gaps)).sum() / len(probabilities))


def open_set_classification_rate(
    known: ArrayLike, unknown: ArrayLike, is_correct: ArrayLike = True
) -> float:
    """Compute the area under the rate of correct names over the false positive rate.

    At a threshold, the former is the share of known pictures that are accepted and
    named correctly, the latter the share of unknown ones that are accepted. The area by
    the trapezoidal rule (OSCR) is the share of pairs of a known and an unknown picture
    in which the known one is named correctly and has the higher score; ties count half.
    Where all names are correct, it is the area under the ROC curve.

    Parameters
    ----------
    known, unknown : array_like, shapes (n,) and (m,)
        The scores of pictures of known and of unknown species.
    is_correct : array_like of bool, shape (n,), default True
        Whether each known picture is named correctly.

    Returns
    -------
    float
        From 0 to the accuracy; NaN without pictures of both kinds.

    References
    ----------
    .. [1] A. R. Dhamija, M. Günther, T. E. Boult, "Reducing network agnostophobia",
       NeurIPS 2018, section 4

    Examples
    --------
    >>> open_set_classification_rate([0.9, 0.8], [0.1], [True, False])
    0.5
    """
    rejected = np.sort(np.asarray(unknown, np.float64))
    # The numbers of unknown pictures below, and not above.
    ends = [np.searchsorted(rejected, known, side) for side in ("left", "right")]
    n_below = np.sum(ends, axis=0) * np.asarray(is_correct, bool)
    if not n_below.size or not rejected.size:
        return np.nan
    return float(n_below.mean() / (2 * rejected.size))


def false_positive_rate(
    known: ArrayLike, unknown: ArrayLike, true_positive_rate: float = 0.95
) -> float:
    """Compute the share of unknown pictures accepted where a share of known ones is.

    Parameters
    ----------
    known, unknown : array_like, shapes (n,) and (m,)
        The scores of pictures of known and of unknown species. The threshold is the
        highest that accepts the share of the known ones.
    true_positive_rate : float, default 0.95

    Returns
    -------
    float
        From 0 to 1; NaN without pictures of both kinds.

    Examples
    --------
    >>> false_positive_rate([0.9, 0.8, 0.7, 0.1], [0.75, 0.2], 0.75)
    0.5
    """
    scores = np.sort(np.asarray(known, np.float64))[::-1]
    if not scores.size:
        return np.nan
    n_accepted = max(1, int(np.ceil(true_positive_rate * scores.size - 1e-9)))
    return accuracy_score(np.asarray(unknown) >= scores[n_accepted - 1])
