"""Sessions: the pictures that an author took on one day at one place.

Few of the species are photographed in a session, so that the answers to its pictures
support one another.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from leafid.grouping import group_by
from leafid.model.answer import Answer, rank_species
from leafid.model.held_out import HeldOutAnswers
from leafid.pictures.picture import Picture

# Length of an ISO 8601 date with its day.
_DAY = len("2010-07-06")
# Further rounds change the probabilities by less than 1e-3.
_ROUNDS = 10


def find_session(picture: Picture) -> Hashable:
    """Give what the pictures of a session share: author, day and coordinates.

    A picture without a day, or with neither author nor coordinates, is a
    session alone.
    """
    day, coordinates = (picture.date or "")[:_DAY], picture.coordinates
    if len(day) < _DAY or (picture.author is None and coordinates is None):
        return picture.file
    return picture.author, day, coordinates


def pool_answers(answers: Sequence[Answer]) -> list[Answer]:
    """Let the answers to the pictures of a session support one another.

    The pictures may be of several types. A picture counts in proportion to its
    probability to show a leaf of a known species, or not at all if it can't be judged.
    This probability, and the decision, don't change.
    """
    readable = [index for index, answer in enumerate(answers) if not answer.problem]
    if len(readable) < 2:
        return list(answers)
    weights = []
    for index in readable:
        is_judged = answers[index].has_leaf and answers[index].verdict != "unclear"
        weights.append(answers[index].known_leaf * is_judged)
    rankings = [dict(answers[index].ranking) for index in readable]
    pooled = list(answers)
    for index, row in zip(readable, _pool_rankings(rankings, weights), strict=True):
        ranking = rank_species(np.array([*row.values()]), [*row])
        pooled[index] = replace(answers[index], ranking=ranking)
    return pooled


def pool_held_out(answers: Sequence[HeldOutAnswers]) -> list[HeldOutAnswers]:
    """Let held-out answers support those to other pictures of their session.

    These are of whatever fold and type.
    """
    pooled = [replace(fold, probabilities=fold.probabilities + 0.0) for fold in answers]
    rows = [(fold, row) for fold in pooled for row in range(len(fold.pictures))]
    sessions = group_by(rows, lambda row: find_session(row[0].pictures[row[1]]))
    for session in sessions.values():
        rankings = [
            dict(zip(fold.species, fold.probabilities[row], strict=True))
            for fold, row in session
        ]
        of_session = _pool_rankings(rankings, [1.0] * len(session))
        for (fold, row), ranking in zip(session, of_session, strict=True):
            fold.probabilities[row] = list(ranking.values())
    return pooled


def _pool_rankings(
    rankings: Sequence[dict[str, float]], weights: Sequence[float]
) -> list[dict[str, float]]:
    """Apply `pool_evidence` to the probabilities of species, by name, of pictures.

    The result is in alphabetical order, as the columns of held-out answers are.
    """
    species = sorted(set().union(*rankings))
    # A type whose classifier doesn't know a species never names it.
    table = [[ranking.get(name, 0.0) for name in species] for ranking in rankings]
    rows = pool_evidence(np.array(table), np.array(weights)).tolist()
    pooled = []
    for ranking, row in zip(rankings, rows, strict=True):
        by_species = dict(zip(species, row, strict=True))
        pooled.append({name: by_species[name] for name in sorted(ranking)})
    return pooled


def pool_evidence(probabilities: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Update the species probabilities of pictures by the others of their session.

    The species of the pictures are draws from the session's mixture of species, which
    is unknown; its prior is uniform. With :math:`p_{is}` the probabilities of picture
    :math:`i` by itself and :math:`w_i` its weight, collapsed variational inference of
    order zero ([1]_, equation 10) repeats

    .. math:: q_{is} \propto p_{is} \Bigl(1 + \sum_{j \ne i} w_j q_{js}\Bigr)

    The probabilities, float (n, n_species), are of equally probable species, and rows
    sum to 1. The weights, float (n,) from 0 to 1, are the probabilities that the
    pictures show a leaf of one of these species. Of the result, float64 (n, n_species),
    rows sum to 1; where no other picture has a weight, they stay the same to the bit.

    References
    ----------
    .. [1] A. Asuncion, M. Welling, P. Smyth, Y. W. Teh, "On smoothing and inference for
       topic models", UAI 2009, arXiv:1205.2662

    Examples
    --------
    >>> probabilities = np.array([[0.9, 0.1], [0.9, 0.1], [0.5, 0.5]])
    >>> pool_evidence(probabilities, np.ones(3)).round(2)
    array([[0.95, 0.05],
           [0.95, 0.05],
           [0.72, 0.28]])
    """
    prior = np.asarray(probabilities, np.float64)
    weight = np.asarray(weights, np.float64)[:, None]
    has_support = weight.sum() - weight > 0
    posterior = prior
    for _ in range(_ROUNDS):
        evidence = weight * posterior
        product = prior * (1 + evidence.sum(axis=0) - evidence)
        posterior = np.where(
            has_support, product / product.sum(axis=1, keepdims=True), prior
        )
    return posterior
