"""Set-valued prediction: thresholds from which a species is in a picture's set, and scores of such sets.

Probabilities are float (n, C) in [0, 1], a row for each picture and a column for each class; labels are int (n,), the
correct class's column. A set holds the classes whose probability reaches the threshold.

References
----------
.. [1] C. Garcin et al., "Pl@ntNet-300K: a plant image dataset with high label ambiguity and a long-tailed
   distribution", NeurIPS Datasets and Benchmarks 2021, section 2, and section 4, Table 1.
.. [2] C. Denis, M. Hebiri, "Confidence sets with expected sizes for multiclass classification", JMLR 18, 2017.
.. [3] M. Sadinle, J. Lei, L. Wasserman, "Least ambiguous set-valued classifiers with bounded error levels",
   JASA 114, 2019, doi:10.1080/01621459.2017.1395341.
"""

import math
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.learning.averages import accuracy_score, average_by_group, macro_average
from leafid.metrics.registry import Metric

#: The bins of [1]_, Table 1, by number of training pictures: the upper end belongs to the bin.
BINS = ("0-10", "10-50", "50-500", "500-2000", "> 2000")
_UPPER_ENDS = (10, 50, 500, 2000)


def average_by_bin(
    class_accuracy: ArrayLike, training_pictures: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Average the accuracies of the classes within `BINS` of their number of training pictures, and count the classes.

    A class without pictures (NaN) is left out; a bin without classes is NaN.

    Examples
    --------
    >>> average_by_bin([0.0, 0.5, 1.0], [10, 11, 50])[0][:2]
    array([0.  , 0.75])
    """
    accuracy = np.asarray(class_accuracy, np.float64)
    bins = np.searchsorted(_UPPER_ENDS, np.asarray(training_pictures), side="left")
    present = ~np.isnan(accuracy)
    counts = np.bincount(bins[present], minlength=len(BINS))
    return average_by_group(accuracy[present], bins[present], len(BINS)), counts


def compute_empty_share(sizes: ArrayLike) -> float:
    """Compute the share of pictures whose set is empty; NaN without pictures."""
    return accuracy_score(np.asarray(sizes) == 0)


_metric = partial(Metric, citation="Garcin et al., Pl@ntNet-300K, NeurIPS 2021", command="evaluate --sets")

METRICS = (
    _metric(
        "average-K",
        "accuracy of the sets that a run's scores form above a threshold, K species on average",
        accuracy_score,
        command="evaluate --average",
        column="accuracy",
    ),
    _metric(
        "macro-top-K",
        "top-K accuracy of each species, averaged over the species",
        macro_average,
        command="evaluate --macro",
        column="macro top-K",
    ),
    _metric(
        "macro-average",
        "share of each species' pictures with a correct set, averaged over the species",
        macro_average,
        column="macro-average accuracy",
    ),
    _metric(
        "mean-bin-accuracy",
        "macro-average over species with about as many training pictures",
        average_by_bin,
        command="evaluate --sets --training",
        column="mean bin accuracy",
    ),
    _metric(
        "coverage",
        "share of pictures with the correct species in the set",
        accuracy_score,
        citation="Sadinle et al., JASA 2019",
        column="accuracy",
    ),
    _metric(
        "mean-set-size",
        "mean number of species in a set",
        accuracy_score,
        column="mean size",
        higher_is_better=False,
        range=(0.0, math.inf),
    ),
    _metric(
        "empty-set-share",
        "share of pictures with an empty set",
        compute_empty_share,
        column="empty sets",
        higher_is_better=False,
    ),
)
