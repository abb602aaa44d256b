"""Answers above the species: ``Quercus *`` for "an oak, don't know which", their error, and when to give them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leafid.errors import LeafidError
from leafid.metrics.path_error import DONT_KNOW_ERROR, WILDCARD, path_error
from leafid.metrics.registry import Metric
from leafid.metrics.taxonomy import Taxonomy


def hierarchical_error(correct: str, answer: str, taxonomy: Taxonomy) -> float:
    """Error of one answer over order, family, genus and species.

    Parameters
    ----------
    correct : str
        A species of the taxonomy.
    answer : str
        A species, or a back-off (`Taxonomy.path`).
    taxonomy : Taxonomy

    Returns
    -------
    float
        0 (the right species) to 1 (another order); 0.5 for ``*``.

    Raises
    ------
    LeafidError
        When the taxonomy lacks the species or the taxon.

    References
    ----------
    .. [1] ImageCLEF 2009, "Error evaluation for ImageCLEF 2009 IRMA Medical Image Annotation".

    Examples
    --------
    Two genera, two species in the right one; weights 1/2 and 1/4:

    >>> from leafid.collection.picture import Taxon
    >>> tree = Taxonomy([Taxon("Quercus robur"), Taxon("Quercus ilex"), Taxon("Acer campestre")])
    >>> [round(hierarchical_error("Quercus ilex", a, tree), 3) for a in ("Quercus *", "Quercus robur", "Acer *")]
    [0.167, 0.333, 1.0]
    """
    if correct not in taxonomy.paths:
        raise LeafidError(f"expected a species of the taxonomy, found {correct!r}")
    return path_error(taxonomy.paths[correct], taxonomy.path(answer), taxonomy.branching(correct))


def back_off(probabilities: np.ndarray, taxonomy: Taxonomy, threshold: float) -> list[str]:
    """Name every picture at the finest rank that is sure enough.

    Parameters
    ----------
    probabilities : float array (n, C)
        Posterior of each species, rows summing to 1; columns as in ``taxonomy.species``.
    taxonomy : Taxonomy
    threshold : float
        The least posterior, summed over its species, that a taxon is answered with. 0 always names a species, anything
        above 1 always answers ``*``.

    Returns
    -------
    list of str
        ``Quercus robur``, ``Quercus *``, ``Fagaceae *``, ``Fagales *`` or ``*``.

    Examples
    --------
    >>> from leafid.collection.picture import Taxon
    >>> tree = Taxonomy([Taxon("Quercus robur"), Taxon("Quercus ilex"), Taxon("Acer campestre")])
    >>> back_off(np.array([[0.4, 0.4, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]), tree, 0.7)
    ['Quercus *', 'Quercus ilex', '*']
    """
    if not threshold >= 0:
        raise LeafidError(f"expected a back-off threshold of 0 or more, found {threshold}")
    best, masses = _best_taxa(_checked(probabilities, taxonomy), taxonomy)
    # Row by row, the finest rank that reaches the threshold; one past the last where none does.
    depth = np.where((masses >= threshold).any(axis=0), (masses >= threshold).argmax(axis=0), len(masses))
    return [best[d][row] if d < len(best) else WILDCARD for row, d in enumerate(depth)]


def compute_answer_probability(answer: str, probabilities: np.ndarray, taxonomy: Taxonomy) -> float:
    """Sum the posterior of the species that an answer leaves open.

    Parameters
    ----------
    answer : str
        A species, or a back-off (`Taxonomy.path`).
    probabilities : float array (C,)
    taxonomy : Taxonomy

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from leafid.collection.picture import Taxon
    >>> tree = Taxonomy([Taxon("Quercus robur"), Taxon("Quercus ilex"), Taxon("Acer campestre")])
    >>> answer_probability("Quercus *", np.array([0.5, 0.25, 0.25]), tree)
    0.75
    """
    path = taxonomy.path(answer)
    named = path[: len(path) - path.count(WILDCARD)]
    inside = [taxonomy.paths[species][: len(named)] == named for species in taxonomy.species]
    return min(1.0, float(np.asarray(probabilities)[inside].sum()))


def fit_back_off_threshold(
    probabilities: np.ndarray,
    correct: Sequence[str],
    taxonomy: Taxonomy,
    weights: np.ndarray | None = None,
) -> tuple[float, float]:
    """Choose the threshold with the least expected error on held-out pictures.

    The mean error as a function of the threshold is a step function with at most n steps a rank; every step is looked
    at, so the choice is exact, and the least threshold wins among equals.

    Parameters
    ----------
    probabilities : float array (n, C)
        Posteriors of pictures that neither trained nor tested the classifier.
    correct : sequence of str, of length n
        The species of those pictures.
    taxonomy : Taxonomy
    weights : float array (n,), optional
        How much each picture counts; equally by default.

    Returns
    -------
    threshold : float
        For `back_off`.
    error : float
        The mean error at that threshold.

    Raises
    ------
    LeafidError
        When there is no picture, or lengths, probabilities or species don't fit.
    """
    checked = _checked(probabilities, taxonomy)
    if len(correct) != len(checked) or len(checked) == 0:
        raise LeafidError(f"expected a species for each of {len(checked)} (one or more) rows, found {len(correct)}")
    share = np.ones(len(checked)) if weights is None else np.asarray(weights, float)
    if share.shape != (len(checked),) or not np.isfinite(share).all() or (share < 0).any() or share.sum() == 0:
        raise LeafidError(f"expected a weight of 0 or more for each of {len(checked)} rows, found {share!r}")
    best, masses = _best_taxa(checked, taxonomy)
    cached: dict[tuple[str, str], float] = {}

    def error(right: str, answer: str) -> float:
        if (right, answer) not in cached:
            cached[right, answer] = hierarchical_error(right, answer, taxonomy)
        return cached[right, answer]

    # errors[d] is that of answering at depth d (0: species); the last row is that of "*".
    errors = np.array([[error(c, a) for c, a in zip(correct, row, strict=True)] for row in best])
    errors = np.vstack([errors, np.full(len(checked), DONT_KNOW_ERROR)]) * (share / share.sum())
    # Just above a mass, its rank gives way to the next coarser one.
    steps, where = np.unique(np.round(masses, 12), return_inverse=True)
    change = np.bincount(where.ravel(), weights=np.diff(errors, axis=0).ravel(), minlength=len(steps))
    mean = errors[0].sum() + np.concatenate([[0.0], np.cumsum(change)])
    # Between equal means the least threshold wins, and equal must not hang on the last bit.
    chosen = int(np.flatnonzero(mean <= mean.min() + 1e-12)[0])
    return _threshold(steps, chosen), float(mean[chosen])


def _threshold(steps: np.ndarray, chosen: int) -> float:
    if chosen == 0:
        return 0.0
    if chosen == len(steps):
        return float(np.nextafter(1.0, 2.0))
    return float((steps[chosen - 1] + steps[chosen]) / 2)


def _best_taxa(probabilities: np.ndarray, taxonomy: Taxonomy) -> tuple[list[list[str]], np.ndarray]:
    """Find the likeliest taxon of each rank, from the species up: answers, and masses (ranks, n)."""
    answers, masses = [], []
    for rank in reversed(taxonomy.ranks):
        names, owners = taxonomy.nodes(rank)
        belongs = np.zeros((len(owners), len(names)))
        belongs[np.arange(len(owners)), owners] = 1
        mass = probabilities @ belongs
        winners = mass.argmax(axis=1)
        suffix = "" if rank == "species" else f" {WILDCARD}"
        answers.append([names[winner] + suffix for winner in winners])
        masses.append(np.take_along_axis(mass, winners[:, None], axis=1)[:, 0])
    # A coarser taxon is at least as likely by definition; rounding must not let it fall behind.
    return answers, np.maximum.accumulate(np.minimum(np.array(masses), 1.0), axis=0)


def _checked(probabilities: np.ndarray, taxonomy: Taxonomy) -> np.ndarray:
    values = np.asarray(probabilities, float)
    if values.ndim != 2 or values.shape[1] != len(taxonomy.species):
        raise LeafidError(f"expected probabilities of shape (n, {len(taxonomy.species)}), found {values.shape}")
    if not np.isfinite(values).all() or (values < 0).any() or not np.allclose(values.sum(axis=1), 1, atol=1e-3):
        row = int(
            np.flatnonzero(
                ~(np.isfinite(values) & (values >= 0)).all(axis=1) | ~np.isclose(values.sum(1), 1, atol=1e-3)
            )[0]
        )
        raise LeafidError(f"expected probabilities from 0 that sum to 1, found row {row}: {values[row]}")
    return values


METRICS = (
    Metric(
        "hierarchical-error",
        "wrong ranks weigh more when early or easy; 'Quercus *' costs half of a wrong species",
        hierarchical_error,
        citation="ImageCLEF 2009, Error evaluation for IRMA Medical Image Annotation, over taxa",
        command="evaluate-hierarchy",
        column="error, by plant",
        higher_is_better=False,
    ),
)
