"""Answers above the species, such as ``Quercus *`` for an unidentified oak.

Their errors, and when to give them.
"""

from collections.abc import Sequence

import numpy as np

#: The answer "don't know", at one position of a path.
WILDCARD = "*"
DONT_KNOW_ERROR = 0.5
WRONG_ERROR = 1.0


def path_error(
    correct: Sequence[str],
    answer: Sequence[str],
    branching: Sequence[int],
    unspecified: str | None = None,
) -> float:
    """Weigh the wrong and the undecided positions of an answer.

    After a wrong position every later one is wrong; after a wildcard every later one
    is undecided, which costs half. A mistake at position i costs 1 / (b_i · i): more
    where the decision is early or easy.

    Parameters
    ----------
    correct, answer : sequence of str
        Labels from the root down, as many; ``"*"`` in `answer` is "don't know".
    branching : sequence of int
        The number of possible labels at each position.
    unspecified : str, optional
        The label of a correct path's end, in place of which a wildcard costs nothing.

    Returns
    -------
    float
        From 0 (correct) to 1 (wrong from the first position on).

    References
    ----------
    .. [1] ImageCLEF 2009, "Error evaluation for ImageCLEF 2009 IRMA Medical Image
       Annotation".

    Examples
    --------
    Weights 1/2, 1/6 and 1/12; wrong from the second position on:

    >>> path_error("abc", "axc", (2, 3, 4))
    0.3333333333333333
    """
    state = error = total = 0.0
    positions = zip(branching, correct, answer, strict=True)
    for position, (n_choices, label, name) in enumerate(positions, start=1):
        weight = 1 / (n_choices * position)
        if state == 0 and name != label:
            state = DONT_KNOW_ERROR if name == WILDCARD else WRONG_ERROR
        if state != DONT_KNOW_ERROR or label != unspecified:
            error += weight * state
        # The total is added up in the same order as the error, unlike by sum(), so
        # that all wrong is exactly 1.
        total += weight
    return error / total


def find_likeliest_taxa(
    probabilities: np.ndarray, paths: np.ndarray
) -> tuple[list[list[str]], np.ndarray]:
    """Find the likeliest taxon of each rank, from the species up to ``*``.

    Parameters
    ----------
    probabilities : ndarray of float, shape (n, n_species)
        Rows sum to 1.
    paths : ndarray of str, shape (n_species, n_ranks)
        The names of each species' taxa from the top rank down to the species.

    Returns
    -------
    answers : list of lists of str, shape (n_ranks + 1, n)
        ``Quercus robur``, ``Quercus *`` … ``*``.
    masses : ndarray of float, shape (n_ranks + 1, n)
        Their probabilities, summed over their species; they rise with the rank.
    """
    answers = []
    masses = []
    suffix = ""
    for taxa in reversed(paths.T):
        names, taxon_of_species = np.unique(taxa, return_inverse=True)
        mass = probabilities @ np.eye(len(names))[taxon_of_species]
        answers.append([f"{name}{suffix}" for name in names[mass.argmax(axis=1)]])
        masses.append(mass.max(axis=1))
        suffix = f" {WILDCARD}"
    answers.append([WILDCARD] * len(probabilities))
    masses.append(probabilities.sum(axis=1))
    # A coarser taxon is at least as likely by definition; rounding must not make it
    # less likely.
    return answers, np.maximum.accumulate(np.minimum(np.array(masses), 1.0), axis=0)


def back_off(
    probabilities: np.ndarray, paths: np.ndarray, threshold: float
) -> list[tuple[str, float]]:
    """Name every picture at the finest rank that is likely enough.

    Parameters
    ----------
    probabilities : ndarray of float, shape (n, n_species)
        Rows sum to 1.
    paths : ndarray of str, shape (n_species, n_ranks)
        The names of each species' taxa from the top rank down to the species.
    threshold : float
        The minimum probability of a taxon, summed over its species: 0 always names a
        species, anything above 1 always answers ``*``.

    Returns
    -------
    list of (str, float)
        The name, such as ``Quercus robur``, ``Fagales *`` or ``*``, and its
        probability.

    Examples
    --------
    >>> paths = np.array(
    ...     [("Quercus", "Q. robur"), ("Quercus", "Q. ilex"), ("Acer", "A. opalus")]
    ... )
    >>> rows = np.array([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.25, 0.25, 0.5]])
    >>> back_off(rows, paths, 0.625)
    [('Quercus *', 0.75), ('Q. ilex', 0.75), ('*', 1.0)]
    """
    answers, masses = find_likeliest_taxa(probabilities, paths)
    is_likely = masses >= threshold
    # "*" stands for all species, where no taxon reaches the threshold.
    is_likely[-1] = True
    depths = is_likely.argmax(axis=0).tolist()
    return [
        (answers[depth][row], float(masses[depth, row]))
        for row, depth in enumerate(depths)
    ]


def fit_back_off_threshold(
    errors: np.ndarray, masses: np.ndarray, weights: np.ndarray
) -> float:
    """Choose the threshold for `back_off` with the smallest mean error.

    The mean error is a step function of the threshold with at most n steps for each
    rank. Every step is tried, so that the choice is exact.

    Parameters
    ----------
    errors, masses : ndarray of float, shape (n_ranks + 1, n)
        The errors of the answers that `find_likeliest_taxa` gives for held-out
        pictures, and their masses.
    weights : ndarray of float, shape (n,)
        The weights of the pictures.

    Returns
    -------
    float
        From 0 to just above 1, the smallest of equally good thresholds.
    """
    weighted = errors * (weights / weights.sum())
    # At a threshold just above a mass, its rank gives way to the next coarser one.
    steps, step_of_mass = np.unique(np.round(masses[:-1], 12), return_inverse=True)
    change = np.bincount(step_of_mass.ravel(), np.diff(weighted, axis=0).ravel())
    mean = weighted[0].sum() + np.concatenate([[0.0], np.cumsum(change)])
    # The tolerance keeps the last bit from deciding between equal means.
    best = np.flatnonzero(mean <= mean.min() + 1e-12)[0]
    middles = (steps[:-1] + steps[1:]) / 2
    return float([0.0, *middles, np.nextafter(1.0, 2.0)][best])
