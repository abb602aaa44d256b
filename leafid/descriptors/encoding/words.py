"""The bag of words: a set of local features as a histogram of visual words."""

import numpy as np

from leafid.descriptors.encoding.base import ProjectedEncoder


class BagOfWordsEncoder(ProjectedEncoder):
    """Encoder of sets of local features as histograms of visual words, which sum to 1.

    The words, ``words_``, float32 (n_modes, n_values), are the centres of k-means.

    References
    ----------
    .. [1] G. Csurka, C. Dance, L. Fan, J. Willamowski, C. Bray, "Visual categorization with bags of keypoints",
       ECCV workshop on statistical learning in computer vision, 2004
    """

    tables = ("words",)
    mode_name = "words"

    words_: np.ndarray

    @property
    def n_features(self) -> int:
        """Length of a histogram."""
        return len(self.words_)

    def _fit_tables(self, rows: np.ndarray) -> None:
        from sklearn.cluster import MiniBatchKMeans

        means = MiniBatchKMeans(self.n_modes, batch_size=4096, n_init=1, random_state=self.seed)
        self.words_ = means.fit(rows).cluster_centers_.astype(np.float32)

    def _encode(self, rows: np.ndarray) -> np.ndarray:
        # The squared length of a row is the same for every word, and left out.
        distances = (self.words_**2).sum(axis=1) - 2 * (rows @ self.words_.T)
        counts = np.bincount(distances.argmin(axis=1), minlength=self.n_features)
        return (counts / len(rows)).astype(np.float32)

    def _get_table_shapes(self, n_row_values: int) -> dict[str, tuple[int, ...]]:
        return {"words": (self.n_modes, n_row_values)}
