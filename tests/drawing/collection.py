"""Makes small collections of the drawn leaves in ``data/sample``."""

import re
import shutil
from pathlib import Path

import cv2

from leafid.pictures.picture import AcquisitionType

#: The acquisition types of the sample, and of the shipped recipes.
TYPES = (AcquisitionType.SCAN, AcquisitionType.SCAN_LIKE, AcquisitionType.PHOTO)
SAMPLE = Path(__file__).parents[2] / "data" / "sample"


def copy_sample(
    folder: Path,
    n_species: int = 3,
    n_plants: int = 4,
    max_side: int = 200,
    types: str = "Scan|pseudoscan|photograph",
) -> None:
    """Copy the first species of the sample, downsampled, with some plants of each.

    The last plant of each is for testing.

    Parameters
    ----------
    folder : Path
        A folder that isn't there yet; it gets ``Train``, ``Test`` and
        ``TestXmlWithGroundTruth``.
    n_species, n_plants : int
        At most 12 and 6; of each plant a picture of each type.
    max_side : int
        Longest side of the pictures, in pixels; those of the sample have 320.
    types : str
        A regular expression for the acquisition types, as the metadata name them.
    """
    for part in ("Train", "Test", "TestXmlWithGroundTruth"):
        (folder / part).mkdir(parents=True)
    for species in range(n_species):
        # Seven plants a species, the last two of them in Test.
        plants = [7 * species + order for order in (*range(1, n_plants), 6)]
        for part, truth in (("Train", "Train"), ("Test", "TestXmlWithGroundTruth")):
            for xml in (SAMPLE / truth).glob("*.xml"):
                text = xml.read_text("utf-8")
                match = re.search(
                    rf"<Type>(?:{types})<.*<IndividualPlantId>(\d+)<", text, re.DOTALL
                )
                if match and int(match[1]) in plants:
                    picture = SAMPLE / part / f"{xml.stem}.jpg"
                    cv2.imwrite(
                        str(folder / part / picture.name),
                        _downsample(cv2.imread(str(picture)), max_side),
                    )
                    for holder in {part, truth}:
                        shutil.copy(SAMPLE / holder / xml.name, folder / holder)


def _downsample(image: cv2.typing.MatLike, max_side: int) -> cv2.typing.MatLike:
    scale = max_side / max(image.shape[:2])
    return cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
