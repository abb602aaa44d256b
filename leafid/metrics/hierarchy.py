"""Answers above the species, such as ``Quercus *`` for an unidentified oak: their errors, and when to give them."""

from collections.abc import Sequence

import numpy as np

from leafid.pictures.taxonomy import WILDCARD, Taxonomy

DONT_KNOW_ERROR, WRONG_ERROR = 0.5, 1.0


def path_error(
    correct: Sequence[str],
    answer: Sequence[str],
    branching: Sequence[int],
    unspecified: str | None = None,
) -> float:
    """Weigh the wrong and the undecided positions of an answer: 0 (correct) to 1 (wrong from the first position on).

    `correct` has the labels from the root down; `answer` as many, ``"*"`` for "don't know"; `branching` the number of
    possible labels at each position. After a wrong position every later one is wrong, after a wildcard every later one
    is undecided, which costs half. A mistake at position i costs 1 / (b_i · i): more where the decision is early or
    easy. A wildcard in place of `unspecified`, the label of a correct path's end, costs nothing.

    References
    ----------
    .. [1] ImageCLEF 2009, "Error evaluation for ImageCLEF 2009 IRMA Medical Image Annotation".

    Examples
    --------
    Weights 1/2, 1/6 and 1/12; wrong from the second position on:

    >>> path_error("abc", "axc", (2, 3, 4))
    0.3333333333333333
    """
    state, error, total = 0.0, 0.0, 0.0
    positions = zip(branching, correct, answer, strict=True)
    for position, (choices, label, answered) in enumerate(positions, start=1):
        weight = 1 / (choices * position)
        if state == 0 and answered != label:
            state = DONT_KNOW_ERROR if answered == WILDCARD else WRONG_ERROR
        is_forgiven = state == DONT_KNOW_ERROR and label == unspecified
        error += 0.0 if is_forgiven else weight * state
        # The total is added up in the same order as the error, unlike by sum(), so that all wrong is exactly 1.
        total += weight
    return error / total


def hierarchical_error(correct: str, answer: str, taxonomy: Taxonomy) -> float:
    """Compute the `path_error` of an answer over the ranks: 0 (correct) to 1 (another order), 0.5 for ``*``.

    An answer is a species or a back-off; `Taxonomy.find_path` raises a `LeafidError` for one that the taxonomy lacks.
    """
    return path_error(
        taxonomy.paths[correct],
        taxonomy.find_path(answer),
        taxonomy.count_branches(correct),
    )


def back_off(
    probabilities: np.ndarray, taxonomy: Taxonomy, threshold: float
) -> list[tuple[str, float]]:
    """Name every picture at the finest rank that is likely enough: ``Quercus robur``, ``Fagales *`` or ``*``.

    Probabilities are float (n, C), rows summing to 1, columns as in ``taxonomy.species``. The threshold is the minimum
    posterior of a taxon, summed over its species: 0 always names a species, anything above 1 always answers ``*``. With
    each name comes its posterior.

    Examples
    --------
    >>> from leafid.pictures.picture import Taxon
    >>> tree = Taxonomy([Taxon("Quercus robur"), Taxon("Quercus ilex"), Taxon("Acer campestre")])
    >>> back_off(np.array([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.25, 0.25, 0.5]]), tree, 0.625)
    [('Quercus *', 0.75), ('Quercus ilex', 0.75), ('*', 1.0)]
    """
    answers, masses = _find_best_taxa(probabilities, taxonomy)
    is_likely = masses >= threshold
    # "*" stands for all species, where no taxon reaches the threshold.
    is_likely[-1] = True
    depths = is_likely.argmax(axis=0).tolist()
    return [
        (answers[depth][row], float(masses[depth, row]))
        for row, depth in enumerate(depths)
    ]


def fit_back_off_threshold(
    probabilities: np.ndarray,
    correct: Sequence[str],
    taxonomy: Taxonomy,
    weights: np.ndarray,
) -> float:
    """Choose the threshold for `back_off` with the smallest mean error on held-out pictures.

    Takes posteriors, float (n, C), the correct species, and sample weights, float (n,). The mean error is a step
    function of the threshold with at most n steps for each rank. Every step is tried, so the choice is exact; of
    equally good thresholds the smallest wins.
    """
    answers, masses = _find_best_taxa(probabilities, taxonomy)
    # errors[d] belongs to answers at depth d (0: species); the last row belongs to "*".
    errors = np.array(
        [
            [
                hierarchical_error(c, a, taxonomy)
                for c, a in zip(correct, row, strict=True)
            ]
            for row in answers
        ]
    )
    errors *= weights / weights.sum()
    # At a threshold just above a mass, its rank gives way to the next coarser one.
    steps, step_of_mass = np.unique(np.round(masses[:-1], 12), return_inverse=True)
    change = np.bincount(step_of_mass.ravel(), weights=np.diff(errors, axis=0).ravel())
    mean = errors[0].sum() + np.concatenate([[0.0], np.cumsum(change)])
    # The tolerance keeps the last bit from deciding between equal means.
    best = np.flatnonzero(mean <= mean.min() + 1e-12)[0]
    thresholds = np.concatenate(
        [[0.0], (steps[:-1] + steps[1:]) / 2, [np.nextafter(1.0, 2.0)]]
    )
    return float(thresholds[best])


def _find_best_taxa(
    posteriors: np.ndarray, taxonomy: Taxonomy
) -> tuple[list[list[str]], np.ndarray]:
    """Find the likeliest taxon of each rank, from the species up to "*": answers, and their masses (ranks + 1, n)."""
    answers, masses = [], []
    for depth, taxa in enumerate(reversed(np.array([*taxonomy.paths.values()]).T)):
        names, taxon_of_species = np.unique(taxa, return_inverse=True)
        mass = posteriors @ np.eye(len(names))[taxon_of_species]
        suffix = f" {WILDCARD}" if depth else ""
        answers.append([f"{name}{suffix}" for name in names[mass.argmax(axis=1)]])
        masses.append(mass.max(axis=1))
    answers.append([WILDCARD] * len(posteriors))
    masses.append(posteriors.sum(axis=1))
    # A coarser taxon is at least as likely by definition; rounding must not make it less likely.
    return answers, np.maximum.accumulate(np.minimum(np.array(masses), 1.0), axis=0)
