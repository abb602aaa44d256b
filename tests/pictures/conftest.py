from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

# A field of None is left out.
Fields = dict[str, str | None]

XML_2011: Fields = {
    "FileName": "1.jpg",
    "Date": "06/07/10",
    "Type": "Scan",
    "Author": "Doe Jane",
    "IndividualPlantId": "113",
    "Order": "Rosales",
    "Family": "Cannabaceae",
    "Species": "australis",
    "Genus": "Celtis",
    "VernacularNames": "European Nettle Tree",
    "Content": "Leaf",
    "Longitude": "3.25",
    "Latitude": "43.5",
}


@pytest.fixture
def draw() -> Callable[..., Path]:
    """Write a small picture; its shade makes its content differ from others'."""

    def write(file: Path, shade: int = 0) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        assert cv2.imwrite(str(file), np.full((20, 24, 3), shade, np.uint8))
        return file

    return write


@pytest.fixture
def add(draw) -> Callable[..., Path]:
    """Write ``folder/N.xml`` and, by default, the picture ``folder/N.jpg``."""

    def write(folder: Path, number: int, picture: bool = True, **changes: str | None) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{number}.xml"
        fields = {**XML_2011, "FileName": f"{number}.jpg", **changes}
        elements = "".join(f"<{tag}>{text}</{tag}>\n" for tag, text in fields.items() if text is not None)
        file.write_text(f"<Image>\n{elements}</Image>\n", encoding="utf-8")
        if picture:
            draw(folder / f"{number}.jpg", number)
        return file

    return write


@pytest.fixture
def species_folders(draw) -> Callable[[Path], Path]:
    """Write three pictures of two species below a folder."""

    def write(root: Path) -> Path:
        for name in ("Acer_campestre/1.jpg", "Acer_campestre/2.PNG", "Platanus x hispanica/1.jpg"):
            draw(root / name)
        return root

    return write


@pytest.fixture(scope="session")
def rgb() -> np.ndarray:
    """A smooth picture (so that lossy kinds keep it) without symmetry: 60 rows, 80 cols, RGB."""
    rows, cols = np.mgrid[0:60, 0:80]
    picture = np.stack([rows * 4, cols * 3, (rows + cols)], axis=-1).astype(np.uint8)
    picture[:20, :32] = (250, 10, 10)
    return picture
