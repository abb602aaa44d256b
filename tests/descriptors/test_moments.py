import numpy as np

from leafid.descriptors.shape.contour import normalise_shape
from leafid.descriptors.shape.moments import (
    HARMONICS,
    RADII,
    measure_hu_moments,
    measure_polar_fourier,
)


def blob(size=300):
    rows, cols = np.indices((size, size))
    first = ((rows - 140) / 100) ** 2 + ((cols - 150) / 45) ** 2 <= 1
    return first | ((rows - 190) ** 2 + (cols - 190) ** 2 <= 40**2)


def test_hu_moments_are_the_formulas():
    grey = normalise_shape(blob()).grey / 255.0
    rows, cols = np.indices(grey.shape)
    mass = grey.sum()
    x, y = cols - (cols * grey).sum() / mass, rows - (rows * grey).sum() / mass

    def eta(p, q):
        return (x**p * y**q * grey).sum() / mass ** (1 + (p + q) / 2)

    n20, n02, n11 = eta(2, 0), eta(0, 2), eta(1, 1)
    n30, n03, n21, n12 = eta(3, 0), eta(0, 3), eta(2, 1), eta(1, 2)
    a, b = n30 + n12, n21 + n03
    expected = [
        n20 + n02,
        (n20 - n02) ** 2 + 4 * n11**2,
        (n30 - 3 * n12) ** 2 + (3 * n21 - n03) ** 2,
        a**2 + b**2,
        (n30 - 3 * n12) * a * (a**2 - 3 * b**2)
        + (3 * n21 - n03) * b * (3 * a**2 - b**2),
        (n20 - n02) * (a**2 - b**2) + 4 * n11 * a * b,
        (3 * n21 - n03) * a * (a**2 - 3 * b**2)
        - (n30 - 3 * n12) * b * (3 * a**2 - b**2),
    ]
    np.testing.assert_allclose(
        measure_hu_moments(normalise_shape(blob())),
        np.log10(np.abs(expected) + 1e-12),
        rtol=1e-3,
    )  # float32 values


def test_polar_fourier_is_the_sum_around_each_ring():
    shape = normalise_shape(blob())
    cover = shape.grey / 255.0
    rows, cols = np.indices(cover.shape)
    mass = cover.sum()
    centre = (rows * cover).sum() / mass, (cols * cover).sum() / mass
    farthest = np.hypot(*(shape.all_points - centre).T).max()
    expected = np.zeros((RADII, HARMONICS + 1))
    for ring in range(RADII):
        totals = np.zeros(HARMONICS + 1, complex)
        for radius in (ring + np.arange(8) / 8) * farthest / RADII:
            for angle in np.arange(120) * 2 * np.pi / 120:
                row, col = (
                    round(centre[0] + radius * np.sin(angle)),
                    round(centre[1] + radius * np.cos(angle)),
                )
                if 0 <= row < cover.shape[0] and 0 <= col < cover.shape[1]:
                    totals += cover[row, col] * np.exp(
                        -1j * np.arange(HARMONICS + 1) * angle
                    )
        expected[ring] = np.abs(totals) / (8 * 120)
    values = measure_polar_fourier(shape).reshape(RADII, HARMONICS + 1)
    values[:, 1:] **= 2
    # Four radii a ring against eight: an eighth of a ring's width in doubt.
    np.testing.assert_allclose(values, expected, atol=0.04)
