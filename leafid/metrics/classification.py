"""Scores of names: how often each of k names is correct, given, and shown.

All take counts of pictures, float (k, m), for m samples of pictures.
"""

import numpy as np

from leafid.metrics.averages import Floats, divide


def precision_scores(correct: Floats, given: Floats, shown: Floats) -> Floats:
    """Score each name by the share of correct ones among the pictures that get it.

    Parameters
    ----------
    correct, given, shown : ndarray of float64, shape (k, m)

    Returns
    -------
    ndarray of float64, shape (k, m)
        From 0 to 1; 0 where no picture gets the name.
    """
    return divide(correct, given, 0)


def f1_scores(correct: Floats, given: Floats, shown: Floats) -> Floats:
    """Score each name by the harmonic mean of its precision and recall.

    Parameters
    ----------
    correct, given, shown : ndarray of float64, shape (k, m)

    Returns
    -------
    ndarray of float64, shape (k, m)
        From 0 to 1; 0 where no picture gets or shows the name.
    """
    return divide(2 * correct, given + shown, 0)


def kappa_score(correct: Floats, given: Floats, shown: Floats) -> Floats:
    """Score all names by Cohen's kappa: how much more are correct than by chance.

    Parameters
    ----------
    correct, given, shown : ndarray of float64, shape (k, m)

    Returns
    -------
    ndarray of float64, shape (m,)
        From -1 to 1; NaN where all pictures show and get the same name.

    References
    ----------
    .. [1] J. Cohen, "A coefficient of agreement for nominal scales", Educational and
       Psychological Measurement 20, 1960.
    """
    highest = _covariance(shown, given, shown)
    return divide(_covariance(correct, given, shown), highest)


def matthews_score(correct: Floats, given: Floats, shown: Floats) -> Floats:
    """Score all names by the Matthews correlation coefficient.

    Parameters
    ----------
    correct, given, shown : ndarray of float64, shape (k, m)

    Returns
    -------
    ndarray of float64, shape (m,)
        From -1 to 1; 0 where all names are the same, as in scikit-learn.

    References
    ----------
    .. [1] J. Gorodkin, "Comparing two K-category assignments by a K-category
       correlation coefficient", Computational Biology and Chemistry 28, 2004.
    """
    variances = _covariance(given, given, given) * _covariance(shown, shown, shown)
    return divide(_covariance(correct, given, shown), np.sqrt(variances), 0)


def _covariance(correct: Floats, given: Floats, shown: Floats) -> Floats:
    """Count by how much agreeing pairs of pictures, of all n², exceed chance."""
    by_chance = (given * shown).sum(axis=0)
    return shown.sum(axis=0) * correct.sum(axis=0) - by_chance
