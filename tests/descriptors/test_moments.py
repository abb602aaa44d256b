import numpy as np

from leafid.descriptors.shape.contour import normalise_shape
from leafid.descriptors.shape.moments import measure_hu_moments


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
