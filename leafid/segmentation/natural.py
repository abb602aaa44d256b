"""Cuts the main leaf, or the foliage, out of a photo taken on the tree."""

from collections.abc import Callable

import cv2
import numpy as np

from leafid.segmentation.pixels import Field, Image, Mask, Plane, list_border, shrink
from leafid.segmentation.result import Segmentation

# Longer side of the reduced picture: of most pictures a power of two smaller, which is
# fast.
MODEL_SIZE = 200
# The picture's light: this part of its pixels is darker.
_LIGHT_QUANTILE = 0.9
# Pixels darker than this part of the light are shade between leaves; factor
# of their prior probability.
_SHADE = 0.3
_SHADE_PRIOR = 0.3
# Warm skin, and blue or grey sky, have colours that are rare in leaves: bounds of a and
# b (128 is neutral) and of lightness (as a part of the light); factor of their prior
# probability.
_SKIN_HUE = 136
_SKIN_LIGHT = 0.5
_SKY_HUE = 128
_SKY_LIGHT = 0.8
_RARE_PRIOR = 0.5
# Alternations between learning the colours of leaf and background and finding the leaf.
_ROUNDS = 8
# Of the guided filter: pixels of the reduced picture; variance of grey values in [0,
# 1].
RADIUS = 2
EPSILON = 1e-3
_BOX = np.full(2 * RADIUS + 1, 1 / (2 * RADIUS + 1), np.float32)
_COLOUR_BINS = ((24, 1600), (40, 40), (40, 1))  # bins of L, a and b, and their steps
# What each value of L, a and b adds to the number of a colour's bin.
_BIN_NUMBERS = [(np.arange(256) * bins >> 8) * step for bins, step in _COLOUR_BINS]


def segment_photo(image: Image, *, sky: bool = False) -> Segmentation:
    """Find the main leaf of a photo, or else its foliage, with its petiole.

    Below a confidence of 0.5 the mask is foliage rather than one leaf. With `sky`, what
    is bright and grey or blue is probably background.

    The method is leafid's. In a picture reduced to `MODEL_SIZE`, the first estimate
    of the leaf is what lies near the middle, not in the shade, and has not the colour
    of skin. Then two steps alternate: a histogram in Lab learns each colour's
    probability of leaf; colour and position give the probability of leaf at each pixel,
    which `make_guided_filter` aligns with the picture's edges. The region that is
    largest and nearest to the middle is kept.
    """
    probability = _estimate_leaf_probability(shrink(image, MODEL_SIZE), sky=sky)
    mask = _select_central_region((probability > 0.5).astype(np.uint8))
    confidence = _estimate_confidence(mask, probability)
    # Enlarging the probability places the edge between the pixels; other regions stay
    # just below the threshold.
    selected = np.where(mask, probability, np.minimum(probability, np.float32(0.499)))
    mask = (
        cv2.resize(selected, image.shape[1::-1], interpolation=cv2.INTER_LINEAR) > 0.5
    )
    return Segmentation(mask, mask, confidence)


def _estimate_leaf_probability(small: Image, *, sky: bool) -> Field:
    lab = cv2.cvtColor(small, cv2.COLOR_BGR2LAB)
    rows, cols = small.shape[:2]
    row = np.linspace(-1, 1, rows, dtype=np.float32)[:, None]
    col = np.linspace(-1, 1, cols, dtype=np.float32)[None]
    prior = 0.1 + 0.8 * np.exp(-1.5 * row**2) * np.exp(-1.5 * col**2)
    lightness, a, b = cv2.split(lab)
    light = np.quantile(lightness, _LIGHT_QUANTILE, method="inverted_cdf")
    np.multiply(
        prior, np.float32(_SHADE_PRIOR), out=prior, where=lightness < _SHADE * light
    )
    is_rare = (cv2.min(a, b) > _SKIN_HUE) & (lightness > _SKIN_LIGHT * light)
    # What fills the middle is a leaf in autumn.
    middle = is_rare[
        2 * rows // 5 : -(-3 * rows // 5), 2 * cols // 5 : -(-3 * cols // 5)
    ]
    is_rare &= middle.mean() < 0.5
    if sky:
        is_rare |= (b < _SKY_HUE) & (lightness > _SKY_LIGHT * light)
    np.multiply(prior, np.float32(_RARE_PRIOR), out=prior, where=is_rare)
    by_l, by_a, by_b = _BIN_NUMBERS
    colour = by_l.take(lightness) + by_a.take(a) + by_b.take(b)
    colour = colour.ravel()
    # Few of the possible colours occur: renumber those, so that the sums below run over
    # few bins.
    count = np.bincount(colour)
    used = count.nonzero()[0]
    number = np.empty_like(count)
    number[used] = np.arange(used.size)
    colour = number.take(colour)
    count = count[used] + 1
    prior_odds = np.sqrt(prior / (1 - prior)).ravel()
    filter_by_guide = make_guided_filter(lightness.astype(np.float32) / 255)
    probability = prior
    for _ in range(_ROUNDS):
        by_colour = (np.bincount(colour, weights=probability.ravel()) + 0.5) / count
        odds = (by_colour / (1 - by_colour)).astype(np.float32).take(
            colour
        ) * prior_odds
        filtered = filter_by_guide((odds / (odds + 1)).reshape(rows, cols))
        probability = filtered.clip(0, 1)
    return probability


def make_guided_filter(guide: Field) -> Callable[[Field], Field]:
    """Make a filter that aligns the edges of maps with a picture's, the guide.

    In every window of 2 · `RADIUS` + 1 rows and columns the map is fitted as ``slope ·
    guide + offset``; a pixel gets the mean of the predictions of all windows around it.
    Where the guide is even (its variance in the window is below `EPSILON`), the map is
    blurred; across edges of the guide it is not. The result may overshoot the map's
    range.

    References
    ----------
    .. [1] K. He, J. Sun, X. Tang, "Guided image filtering", IEEE TPAMI 35(6), 2013,
       section 3, doi:10.1109/TPAMI.2012.213
    """
    guide_mean = _blur(guide)
    gain = np.float32(1) / (
        _blur(guide * guide) - guide_mean * guide_mean + np.float32(EPSILON)
    )

    def filter_by_guide(values: Field) -> Field:
        mean = _blur(values)
        slope = (_blur(guide * values) - guide_mean * mean) * gain
        return _blur(slope) * guide + _blur(mean - slope * guide_mean)

    return filter_by_guide


def _blur(values: Field) -> Field:
    border = cv2.BORDER_REPLICATE
    return cv2.sepFilter2D(values, -1, _BOX, _BOX, borderType=border)


def _select_central_region(marked: Plane) -> Mask:
    count, labels, stats, centroids = cv2.connectedComponentsWithStats(
        marked, connectivity=4
    )
    if count == 1:
        return marked.astype(bool)
    area = stats[1:, cv2.CC_STAT_AREA]
    middle = (np.array(marked.shape[::-1]) - 1) / 2
    distance = np.linalg.norm((centroids[1:] - middle) / np.maximum(middle, 1), axis=1)
    return labels == 1 + int(np.argmax(area * np.exp(-2 * distance**2)))


def _estimate_confidence(mask: Mask, probability: Field) -> float:
    if not mask.any() or mask.all():
        return 0.0
    separation = float(probability[mask].mean() - probability[~mask].mean())
    return float(np.clip(separation * (1 - list_border(mask).mean()) ** 2, 0, 1))
