"""Answers above the species, such as ``Quercus *`` for an unidentified oak: their errors, and when to give them."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from leafid.errors import LeafidError
from leafid.pictures.taxonomy import WILDCARD, Taxonomy

DONT_KNOW_ERROR, WRONG_ERROR = 0.5, 1.0


def path_error(
    correct: Sequence[str], answer: Sequence[str], branching: Sequence[int], unspecified: str | None = None
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

    An answer is a species or a back-off (`Taxonomy.find_path`). A name that the taxonomy lacks raises a `LeafidError`.
    """
    if correct not in taxonomy.paths:
        raise LeafidError(f"expected a species of the taxonomy, found {correct!r}")
    return path_error(taxonomy.paths[correct], taxonomy.find_path(answer), taxonomy.count_branches(correct))


def back_off(probabilities: np.ndarray, taxonomy: Taxonomy, threshold: float) -> list[tuple[str, float]]:
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
    if not threshold >= 0:
        raise LeafidError(f"expected a back-off threshold of 0 or more, found {threshold}")
    answers, masses = _find_best_taxa(probabilities, taxonomy)
    is_likely = masses >= threshold
    # "*" stands for all species, where no taxon reaches the threshold.
    is_likely[-1] = True
    depths = is_likely.argmax(axis=0).tolist()
    return [(answers[depth][row], float(masses[depth, row])) for row, depth in enumerate(depths)]


def fit_back_off_threshold(
    probabilities: np.ndarray,
    correct: Sequence[str],
    taxonomy: Taxonomy,
    weights: np.ndarray | None = None,
) -> tuple[float, float]:
    """Choose the threshold for `back_off` with the smallest mean error on held-out pictures; return it with that error.

    Takes posteriors, float (n, C), the correct species, and sample weights, float (n,), equal by default. The mean
    error is a step function of the threshold with at most n steps for each rank. Every step is tried, so the choice is
    exact; of equally good thresholds the smallest wins.
    """
    share = np.ones(len(correct)) if weights is None else weights
    answers, masses = _find_best_taxa(probabilities, taxonomy)

    @cache
    def compute_error(species: str, answer: str) -> float:
        return hierarchical_error(species, answer, taxonomy)

    # errors[d] belongs to answers at depth d (0: species); the last row belongs to "*".
    errors = np.array([[compute_error(c, a) for c, a in zip(correct, row, strict=True)] for row in answers])
    errors = errors * (share / share.sum())
    # At a threshold just above a mass, its rank gives way to the next coarser one.
    steps, step_of_mass = np.unique(np.round(masses[:-1], 12), return_inverse=True)
    change = np.bincount(step_of_mass.ravel(), weights=np.diff(errors, axis=0).ravel(), minlength=len(steps))
    mean = errors[0].sum() + np.concatenate([[0.0], np.cumsum(change)])
    # The tolerance keeps the last bit from deciding between equal means.
    best = int(np.flatnonzero(mean <= mean.min() + 1e-12)[0])
    if best in (0, len(steps)):
        return (float(np.nextafter(1.0, 2.0)) if best else 0.0), float(mean[best])
    return float((steps[best - 1] + steps[best]) / 2), float(mean[best])


def _find_best_taxa(posteriors: np.ndarray, taxonomy: Taxonomy) -> tuple[list[list[str]], np.ndarray]:
    """Find the likeliest taxon of each rank, from the species up to "*": answers, and their masses (ranks + 1, n)."""
    answers, masses = [], []
    for rank in reversed(taxonomy.ranks):
        names, taxon_of_species = taxonomy.list_taxa(rank)
        mass = posteriors @ np.eye(len(names))[taxon_of_species]
        suffix = "" if rank == "species" else f" {WILDCARD}"
        answers.append([names[winner] + suffix for winner in mass.argmax(axis=1)])
        masses.append(mass.max(axis=1))
    answers.append([WILDCARD] * len(posteriors))
    masses.append(posteriors.sum(axis=1))
    # A coarser taxon is at least as likely by definition; rounding must not make it less likely.
    return answers, np.maximum.accumulate(np.minimum(np.array(masses), 1.0), axis=0)
