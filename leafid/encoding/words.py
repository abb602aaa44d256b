"""The bag of visual words: a set of local features as a histogram of their nearest codewords."""

from __future__ import annotations

import numpy as np

from leafid.descriptors.local import LocalFeatures
from leafid.encoding.projection import Projection
from leafid.errors import LeafidError


class WordsEncoder:
    """Encode sets of local features as histograms of visual words.

    Parameters
    ----------
    n_modes : int, default 500
        Words of the codebook.
    n_components : int, default 128
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

    def __init__(
        self, n_modes: int = 500, n_components: int = 128, position_weight: float = 0.0, seed: int = 0
    ) -> None:
        self.n_modes = n_modes
        self.n_components = n_components
        self.position_weight = position_weight
        self.seed = seed

    @property
    def n_features(self) -> int:
        """Length of a histogram."""
        return len(self.words_)

    def fit(self, features: LocalFeatures) -> WordsEncoder:
        """Learn the words from the pooled local features of many pictures.

        Raises
        ------
        LeafidError
            When there are fewer features than words.
        """
        from sklearn.cluster import MiniBatchKMeans

        # A spread can't be told from one feature.
        if len(features) < max(self.n_modes, 2):
            raise LeafidError(
                f"expected at least {max(self.n_modes, 2)} local features to learn {self.n_modes} words from, "
                f"found {len(features)}; use more pictures or a recipe with fewer words"
            )
        self.projection_ = Projection(self.n_components, self.position_weight).fit(features)
        means = MiniBatchKMeans(self.n_modes, batch_size=4096, n_init=1, random_state=self.seed)
        self.words_ = means.fit(self.projection_.transform(features)).cluster_centers_.astype(np.float32)
        return self

    def transform(self, features: LocalFeatures) -> np.ndarray:
        """Encode the local features of one picture.

        Returns
        -------
        float32 (n_features,)
            Shares of the words, summing to 1; all zero where there are no features.
        """
        if len(features) == 0:
            return np.zeros(self.n_features, np.float32)
        values = self.projection_.transform(features)
        # The squared length of a feature is the same for every word, and left out.
        distances = (self.words_**2).sum(axis=1) - 2 * (values @ self.words_.T)
        counts = np.bincount(distances.argmin(axis=1), minlength=self.n_features)
        return (counts / len(features)).astype(np.float32)

    def state(self) -> dict[str, np.ndarray]:
        """Give the learned arrays, as `restore` takes them."""
        return {"words": self.words_, **self.projection_.state()}

    def shapes(self, n_values: int) -> dict[str, tuple[int, ...]]:
        """Give the shapes of the learned arrays for descriptors of `n_values` values."""
        projection = Projection(self.n_components, self.position_weight)
        return {"words": (self.n_modes, projection.row_length(n_values)), **projection.shapes(n_values)}

    def restore(self, state: dict[str, np.ndarray]) -> WordsEncoder:
        """Take learned arrays instead of learning."""
        self.words_ = state["words"]
        self.projection_ = Projection(self.n_components, self.position_weight).restore(state)
        return self
