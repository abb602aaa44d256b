"""Colour inside a leaf: as the camera saw it, and freed from the light's colour and brightness."""

import cv2
import numpy as np
from numpy.typing import NDArray

HUE_BINS = 18
CHROMA_BINS = 8
#: Distance from grey, in log chromaticity, at which the outer bins end.
CHROMA_LIMIT = 0.4
_CHANNELS = ("l", "a", "b", "red_green", "yellow_blue", "brightness")
_MAX_SAMPLES = 10_000

COLOUR_NAMES = (
    *(
        f"{channel}_{moment}"
        for channel in _CHANNELS
        for moment in ("mean", "deviation", "skewness")
    ),
    *(f"hue_{round(360 * k / HUE_BINS)}" for k in range(HUE_BINS)),
    *(
        f"log_{ratio}_bin{k + 1}"
        for ratio in ("red_green", "blue_green")
        for k in range(CHROMA_BINS)
    ),
    "clipped",
    "relative_spread",
)


def measure_colour(
    image: NDArray[np.uint8], blade: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """Measure the colour inside a leaf: float32 (54,).

    - Moments (mean, deviation, skewness) of CIE L*, a*, b* (L* 0 … 100) and of the opponent channels red − green,
      yellow − blue, brightness (sRGB values 0 … 1).
    - Hue histogram in sRGB, weighted with saturation (18 bins around 0°, 20°, …; sum 1; all 0 for grey).
    - Independent of the light: histograms (8 bins each) of log(r/g) and log(b/g) minus their medians over the leaf. A
      light's colour and brightness multiply red, green and blue, and cancel.
    - Share of the leaf's pixels that are clipped (0 or 255 in some channel), and the spread of brightness relative to
      its mean.

    A classifier that sees these values learns who took the picture, in what light and with which device, before it
    learns the species; they are meant for tables, and for photos.

    References
    ----------
    .. [1] K. van de Sande, T. Gevers, C. Snoek, "Evaluating color descriptors for object and scene recognition",
       IEEE TPAMI 32(9), 2010, section 3, doi:10.1109/TPAMI.2009.154
    """
    indices = np.flatnonzero(blade)
    # A regular sample of a large leaf's pixels changes no value visibly.
    pixels = image.reshape(-1, 3)[indices[:: -(-indices.size // _MAX_SAMPLES)]]
    unit = pixels.astype(np.float32) / np.float32(255)
    lab = cv2.cvtColor(unit[:, None], cv2.COLOR_BGR2LAB)[:, 0]
    blue, green, red = unit.T
    opponent = np.stack(
        [
            (red - green) / np.sqrt(2),
            (red + green - 2 * blue) / np.sqrt(6),
            (red + green + blue) / np.sqrt(3),
        ],
        axis=1,
    )
    brightness = unit.mean(axis=1)
    clipped = ((pixels == 0) | (pixels == 255)).any(axis=1).mean()
    relative_spread = brightness.std() / max(float(brightness.mean()), 1 / 255)
    moments = [*_compute_moments(lab), *_compute_moments(opponent)]
    histograms = [
        *_compute_hue_histogram(unit),
        *_compute_chromaticity_histograms(unit),
    ]
    return np.array([*moments, *histograms, clipped, relative_spread], np.float32)


def _compute_moments(channels: NDArray[np.float32]) -> NDArray[np.float64]:
    """Compute mean, standard deviation and skewness of each column, channel by channel."""
    channels = channels.astype(np.float64)
    mean, deviation = channels.mean(axis=0), channels.std(axis=0)
    cubes = ((channels - mean) ** 3).mean(axis=0)
    skewness = np.where(deviation > 1e-6, cubes / np.maximum(deviation, 1e-6) ** 3, 0.0)
    return np.stack([mean, deviation, skewness], axis=1).ravel()


def _compute_hue_histogram(unit: NDArray[np.float32]) -> NDArray[np.float64]:
    hue, saturation, _ = cv2.cvtColor(unit[:, None], cv2.COLOR_BGR2HSV)[:, 0].T
    # Pure colours lie in the middle of a bin, so that rounding can't push them out of it.
    bins = np.rint(hue * np.float32(HUE_BINS / 360)).astype(np.intp) % HUE_BINS
    counts = np.bincount(bins, weights=saturation, minlength=HUE_BINS)
    return counts / max(counts.sum(), 1e-12)


def _compute_chromaticity_histograms(unit: NDArray[np.float32]) -> NDArray[np.float64]:
    # Half a grey level keeps the logarithm of black finite.
    logs = np.log(unit + np.float32(0.5 / 255))
    histograms = []
    for channel in (2, 0):
        ratio = logs[:, channel] - logs[:, 1]
        position = (ratio - np.median(ratio)) / (2 * CHROMA_LIMIT) + 0.5
        bins = np.clip((position * CHROMA_BINS).astype(np.intp), 0, CHROMA_BINS - 1)
        histograms.append(np.bincount(bins, minlength=CHROMA_BINS) / bins.size)
    return np.concatenate(histograms)
