"""Draws and writes a whole collection in the ImageCLEF 2011 layout."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import cv2
import numpy as np

import leafid
from leafid.errors import LeafidError
from leafid.files import open_output, write_text
from leafid.parallel import ordered_map
from leafid.synthetic import layout
from leafid.synthetic.canvas import draw_camera
from leafid.synthetic.plan import (
    CAMERA_STREAM,
    PICTURE_STREAM,
    PLANT_STREAM,
    PlannedPicture,
    Settings,
    plan_collection,
)
from leafid.synthetic.scene import DrawnPicture, draw_picture
from leafid.synthetic.species import SPECIES, vary

_PARTS = ("Train", "Test", "TestXmlWithGroundTruth")
MARK = "Sample.json"
"""The file that tells a drawn collection from a real one; it holds the settings."""
_MARK_START = b'{\n  "program": "leafid '

Progress = Callable[[Iterator[int], int], Iterator[int]]
"""Takes an iterator with an item for each picture, and their number; passes the items on."""


@dataclass(frozen=True, slots=True)
class WrittenCollection:
    """What was written; `n_bytes` are those of the pictures."""

    folder: Path
    pictures: tuple[PlannedPicture, ...]
    n_bytes: int


def write_collection(
    folder: Path,
    settings: Settings | None = None,
    *,
    force: bool = False,
    jobs: int = 1,
    progress: Progress = lambda items, total: items,
) -> WrittenCollection:
    """Draw a collection and write it to a new or empty folder; the bytes don't depend on `jobs`.

    `force` replaces a collection drawn earlier. A `LeafidError` is raised if the folder holds something else.
    """
    settings = settings or Settings()
    folder = Path(folder)
    _prepare_folder(folder, force)
    mark = {"program": f"leafid {leafid.__version__}", "settings": settings.as_json()}
    write_text(folder / MARK, json.dumps(mark, indent=2) + "\n")
    plan = plan_collection(settings)
    write = partial(_write_picture, folder=folder, settings=settings)
    n_bytes = sum(progress(ordered_map(write, plan, jobs), len(plan)))
    for part in ("train", "test", "all"):
        pictures = [picture for picture in plan if part in (picture.part, "all")]
        write_text(folder / f"{part}GroundTruth.txt", layout.format_ground_truth(pictures, settings.n_species))
    write_text(folder / "SpeciesIDList", "".join(f"{species.name}\n" for species in SPECIES[: settings.n_species]))
    write_text(folder / "Detail.txt", layout.format_detail(plan, settings.n_species))
    return WrittenCollection(folder, tuple(plan), n_bytes)


def draw_planned_picture(picture: PlannedPicture, settings: Settings) -> DrawnPicture:
    """Draw one picture of a plan, independently of all others."""
    plant = vary(SPECIES[picture.species], np.random.default_rng([settings.seed, PLANT_STREAM, picture.plant]))
    camera = draw_camera(np.random.default_rng([settings.seed, CAMERA_STREAM, picture.author]))
    rng = np.random.default_rng([settings.seed, PICTURE_STREAM, picture.number])
    return draw_picture(plant, picture.type, rng, settings.max_side, camera, picture.autumn)


def _write_picture(picture: PlannedPicture, folder: Path, settings: Settings) -> int:
    """Write a picture and its metadata; return the picture's size in bytes."""
    part = folder / ("Train" if picture.part == "train" else "Test")
    xml_file = f"{picture.number}.xml"
    drawn = draw_planned_picture(picture, settings)
    _, data = cv2.imencode(".jpg", drawn.image, [cv2.IMWRITE_JPEG_QUALITY, drawn.quality])
    with open_output(part / f"{picture.number}.jpg", "wb") as stream:
        stream.write(data.tobytes())
    is_test = picture.part == "test"
    if is_test:
        truth_file = folder / "TestXmlWithGroundTruth" / xml_file
        write_text(truth_file, layout.format_picture_xml(picture, drawn.content))
    write_text(part / xml_file, layout.format_picture_xml(picture, drawn.content, is_partial=is_test))
    return len(data)


def _prepare_folder(folder: Path, force: bool) -> None:
    """Make sure that the folder may be written to, and remove the pictures of a collection that is replaced."""
    if folder.exists() and not folder.is_dir():
        raise LeafidError(f"{folder}: expected a folder, found a file")
    if not folder.exists() or not any(folder.iterdir()):
        return
    mark = folder / MARK
    if not mark.is_file() or not mark.read_bytes().startswith(_MARK_START):
        # Beside drawn pictures a collection in the same folder would not be found any more.
        raise LeafidError(
            f"{folder}: expected a new or empty folder, found files that were not drawn by leafid; name another"
        )
    for path in (*folder.iterdir(), *(file for part in _PARTS for file in (folder / part).glob("*"))):
        if path.is_symlink():
            raise LeafidError(
                f"{path}: expected a drawn file or folder, found a link; remove it, or name another folder"
            )
    if not force:
        raise LeafidError(
            f"{folder}: expected a new or empty folder, found a drawn collection; name another, or use --force"
        )
    for name in _PARTS:
        for file in (folder / name).glob("*"):
            if file.stem.isdigit() and file.suffix in {".jpg", ".xml"}:
                file.unlink()
