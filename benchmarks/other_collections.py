"""Cross-validated scores of the default recipe on other leaf collections: changed scans, drawn and photographed leaves.

Every collection is written to a temporary folder as JPEG files in a folder for each species, read from there, and
cross-validated. Such a layout has no plants: folds go by the plants of the original, through `Picture.plant`;
without them (UCI Leaf), each fold is a single picture. Only pictures whose species has another plant are scored.

Prints a Markdown table for docs/results.md.

    LEAFID_REAL_DATA=path/to/data python benchmarks/other_collections.py [--only WORD] [--jobs 2]
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from leafid.classifiers.held_out import FIGURES, held_out_scores
from leafid.collection import AcquisitionType, Picture, read_collection
from leafid.collection.picture import Taxon
from leafid.collection.protocols import make_fold_splits
from leafid.features.cache import FeatureCache
from leafid.features.loader import FeatureLoader
from leafid.identification.crossvalidation import N_FOLDS, cross_validate
from leafid.images import read_image
from leafid.recipes.reader import load_recipe
from leafid.segmentation import segment
from leafid.synthetic.plan import Settings
from leafid.synthetic.writer import write_collection

# The scores that need no picture's author.
NAMES = FIGURES[1:]

Change = Callable[[np.ndarray, np.random.Generator], np.ndarray]
#: Of blue, green and red.
Gains = tuple[float, float, float]
QUALITY = [cv2.IMWRITE_JPEG_QUALITY, 95]
SCAN, SCAN_LIKE = AcquisitionType.SCAN, AcquisitionType.SCAN_LIKE


@dataclass(frozen=True)
class Variant:
    """A collection: pictures, the change of each, and the acquisition type that they are treated as."""

    name: str
    pictures: Sequence[Picture]
    change: Change
    type: AcquisitionType = SCAN
    n_folds: int = N_FOLDS


def keep_picture(image: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return image


def make_grey(image: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)


def resize(longest_side: int, image: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Reduce, or enlarge by cubic interpolation."""
    factor = longest_side / max(image.shape[:2])
    way = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    return cv2.resize(image, None, fx=factor, fy=factor, interpolation=way)


def rotate(image: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Rotate by a random angle, on a larger sheet in the colour of the border."""
    rows, cols = image.shape[:2]
    side = int(np.ceil(np.hypot(rows, cols)))
    turn = cv2.getRotationMatrix2D((cols / 2, rows / 2), float(random.uniform(0, 360)), 1)
    turn[:, 2] += (side - cols) / 2, (side - rows) / 2
    frame = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
    colour = np.median(frame, axis=0).tolist()
    return cv2.warpAffine(image, turn, (side, side), flags=cv2.INTER_AREA, borderValue=colour)


def tint_light(gains: Gains, image: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Light leaf and sheet in another colour."""
    return np.rint(image * np.array(gains)).astype(np.uint8)


def tint_sheet(gains: Gains, image: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Tint the sheet alone, with a soft edge."""
    leaf = cv2.GaussianBlur(segment(image, SCAN).mask.astype(np.float32), (0, 0), 1)[..., None]
    return np.rint(image * (leaf + (1 - leaf) * np.array(gains))).clip(0, 255).astype(np.uint8)


def select_evenly(pictures: Sequence[Picture], n_species: int, n_pictures: int) -> list[Picture]:
    """Select the species with the most plants, and equally many pictures of each, from its plants in turn."""
    by_species: dict[str, dict[str, list[Picture]]] = {}
    for picture in pictures:
        by_species.setdefault(picture.species or "", {}).setdefault(picture.group, []).append(picture)
    chosen: list[Picture] = []
    for species in sorted(by_species, key=lambda name: (-len(by_species[name]), name))[:n_species]:
        plants = by_species[species].values()
        turns = [(turn, number) for number, own in enumerate(plants) for turn in range(len(own))]
        own_pictures = list(plants)
        chosen += [own_pictures[number][turn] for turn, number in sorted(turns)[:n_pictures]]
    return chosen


def list_variants(data: Path, folder: Path) -> Iterator[Variant]:
    """List the collections; drawn pictures are written below a folder first."""
    scans = [p for p in read_collection(data / "imageclef2011").select_labelled().pictures if p.type == SCAN]
    base = select_evenly(scans, 30, 12)
    yield Variant("scans of 30 species, as they are", base, keep_picture)
    yield Variant("… grey", base, make_grey)
    for side in (150, 300, 1600):
        yield Variant(f"… longest side {side}", base, partial(resize, side))
    yield Variant("… each turned at random", base, rotate)
    yield Variant("… in yellow light", base, partial(tint_light, (0.7, 0.93, 1.0)))
    yield Variant("… on a light blue sheet", base, partial(tint_sheet, (1.0, 0.85, 0.7)))
    yield Variant("… on a dark grey sheet", base, partial(tint_sheet, (0.25, 0.25, 0.25)))
    yield Variant("scans of 15 species", select_evenly(scans, 15, 24), keep_picture)
    yield Variant("scans of all 61 species", select_evenly(scans, 61, 8), keep_picture)
    write_collection(folder, Settings(28, 5, 0, 2, (SCAN,)))
    drawn = read_collection(folder).select_labelled().pictures
    yield Variant("28 drawn species", drawn, keep_picture)
    # Drawn species have the names of real ones, but are different classes.
    others = [replace(p, taxon=Taxon(f"{(p.species or '').replace(' ', '-')} drawn")) for p in drawn]
    both = [*select_evenly(scans, 61, 5), *select_evenly(others, 28, 5)]
    yield Variant("61 scanned and 28 drawn species", both, keep_picture)
    with (data / "uci-leaf" / "labels.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    # Two words: a name includes a subspecies.
    card = [
        Picture(data / "uci-leaf" / row["image"], taxon=Taxon(" ".join(row["species"].split()[:2]))) for row in rows
    ]
    yield Variant("UCI Leaf, one left out at a time", card, keep_picture, SCAN_LIKE, len(card))


def write_variant(variant: Variant, folder: Path) -> list[Picture]:
    """Write a collection as a folder for each species, and read it as such."""
    random = np.random.default_rng(0)
    plants: dict[str, str | None] = {}
    for number, picture in enumerate(variant.pictures):
        name = f"{number:04}.jpg"
        target = folder / (picture.species or "").replace(" ", "_") / name
        target.parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(target), variant.change(read_image(picture.file), random), QUALITY)
        plants[name] = picture.plant and f"{picture.species} {picture.plant}"
    found = read_collection(folder, "species-folders").select_labelled().pictures
    return [replace(picture, type=variant.type, plant=plants[picture.name]) for picture in found]


def compute_scores(variant: Variant, jobs: int) -> dict[str, float]:
    """Write, read and cross-validate a collection."""
    with tempfile.TemporaryDirectory() as folder:
        pictures = write_variant(variant, Path(folder) / "pictures")
        recipes = {variant.type: load_recipe("default", variant.type)}
        loader = FeatureLoader(FeatureCache(Path(folder) / "store"), jobs)
        splits = make_fold_splits(pictures, variant.n_folds, (0,))
        folds = cross_validate(pictures, recipes, loader, splits, shared_codebooks=True)
        return held_out_scores([fold.held_out for fold in folds])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only the collections with this word")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    data = os.environ.get("LEAFID_REAL_DATA")
    if not data or not (Path(data) / "uci-leaf").is_dir():
        print("set LEAFID_REAL_DATA to the folder that holds imageclef2011/ and uci-leaf/", file=sys.stderr)
        return 2
    print(f"| collection | species | {' | '.join(NAMES)} | pictures | left out |\n|---|{'---|' * (len(NAMES) + 3)}")
    with tempfile.TemporaryDirectory() as folder:
        for variant in list_variants(Path(data), Path(folder)):
            if arguments.only not in variant.name:
                continue
            started = time.monotonic()
            found = compute_scores(variant, arguments.jobs)
            cells = [str(len({picture.species for picture in variant.pictures}))]
            cells += [f"{found[name]:.3f}" for name in NAMES]
            cells += [f"{found[name]:.0f}" for name in ("pictures", "unseen")]
            print(f"| {variant.name} | {' | '.join(cells)} |", flush=True)
            print(f"{variant.name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
