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
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.metrics.averaging import accuracy_score, average_by_group, macro_average
from leafid.metrics.registry import Metric

#: The bins of [1]_, Table 1, by number of training pictures: the upper end belongs to the bin.
BINS = ("0-10", "10-50", "50-500", "500-2000", "> 2000")
_UPPER_ENDS = (10, 50, 500, 2000)


def fit_average_k_thresholds(probabilities: ArrayLike, sizes: Sequence[float]) -> NDArray[np.float64]:
    """Find the thresholds at which sets have k classes on average on held-out pictures, for several k above 0.

    With s all n·C probabilities in falling order, λ_k = (s[⌊n·k⌋ − 1] + s[⌊n·k⌋]) / 2 ([1]_, equation 4); 0 where all
    are in.
    Probabilities that equal λ_k are in, as in the authors' implementation, so that ties can make the sets larger than
    k, which the constraint of equation 3 rules out. Without pictures, or with values that are no probabilities or
    sizes, a ValueError is raised.

    Examples
    --------
    Two pictures, one class each on average: the two largest of the four are 0.9 and 0.6, the next is 0.4.

    >>> fit_average_k_thresholds([[0.9, 0.1], [0.6, 0.4]], [1])
    array([0.5])
    """
    p = _check_probabilities(probabilities)
    if not len(p):
        raise ValueError("expected held-out pictures to fit the threshold on, found none")
    rising = np.sort(p, axis=None)
    counts = [count_inside(len(p), k) for k in sizes]
    return np.array([0.0 if n >= p.size else place_threshold(rising, n) for n in counts])


def count_inside(n_pictures: int, k: float) -> int:
    """Count the scores that are in the sets of all pictures when these have k classes on average, k above 0."""
    if not k > 0:
        raise ValueError(f"expected a mean set size above 0, found {k}")
    # The factor keeps rounding from making 10 · 0.3 less than 3.
    return math.floor(n_pictures * k * (1 + 1e-12))


def place_threshold(rising: NDArray[np.float64], n_inside: int, *, exclude_ties: bool = False) -> float:
    """Place a threshold half way between the last of the highest scores that is in and the first that is out.

    `rising` are all scores, sorted; `n_inside` are fewer. Where both are equal they are in, unless `exclude_ties`.
    """
    highest_outside = float(rising[-n_inside - 1])
    if n_inside == 0 or (exclude_ties and rising[-n_inside] == highest_outside):
        return math.nextafter(highest_outside, math.inf)
    return float((rising[-n_inside] + highest_outside) / 2)


def compute_coverage_rank(n_pictures: int, coverage: float) -> int:
    """Compute which of the correct classes' probabilities, in rising order from 1, is the threshold; 0 for none."""
    if not 0 < coverage < 1:
        raise ValueError(f"expected a coverage between 0 and 1, found {coverage}")
    # The summand keeps rounding from making 10 · (1 - 0.9) less than 1.
    return math.floor((n_pictures + 1) * (1 - coverage) + 1e-9)


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


def _check_probabilities(probabilities: ArrayLike) -> NDArray[np.float64]:
    p = np.asarray(probabilities, np.float64)
    if p.ndim != 2 or not p.shape[1]:
        raise ValueError(f"expected probabilities of shape (pictures, classes), found {p.shape}")
    wrong = ~((p >= 0) & (p <= 1 + 1e-9))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(f"expected probabilities from 0 to 1, found {p[row, column]} in row {row}, column {column}")
    return p


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
