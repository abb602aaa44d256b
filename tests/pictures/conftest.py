from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def species_folders(draw) -> Callable[[Path], Path]:
    """Write three pictures of two species below a folder."""

    def write(root: Path) -> Path:
        for name in (
            "Acer_campestre/1.jpg",
            "Acer_campestre/2.PNG",
            "Platanus x hispanica/1.jpg",
        ):
            draw(root / name)
        return root

    return write


@pytest.fixture(scope="session")
def rgb() -> np.ndarray:
    """A smooth picture, for lossy formats, without symmetry: 60 rows, 80 cols, RGB."""
    rows, cols = np.mgrid[0:60, 0:80]
    picture = np.stack([rows * 4, cols * 3, (rows + cols)], axis=-1).astype(np.uint8)
    picture[:20, :32] = (250, 10, 10)
    return picture
