"""How often a model rejects pictures: leaves, and pictures without a leaf.

The latter are unlike the pictures that a training draws.

    python -m benchmarks.rejection uci-leaf leafsnap-field

The pictures without a leaf are pictures of scikit-image, whole and in part, faces, and
flat colours, discs, cards, checkerboards and stripes.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import PIL.Image
import skimage
from tabulate import tabulate

import leafid

# No model learns from these pictures of scikit-image.
_PICTURES = (
    *(
        "astronaut.png",
        "cell.png",
        "clock_motion.png",
        "coins.png",
        "color.png",
    ),
    *(
        "horse.png",
        "hubble_deep_field.jpg",
        "ihc.png",
        "microaneurysms.png",
        "moon.png",
        "motorcycle_left.png",
    ),
    *("page.png", "rocket.jpg", "text.png"),
)
_COLOURS = ((30, 30, 200), (60, 150, 50), (200, 60, 20), (10, 10, 10), (20, 200, 220))
_CROPS = 3
_CONFIDENT = 0.9


def main() -> None:
    """Print a row for each folder, and one for the pictures without a leaf."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--model", help="a model file (default: the bundled model)")
    arguments = parser.parse_args()
    model = leafid.load_model(arguments.model)
    rows = [_count_verdicts(model, folder, [folder]) for folder in arguments.folders]
    rows.append(_count_verdicts(model, "without a leaf", list(draw_pictures())))
    columns = (
        *("pictures", "n", "species", "unknown", "unclear", "no leaf"),
        *("named at 90 %", "in all at 90 %", "without rejection"),
    )
    print(tabulate(rows, columns, disable_numparse=True))


def _count_verdicts(model: leafid.Model, name: str, sources: list) -> list[object]:
    answers = [answer for answer in model.identify(sources) if not answer.problem]
    counts = Counter(answer.verdict for answer in answers)
    confident = [answer for answer in answers if answer.ranking[0][1] >= _CONFIDENT]
    named = [answer for answer in confident if answer.name]
    in_all = [
        answer for answer in named if (answer.answer_probability or 0) >= _CONFIDENT
    ]
    counts["species"] += counts["uncertain"]
    verdicts = [
        counts[verdict] for verdict in ("species", "unknown", "unclear", "no-leaf")
    ]
    return [name, len(answers), *verdicts, len(named), len(in_all), len(confident)]


def draw_pictures() -> Iterator[np.ndarray]:
    """Yield pictures without a leaf, uint8 (H, W, 3)."""
    random = np.random.default_rng(5)
    data = Path(skimage.__file__).parent / "data"
    for name in _PICTURES:
        # With Pillow, as OpenCV warns of the colour profiles of two of them.
        with PIL.Image.open(data / name) as picture:
            image = np.ascontiguousarray(np.asarray(picture.convert("RGB"))[..., ::-1])
        yield image
        height, width = image.shape[0] // 2, image.shape[1] // 2
        for _ in range(_CROPS):
            row, col = random.integers(0, height + 1), random.integers(0, width + 1)
            yield cv2.resize(
                image[row : row + height, col : col + width], None, fx=1.5, fy=1.5
            )
    faces = np.load(data / "lfw_subset.npy")[:100:5]
    for face in faces:
        yield cv2.cvtColor(
            cv2.resize(np.uint8(face * 255), (400, 400), interpolation=cv2.INTER_CUBIC),
            cv2.COLOR_GRAY2BGR,
        )
    rows, cols = np.indices((480, 640))
    for colour in _COLOURS:
        paper = np.full((480, 640, 3), 245, np.uint8)
        yield np.full_like(paper, colour)
        yield cv2.circle(paper.copy(), (320, 240), 130, colour, -1)
        yield cv2.rectangle(paper.copy(), (200, 150), (460, 350), colour, -1)
    for side in (8, 20, 60):
        yield np.repeat(
            (((rows // side + cols // side) % 2) * 255).astype(np.uint8)[..., None],
            3,
            axis=2,
        )
        yield np.repeat(
            ((cols // side % 2) * 255).astype(np.uint8)[..., None], 3, axis=2
        )


if __name__ == "__main__":
    main()
