"""Leaves before other backgrounds than a model was trained on: foliage, a hand, a pavement, the sky, dark cloth.

Leaves are pasted by their masks: those of UCI Leaf by its own, and scans of one fold's plants by leafid's. Foliage is
from photos of the same fold's plants of other species. The model is trained on the other folds, with codebooks of all
pictures: it has seen neither the leaves nor the foliage. No type is told: `IoU` is that of the mask found in a picture
as the type that the recogniser picks, which the table counts; `top-1` counts leaves of known species. `both` also asks
the second type where the first has less than the given probability, and weighs the two answers by the probabilities of
the types.

The second table has the verdicts of the bundled model, which was trained on the scans, on the leaves of UCI Leaf alone.
`wrong at 90 %` are named as another species with that probability.

    python -m benchmarks.composites COLLECTION UCI-LEAF [--cache DIR] [--leaves N] [--fold N] [--below P]
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from tabulate import tabulate

from leafid import Model, load_model
from leafid.features.cache import FeatureCache, choose_cache_folder
from leafid.features.codebooks import learn_encoders
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import LONGEST_SIDE, group_by_training
from leafid.features.recipe_reader import load_recipe
from leafid.features.type_features import TYPE_SIDE, measure_type_features
from leafid.model.crossvalidation import N_FOLDS
from leafid.model.fitting import fit_identifiers, select_trainable
from leafid.model.identifier import Identifier
from leafid.model.training import train_recogniser
from leafid.pictures import AcquisitionType, Picture, read_collection, split_by_plant
from leafid.pictures.decoding import read_image
from leafid.segmentation import segment
from leafid.segmentation.result import find_bounding_box, shrink
from leafid.tasks.interpretation.label_masks import read_label_mask
from leafid.tasks.interpretation.localisation import pascal_score

_ROWS, _COLS = 600, 800
# Confidence of a scan's segmentation from which its mask is taken for the truth.
_SURE = 0.9
_UCI_LEAF = "UCI Leaf"


@dataclass(frozen=True)
class Leaf:
    """A leaf cut out: uint8 (H, W, 3), its mask bool (H, W), its species, and the collection that it is from."""

    image: np.ndarray
    mask: np.ndarray
    species: str
    source: str


@dataclass
class Tally:
    """What was found in composites of one source on one background."""

    types: Counter[AcquisitionType] = field(default_factory=Counter)
    overlaps: list[float] = field(default_factory=list)
    correct: list[bool] = field(default_factory=list)
    correct_by_both: list[bool] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)


class Asked:
    """Identifiers of all types, and the recogniser that picks one, trained without a fold's plants."""

    def __init__(self, pictures: Sequence[Picture], test: np.ndarray, loader: FeatureLoader) -> None:
        training = [pictures[index] for index in np.setdiff1d(np.arange(len(pictures)), test)]
        recipes = {type_: load_recipe("default", type_) for type_ in AcquisitionType}
        self.identifiers: dict[AcquisitionType, Identifier] = {}
        for types in group_by_training(recipes):
            recipe = recipes[types[0]]
            encoders = learn_encoders(select_trainable(pictures, recipe), recipe, loader, 0)
            own = [recipes[type_] for type_ in types]
            fitted = fit_identifiers(own, training, loader, 0, encoders, learn_rejection=False)
            self.identifiers |= {type_: one.identifier for type_, one in zip(types, fitted, strict=True)}
        self._recogniser, _ = train_recogniser(training, loader, 0)

    def recognise(self, image: np.ndarray) -> list[tuple[AcquisitionType, float]]:
        """List the types by falling probability."""
        assert self._recogniser is not None
        (row,) = self._recogniser.predict_proba(measure_type_features(shrink(image, TYPE_SIDE))[None])
        return sorted(zip(self._recogniser.types, row.tolist(), strict=True), key=lambda item: -item[1])

    def identify(self, image: np.ndarray, type_: AcquisitionType) -> dict[str, float]:
        """Give the probability of each species."""
        identifier = self.identifiers[type_]
        features = identifier.extractor.extract(shrink(image, identifier.extractor.longest_side), type_)
        return dict(zip(identifier.species, identifier.predict_proba([features])[0].tolist(), strict=True))


def draw_foliage(random: np.random.Generator, photos: Sequence[np.ndarray]) -> np.ndarray:
    """Cut out a part of a photo."""
    photo = photos[int(random.integers(len(photos)))]
    height, width = (int(side * random.uniform(0.5, 0.8)) for side in photo.shape[:2])
    row, col = random.integers(0, photo.shape[0] - height), random.integers(0, photo.shape[1] - width)
    return cv2.resize(photo[row : row + height, col : col + width], (_COLS, _ROWS))


def draw_hand(random: np.random.Generator, photos: Sequence[np.ndarray]) -> np.ndarray:
    """Draw a palm and fingers before blurred surroundings."""
    image = cv2.GaussianBlur(draw_foliage(random, photos), (0, 0), 25).astype(np.float32)
    hand = np.zeros((_ROWS, _COLS), np.uint8)
    cv2.ellipse(hand, (400, 430), (230, 260), 0, 0, 360, 255, -1)
    for finger in range(4):
        tip = (190 + 130 * finger + int(random.integers(-20, 20)), 60 + int(random.integers(0, 80)))
        cv2.line(hand, (250 + 95 * finger, 360), tip, 255, 85)
    skin = np.array([110, 140, 195]) * random.uniform(0.6, 1.15) + _make_texture(random, 12, 30)[..., None]
    share = cv2.GaussianBlur(hand, (0, 0), 4)[..., None] / 255.0
    return np.clip(image * (1 - share) + skin * share, 0, 255).astype(np.uint8)


def draw_pavement(random: np.random.Generator, photos: Sequence[np.ndarray]) -> np.ndarray:
    """Draw grey stone of some grain, with joints."""
    grey = random.uniform(90, 170) + _make_texture(random, 18, 2) + _make_texture(random, 14, 60)
    side = int(random.integers(150, 400))
    grey[::side] -= 50
    grey[:, ::side] -= 50
    image = cv2.GaussianBlur(grey, (0, 0), 1.2)[..., None] + random.uniform(-8, 8, 3)
    return np.clip(image, 0, 255).astype(np.uint8)


def draw_sky(random: np.random.Generator, photos: Sequence[np.ndarray]) -> np.ndarray:
    """Draw a sky that is brighter below, with clouds."""
    height = np.linspace(0, 1, _ROWS)[:, None, None]
    blue = np.array([235, 190, 140]) * (1 - height) + np.array([250, 235, 215]) * height
    clouds = np.clip(_make_texture(random, 1.0, 80) + random.uniform(-0.7, 0.7), 0, 1)[..., None]
    return np.clip(blue * (1 - clouds) + 245 * clouds, 0, 255).astype(np.uint8)


def draw_cloth(random: np.random.Generator, photos: Sequence[np.ndarray]) -> np.ndarray:
    """Draw dark woven cloth with folds."""
    rows, cols = np.indices((_ROWS, _COLS))
    weave = 5 * (((rows // 2 + cols // 2) % 2) - 0.5) + _make_texture(random, 8, 90) + _make_texture(random, 3, 1)
    colour = random.uniform(15, 60, 3)
    return np.clip(colour + weave[..., None], 0, 255).astype(np.uint8)


BACKGROUNDS: dict[str, Callable[[np.random.Generator, Sequence[np.ndarray]], np.ndarray]] = {
    "foliage": draw_foliage,
    "hand": draw_hand,
    "pavement": draw_pavement,
    "sky": draw_sky,
    "dark cloth": draw_cloth,
}


def _make_texture(random: np.random.Generator, deviation: float, length: float) -> np.ndarray:
    """Make noise of a standard deviation and a correlation length in pixels; float64 (_ROWS, _COLS)."""
    noise = cv2.GaussianBlur(random.normal(size=(_ROWS, _COLS)), (0, 0), length)
    return noise * deviation / noise.std()


def paste(leaf: Leaf, background: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Paste a leaf, turned and large, onto a background; return the picture and the mask of the leaf."""
    row0, row1, col0, col1 = find_bounding_box(leaf.mask)
    box = slice(row0, row1), slice(col0, col1)
    mask, image = leaf.mask[box].astype(np.float32), leaf.image[box]
    scale = random.uniform(0.65, 0.9) * _ROWS / np.hypot(*mask.shape)
    turn = cv2.getRotationMatrix2D((mask.shape[1] / 2, mask.shape[0] / 2), random.uniform(0, 360), scale)
    turn[:, 2] += (_COLS / 2 - mask.shape[1] / 2 + random.uniform(-40, 40), _ROWS / 2 - mask.shape[0] / 2)
    # Shrunk by a pixel, so that no rim of the sheet is pasted.
    inner = cv2.erode(mask, np.ones((3, 3), np.uint8))
    share = cv2.warpAffine(inner, turn, (_COLS, _ROWS), flags=cv2.INTER_AREA)[..., None]
    pasted = cv2.warpAffine(image, turn, (_COLS, _ROWS), flags=cv2.INTER_AREA)
    shadow = 1 - 0.35 * cv2.GaussianBlur(np.roll(share[..., 0], (8, 8), (0, 1)), (0, 0), 6)[..., None]
    picture = background * shadow * (1 - share) + pasted * share
    return np.clip(picture, 0, 255).astype(np.uint8), share[..., 0] > 0.5


def list_scans(pictures: Sequence[Picture], n_leaves: int) -> Iterator[Leaf]:
    """Cut the leaves out of scans, of one picture of a plant."""
    by_plant = {picture.group: picture for picture in pictures if picture.type is AcquisitionType.SCAN}
    for picture in list(by_plant.values())[:n_leaves]:
        image = read_image(picture.file, LONGEST_SIDE)
        leaf = segment(image, AcquisitionType.SCAN)
        if leaf.confidence >= _SURE:
            yield Leaf(image, leaf.mask, str(picture.species), "scans")


def list_uci_leaves(folder: Path) -> Iterator[Leaf]:
    """Cut the leaves of UCI Leaf out by their masks."""
    with (folder / "labels.csv").open() as stream:
        for row in csv.DictReader(stream):
            image = read_image(folder / row["image"])
            mask = read_label_mask(folder / row["mask"], image.shape[:2]) > 0
            yield Leaf(image, mask, row["species"], _UCI_LEAF)


def main() -> None:
    """Print the tables, in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", metavar="COLLECTION")
    parser.add_argument("uci_leaf", metavar="UCI-LEAF", type=Path)
    parser.add_argument("--cache", type=Path, default=None)
    parser.add_argument("--leaves", type=int, default=30, metavar="N", help="scans (default: 30)")
    parser.add_argument("--fold", type=int, default=0, metavar="N")
    parser.add_argument("--below", type=float, default=0.9, metavar="P", help="ask two types below (default: 0.9)")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    pictures = [p for p in read_collection(arguments.collection).pictures if p.species and p.part != "test"]
    test = split_by_plant(pictures, N_FOLDS, 0)[arguments.fold]
    asked = Asked(pictures, test, FeatureLoader(FeatureCache(arguments.cache or choose_cache_folder())))
    held_out = [pictures[index] for index in test]
    photos = [(p.species, read_image(p.file, 1600)) for p in held_out if p.type is AcquisitionType.PHOTO][::4]
    bundled = load_model()
    tallies: dict[tuple[str, str], Tally] = defaultdict(Tally)
    leaves = [*list_scans(held_out, arguments.leaves), *list_uci_leaves(arguments.uci_leaf)]
    for number, leaf in enumerate(leaves):
        others = [photo for species, photo in photos if species != leaf.species]
        for name, draw in BACKGROUNDS.items():
            random = np.random.default_rng([number, len(name)])
            picture, mask = paste(leaf, draw(random, others), random)
            tally = tallies[leaf.source, name]
            _tally(tally, asked, picture, mask, leaf.species, arguments.below)
            if leaf.source == _UCI_LEAF:
                _tally_verdict(tally, bundled, picture, leaf.species)
    print_tables(tallies, arguments.below)


def _tally(tally: Tally, asked: Asked, picture: np.ndarray, mask: np.ndarray, species: str, below: float) -> None:
    (first, probability), (second, other) = asked.recognise(picture)[:2]
    tally.types[first] += 1
    found = segment(shrink(picture, LONGEST_SIDE), first).mask
    true = shrink(mask.astype(np.uint8) * 255, LONGEST_SIDE) > 127
    tally.overlaps.append(pascal_score(true, found) if found.any() else 0.0)
    if species not in asked.identifiers[first].species:
        return
    ranking = asked.identify(picture, first)
    tally.correct.append(max(ranking, key=ranking.__getitem__) == species)
    if probability < below:
        answer = asked.identify(picture, second)
        ranking = {name: probability * value + other * answer.get(name, 0) for name, value in ranking.items()}
    tally.correct_by_both.append(max(ranking, key=ranking.__getitem__) == species)


def _tally_verdict(tally: Tally, model: Model, picture: np.ndarray, species: str) -> None:
    (answer,) = model.identify(picture)
    verdict: str = answer.verdict
    if verdict == "species":
        verdict = "correct" if answer.name == species else "wrong"
        tally.verdicts["wrong at 90 %"] += verdict == "wrong" and answer.ranking[0][1] >= 0.9
    tally.verdicts[verdict] += 1


def print_tables(tallies: dict[tuple[str, str], Tally], below: float) -> None:
    """Print a row for each source of leaves and background."""
    columns = ["leaves", "background", "n", *map(str, AcquisitionType), "IoU", "IoU < 0.5", "known", "top-1"]
    rows = [
        [
            *(*key, len(own.overlaps), *(own.types[type_] for type_ in AcquisitionType)),
            *(f"{np.mean(own.overlaps):.3f}", int(np.sum(np.array(own.overlaps) < 0.5)), len(own.correct)),
            *(f"{np.mean(column):.3f}" if column else "-" for column in (own.correct, own.correct_by_both)),
        ]
        for key, own in tallies.items()
    ]
    print(tabulate(rows, [*columns, f"both below {below:g}"], "github", disable_numparse=True))
    verdicts = ("correct", "wrong", "wrong at 90 %", "unknown", "no-leaf")
    judged = [[name, *(own.verdicts[v] for v in verdicts)] for (_, name), own in tallies.items() if own.verdicts]
    print("\n" + tabulate(judged, ["background", *verdicts], "github"))


if __name__ == "__main__":
    main()
