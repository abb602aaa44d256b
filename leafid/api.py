"""The front door for Python: ``leafid.load_model``, ``train``, ``extend``, ``explain``, ``segment`` and ``measure``.

>>> import leafid
>>> model = leafid.load_model()
>>> [answer] = model.identify("examples/leaves/fig.jpg")
>>> answer.name
'Ficus carica'
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from leafid.descriptors.registry import get_column_names, measure_families
from leafid.errors import InputError, LeafidError
from leafid.features.extractor import TYPE_SIDE, measure_type_features
from leafid.features.loader import FeatureLoader, open_loader
from leafid.features.recipe import Recipe, choose_types_to_train, load_recipe
from leafid.files import StrPath
from leafid.model.bundled import assign_types, find_bundled_model, read_once
from leafid.model.model import Model
from leafid.model.recogniser import TypeRecogniser
from leafid.pages.explaining import READ_SIDE, Explanation
from leafid.pages.explaining import explain as explain_answer
from leafid.pictures.conversion import list_pictures, to_image
from leafid.pictures.decoding import read_hashed_image
from leafid.pictures.picture import AcquisitionType, Collection, EmptyClass, Picture
from leafid.pictures.reading import read_and_warn
from leafid.pictures.splits import check_labels, select_training_pictures
from leafid.pictures.summary import warn_of_shared_pictures
from leafid.segmentation.result import Image, Segmentation, shrink
from leafid.segmentation.segment import segment as segment_image


def load_model(path: StrPath | None = None) -> Model:
    """Read a model file, by default the bundled model; raise a `LeafidError` when it is no model of this version."""
    return Model.read(find_bundled_model() if path is None else path)


def train(
    collection: Collection | StrPath | Sequence[Picture],
    recipe: str = "default",
    *,
    assume_type: AcquisitionType | str | None = None,
    only_type: AcquisitionType | str | None = None,
    jobs: int = 1,
    cache: StrPath | bool = True,
    seed: int = 0,
    thumbnails: bool = True,
) -> Model:
    """Train a model: one classifier for each acquisition type of the collection.

    Parameters
    ----------
    collection : Collection, path, or sequence of Picture
        Only labelled pictures are used, and of a collection with parts only those of the training part.
    recipe : str
        ``default``, ``fast``, ``small``, ``baseline-bow``, or a ``.toml`` file or a folder of such files.
    assume_type : {"scan", "scan-like", "photo"}, optional
        Take every picture for one of this type. Without it, the bundled model recognises types that are unknown.
    only_type : {"scan", "scan-like", "photo"}, optional
        Train for this type only.
    jobs : int
        Number of worker processes, as for `leafid.Model.identify`. The model doesn't depend on it.
    cache : path or bool
        The folder that keeps computed features: True for that of the commands (``$LEAFID_CACHE``, or
        ``~/.cache/leafid``), False for none.
    seed : int
        Seed of every random choice.
    thumbnails : bool
        Keep up to three small pictures of each species and type in the model.

    Raises
    ------
    LeafidError
        When there is nothing to train on, or no such recipe or type.
    """
    from leafid.training.model import (
        train as train_model,
    )  # scikit-learn takes a second to import

    with open_loader(jobs, cache) as loader:
        pictures = read_training_pictures(collection, assume_type, loader)
        recipes = load_recipes(recipe, pictures, only_type)
        return train_model(pictures, recipes, loader, seed, thumbnails=thumbnails)


def extend(
    model: Model,
    collection: Collection | StrPath | Sequence[Picture],
    *,
    assume_type: AcquisitionType | str | None = None,
    jobs: int = 1,
    cache: StrPath | bool = True,
    thumbnails: bool = True,
) -> Model:
    """Add the species of a collection to a model, without the pictures that it was trained on.

    Thresholds and scores stay those of the model. The parameters are those of `train`. A `LeafidError` is raised when
    the model knows a species of the collection, doesn't learn from a type of its pictures, or was trained with
    classifiers that are not linear.
    """
    from leafid.training.extending import extend as extend_model

    with open_loader(jobs, cache) as loader:
        pictures = read_training_pictures(
            collection, assume_type, loader, model.recogniser
        )
        return extend_model(model, pictures, loader, thumbnails=thumbnails)


def read_training_pictures(
    collection: Collection | StrPath | Sequence[Picture],
    assume_type: AcquisitionType | str | None,
    loader: FeatureLoader,
    recogniser: TypeRecogniser | None = None,
) -> list[Picture]:
    """Select labelled pictures, and give each a type, which the bundled model recognises by default."""
    if isinstance(collection, (str, os.PathLike)):
        collection = read_and_warn(collection, (EmptyClass,))
    pictures = collection.pictures if isinstance(collection, Collection) else collection
    if not isinstance(pictures, Sequence) or not all(
        isinstance(picture, Picture) for picture in pictures
    ):
        expected = "a path, a Collection, or a sequence of Picture, each with its species as its taxon"
        raise InputError(f"collection: expected {expected}, found {collection!r:.60}")
    warn_of_shared_pictures(pictures)
    pictures = select_training_pictures(pictures)
    if recogniser is None:
        check_labels(pictures)
    if assume_type is not None:
        pictures = [
            replace(picture, type=AcquisitionType.parse(assume_type))
            for picture in pictures
        ]
    return assign_types(pictures, loader, recogniser)


def load_recipes(
    recipe: str,
    pictures: Sequence[Picture],
    only_type: AcquisitionType | str | None = None,
) -> dict[AcquisitionType, Recipe]:
    """Load a recipe for each type of the pictures, or for one of these types only."""
    only = None if only_type is None else AcquisitionType.parse(only_type)
    return {
        type_: load_recipe(recipe, type_)
        for type_ in choose_types_to_train(pictures, only)
    }


def explain(
    picture: Any,
    model: Model | None = None,
    *,
    assume_type: AcquisitionType | str | None = None,
    color: str = "bgr",
) -> Explanation:
    """Explain the answer of a model, by default the bundled one, to one picture of whatever kind `identify` takes.

    A `LeafidError` is raised when it can't be read, or there are several.
    """
    model = model or read_once(find_bundled_model())
    pictures = list_pictures(picture, color)
    if len(pictures) != 1:
        raise InputError(f"picture: expected one, found {len(pictures)}")
    [answer] = model.identify(pictures, assume_type=assume_type)
    if answer.problem:
        raise LeafidError(answer.problem)
    image, _ = read_hashed_image(answer.picture.file, READ_SIDE, answer.picture.data)
    return explain_answer(model, image, answer)


def segment(
    image: Any,
    acquisition_type: AcquisitionType | str | None = None,
    *,
    color: str = "bgr",
) -> Segmentation:
    """Cut the leaf out of a picture: a path, an array with channels in the order `color`, or whatever `identify` takes.

    Without a type, it is that of a `Picture`, or is recognised by the bundled model. Where no leaf was found, the mask
    is empty and the confidence 0. An unknown type raises a `LeafidError`.
    """
    array = to_image(image, color=color)
    return segment_image(array, _find_type(image, array, acquisition_type))


def _find_type(
    image: Any, array: Image, acquisition_type: AcquisitionType | str | None
) -> AcquisitionType:
    if acquisition_type is None and isinstance(image, Picture):
        acquisition_type = image.type
    if acquisition_type is None:
        features = measure_type_features(shrink(array, TYPE_SIDE))
        acquisition_type, _ = read_once(find_bundled_model()).recogniser.recognise(
            features
        )
    return AcquisitionType.parse(acquisition_type)


def traits(
    image: Any,
    acquisition_type: AcquisitionType | str | None = None,
    *,
    model: Model | None = None,
    mm_per_pixel: float | None = None,
    unit: str = "mm",
    each_leaf: bool = False,
    color: str = "bgr",
) -> list[dict[str, Any]]:
    """Measure the leaf of a picture of a sheet, or each leaf, as ``leafid measure`` does.

    Parameters
    ----------
    image, acquisition_type, color
        As for `segment`; of the types, one of a leaf on a sheet.
    model : Model, optional
        What decides whether it is a leaf; by default the bundled model.
    mm_per_pixel : float, optional
        The size of a pixel. Without it, lengths are in pixels.
    unit : {"mm", "cm"}
        The unit of lengths where the size of a pixel is given.
    each_leaf : bool
        Return every leaf, the largest first, instead of the largest one.

    Returns
    -------
    list of dict
        A row for each leaf, empty without a leaf: ``verdict`` ("leaf", "no leaf" or "unclear"), ``unit``, the measures
        that ``leafid measure --list`` lists, None where they can't be told, ``…_confidence`` of each, from 0 to 1, and
        columns and rows of base and tip.

    Raises
    ------
    LeafidError
        When the type is unknown or a photo, the size of a pixel isn't above 0, or there is no such unit.
    """
    array = to_image(image, color=color)
    type_ = _find_type(image, array, acquisition_type)
    if not type_.lies_on_sheet:
        raise InputError(
            "acquisition_type: expected scan or scan-like, as only leaves on a sheet are measured"
        )
    if mm_per_pixel is not None and not (
        isinstance(mm_per_pixel, int | float) and 0 < mm_per_pixel < float("inf")
    ):
        raise InputError(
            f"mm_per_pixel: expected a number above 0, found {mm_per_pixel!r}"
        )
    if unit not in ("mm", "cm"):
        raise InputError(f"unit: expected mm or cm, found {unit!r}")
    # scikit-image takes half a second to import.
    from leafid.model.judged_leaves import judge_leaves
    from leafid.segmentation.leaves import segment_leaves

    leaves = segment_leaves(array, type_)
    if not each_leaf:
        leaves = leaves[:1]
    judge = model or read_once(find_bundled_model())
    [picture] = list_pictures(image, color)
    return [
        {"verdict": verdict} | measures.to_record(mm_per_pixel, unit)
        for measures, verdict in judge_leaves(judge, picture, array, leaves, type_)
    ]


def measure(
    image: Any,
    leaf: Segmentation,
    families: str | Iterable[str] | None = None,
    *,
    color: str = "bgr",
) -> dict[str, float]:
    """Measure a leaf: its shape, margin, texture, colour.

    Parameters
    ----------
    image : uint8 (H, W, 3), path, or whatever `segment` takes
    leaf : Segmentation
        The leaf of this image, as `segment` or `Segmentation.from_mask` gives it.
    families : str or iterable of str, optional
        Descriptor families (``leafid describe --list`` names them); all by default.
    color : {"bgr", "rgb"}
        The order of channels in an array.

    Returns
    -------
    dict of str to float
        The values by their names, as in the table that ``leafid describe`` writes: ``geometry.log_aspect_box``. Lengths
        are relative to the leaf.

    Raises
    ------
    LeafidError
        When no leaf was found, the leaf is of an image of another size, or there is no such family.
    """
    array = to_image(image, color=color)
    if leaf.mask.shape != array.shape[:2]:
        raise InputError(
            f"leaf: expected that of an image of {array.shape[:2]} pixels, found {leaf.mask.shape}"
        )
    names = families if isinstance(families, str | None) else list(families)
    values = measure_families(array, leaf, names)
    return dict(
        zip(
            get_column_names(names),
            (float(value) for row in values.values() for value in row),
            strict=True,
        )
    )
