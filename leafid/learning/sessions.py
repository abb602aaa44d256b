"""Lets pictures of a session support one another.

A session is what an author photographed on one day at one place: few of the species.
"""

import numpy as np

# Further rounds change the probabilities by less than 1e-3.
_ROUNDS = 10


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
