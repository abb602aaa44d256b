"""How leafid does on other people's pictures.

    python -m benchmarks.elsewhere collections SHARED [--model M]
    python -m benchmarks.elsewhere altered IMAGECLEF2011
    python -m benchmarks.elsewhere changed IMAGECLEF2011
    python -m benchmarks.elsewhere reliability SHARED [--model M] [--plot FILE]

`collections` identifies the pictures in the folders elsewhere, other-collections and
uci-leaf of SHARED. It prints how many leaves of known species rank first, or among the
first five; the share that gets each verdict, and in brackets the share that gets it and
ranks first; and the share without a name. For unknown species, it prints the share that
is named, with a probability of 0.5 or more and in all; and where both are of one
camera, the AUROC of P(leaf) P(known) between them. The last row is the mean.

`altered` alters scans as other people would take the picture (`benchmarks.altering`),
and prints the share in which the mask of the leaf has an IoU of at least 0.9 with the
mask of the scan.

`changed` trains on the scans and scan-likes of four fifths of the plants, without every
seventh species, changes scans of the other plants as cameras and light do, and prints
the share of correct first species among known species, and the shares of "no leaf" and
"unclear" among all scans.

`reliability` compares the probability of an answer with how often the first species is
right: in the answers of `changed`, to unaltered and changed scans, and in the answers
of `collections`. Each change and collection has the same weight.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
from matplotlib.figure import Figure
from sklearn.metrics import roc_auc_score
from tabulate import tabulate

import leafid
from benchmarks.altering import ALTERATIONS
from benchmarks.changing import CHANGES
from benchmarks.disturbing import DISTURBANCES
from benchmarks.pictures import select_pictures
from leafid.model.answer import Answer
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.reading import read_collection
from leafid.pictures.splitting.units import split_by_plant
from leafid.segmentation.segment import segment

#: The species of the Swedish leaf data set that the bundled model knows. Its list names
#: a lime as species 13 and a poplar as species 12, but the pictures of species 13 show
#: a poplar, and these a lime.
_SWEDISH = {
    "Species2": "Acer platanoides",
    "Species12": "Tilia cordata",
    "Species15": "Fagus sylvatica",
}
#: Botanists doubt the name of these pictures of the UCI leaf collection.
_DOUBTED = "Corylus avellana"
_NAMING_VERDICTS = ("species", "uncertain")
_VERDICTS = (*_NAMING_VERDICTS, "unknown", "unclear", "no-leaf")
_SIDE = 800
_MIN_CONFIDENCE = 0.8
_MIN_IOU = 0.9
_BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.01)
_UNKNOWN_STEP = 7

#: Pictures with the names of their species.
Labelled = list[tuple[Path, str]]


def list_collections(shared: Path) -> Iterator[tuple[str, Labelled]]:
    """List the collections by name, with known and unknown species."""
    parents = [shared / "elsewhere", shared / "other-collections"]
    folders = [folder for parent in parents for folder in parent.iterdir()]
    for folder in sorted([*folders, shared / "leafsnap-224"]):
        labelled = []
        for file in sorted(folder.rglob("*.*")):
            name = file.parent.name
            labelled.append((file, _SWEDISH.get(name, name)))
        yield folder.name, labelled
    with (shared / "uci-leaf" / "labels.csv").open(encoding="utf-8") as stream:
        rows = [
            (shared / "uci-leaf" / row["image"], row["species"])
            for row in csv.DictReader(stream)
        ]
    yield "uci-leaf", [(file, species) for file, species in rows if species != _DOUBTED]


def score_collection(model: leafid.Model, labelled: Labelled) -> list[object]:
    """Score the answers to a collection, in the columns of the table."""
    answers = list(model.identify([str(file) for file, _ in labelled]))
    species = [name for _, name in labelled]
    is_known = np.array([name in model.species for name in species])
    ranks = np.array(
        [
            [name for name, _ in answer.ranking].index(label)
            if label in model.species
            else 99
            for answer, label in zip(answers, species, strict=True)
        ]
    )
    is_first = ranks < 1
    verdicts = np.array([answer.verdict for answer in answers])
    accepted = [(answer.p_leaf or 0) * (answer.p_known or 0) for answer in answers]
    auroc = None
    if 0 < is_known.sum() < len(is_known):
        auroc = roc_auc_score(is_known, accepted)
    is_named = np.isin(verdicts, _NAMING_VERDICTS)
    return [
        len(answers),
        int(is_known.sum()),
        _average(is_first, is_known),
        _average(ranks < 5, is_known),
        *(
            _count_verdict(verdicts == verdict, is_first, is_known)
            for verdict in _VERDICTS
        ),
        _average(~is_named, is_known),
        _average(verdicts == "species", ~is_known),
        _average(is_named, ~is_known),
        auroc,
    ]


def _count_verdict(
    has_verdict: np.ndarray, is_first: np.ndarray, is_known: np.ndarray
) -> str | None:
    if not is_known.any():
        return None
    share = has_verdict[is_known].mean()
    return f"{share:.2f} ({(has_verdict & is_first)[is_known].mean():.2f})"


def average_rows(rows: Sequence[Sequence[object]]) -> list[object]:
    """Average the numbers of each column of `score_collection`, where there are any."""
    means: list[object] = []
    for column in zip(*rows, strict=True):
        numbers = [value for value in column if isinstance(value, float)]
        means.append(float(np.mean(numbers)) if numbers else None)
    return means


def _average(values: np.ndarray, chosen: np.ndarray) -> float | None:
    return float(values[chosen].mean()) if chosen.any() else None


def compare_numbers(
    groups: Iterable[tuple[Sequence[str], Sequence[Answer]]],
) -> Iterator[list[float]]:
    """Compare the numbers of answers with how often the first species is right.

    Takes species and answers, and yields the lower end of each range of numbers, how
    many there are, their mean, and the share of right answers.
    """
    rows = np.array(
        [
            (
                answer.calibrate(answer.ranking[0][1]),
                answer.ranking[0][0] == name,
                1 / len(species),
            )
            for species, answers in groups
            for name, answer in zip(species, answers, strict=True)
        ]
    )
    for low, high in pairwise(_BINS):
        number, is_right, weight = rows[(rows[:, 0] >= low) & (rows[:, 0] < high)].T
        if len(number):
            averages = (
                float(np.average(values, weights=weight))
                for values in (number, is_right)
            )
            yield [low, len(number), *averages]


def answer_changed(
    folder: Path, number: int
) -> tuple[leafid.Model, list[str], dict[str, list[Answer]]]:
    """Answer changed scans of plants that a model was not trained on.

    Returns the model, the species of the scans, and the answers by change.
    """
    pictures = [
        p
        for p in read_collection(folder).select_labelled().pictures
        if p.type and p.type.lies_on_sheet
    ]
    unknown = sorted({str(picture.species) for picture in pictures})[::_UNKNOWN_STEP]
    test = {int(index) for index in split_by_plant(pictures, 5, 0)[0]}
    training = [
        p
        for index, p in enumerate(pictures)
        if index not in test and p.species not in unknown
    ]
    model = leafid.train(training, jobs=-1, thumbnails=False)
    scans = [
        pictures[index]
        for index in sorted(test)
        if pictures[index].type == AcquisitionType.SCAN
    ]
    chosen = [
        scans[index]
        for index in np.linspace(0, len(scans) - 1, min(number, len(scans))).astype(int)
    ]
    images = [read_image(picture.file, _SIDE) for picture in chosen]
    masks = [
        segment(image, AcquisitionType.SCAN, petiole=False).mask for image in images
    ]
    answers = {}
    for name, change in CHANGES.items():
        changed = [
            change(image, mask) for image, mask in zip(images, masks, strict=True)
        ]
        answers[name] = list(model.identify(changed, assume_type=AcquisitionType.SCAN))
    return model, [str(picture.species) for picture in chosen], answers


def score_changed(folder: Path, number: int) -> Iterator[list[object]]:
    """Score answers to changed scans: a row for each change."""
    model, species, changed = answer_changed(folder, number)
    is_known = np.array([name in model.species for name in species])
    for change, answers in changed.items():
        is_right = np.array(
            [a.ranking[0][0] == name for a, name in zip(answers, species, strict=True)]
        )
        verdicts = (
            np.mean([a.verdict == verdict for a in answers])
            for verdict in ("no-leaf", "unclear")
        )
        yield [
            change,
            len(answers),
            int(is_known.sum()),
            _average(is_right, is_known),
            *verdicts,
        ]


def compare_everywhere(
    shared: Path, model: leafid.Model, number: int
) -> dict[str, list[list[float]]]:
    """Compare probabilities at home, in changed pictures, and elsewhere.

    The rows of `compare_numbers` are by name.
    """
    _, species, changed = answer_changed(shared / "imageclef2011", number)
    first, *further = changed.values()
    collections = [
        (
            [name for _, name in labelled],
            list(model.identify([str(file) for file, _ in labelled])),
        )
        for _, labelled in list_collections(shared)
    ]
    groups = {
        "held-out plants": [(species, first)],
        "held-out plants, changed": [(species, answers) for answers in further],
        "other people's pictures": collections,
    }
    return {name: list(compare_numbers(members)) for name, members in groups.items()}


def plot_reliability(tables: dict[str, list[list[float]]], file: Path) -> None:
    """Plot the shares of right answers over their numbers."""
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for name, rows in tables.items():
        axes.plot(
            [row[2] for row in rows], [row[3] for row in rows], marker="o", label=name
        )
    axes.set(
        xlabel="number of the answer",
        ylabel="share of right answers",
        xlim=(0, 1),
        ylim=(0, 1),
    )
    axes.legend()
    figure.savefig(file)


def score_altered(images: Sequence[np.ndarray]) -> Iterator[list[object]]:
    """Score the masks of altered scans: a row for each alteration."""
    segmented = [
        (image, segment(image, AcquisitionType.SCAN, petiole=False)) for image in images
    ]
    leaves = [
        (image, leaf.mask)
        for image, leaf in segmented
        if leaf.confidence >= _MIN_CONFIDENCE
    ]
    for number, (name, alter) in enumerate((DISTURBANCES | ALTERATIONS).items()):
        overlaps = []
        for index, (image, mask) in enumerate(leaves):
            picture, expected = alter(
                image, mask, np.random.default_rng([number, index])
            )
            scale = _SIDE / max(picture.shape[:2])
            size = tuple(round(side * scale) for side in picture.shape[1::-1])
            picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
            expected = cv2.resize(
                expected.astype(np.uint8), size, interpolation=cv2.INTER_AREA
            ).astype(bool)
            leaf = segment(picture, AcquisitionType.SCAN_LIKE, petiole=False).mask
            overlaps.append((leaf & expected).sum() / max((leaf | expected).sum(), 1))
        yield [
            name,
            len(overlaps),
            np.mean(np.array(overlaps) >= _MIN_IOU),
            np.mean(overlaps),
        ]


def main() -> None:
    """Print the table that is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "table", choices=["collections", "altered", "changed", "reliability"]
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", help="a model file (default: the bundled model)")
    parser.add_argument(
        "--plot", type=Path, help="file to draw the table of reliability to"
    )
    parser.add_argument(
        "--number", type=int, default=150, help="number of scans to alter or change"
    )
    options = parser.parse_args()
    if options.table == "altered":
        pictures = select_pictures(options.folder, options.number)[AcquisitionType.SCAN]
        rows = list(
            score_altered([read_image(picture.file, _SIDE) for picture in pictures])
        )
        print(
            tabulate(rows, ["alteration", "n", "IoU ≥ 0.9", "mean IoU"], floatfmt=".3f")
        )
        return
    if options.table == "changed":
        columns = ["change", "n", "known", "top-1", "no leaf", "unclear"]
        print(
            tabulate(
                list(score_changed(options.folder, options.number)),
                columns,
                floatfmt=".2f",
            )
        )
        return
    model = leafid.load_model(options.model)
    if options.table == "reliability":
        tables = compare_everywhere(options.folder, model, options.number)
        rows = [[name, *row] for name, members in tables.items() for row in members]
        print(
            tabulate(
                rows, ["pictures", "number from", "n", "mean", "right"], floatfmt=".2f"
            )
        )
        if options.plot:
            plot_reliability(tables, options.plot)
        return
    rows = [
        [name, *score_collection(model, labelled)]
        for name, labelled in list_collections(options.folder)
    ]
    rows.append(["mean", *average_rows([scores for _, *scores in rows])])
    columns = [
        *("collection", "n", "known", "top-1", "top-5"),
        *_VERDICTS,
        *("no name", "unknown ≥ 0.5", "unknown named", "AUROC"),
    ]
    print(tabulate(rows, columns, floatfmt=".2f", missingval="–"))


if __name__ == "__main__":
    main()
