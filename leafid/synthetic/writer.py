"""Draws and writes a whole collection in the ImageCLEF 2011 layout."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import cv2
import numpy as np

import leafid
from leafid.errors import LeafidError
from leafid.files import open_output
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
"""The file that tells a drawn collection from a real one, and a complete one from an interrupted one."""

Progress = Callable[[Iterator[int], int], Iterator[int]]
"""Takes an iterator with an item for each picture, and their number; passes the items on."""


@dataclass(frozen=True, slots=True)
class WrittenCollection:
    """What was written."""

    folder: Path
    pictures: tuple[PlannedPicture, ...]
    #: Of the pictures.
    n_bytes: int
    #: Pictures that an interrupted call had already written.
    n_resumed: int


def write_collection(
    folder: Path,
    settings: Settings | None = None,
    *,
    force: bool = False,
    jobs: int = 1,
    progress: Progress = lambda items, total: items,
) -> WrittenCollection:
    """Draw a collection and write it; repeat an interrupted call with the same settings to resume it.

    Parameters
    ----------
    folder : Path
        New or empty, or left by an interrupted call.
    force : bool, default False
        Replace a collection drawn earlier.
    jobs : int, default 1
        Worker processes; the bytes don't depend on it.
    progress : callable, optional
        Shows the progress.

    Raises
    ------
    LeafidError
        If the folder holds something else, or can't be written.
    """
    settings = settings or Settings()
    folder = Path(folder)
    mark: dict[str, object] = {"program": f"leafid {leafid.__version__}", "settings": settings.as_json()}
    resume = _prepare_folder(folder, mark, force)
    plan = plan_collection(settings)
    if not resume:
        _write_text(folder / MARK, json.dumps({**mark, "complete": False}, indent=2) + "\n")
    write = partial(_write_picture, folder=folder, settings=settings, resume=resume)
    sizes = list(progress(ordered_map(write, plan, jobs), len(plan)))
    for part in ("train", "test", "all"):
        pictures = [picture for picture in plan if part in (picture.part, "all")]
        _write_text(folder / f"{part}GroundTruth.txt", layout.format_ground_truth(pictures, settings.n_species))
    _write_text(folder / "SpeciesIDList", layout.format_species_list(settings.n_species))
    _write_text(folder / "Detail.txt", layout.format_detail(plan, settings.n_species))
    _write_text(folder / MARK, json.dumps({**mark, "complete": True}, indent=2) + "\n")
    return WrittenCollection(folder, tuple(plan), sum(map(abs, sizes)), sum(size < 0 for size in sizes))


def draw_planned_picture(picture: PlannedPicture, settings: Settings) -> DrawnPicture:
    """Draw one picture of a plan, independently of all others."""
    plant = vary(SPECIES[picture.species], np.random.default_rng([settings.seed, PLANT_STREAM, picture.plant]))
    camera = draw_camera(np.random.default_rng([settings.seed, CAMERA_STREAM, picture.author]))
    rng = np.random.default_rng([settings.seed, PICTURE_STREAM, picture.number])
    return draw_picture(plant, picture.type, rng, settings.max_side, camera, picture.autumn)


def _write_picture(picture: PlannedPicture, folder: Path, settings: Settings, resume: bool) -> int:
    """Return the picture's size in bytes, negative if an interrupted call had written it."""
    part = folder / ("Train" if picture.part == "train" else "Test")
    image_file, xml_file = part / f"{picture.number}.jpg", part / f"{picture.number}.xml"
    # The metadata is written last: if it exists, the picture is complete.
    if resume and xml_file.exists() and image_file.exists():
        return -image_file.stat().st_size
    drawn = draw_planned_picture(picture, settings)
    _, data = cv2.imencode(".jpg", drawn.image, [cv2.IMWRITE_JPEG_QUALITY, drawn.quality])
    with open_output(image_file, "wb") as stream:
        stream.write(data.tobytes())
    is_test = picture.part == "test"
    if is_test:
        truth_file = folder / "TestXmlWithGroundTruth" / xml_file.name
        _write_text(truth_file, layout.format_picture_xml(picture, drawn.content))
    _write_text(xml_file, layout.format_picture_xml(picture, drawn.content, is_partial=is_test))
    return len(data)


def _prepare_folder(folder: Path, wanted: dict[str, object], force: bool) -> bool:
    """Make sure that the folder may be written to; return whether an interrupted call left it."""
    if folder.exists() and not folder.is_dir():
        raise LeafidError(f"{folder}: expected a folder, found a file")
    if not folder.exists() or not any(folder.iterdir()):
        return False
    mark = read_mark(folder / MARK)
    if mark is None:
        # Beside drawn pictures a collection in the same folder would not be found any more.
        raise LeafidError(
            f"{folder}: expected a new or empty folder, found files that were not drawn by leafid; name another"
        )
    for path in (*folder.iterdir(), *(file for part in _PARTS for file in (folder / part).glob("*"))):
        if path.is_symlink():
            raise LeafidError(
                f"{path}: expected a drawn file or folder, found a link; remove it, or name another folder"
            )
    if not mark.get("complete") and all(mark.get(key) == value for key, value in wanted.items()):
        return True
    if not force:
        raise LeafidError(
            f"{folder}: expected a new or empty folder, found a drawn collection; name another, or use --force"
        )
    for name in _PARTS:
        for file in (folder / name).glob("*"):
            if file.stem.isdigit() and file.suffix in {".jpg", ".xml"}:
                file.unlink()
    return False


def read_mark(file: Path) -> dict[str, object] | None:
    """Read the settings that a collection was drawn with; None if there is no such file or it is damaged."""
    try:
        mark = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return mark if isinstance(mark, dict) and "settings" in mark else None


def _write_text(file: Path, text: str) -> None:
    with open_output(file) as stream:
        stream.write(text)
