"""How leafid does on other people's pictures.

    python -m benchmarks.elsewhere collections SHARED [--model M]
    python -m benchmarks.elsewhere altered IMAGECLEF2011
    python -m benchmarks.elsewhere changed IMAGECLEF2011

`collections` identifies the pictures in the folders elsewhere, other-collections and uci-leaf of SHARED, none of which
trained the bundled model: of leaves of known species the shares that rank first, among the first five, are named by
their species, and by another one; of all leaves the shares of "no leaf" and of "unclear"; of unknown species the share
that is named; and where both are of one camera, the AUROC of P(leaf) P(known) between them. A second table compares the
number of an answer with how often the first species is right, each collection weighing the same.

`altered` alters scans as other people would take the picture (`benchmarks.altering`), and prints in which share of them
the mask of the leaf has an IoU of at least 0.9 with that of the scan.

`changed` trains on the scans and scan-likes of four fifths of the plants, changes scans of the others as cameras and
light do, and prints the shares of right first species, of "no leaf" and of "unclear".
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
from sklearn.metrics import roc_auc_score
from tabulate import tabulate

import leafid
from benchmarks.altering import ALTERATIONS, CHANGES
from benchmarks.pictures import select_pictures
from leafid.model.answer import Answer
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.reading import read_collection
from leafid.pictures.splits import split_by_plant
from leafid.segmentation.segment import segment

#: The species of the Swedish leaf data set that the bundled model knows.
_SWEDISH = {"Species2": "Acer platanoides", "Species13": "Tilia cordata", "Species15": "Fagus sylvatica"}
#: Botanists doubt the name of these pictures of the UCI leaf collection.
_DOUBTED = "Corylus avellana"
_SIDE = 800
_MIN_CONFIDENCE, _MIN_IOU = 0.8, 0.9
_BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)

#: Pictures with the names of their species.
Labelled = list[tuple[Path, str]]


def list_collections(shared: Path) -> Iterator[tuple[str, Labelled]]:
    """List the collections by name; unknown species of the same camera belong to the collection of the known ones."""
    for folder in sorted([*(shared / "elsewhere").iterdir(), *(shared / "other-collections").iterdir()]):
        if folder.is_dir() and "-unknown" not in folder.name:
            *kind, place = folder.name.split("-")
            folders = [folder, folder.with_name("-".join([*kind, "unknown", place]))]
            files = sorted(file for each in folders for file in each.glob("*/*"))
            yield folder.name, [(file, _SWEDISH.get(file.parent.name, file.parent.name)) for file in files]
    with (shared / "uci-leaf" / "labels.csv").open(encoding="utf-8") as stream:
        rows = [(shared / "uci-leaf" / row["image"], row["species"]) for row in csv.DictReader(stream)]
    yield "uci-leaf", [(file, species) for file, species in rows if species != _DOUBTED]


def score_collection(model: leafid.Model, labelled: Labelled, answers: Sequence[Answer]) -> list[object]:
    """Score the answers to a collection, in the columns of the table."""
    species = [name for _, name in labelled]
    is_known = np.array([name in model.species for name in species])
    ranks = np.array(
        [
            [name for name, _ in answer.ranking].index(label) if label in model.species else 99
            for answer, label in zip(answers, species, strict=True)
        ]
    )
    named = np.array([answer.name or "" for answer in answers])
    is_right = named == np.array(species)
    accepted = [(answer.p_leaf or 0) * (answer.p_known or 0) for answer in answers]
    return [
        len(answers),
        int(is_known.sum()),
        _average(ranks < 1, is_known),
        _average(ranks < 5, is_known),
        _average(is_right, is_known),
        _average((named != "") & ~is_right, is_known),
        *(
            _average(np.array([answer.verdict == verdict for answer in answers]), np.ones_like(is_known))
            for verdict in ("no-leaf", "unclear")
        ),
        _average(named != "", ~is_known),
        roc_auc_score(is_known, accepted) if 0 < is_known.sum() < len(is_known) else None,
    ]


def _average(values: np.ndarray, chosen: np.ndarray) -> float | None:
    return float(values[chosen].mean()) if chosen.any() else None


def compare_numbers(collections: Sequence[tuple[Labelled, Sequence[Answer]]]) -> Iterator[list[object]]:
    """Compare the numbers of answers with how often the first species is right: a row for each range of numbers."""
    rows = np.array(
        [
            (answer.calibrate(answer.ranking[0][1]), answer.ranking[0][0] == label, 1 / len(labelled))
            for labelled, answers in collections
            for (_, label), answer in zip(labelled, answers, strict=True)
        ]
    )
    for low, high in pairwise(_BINS):
        number, is_right, weight = rows[(rows[:, 0] >= low) & (rows[:, 0] < high)].T
        if len(number):
            averages = (np.average(values, weights=weight) for values in (number, is_right))
            yield [f"{low} to {high}", len(number), *averages]


def score_changed(folder: Path, number: int) -> Iterator[list[object]]:
    """Score a model's answers to changed scans of plants that it was not trained on: a row for each change."""
    pictures = [p for p in read_collection(folder).select_labelled().pictures if p.type and p.type.lies_on_sheet]
    held_out = set(split_by_plant(pictures, 5, 0)[0].tolist())
    model = leafid.train([p for index, p in enumerate(pictures) if index not in held_out], jobs=-1, thumbnails=False)
    scans = [pictures[index] for index in sorted(held_out) if pictures[index].type == AcquisitionType.SCAN]
    scans = [picture for picture in scans if picture.species in model.species]
    chosen = [scans[index] for index in np.linspace(0, len(scans) - 1, min(number, len(scans))).astype(int)]
    images = [read_image(picture.file, _SIDE) for picture in chosen]
    masks = [segment(image, AcquisitionType.SCAN, petiole=False).mask for image in images]
    for name, change in CHANGES.items():
        changed = [change(image, mask) for image, mask in zip(images, masks, strict=True)]
        answers = list(model.identify(changed, assume_type=AcquisitionType.SCAN))
        is_right = [a.ranking[0][0] == picture.species for a, picture in zip(answers, chosen, strict=True)]
        verdicts = [[a.verdict == verdict for a in answers] for verdict in ("no-leaf", "unclear")]
        yield [name, len(answers), np.mean(is_right), *map(np.mean, verdicts)]


def score_altered(images: Sequence[np.ndarray]) -> Iterator[list[object]]:
    """Score the masks of altered scans: a row for each alteration."""
    segmented = [(image, segment(image, AcquisitionType.SCAN, petiole=False)) for image in images]
    leaves = [(image, leaf.mask) for image, leaf in segmented if leaf.confidence >= _MIN_CONFIDENCE]
    for number, (name, alter) in enumerate(ALTERATIONS.items()):
        overlaps = []
        for index, (image, mask) in enumerate(leaves):
            picture, expected = alter(image, mask, np.random.default_rng([number, index]))
            scale = _SIDE / max(picture.shape[:2])
            size = tuple(round(side * scale) for side in picture.shape[1::-1])
            picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
            expected = cv2.resize(expected.astype(np.uint8), size, interpolation=cv2.INTER_AREA).astype(bool)
            leaf = segment(picture, AcquisitionType.SCAN_LIKE, petiole=False).mask
            overlaps.append((leaf & expected).sum() / max((leaf | expected).sum(), 1))
        yield [name, len(overlaps), np.mean(np.array(overlaps) >= _MIN_IOU), np.mean(overlaps)]


def main() -> None:
    """Print the table that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=["collections", "altered", "changed"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", help="a model file (default: the bundled model)")
    parser.add_argument("--number", type=int, default=150, help="number of scans to alter or change")
    options = parser.parse_args()
    if options.table == "altered":
        pictures = select_pictures(options.folder, options.number)[AcquisitionType.SCAN]
        rows = list(score_altered([read_image(picture.file, _SIDE) for picture in pictures]))
        print(tabulate(rows, ["alteration", "n", "IoU ≥ 0.9", "mean IoU"], floatfmt=".3f"))
        return
    if options.table == "changed":
        columns = ["change", "n", "top-1", "no leaf", "unclear"]
        print(tabulate(list(score_changed(options.folder, options.number)), columns, floatfmt=".2f"))
        return
    model = leafid.load_model(options.model)
    named = list(list_collections(options.folder))
    collections = [(each, list(model.identify([str(file) for file, _ in each]))) for _, each in named]
    rows = [[name, *score_collection(model, *scored)] for (name, _), scored in zip(named, collections, strict=True)]
    columns = ["top-1", "top-5", "right", "wrong", "no leaf", "unclear", "unknown named", "AUROC"]
    print(tabulate(rows, ["collection", "n", "known", *columns], floatfmt=".2f", missingval="–"))
    print()
    print(tabulate(list(compare_numbers(collections)), ["number", "n", "mean", "right"], floatfmt=".2f"))


if __name__ == "__main__":
    main()
