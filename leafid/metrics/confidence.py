"""Scores of how sure a system is.

Whether it is right as often as it says, and surer where it can be right.
"""

import numpy as np
from numpy.typing import ArrayLike

from leafid.metrics.averages import (
    Floats,
    Indices,
    accuracy_score,
    average_by_group,
    divide,
    to_indices,
)

#: The number of bins of confidences.
N_BINS = 15
#: The probability from which on an unknown picture that gets a name counts as named
#: with confidence.
CONFIDENT = 0.9


def reliability_curve(
    confidence: ArrayLike,
    is_correct: ArrayLike,
    n_bins: int = N_BINS,
    *,
    is_equal_width: bool = True,
) -> tuple[Floats, Floats, Floats]:
    """Compute how often answers are correct, by how confident they are.

    A bin of equal width [1]_ includes its upper end, but not its lower one. Bins of
    equal mass [2]_ hold consecutive pictures in the order of their confidence; pictures
    of equal confidence share a bin.

    Parameters
    ----------
    confidence : array_like, shape (n,)
        The probability of the species that is named, from 0 to 1.
    is_correct : array_like of bool, shape (n,)
    n_bins : int, default `N_BINS`
    is_equal_width : bool, default True

    Returns
    -------
    mean_confidence, accuracy, counts : ndarray of float64, shape (m,)
        The mean confidence, the share of correct answers and the number of pictures of
        each bin that isn't empty, rising.

    References
    ----------
    .. [1] C. Guo et al., "On calibration of modern neural networks", ICML 2017,
       section 2
    .. [2] J. Nixon et al., "Measuring calibration in deep learning", CVPR Workshops
       2019, section 3

    Examples
    --------
    >>> means, shares, counts = reliability_curve([0.9, 0.8, 0.2], [1, 0, 0], n_bins=2)
    >>> means.round(2), shares, counts
    (array([0.2 , 0.85]), array([0. , 0.5]), array([1., 2.]))
    """
    probabilities = np.asarray(confidence, np.float64)
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
    numbers = to_indices(bins)
    return (
        average_by_group(probabilities, numbers),
        average_by_group(is_correct, numbers),
        np.bincount(numbers).astype(np.float64),
    )


def expected_calibration_error(
    confidence: ArrayLike,
    is_correct: ArrayLike,
    n_bins: int = N_BINS,
    *,
    is_equal_width: bool = False,
) -> float:
    """Average the difference between confidence and accuracy over bins.

    Parameters
    ----------
    confidence, is_correct, n_bins
        As in `reliability_curve`.
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
    means, shares, counts = reliability_curve(
        confidence, is_correct, n_bins, is_equal_width=is_equal_width
    )
    return float(divide(counts @ np.abs(means - shares), counts.sum()))


def decompose_brier(
    confidence: ArrayLike, is_correct: ArrayLike, n_bins: int = N_BINS
) -> tuple[float, float, float]:
    r"""Decompose the Brier score of the confidence in answers.

    Of :math:`n_k` answers in bin :math:`k` with the mean confidence :math:`p_k`, the
    share :math:`o_k` is correct, and :math:`o` of all:

    .. math:: \frac1n \sum_{i=1}^n (p_i - o_i)^2
              = \underbrace{\frac1n \sum_k n_k (p_k - o_k)^2}_{reliability}
              - resolution + \underbrace{o (1 - o)}_{uncertainty}

    Where all answers in a bin have one confidence, the resolution is as in [1]_,
    :math:`\frac1n \sum_k n_k (o_k - o)^2`. Otherwise it also has what the confidences
    in a bin tell, the generalised resolution of [2]_, so that the sum is exact.

    Parameters
    ----------
    confidence, is_correct, n_bins
        As in `reliability_curve`, for bins of equal width.

    Returns
    -------
    reliability : float
        The lower, the better calibrated.
    resolution : float
        The higher, the better correct answers are distinguished from wrong ones.
    uncertainty : float
        The Brier score of someone who only knows the accuracy. All are NaN without
        pictures.

    References
    ----------
    .. [1] A. H. Murphy, "A new vector partition of the probability score", Journal of
       Applied Meteorology 12, 1973.
    .. [2] D. B. Stephenson, C. A. S. Coelho, I. T. Jolliffe, "Two extra components in
       the Brier score decomposition", Weather and Forecasting 23, 2008.

    Examples
    --------
    >>> parts = decompose_brier([0.9, 0.9, 0.4, 0.4], [1, 1, 1, 0])
    >>> [round(part, 4) for part in parts]
    [0.01, 0.0625, 0.1875]
    """
    means, shares, counts = reliability_curve(confidence, is_correct, n_bins)
    reliability = float(divide(counts @ (means - shares) ** 2, counts.sum()))
    accuracy = accuracy_score(is_correct)
    uncertainty = accuracy * (1 - accuracy)
    errors = np.subtract(confidence, is_correct, dtype=np.float64)
    resolution = reliability + uncertainty - accuracy_score(errors**2)
    return reliability, resolution, uncertainty


def selective_accuracies(confidence: ArrayLike, is_correct: ArrayLike) -> Floats:
    """Compute the accuracy where only the most confident answers are given.

    The curve of 1 - accuracy by the share of answers is the risk-coverage curve, and
    the mean of 1 - accuracy the area below it [1]_ [2]_. Of answers of equal confidence
    the given ones are drawn at random; the accuracy is its expectation.

    Parameters
    ----------
    confidence : array_like, shape (n,)
        Any scores: the higher, the more confident.
    is_correct : array_like of bool, shape (n,)

    Returns
    -------
    ndarray of float64, shape (n,)
        The accuracy of the first answer, of the first two, and so on, to all.

    References
    ----------
    .. [1] R. El-Yaniv, Y. Wiener, "On the foundations of noise-free selective
       classification", JMLR 11, 2010
    .. [2] Y. Geifman, G. Uziel, R. El-Yaniv, "Bias-reduced uncertainty estimation for
       deep neural classifiers", ICLR 2019

    Examples
    --------
    >>> selective_accuracies([0.9, 0.5, 0.5, 0.1], [True, True, False, False])
    array([1.        , 0.75      , 0.66666667, 0.5       ])
    """
    level = to_indices(-np.asarray(confidence, np.float64))
    expected = average_by_group(is_correct, level)[np.sort(level)]
    return np.cumsum(expected) / np.arange(1, len(expected) + 1)


def open_set_curve(
    known: ArrayLike, unknown: ArrayLike, is_correct: ArrayLike = True
) -> tuple[Floats, Floats]:
    """Compute the rates of correct names and of false positives at all thresholds.

    Parameters
    ----------
    known, unknown, is_correct
        As in `open_set_classification_rate`, which is the area under this curve.

    Returns
    -------
    false_positive_rate : ndarray of float64, shape (m,)
        The share of unknown pictures that are accepted, rising.
    correct_rate : ndarray of float64, shape (m,)
        The share of known pictures that are accepted and named correctly.

    Examples
    --------
    >>> open_set_curve([0.9, 0.8], [0.1], [True, False])
    (array([0., 0., 0., 1., 1.]), array([0. , 0.5, 0.5, 0.5, 0.5]))
    """
    known_scores = np.asarray(known, np.float64)
    unknown_scores = np.asarray(unknown, np.float64)
    is_named = np.broadcast_to(np.asarray(is_correct, bool), known_scores.shape)
    # Nothing is above the first threshold, all above the last one.
    scores = np.concatenate([known_scores, unknown_scores, [np.inf, -np.inf]])
    thresholds = np.unique(scores)[::-1]

    def count_accepted(scores: Floats) -> Indices:
        return len(scores) - np.searchsorted(np.sort(scores), thresholds)

    return (
        divide(count_accepted(unknown_scores), len(unknown_scores)),
        divide(count_accepted(known_scores[is_named]), len(known_scores)),
    )


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
    rates = open_set_curve(known, unknown, is_correct)
    return float(np.trapezoid(rates[1], rates[0]))


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
    accepted_unknown, accepted_known = open_set_curve(known, unknown)
    is_reached = accepted_known >= true_positive_rate - 1e-9
    return float(next(iter(accepted_unknown[is_reached]), np.nan))
