"""Scores of k names, by the numbers of pictures with a name as prediction and label.

All take counts, float (k, m), for m samples of pictures: `hits` are pictures whose
prediction is their label.
"""

import numpy as np

from leafid.metrics.averages import Floats, divide


def precision_scores(hits: Floats, predictions: Floats, labels: Floats) -> Floats:
    """Score each name by the share of correct ones among the pictures that get it.

    Parameters
    ----------
    hits, predictions, labels : ndarray of float64, shape (k, m)

    Returns
    -------
    ndarray of float64, shape (k, m)
        From 0 to 1; 0 where no picture gets the name.
    """
    return divide(hits, predictions, 0)


def f1_scores(hits: Floats, predictions: Floats, labels: Floats) -> Floats:
    """Score each name by the harmonic mean of its precision and recall.

    Parameters
    ----------
    hits, predictions, labels : ndarray of float64, shape (k, m)

    Returns
    -------
    ndarray of float64, shape (k, m)
        From 0 to 1; 0 where no picture gets or shows the name.
    """
    return divide(2 * hits, predictions + labels, 0)


def kappa_score(hits: Floats, predictions: Floats, labels: Floats) -> Floats:
    """Score all names by Cohen's kappa: how much more are correct than by chance.

    Parameters
    ----------
    hits, predictions, labels : ndarray of float64, shape (k, m)

    Returns
    -------
    ndarray of float64, shape (m,)
        From -1 to 1; NaN where all pictures show and get the same name.

    References
    ----------
    .. [1] J. Cohen, "A coefficient of agreement for nominal scales", Educational and
       Psychological Measurement 20, 1960.
    """
    highest = _covariance(labels, predictions, labels)
    return divide(_covariance(hits, predictions, labels), highest)


def matthews_score(hits: Floats, predictions: Floats, labels: Floats) -> Floats:
    """Score all names by the Matthews correlation coefficient.

    Parameters
    ----------
    hits, predictions, labels : ndarray of float64, shape (k, m)

    Returns
    -------
    ndarray of float64, shape (m,)
        From -1 to 1; 0 where all names are the same, as in scikit-learn.

    References
    ----------
    .. [1] J. Gorodkin, "Comparing two K-category assignments by a K-category
       correlation coefficient", Computational Biology and Chemistry 28, 2004.
    """
    prediction_variance = _covariance(predictions, predictions, predictions)
    label_variance = _covariance(labels, labels, labels)
    scale = np.sqrt(prediction_variance * label_variance)
    return divide(_covariance(hits, predictions, labels), scale, 0)


def _covariance(hits: Floats, predictions: Floats, labels: Floats) -> Floats:
    """Count by how much agreeing pairs of pictures, of all n², exceed chance."""
    by_chance = (predictions * labels).sum(axis=0)
    return labels.sum(axis=0) * hits.sum(axis=0) - by_chance
