"""Encoders with a codebook of visual words: the bag of words, and the vector of locally aggregated descriptors."""

import numpy as np

from leafid.descriptors.encoding.base import ProjectedEncoder, normalise_signed_root


class _CodebookEncoder(ProjectedEncoder):
    """Encoder whose only table, ``words_``, float32 (n_modes, n_values), holds the centres of k-means."""

    tables = ("words",)
    mode_name = "words"

    words_: np.ndarray

    def _fit_tables(self, rows: np.ndarray) -> None:
        from sklearn.cluster import MiniBatchKMeans

        means = MiniBatchKMeans(self.n_modes, batch_size=4096, n_init=1, random_state=self.seed)
        self.words_ = means.fit(rows).cluster_centers_.astype(np.float32)

    def _get_table_shapes(self, n_row_values: int) -> dict[str, tuple[int, ...]]:
        return {"words": (self.n_modes, n_row_values)}


class BagOfWordsEncoder(_CodebookEncoder):
    """Encoder of sets of local features as histograms of visual words, which sum to 1.

    References
    ----------
    .. [1] G. Csurka, C. Dance, L. Fan, J. Willamowski, C. Bray, "Visual categorization with bags of keypoints",
       ECCV workshop on statistical learning in computer vision, 2004
    """

    @property
    def n_features(self) -> int:
        """Length of a histogram."""
        return len(self.words_)

    def _encode(self, rows: np.ndarray) -> np.ndarray:
        counts = np.bincount(find_nearest_words(rows, self.words_), minlength=self.n_features)
        return (counts / len(rows)).astype(np.float32)


class VladEncoder(_CodebookEncoder):
    """Encoder of sets of local features by the sums of their differences from the nearest words.

    Power and L2 normalisation are those of the Fisher vector. With twice the modes of a Fisher vector, the vectors are
    equally long.

    References
    ----------
    .. [1] H. Jégou, F. Perronnin, M. Douze, J. Sánchez, P. Pérez, C. Schmid, "Aggregating local image descriptors into
       compact codes", IEEE Trans. PAMI 34(9), 2012, section 3, doi:10.1109/TPAMI.2011.235
    .. [2] R. Arandjelović, A. Zisserman, "All about VLAD", CVPR 2013, section 3, doi:10.1109/CVPR.2013.207
    """

    @property
    def n_features(self) -> int:
        """Length of a vector."""
        return self.words_.size

    def _encode(self, rows: np.ndarray) -> np.ndarray:
        nearest = find_nearest_words(rows, self.words_)
        assignment = np.zeros((len(rows), len(self.words_)), np.float32)
        assignment[np.arange(len(rows)), nearest] = 1
        return normalise_signed_root(assignment.T @ (rows - self.words_[nearest])).ravel()


def find_nearest_words(rows: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Find the index of the word nearest to each row, the first of equally near ones.

    Examples
    --------
    >>> import numpy as np
    >>> find_nearest_words(np.array([[0.9, 0], [0, 5]]), np.array([[0.0, 0], [1, 0], [0, 4]])).tolist()
    [1, 2]
    """
    # The squared length of a row is the same for every word, and left out.
    return ((words**2).sum(axis=1) - 2 * (rows @ words.T)).argmin(axis=1)
