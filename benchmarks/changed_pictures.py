"""What changed pictures cost: held-out scans and scan-likes on other sheets, in other light, less sharp, in frames.

Trains on four folds of plants and answers pictures of the fifth, unchanged and changed in one respect each. Prints a
Markdown table: top-1 of all pictures; the difference to the unchanged ones with its 95 % interval (bootstrap by plant);
the median IoU of the mask and that of the unchanged picture, and the number of masks with an IoU below 0.7.

    python -m benchmarks.changed_pictures COLLECTION [--recipe fast] [--pictures 300] [--of-plant 6] [--folds 5]
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

import cv2
import numpy as np

from leafid.features.loader import FeatureLoader
from leafid.features.recipe import LONGEST_SIDE, group_by_training
from leafid.features.recipe_reader import load_recipe
from leafid.model.crossvalidation import N_FOLDS
from leafid.model.fitting import fit_identifiers
from leafid.model.identifier import Identifier
from leafid.parallel import ordered_map
from leafid.pictures import AcquisitionType, Picture, read_collection, split_by_plant
from leafid.pictures.decoding import read_image
from leafid.segmentation import segment
from leafid.segmentation.result import Image, Mask, find_bounding_box, shrink
from leafid.tasks.interpretation.localisation import pascal_score

Change = Callable[[Image, Mask], tuple[Image, Mask]]
Colour = tuple[float, float, float]
TYPES = (AcquisitionType.SCAN, AcquisitionType.SCAN_LIKE)
UNCHANGED = "unchanged"


def tint_sheet(gains: Colour, image: Image, mask: Mask) -> tuple[Image, Mask]:
    """Tint the sheet alone, with a soft edge."""
    leaf = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 1)[..., None]
    return to_uint8(image * (leaf + (1 - leaf) * np.array(gains))), mask


def replace_sheet(value: float, image: Image, mask: Mask) -> tuple[Image, Mask]:
    """Lay a grey picture of the leaf on an even sheet of a grey value."""
    leaf = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 1)
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) * leaf + value * (1 - leaf)
    return cv2.cvtColor(to_uint8(grey), cv2.COLOR_GRAY2BGR), mask


def make_grey(image: Image, mask: Mask) -> tuple[Image, Mask]:
    """Take the colours away."""
    return cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR), mask


def change_light(gains: Colour, gamma: float, slope: float, image: Image, mask: Mask) -> tuple[Image, Mask]:
    """Change the light's colour and gamma, and let it fall off by `slope` from left to right."""
    light = np.linspace(1, 1 - slope, image.shape[1])[:, None]
    return to_uint8(255 * (image / 255) ** gamma * np.array(gains) * light), mask


def compress(quality: int, image: Image, mask: Mask) -> tuple[Image, Mask]:
    """Write and read a JPEG file of a quality."""
    data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8), mask


def resize(longest_side: int, image: Image, mask: Mask) -> tuple[Image, Mask]:
    """Reduce the picture."""
    factor = longest_side / max(image.shape[:2])
    small = cv2.resize(image, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    covered = cv2.resize(mask.astype(np.float32), small.shape[1::-1], interpolation=cv2.INTER_AREA)
    return small, covered > 0.5


def blur(kernel: np.ndarray, image: Image, mask: Mask) -> tuple[Image, Mask]:
    """Convolve with a kernel."""
    return cv2.filter2D(image, -1, kernel / kernel.sum(), borderType=cv2.BORDER_REPLICATE), mask


def warp(corners: Sequence[tuple[float, float]], image: Image, mask: Mask) -> tuple[Image, Mask]:
    """Move the corners, given as parts of the picture's sides, and continue the sheet beside its edges."""
    rows, cols = image.shape[:2]
    start = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], np.float32) * (cols, rows)
    end = np.array(corners, np.float32) * (cols, rows)
    matrix = cv2.getPerspectiveTransform(start.astype(np.float32), end.astype(np.float32))
    seen = cv2.warpPerspective(image, matrix, (cols, rows), flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE)
    return seen, cv2.warpPerspective(mask.astype(np.uint8), matrix, (cols, rows)) > 0


def turn(degrees: float, image: Image, mask: Mask) -> tuple[Image, Mask]:
    """Rotate on a larger sheet in the colour of the border."""
    rows, cols = image.shape[:2]
    side = int(np.ceil(np.hypot(rows, cols)))
    matrix = cv2.getRotationMatrix2D((cols / 2, rows / 2), degrees, 1)
    matrix[:, 2] += (side - cols) / 2, (side - rows) / 2
    colour = np.median(np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]]), axis=0).tolist()
    turned = cv2.warpAffine(image, matrix, (side, side), borderValue=colour)
    return turned, cv2.warpAffine(mask.astype(np.uint8), matrix, (side, side)) > 0


def add_frame(part: float, colour: Colour, image: Image, mask: Mask) -> tuple[Image, Mask]:
    """Add a frame as wide as a part of the longer side."""
    width = round(part * max(image.shape[:2]))
    return cv2.copyMakeBorder(image, *(width,) * 4, cv2.BORDER_CONSTANT, value=colour), np.pad(mask, width)


def add_bars(image: Image, mask: Mask) -> tuple[Image, Mask]:
    """Make the picture square with black bars."""
    rows, cols = image.shape[:2]
    above, left = (max(rows, cols) - rows) // 2, (max(rows, cols) - cols) // 2
    widths = (above, max(rows, cols) - rows - above), (left, max(rows, cols) - cols - left)
    return np.pad(image, (*widths, (0, 0))), np.pad(mask, widths)


def cut_out(image: Image, mask: Mask) -> tuple[Image, Mask]:
    """Cut the picture along the leaf's bounding box."""
    row0, row1, col0, col1 = find_bounding_box(mask)
    return np.ascontiguousarray(image[row0:row1, col0:col1]), mask[row0:row1, col0:col1]


def to_uint8(values: np.ndarray) -> Image:
    """Round values to bytes; those beyond 0 and 255 are clipped."""
    return np.rint(values).clip(0, 255).astype(np.uint8)


_EVEN = (1.0, 1.0, 1.0)
_FOCUS = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (7, 7)).astype(np.float32)
#: In words, as pictures of 800 pixels are changed.
CHANGES: dict[str, Change] = {
    UNCHANGED: lambda image, mask: (image, mask),
    "cream sheet": partial(tint_sheet, (0.75, 0.93, 1.0)),
    "light blue sheet": partial(tint_sheet, (1.0, 0.85, 0.7)),
    "sheet of half the lightness": partial(tint_sheet, (0.5, 0.5, 0.5)),
    "sheet of a quarter of the lightness": partial(tint_sheet, (0.25, 0.25, 0.25)),
    "warm light": partial(change_light, (0.7, 0.93, 1.0), 1, 0),
    "cool light": partial(change_light, (1.0, 0.93, 0.75), 1, 0),
    "half of the light": partial(change_light, (0.5, 0.5, 0.5), 1, 0),
    "overexposed by a third": partial(change_light, (1.33, 1.33, 1.33), 1, 0),
    "light that falls by half": partial(change_light, _EVEN, 1, 0.5),
    "gamma 0.6": partial(change_light, _EVEN, 0.6, 0),
    "gamma 1.6": partial(change_light, _EVEN, 1.6, 0),
    "grey": make_grey,
    **{f"grey, on a sheet of grey value {value}": partial(replace_sheet, value) for value in (160, 130, 110, 40, 10)},
    "JPEG of quality 30": partial(compress, 30),
    **{f"longest side {side}": partial(resize, side) for side in (400, 250, 150)},
    "out of focus, 7 pixels": partial(blur, _FOCUS),
    "moved by 9 pixels": partial(blur, np.eye(9, dtype=np.float32)),
    "perspective": partial(warp, ((0.06, 0.05), (0.94, 0), (1, 1), (0, 0.95))),
    "turned by 40°": partial(turn, 40),
    "in a dark frame of 1 %": partial(add_frame, 0.01, (20, 20, 20)),
    "in a dark frame of 3 %": partial(add_frame, 0.03, (20, 20, 20)),
    "in a grey frame of 6 %": partial(add_frame, 0.06, (110, 110, 110)),
    "in a brown frame of 6 %": partial(add_frame, 0.06, (60, 90, 130)),
    "with black bars, square": add_bars,
    "cut out along the leaf's box": cut_out,
}


def answer_with_changes(
    identifiers: dict[AcquisitionType, Identifier], picture: Picture
) -> list[tuple[str, bool, float]]:
    """Answer a picture with every change: the change, whether the first answer is correct, and the mask's IoU."""
    image = read_image(picture.file, LONGEST_SIDE)
    assert picture.type is not None
    identifier, mask = identifiers[picture.type], segment(image, picture.type).mask
    answers = []
    for name, change in CHANGES.items() if mask.any() else ():
        changed, wanted = change(image, mask)
        overlap = pascal_score(wanted, segment(changed, picture.type).mask)
        features = identifier.extractor.extract(shrink(changed, identifier.extractor.longest_side), picture.type)
        first = identifier.species[int(identifier.predict_proba([features])[0].argmax())]
        answers.append((name, first == picture.species, overlap))
    return answers


def select_pictures(pictures: Sequence[Picture], of_plant: int) -> list[Picture]:
    """Take the first pictures of each plant and type."""
    counts: dict[tuple[str, AcquisitionType | None], int] = defaultdict(int)
    chosen = []
    for picture in pictures:
        counts[picture.group, picture.type] += 1
        if picture.type in TYPES and counts[picture.group, picture.type] <= of_plant:
            chosen.append(picture)
    return chosen


def compute_interval(differences: np.ndarray, plants: Sequence[str]) -> tuple[float, float]:
    """Compute the 95 % interval of a mean by resampling whole plants."""
    _, plant = np.unique(plants, return_inverse=True)
    sums, counts = np.bincount(plant, differences), np.bincount(plant)
    weights = np.random.default_rng(0).multinomial(len(counts), np.full(len(counts), 1 / len(counts)), 2000)
    low, high = np.percentile(weights @ sums / (weights @ counts), [2.5, 97.5])
    return float(low), float(high)


def main() -> None:
    """Print a row for each change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--recipe", default="fast")
    parser.add_argument("--pictures", type=int, default=300, help="drawn at random, seed 0 (default: 300)")
    parser.add_argument("--of-plant", type=int, default=6, help="at most this many of a plant and type (default: 6)")
    parser.add_argument("--folds", type=int, default=N_FOLDS, help="answer only the first folds")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    pictures = select_pictures(read_collection(arguments.collection).select_labelled().pictures, arguments.of_plant)
    chosen = np.random.default_rng(0).permutation(len(pictures))[: arguments.pictures]
    recipes = {type_: load_recipe(arguments.recipe, type_) for type_ in TYPES}
    loader = FeatureLoader(jobs=arguments.jobs)
    answers: dict[str, list[tuple[bool, float]]] = defaultdict(list)
    plants: list[str] = []
    for test in split_by_plant(pictures, N_FOLDS, 0)[: arguments.folds]:
        training = [pictures[index] for index in np.setdiff1d(np.arange(len(pictures)), test)]
        identifiers: dict[AcquisitionType, Identifier] = {}
        for types in group_by_training(recipes):
            fitted = fit_identifiers([recipes[type_] for type_ in types], training, loader, 0, learn_rejection=False)
            identifiers |= {type_: own.identifier for type_, own in zip(types, fitted, strict=True)}
        asked = [pictures[index] for index in np.intersect1d(test, chosen)]
        answered = ordered_map(partial(answer_with_changes, identifiers), asked, arguments.jobs)
        for picture, by_change in zip(asked, answered, strict=True):
            plants += [picture.group] if by_change else []
            for name, is_correct, overlap in by_change:
                answers[name].append((is_correct, overlap))
    print("| pictures | top-1 | difference | 95 % interval | median IoU | IoU below 0.7 | of |")
    print("|---|---:|---:|---|---:|---:|---:|")
    before = np.array(answers[UNCHANGED])[:, 0]
    for name, found in answers.items():
        correct, overlaps = np.array(found, float).T
        low, high = compute_interval(correct - before, plants)
        cells = [f"{correct.mean():.3f}", f"{(correct - before).mean():+.3f}", f"{low:+.3f} to {high:+.3f}"]
        cells += [f"{np.median(overlaps):.3f}", str(np.count_nonzero(overlaps < 0.7)), str(len(found))]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
