"""Cuts the main leaf, or the foliage, out of a photo taken on the tree."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.guided import GuidedFilter
from leafid.segmentation.result import Image, Mask, shrink

# Of most pictures a power of two smaller than what they are read at, which makes shrinking quick.
MODEL_SIZE = 200
# Darker than this part of the picture's light is the shade between leaves.
_SHADE, _SHADE_PRIOR = 0.3, 0.3
# Each round learns the colours of the leaf and of what is behind it, and finds the leaf anew.
_ROUNDS = 8
# Radius in pixels of the reduced picture; variance of grey values in [0, 1] that still counts as even.
_RADIUS, _EVEN = 2, 1e-3


# What a value of L, a and b adds to the number of a colour, of 24 × 40 × 40.
_COLOUR_BINS = [
    (np.arange(256) * bins // 256 * step).astype(np.uint16) for bins, step in ((24, 1600), (40, 40), (40, 1))
]


def segment_photo(image: Image) -> tuple[Mask, float]:
    """Find the main leaf of a photo, or else its foliage.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        BGR.

    Returns
    -------
    mask : ndarray of bool, shape (H, W)
    confidence : float
        From 0 to 1; below 0.5 the mask is a foliage region rather than one leaf.

    Notes
    -----
    The method is leafid's own. In a picture reduced to `MODEL_SIZE`, leaf is first what lies near the middle and not in
    the shade. Then, in turns, each colour's share of leaf is learned from a histogram in Lab, and gives with the place
    the probability of leaf, which a guided filter [1]_ brings to the picture's edges. The region that is kept is the
    largest and nearest to the middle.

    References
    ----------
    .. [1] K. He, J. Sun, X. Tang, "Guided image filtering", IEEE TPAMI 35(6), 2013, section 3,
       doi:10.1109/TPAMI.2012.213
    """
    probability = _foreground_probability(shrink(image, MODEL_SIZE))
    mask = _central((probability > 0.5).astype(np.uint8))
    confidence = _confidence(mask, probability)
    # Enlarged as a probability the edge comes to lie between the pixels; other regions stay just below it.
    chosen = np.where(mask, probability, np.minimum(probability, np.float32(0.499)))
    return cv2.resize(chosen, image.shape[1::-1], interpolation=cv2.INTER_LINEAR) > 0.5, confidence


def _foreground_probability(small: Image) -> NDArray[np.float32]:
    lab = cv2.cvtColor(small, cv2.COLOR_BGR2LAB)
    rows, cols = small.shape[:2]
    row = np.linspace(-1, 1, rows, dtype=np.float32)[:, None]
    col = np.linspace(-1, 1, cols, dtype=np.float32)[None]
    prior = 0.1 + 0.8 * np.exp(-1.5 * row**2) * np.exp(-1.5 * col**2)
    shade = lab[..., 0] < _SHADE * np.percentile(lab[..., 0], 90)
    prior *= np.where(shade, np.float32(_SHADE_PRIOR), np.float32(1))
    of_light, of_a, of_b = (cv2.LUT(values, bins) for values, bins in zip(cv2.split(lab), _COLOUR_BINS, strict=True))
    index = cv2.add(cv2.add(of_light, of_a), of_b).ravel()
    # Of the many colours there could be, few are there: the sums below are over those only.
    present = np.bincount(index) > 0
    index = (np.cumsum(present) - 1)[index]
    total = np.bincount(index) + 1
    prior_odds = np.sqrt(prior / (1 - prior)).ravel()
    smooth = GuidedFilter(lab[..., 0].astype(np.float32) / 255, _RADIUS, _EVEN)
    probability = prior
    # Arrays that are made anew each round cost more than what is computed into them.
    odds, others = np.empty_like(prior_odds), np.empty_like(prior_odds)
    for _ in range(_ROUNDS):
        colour = (np.bincount(index, weights=probability.ravel()) + 0.5) / total
        np.take((colour / (1 - colour)).astype(np.float32), index, out=odds, mode="clip")
        odds *= prior_odds
        odds /= np.add(odds, 1, out=others)
        probability = smooth(odds.reshape(rows, cols))
        np.clip(probability, 0, 1, out=probability)
    return probability


def _central(marked: NDArray[np.uint8]) -> Mask:
    count, labels, stats, centroids = cv2.connectedComponentsWithStats(marked, connectivity=4)
    if count == 1:
        return marked.astype(bool)
    area = stats[1:, cv2.CC_STAT_AREA]
    middle = (np.array(marked.shape[::-1]) - 1) / 2
    away = np.linalg.norm((centroids[1:] - middle) / np.maximum(middle, 1), axis=1)
    return labels == 1 + int(np.argmax(area * np.exp(-2 * away**2)))


def _confidence(mask: Mask, probability: NDArray[np.float32]) -> float:
    if not mask.any() or mask.all():
        return 0.0
    separation = float(probability[mask].mean() - probability[~mask].mean())
    edge = np.concatenate([mask[0], mask[-1], mask[:, 0], mask[:, -1]])
    return float(np.clip(separation * (1 - edge.mean()) ** 2, 0, 1))
