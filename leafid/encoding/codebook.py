"""A codebook of visual words: k-means centres, and which of them is nearest."""

from __future__ import annotations

import numpy as np


def learn_words(rows: np.ndarray, n_words: int, seed: int) -> np.ndarray:
    """Find the centres of heaps of rows by k-means, batch by batch.

    Parameters
    ----------
    rows : float32 (n, d)
        At least as many as words.
    n_words : int
    seed : int

    Returns
    -------
    float32 (n_words, d)
    """
    from sklearn.cluster import MiniBatchKMeans

    means = MiniBatchKMeans(n_words, batch_size=4096, n_init=1, random_state=seed)
    return means.fit(rows).cluster_centers_.astype(np.float32)


def nearest_words(rows: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Tell which word each row is nearest to, the first of equally near ones.

    Parameters
    ----------
    rows : float32 (n, d)
    words : float32 (n_words, d)

    Returns
    -------
    intp (n,)

    Examples
    --------
    >>> import numpy as np
    >>> nearest_words(np.array([[0.9, 0], [0, 5]]), np.array([[0.0, 0], [1, 0], [0, 4]])).tolist()
    [1, 2]
    """
    # The squared length of a row is the same for every word, and left out.
    return ((words**2).sum(axis=1) - 2 * (rows @ words.T)).argmin(axis=1)
