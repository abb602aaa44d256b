"""Errors of answers in a hierarchy, such as ``Quercus *`` for an unidentified oak."""

from collections.abc import Sequence

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
