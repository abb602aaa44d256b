"""The bag of visual words: a set of local features as a histogram of their nearest codewords."""

from __future__ import annotations

import numpy as np

from leafid.encoding.base import ProjectedEncoder
from leafid.encoding.codebook import learn_words, nearest_words


class BagOfWordsEncoder(ProjectedEncoder):
    """Encode sets of local features as histograms of visual words.

    Parameters
    ----------
    n_modes : int
        Words of the codebook.
    n_components : int
        Principal components that are kept of a descriptor.
    position_weight : float, default 0
        As in `leafid.encoding.fisher.FisherEncoder`.
    seed : int, default 0

    Attributes
    ----------
    projection_ : Projection
    words_ : float32 (n_modes, n_values)
        Centres that k-means found.

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
        """Length of a histogram; its values are shares of the words and sum to 1."""
        return len(self.words_)

    def _learn(self, rows: np.ndarray) -> None:
        self.words_ = learn_words(rows, self.n_modes, self.seed)

    def _encode(self, rows: np.ndarray) -> np.ndarray:
        counts = np.bincount(nearest_words(rows, self.words_), minlength=self.n_features)
        return (counts / len(rows)).astype(np.float32)

    def _table_shapes(self, row_length: int) -> dict[str, tuple[int, ...]]:
        return {"words": (self.n_modes, row_length)}
