"""Answers above the species, such as ``Quercus *`` for an unidentified oak: their error, and when to give them."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from leafid.errors import LeafidError
from leafid.pictures.taxonomy import WILDCARD, Taxonomy

DONT_KNOW_ERROR, WRONG_ERROR = 0.5, 1.0


def weigh_positions(branching: Sequence[int]) -> list[float]:
    """Compute what a mistake at each position costs, 1 / (b_i · i): an early or an easy decision costs more."""
    return [1 / (choices * position) for position, choices in enumerate(branching, start=1)]


def path_error(
    correct: Sequence[str], answer: Sequence[str], branching: Sequence[int], unspecified: str | None = None
) -> float:
    """Weigh the wrong and the undecided positions of an answer: 0 (correct) to 1 (wrong from the first position on).

    `correct` has the labels from the root down; `answer` as many, ``"*"`` for "don't know"; `branching` the number of
    possible labels at each position. After a wrong position every later one is wrong, after a wildcard every later one
    is undecided, which costs half. A wildcard in place of `unspecified`, the label of a correct path's end, costs
    nothing.

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
    for weight, label, answered in zip(weigh_positions(branching), correct, answer, strict=True):
        if state == 0 and answered != label:
            state = DONT_KNOW_ERROR if answered == WILDCARD else WRONG_ERROR
        is_forgiven = state == DONT_KNOW_ERROR and label == unspecified
        error += 0.0 if is_forgiven else weight * state
        # Added up in the same order as the error, which sum() doesn't guarantee: all wrong is exactly 1.
        total += weight
    return error / total


def hierarchical_error(correct: str, answer: str, taxonomy: Taxonomy) -> float:
    """Compute the error of an answer over the ranks: 0 (correct) to 1 (another order), 0.5 for ``*``.

    An answer is a species or a back-off (`Taxonomy.find_path`). A name that the taxonomy lacks raises a `LeafidError`.

    References
    ----------
    .. [1] ImageCLEF 2009, "Error evaluation for ImageCLEF 2009 IRMA Medical Image Annotation".

    Examples
    --------
    Two genera, two species in the correct one; weights 1/2 and 1/4:

    >>> from leafid.pictures.picture import Taxon
    >>> tree = Taxonomy([Taxon("Quercus robur"), Taxon("Quercus ilex"), Taxon("Acer campestre")])
    >>> [round(hierarchical_error("Quercus ilex", a, tree), 3) for a in ("Quercus *", "Quercus robur", "Acer *")]
    [0.167, 0.333, 1.0]
    """
    if correct not in taxonomy.paths:
        raise LeafidError(f"expected a species of the taxonomy, found {correct!r}")
    return path_error(taxonomy.paths[correct], taxonomy.find_path(answer), taxonomy.count_branches(correct))


def back_off(probabilities: np.ndarray, taxonomy: Taxonomy, threshold: float) -> list[str]:
    """Name every picture at the finest rank that is likely enough: ``Quercus robur``, ``Fagales *`` or ``*``.

    Probabilities are float (n, C), rows summing to 1, columns as in ``taxonomy.species``. The threshold is the minimum
    posterior of a taxon, summed over its species: 0 always names a species, anything above 1 always answers ``*``.

    Examples
    --------
    >>> from leafid.pictures.picture import Taxon
    >>> tree = Taxonomy([Taxon("Quercus robur"), Taxon("Quercus ilex"), Taxon("Acer campestre")])
    >>> back_off(np.array([[0.4, 0.4, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]), tree, 0.7)
    ['Quercus *', 'Quercus ilex', '*']
    """
    if not threshold >= 0:
        raise LeafidError(f"expected a back-off threshold of 0 or more, found {threshold}")
    answers, masses = _find_best_taxa(_check_posteriors(probabilities, taxonomy), taxonomy)
    is_likely = masses >= threshold
    # For each picture the finest rank that reaches the threshold; one past the last where none does.
    depth = np.where(is_likely.any(axis=0), is_likely.argmax(axis=0), len(masses))
    return [answers[d][row] if d < len(answers) else WILDCARD for row, d in enumerate(depth)]


def compute_answer_probability(answer: str, probabilities: np.ndarray, taxonomy: Taxonomy) -> float:
    """Sum the posteriors, float (C,), of the species that an answer stands for.

    Examples
    --------
    >>> from leafid.pictures.picture import Taxon
    >>> tree = Taxonomy([Taxon("Quercus robur"), Taxon("Quercus ilex"), Taxon("Acer campestre")])
    >>> compute_answer_probability("Quercus *", np.array([0.5, 0.25, 0.25]), tree)
    0.75
    """
    path = taxonomy.find_path(answer)
    named = path[: len(path) - path.count(WILDCARD)]
    is_inside = [taxonomy.paths[species][: len(named)] == named for species in taxonomy.species]
    return min(1.0, float(np.asarray(probabilities)[is_inside].sum()))


def fit_back_off_threshold(
    probabilities: np.ndarray,
    correct: Sequence[str],
    taxonomy: Taxonomy,
    weights: np.ndarray | None = None,
) -> tuple[float, float]:
    """Choose the threshold for `back_off` with the smallest mean error on held-out pictures; return it with that error.

    Takes posteriors, float (n, C), the correct species, and sample weights, float (n,), equal by default. The mean
    error is a step function of the threshold with at most n steps for each rank. Every step is tried, so the choice is
    exact; of equally good thresholds the smallest wins. A `LeafidError` is raised when there is no picture, or lengths,
    probabilities or species don't fit.
    """
    posteriors = _check_posteriors(probabilities, taxonomy)
    n_pictures = len(posteriors)
    if len(correct) != n_pictures or n_pictures == 0:
        raise LeafidError(f"expected a species for each of {n_pictures} (one or more) rows, found {len(correct)}")
    share = np.ones(n_pictures) if weights is None else np.asarray(weights, float)
    if share.shape != (n_pictures,) or not np.isfinite(share).all() or (share < 0).any() or share.sum() == 0:
        raise LeafidError(f"expected a weight of 0 or more for each of {n_pictures} rows, found {share!r}")
    answers, masses = _find_best_taxa(posteriors, taxonomy)

    @cache
    def compute_error(species: str, answer: str) -> float:
        return hierarchical_error(species, answer, taxonomy)

    # errors[d] belongs to answers at depth d (0: species); the last row belongs to "*".
    errors = np.array([[compute_error(c, a) for c, a in zip(correct, row, strict=True)] for row in answers])
    errors = np.vstack([errors, np.full(n_pictures, DONT_KNOW_ERROR)]) * (share / share.sum())
    # At a threshold just above a mass, its rank gives way to the next coarser one.
    steps, step_of_mass = np.unique(np.round(masses, 12), return_inverse=True)
    change = np.bincount(step_of_mass.ravel(), weights=np.diff(errors, axis=0).ravel(), minlength=len(steps))
    mean = errors[0].sum() + np.concatenate([[0.0], np.cumsum(change)])
    # The tolerance keeps the last bit from deciding between equal means.
    best = int(np.flatnonzero(mean <= mean.min() + 1e-12)[0])
    return _place_threshold(steps, best), float(mean[best])


def _place_threshold(steps: np.ndarray, index: int) -> float:
    """Place the threshold half way between the steps beside the interval of that index."""
    if index == 0:
        return 0.0
    if index == len(steps):
        return float(np.nextafter(1.0, 2.0))
    return float((steps[index - 1] + steps[index]) / 2)


def _find_best_taxa(posteriors: np.ndarray, taxonomy: Taxonomy) -> tuple[list[list[str]], np.ndarray]:
    """Find the likeliest taxon of each rank, from the species up: answers, and their masses (ranks, n)."""
    answers, masses = [], []
    for rank in reversed(taxonomy.ranks):
        names, taxon_of_species = taxonomy.list_taxa(rank)
        mass = posteriors @ np.eye(len(names))[taxon_of_species]
        suffix = "" if rank == "species" else f" {WILDCARD}"
        answers.append([names[winner] + suffix for winner in mass.argmax(axis=1)])
        masses.append(mass.max(axis=1))
    # A coarser taxon is at least as likely by definition; rounding must not make it less likely.
    return answers, np.maximum.accumulate(np.minimum(np.array(masses), 1.0), axis=0)


def _check_posteriors(probabilities: np.ndarray, taxonomy: Taxonomy) -> np.ndarray:
    values = np.asarray(probabilities, float)
    if values.ndim != 2 or values.shape[1] != len(taxonomy.species):
        raise LeafidError(f"expected probabilities of shape (n, {len(taxonomy.species)}), found {values.shape}")
    is_valid = (np.isfinite(values) & (values >= 0)).all(axis=1) & np.isclose(values.sum(axis=1), 1, atol=1e-3)
    if not is_valid.all():
        row = int(np.flatnonzero(~is_valid)[0])
        raise LeafidError(f"expected probabilities from 0 that sum to 1, found row {row}: {values[row]}")
    return values
