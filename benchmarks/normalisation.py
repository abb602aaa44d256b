"""The contribution of segmentation and upright crops: cross-validated scores with a step left out or simplified.

Each row replaces a step of `leafid.segmentation` for training and test pictures, and extracts all features again.
Prints rows of a Markdown table for docs/results.md.

    python -m benchmarks.normalisation COLLECTION --type scan [--type scan-like] [--jobs 2] [--only TEXT]
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import cv2
import numpy as np

from benchmarks.table_rows import HEAD, print_rows
from leafid.features import extractor as extractor_module
from leafid.features.cache import FeatureCache
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe
from leafid.features.recipe_reader import load_recipe
from leafid.parallel import use_workers
from leafid.pictures import AcquisitionType, read_collection
from leafid.segmentation import Segmentation, background, crop, natural, regions, segment, uniform
from leafid.segmentation.result import Image, Mask
from leafid.worker_calls import call_in_worker

# The module: in the package, its name is that of the function.
_SEGMENT = importlib.import_module("leafid.segmentation.segment")
Item = TypeVar("Item")
Result = TypeVar("Result")
# Of Lab as OpenCV has it in 8 bits.
_WHITE = (255.0, 128.0, 128.0)


def segment_by_otsu(image: Image) -> Mask:
    """Segment by Otsu's threshold of grey."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)[1] > 0


def segment_by_green(image: Image) -> Mask:
    """Segment by the excess of green over red and blue; keep the largest region."""
    blue, green, red = cv2.split(image.astype(np.int16))
    excess = np.clip(2 * green - red - blue, 0, 255).astype(np.uint8)
    return keep_largest_region(cv2.threshold(excess, 0, 1, cv2.THRESH_BINARY | cv2.THRESH_OTSU)[1]) > 0


def keep_largest_region(marked: np.ndarray) -> np.ndarray:
    """Keep the largest region of a mask of 0 and 1; uint8."""
    count, labels = cv2.connectedComponents(marked, connectivity=8)
    if count == 1:
        return marked
    return (labels == 1 + np.bincount(labels.ravel())[1:].argmax()).astype(np.uint8)


def make_ellipse(image: Image) -> Mask:
    """Mark an ellipse in the middle of the picture."""
    rows, cols = image.shape[:2]
    row, col = np.linspace(-1, 1, rows)[:, None], np.linspace(-1, 1, cols)[None]
    return row**2 + col**2 < 0.5


def assume_white_sheet(image: Image, *, quick: bool = False) -> tuple[np.ndarray, float]:
    """Assume that every sheet is white."""
    surface, spread = background.fit_sheet_surface(image, quick=quick)
    return np.broadcast_to(np.array(_WHITE, np.float32), surface.shape), spread


def assume_even_light(image: Image, *, quick: bool = False) -> tuple[np.ndarray, float]:
    """Assume that the sheet is evenly lit, in its median colour."""
    surface, spread = background.fit_sheet_surface(image, quick=quick)
    return np.broadcast_to(np.median(surface, axis=(0, 1)), surface.shape), spread


def select_largest_region(share: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Select the largest region of the leaf."""
    return keep_largest_region(regions.select_leaf_regions(share, distance))


def segment_with_petiole(image: Image, acquisition_type: AcquisitionType, *, petiole: bool = True) -> Segmentation:
    """Segment, and remove the petiole in photos as well."""
    return segment(image, acquisition_type, petiole=petiole or acquisition_type is AcquisitionType.PHOTO)


@dataclass(frozen=True)
class Step:
    """A changed step: replacements of attributes (owner, name, value), or a change of the recipe."""

    what: str
    replaced: tuple[tuple[Any, str, Any], ...] = ()
    recipe: Callable[[Recipe], Recipe] = lambda recipe: recipe

    @contextmanager
    def apply(self) -> Iterator[None]:
        """Apply the replacements inside the ``with`` block."""
        with ExitStack() as stack:
            for owner, name, value in self.replaced:
                stack.enter_context(mock.patch.object(owner, name, value))
            yield


def _with_confidence(cut: Callable[[Image], Mask]) -> Callable[[Image], tuple[Mask, float]]:
    return lambda image: (cut(image), 1.0)


def _with_cover(cut: Callable[[Image], Mask]) -> Callable[[Image], tuple[Mask, float, None]]:
    return lambda image: (cut(image), 1.0, None)


def _use_whole_picture(recipe: Recipe) -> Recipe:
    experts = {k: e.with_keys(view="picture") if e.is_local else e for k, e in recipe.experts.items()}
    return replace(recipe, experts=experts)


_PLAIN = [Step("the recipe")]
_COMMON = [
    Step("not turned upright", ((crop, "estimate_upright_angle", lambda segmentation: 0.0),)),
    Step("local features of the whole picture, neither cut out nor scaled", recipe=_use_whole_picture),
]
OF_SHEETS = [
    *_PLAIN,
    Step(
        "leaf cut by Otsu's threshold of grey",
        ((_SEGMENT, "segment_sheet", _with_cover(segment_by_otsu)),),
    ),
    Step("every sheet taken for white", ((uniform, "fit_sheet_surface", assume_white_sheet),)),
    Step("every sheet taken for evenly lit", ((uniform, "fit_sheet_surface", assume_even_light),)),
    Step("shadows taken for leaf", ((uniform, "_LIGHTNESS_SHARE", 1.0),)),
    Step("largest region alone", ((uniform, "select_leaf_regions", select_largest_region),)),
    Step("petiole not looked for", ((_SEGMENT, "remove_petiole", lambda mask, box=None: mask.copy()),)),
    *_COMMON,
]
OF_PHOTOS = [
    *_PLAIN,
    Step("leaf cut by Otsu's threshold of green", ((_SEGMENT, "segment_photo", _with_confidence(segment_by_green)),)),
    Step("an ellipse in the middle for the leaf", ((_SEGMENT, "segment_photo", _with_confidence(make_ellipse)),)),
    Step("one round of colours instead of eight", ((natural, "_ROUNDS", 1),)),
    Step("petiole looked for", ((extractor_module, "segment", segment_with_petiole),)),
    *_COMMON,
]

ALL = [*OF_SHEETS, *OF_PHOTOS]
# The replacements of a worker last as long as it lives.
_for_good = ExitStack()


class Workers:
    """Worker processes in which a step is changed as well."""

    def __init__(self, step: Step, jobs: int) -> None:
        self.number = ALL.index(step)
        self.jobs = jobs

    def ordered_map(
        self, function: Callable[[Item], Result], items: Iterable[Item], make_failure: object = None
    ) -> Iterator[Result]:
        """Yield ``function(item)`` for every item, in the items' order."""
        task = partial(call_in_worker, Path.cwd(), function)
        with multiprocessing.get_context("spawn").Pool(self.jobs, _apply_for_good, (self.number,)) as pool:
            yield from pool.imap(task, items, chunksize=8)


def _apply_for_good(number: int) -> None:
    _for_good.enter_context(ALL[number].apply())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--type", required=True, action="append", choices=list(map(str, AcquisitionType)))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", action="append", metavar="TEXT", help="only rows with this text; repeatable")
    arguments = parser.parse_args()
    types = [AcquisitionType(name) for name in arguments.type]
    if AcquisitionType.PHOTO in types and len(types) > 1:
        parser.error("photos have steps of their own; give that type alone")
    pictures = list(read_collection(arguments.collection).select_labelled().pictures)
    print(HEAD, flush=True)
    for step in OF_PHOTOS if AcquisitionType.PHOTO in types else OF_SHEETS:
        if arguments.only and not any(text in step.what for text in arguments.only):
            continue
        recipes = {type_: step.recipe(load_recipe("default", type_)) for type_ in types}
        # Features extracted with a changed step must not be used for anything else: they get a cache of their own.
        workers = Workers(step, arguments.jobs)
        with tempfile.TemporaryDirectory() as folder, step.apply(), use_workers(workers.ordered_map):
            print_rows(step.what, recipes, pictures, FeatureLoader(FeatureCache(folder), arguments.jobs))


if __name__ == "__main__":
    main()
