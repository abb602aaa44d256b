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
from leafid.synthetic.camera import random_camera
from leafid.synthetic.catalogue import SPECIES
from leafid.synthetic.plan import CAMERA, PICTURE, PLANT, PlannedPicture, Settings, plan_collection
from leafid.synthetic.scene import DrawnPicture, draw_picture
from leafid.synthetic.species import vary

MARK = "Sample.json"
"""The file that tells a drawn collection from a real one, and a whole one from an interrupted one."""

_FOLDERS = ("Train", "Test", "TestXmlWithGroundTruth")

Watch = Callable[[Iterator[int], int], Iterator[int]]


@dataclass(frozen=True, slots=True)
class WrittenCollection:
    """What was written.

    Attributes
    ----------
    folder : Path
    pictures : tuple of PlannedPicture
    n_bytes : int
        Of the pictures.
    kept : int
        Pictures that an interrupted call had already written.
    """

    folder: Path
    pictures: tuple[PlannedPicture, ...]
    n_bytes: int
    kept: int


def write_collection(
    folder: Path,
    settings: Settings | None = None,
    *,
    force: bool = False,
    jobs: int = 1,
    watch: Watch = lambda items, total: items,
) -> WrittenCollection:
    """Draw a collection and write it.

    An interrupted call, repeated with the same settings, goes on where it was.

    Parameters
    ----------
    folder : Path
        New or empty, or left by an interrupted call.
    settings : Settings, optional
    force : bool, default False
        Replace an earlier drawn collection.
    jobs : int, default 1
        Worker processes; the bytes don't depend on it.
    watch : callable, optional
        Takes an iterator with an item for each picture and their number, and passes the items on: for a progress bar.

    Returns
    -------
    WrittenCollection

    Raises
    ------
    LeafidError
        When the folder holds something else, or can't be written.
    """
    settings = settings or Settings()
    folder = Path(folder)
    wanted: dict[str, object] = {"program": f"leafid {leafid.__version__}", "settings": settings.as_plain()}
    resumed = _prepare(folder, wanted, force)
    plan = plan_collection(settings)
    if not resumed:
        _write(folder / MARK, json.dumps({**wanted, "complete": False}, indent=2) + "\n")
    write_one = partial(_write_picture, folder=folder, settings=settings, keep=resumed)
    sizes = list(watch(ordered_map(write_one, plan, jobs), len(plan)))
    train = [picture for picture in plan if picture.part == "train"]
    test = [picture for picture in plan if picture.part == "test"]
    for name, pictures in (("train", train), ("test", test), ("all", plan)):
        _write(folder / f"{name}GroundTruth.txt", layout.ground_truth(pictures, settings.n_species))
    _write(folder / "SpeciesIDList", layout.species_list(settings.n_species))
    _write(folder / "Detail.txt", layout.detail(plan, settings.n_species))
    _write(folder / MARK, json.dumps({**wanted, "complete": True}, indent=2) + "\n")
    return WrittenCollection(folder, tuple(plan), sum(map(abs, sizes)), sum(size < 0 for size in sizes))


def draw_planned(picture: PlannedPicture, settings: Settings) -> DrawnPicture:
    """Draw one picture of a plan; it depends on nothing but the picture and the settings.

    Parameters
    ----------
    picture : PlannedPicture
    settings : Settings

    Returns
    -------
    DrawnPicture
    """
    plant = vary(SPECIES[picture.species], np.random.default_rng([settings.seed, PLANT, picture.plant]))
    camera = random_camera(np.random.default_rng([settings.seed, CAMERA, picture.author]))
    rng = np.random.default_rng([settings.seed, PICTURE, picture.number])
    return draw_picture(plant, picture.type, rng, settings.max_side, camera, picture.autumn)


def _write_picture(picture: PlannedPicture, folder: Path, settings: Settings, keep: bool) -> int:
    """Return the picture's size in bytes, negative where it was already there."""
    part = folder / ("Train" if picture.part == "train" else "Test")
    image_file, xml_file = part / f"{picture.number}.jpg", part / f"{picture.number}.xml"
    # The metadata is written last: where it is, the picture is whole.
    if keep and xml_file.exists() and image_file.exists():
        return -image_file.stat().st_size
    drawn = draw_planned(picture, settings)
    done, data = cv2.imencode(".jpg", drawn.image, [cv2.IMWRITE_JPEG_QUALITY, drawn.quality])
    if not done:
        raise LeafidError(f"{image_file}: the picture could not be encoded as JPEG")
    with open_output(image_file, "wb") as stream:
        stream.write(data.tobytes())
    test = picture.part == "test"
    if test:
        truth = folder / "TestXmlWithGroundTruth" / xml_file.name
        _write(truth, layout.picture_xml(picture, drawn.content.value))
    _write(xml_file, layout.picture_xml(picture, drawn.content.value, partial=test))
    return len(data)


def _prepare(folder: Path, wanted: dict[str, object], force: bool) -> bool:
    """Make sure that the folder may be written to; tell whether an interrupted call left it."""
    if not folder.exists():
        return False
    if not folder.is_dir():
        raise LeafidError(f"{folder}: expected a folder, found a file")
    if not any(folder.iterdir()):
        return False
    mark = _read_mark(folder / MARK)
    if mark is not None and not mark.get("complete") and {k: mark.get(k) for k in wanted} == wanted:
        return True
    if mark is None:
        # Beside drawn pictures a collection in the same folder would not be found any more.
        raise LeafidError(
            f"{folder}: expected a new or empty folder, found files that were not drawn by leafid; name another"
        )
    if not force:
        raise LeafidError(
            f"{folder}: expected a new or empty folder, found a drawn collection; name another, or use --force"
        )
    for name in _FOLDERS:
        for file in (folder / name).glob("*"):
            if file.stem.isdigit() and file.suffix in {".jpg", ".xml"}:
                file.unlink()
    return False


def _read_mark(file: Path) -> dict[str, object] | None:
    try:
        mark = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return mark if isinstance(mark, dict) and "settings" in mark else None


def _write(file: Path, text: str) -> None:
    with open_output(file) as stream:
        stream.write(text)
