"""The vector of locally aggregated descriptors (VLAD): by how much local features differ from their words."""

from __future__ import annotations

import numpy as np

from leafid.encoding.base import ProjectedEncoder
from leafid.encoding.codebook import learn_words, nearest_words


class VladEncoder(ProjectedEncoder):
    """Encode sets of local features by the sums of their differences from the nearest words.

    Of the sums the square roots are taken, with their signs, and the vector has length 1: what the Fisher vector has
    as well, so that the two differ in nothing but what they sum up.

    Parameters
    ----------
    n_modes : int
        Words of the codebook; with twice the modes of a Fisher vector the vectors are equally long.
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
    .. [1] H. Jégou, F. Perronnin, M. Douze, J. Sánchez, P. Pérez, C. Schmid, "Aggregating local image descriptors into
       compact codes", IEEE Trans. PAMI 34(9), 2012, section 3, doi:10.1109/TPAMI.2011.235
    .. [2] R. Arandjelović, A. Zisserman, "All about VLAD", CVPR 2013, section 3, doi:10.1109/CVPR.2013.207
    """

    tables = ("words",)
    mode_name = "words"

    words_: np.ndarray

    @property
    def n_features(self) -> int:
        """Length of a vector; its L2 norm is 1."""
        return self.words_.size

    def _learn(self, rows: np.ndarray) -> None:
        self.words_ = learn_words(rows, self.n_modes, self.seed)

    def _encode(self, rows: np.ndarray) -> np.ndarray:
        nearest = nearest_words(rows, self.words_)
        chosen = np.zeros((len(rows), len(self.words_)), np.float32)
        chosen[np.arange(len(rows)), nearest] = 1
        sums = chosen.T @ (rows - self.words_[nearest])
        vector = np.sign(sums) * np.sqrt(np.abs(sums))
        return (vector / max(float(np.linalg.norm(vector)), 1e-12)).astype(np.float32).ravel()

    def _table_shapes(self, row_length: int) -> dict[str, tuple[int, ...]]:
        return {"words": (self.n_modes, row_length)}
