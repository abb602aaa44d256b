"""Lets the pictures of one session support one another: few of the species are photographed in a session."""

from __future__ import annotations

import numpy as np

# Of a symmetric Dirichlet distribution: every mixture of species is as probable as any other before a session is seen.
_CONCENTRATION = 1.0
# Further rounds change the probabilities by less than 1e-3.
_ROUNDS = 10


def share_evidence(probabilities: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Update the species probabilities of a session's pictures by those of its other pictures.

    The species of the pictures are draws from the session's mixture of species, which is unknown; its prior is uniform.
    With :math:`p_{is}` the probabilities of picture :math:`i` by itself and :math:`w_i` its weight, collapsed
    variational inference of order zero ([1]_, equation 10) repeats

    .. math:: q_{is} \propto p_{is} \Bigl(1 + \sum_{j \ne i} w_j q_{js}\Bigr)

    Parameters
    ----------
    probabilities : float (n, n_species)
        Of equally probable species; rows sum to 1.
    weights : float (n,)
        From 0 to 1: the probability that a picture shows a leaf of one of these species.

    Returns
    -------
    float64 (n, n_species)
        Rows sum to 1. Where no other picture has a weight, they stay the same to the bit.

    References
    ----------
    .. [1] A. Asuncion, M. Welling, P. Smyth, Y. W. Teh, "On smoothing and inference for topic models", UAI 2009,
       arXiv:1205.2662

    Examples
    --------
    >>> share_evidence(np.array([[0.9, 0.1], [0.9, 0.1], [0.5, 0.5]]), np.ones(3)).round(2)
    array([[0.95, 0.05],
           [0.95, 0.05],
           [0.72, 0.28]])
    """
    own = np.asarray(probabilities, np.float64)
    share = np.asarray(weights, np.float64)[:, None]
    has_support = share.sum() - share > 0
    posterior = own
    for _ in range(_ROUNDS):
        evidence = share * posterior
        product = own * (_CONCENTRATION + evidence.sum(axis=0) - evidence)
        posterior = np.where(has_support, product / product.sum(axis=1, keepdims=True), own)
    return posterior
