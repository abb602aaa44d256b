"""The leaf of a picture, from Python: ``segment``, ``measure`` and ``describe``."""

import warnings
from collections.abc import Iterable
from itertools import chain
from numbers import Real
from typing import Any

from numpy.typing import ArrayLike

from leafid.descriptors.measures import LeafMeasures, measure_leaf
from leafid.descriptors.registry import get_column_names, measure_families
from leafid.errors import InputError
from leafid.features.extractor import TYPE_SIDE, measure_type_features
from leafid.model.bundled import find_bundled_model, read_once
from leafid.model.judged_leaves import judge_leaves
from leafid.model.model import Model
from leafid.pictures.conversion import check_color, to_image, to_picture
from leafid.pictures.decoding import read_alpha
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.segmentation.leaves import segment_leaves, split_parts
from leafid.segmentation.result import Image, Segmentation, shrink
from leafid.segmentation.segment import segment as segment_image

# The largest size of a pixel, in millimetres.
_MOST_MM = 100_000


def segment(
    image: Any,
    acquisition_type: AcquisitionType | str | None = None,
    *,
    color: str = "bgr",
) -> Segmentation:
    """Cut the leaf out of a picture.

    Parameters
    ----------
    image : path, uint8 (H, W, 3), or whatever `Model.identify` takes as one picture
    acquisition_type : {"scan", "scan-like", "photo"}, optional
        Without it, it is the type of a `Picture`, or is recognised by the bundled
        model.
    color : {"bgr", "rgb"}
        The order of channels in an array.

    Returns
    -------
    Segmentation
        Its mask is empty and its confidence 0 where it shows no leaf.

    Raises
    ------
    LeafidError
        When the picture can't be read, or there is no such type.
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
        recogniser = read_once(find_bundled_model()).recogniser
        acquisition_type, _ = recogniser.recognise(features)
    return AcquisitionType.parse(acquisition_type)


def measure(
    image: Any,
    acquisition_type: AcquisitionType | str | None = None,
    families: str | Iterable[str] | None = None,
    *,
    leaf: Segmentation | ArrayLike | None = None,
    model: Model | None = None,
    mm_per_pixel: float | None = None,
    unit: str = "mm",
    each_leaf: bool = False,
    color: str = "bgr",
) -> list[dict[str, Any]]:
    """Measure the leaf of a picture of a sheet, or each leaf, as ``leafid measure``.

    Parameters
    ----------
    image, acquisition_type, color
        As for `segment`; a photo needs a mask. The alpha channel of a picture that is
        transparent in places is a mask.
    families
        Deprecated: with a `Segmentation` as the second argument, this is `describe`.
    leaf : Segmentation or (H, W), optional
        A mask from elsewhere, as `Segmentation.from_mask` takes it.
    model : Model, optional
        What decides whether it is a leaf; by default the bundled model.
    mm_per_pixel : float, optional
        The size of a pixel. Without it, lengths are in pixels.
    unit : {"mm", "cm"}
        The unit of lengths where the size of a pixel is given.
    each_leaf : bool
        Return every leaf, the largest first, instead of the largest one: with a mask,
        each part of it.

    Returns
    -------
    list of dict
        A row for each leaf, empty without a leaf: ``verdict`` ("leaf", "no leaf" or
        "unclear"; None with a mask), ``unit``, the measures that
        ``leafid measure --list`` lists, None where they can't be measured,
        ``…_confidence`` of each, from 0 to 1, and columns and rows of base and tip.

    Raises
    ------
    LeafidError
        When the type is unknown, or a photo without a mask, the mask isn't one of this
        image, the size of a pixel isn't above 0 and at most 100000, or there is no such
        unit.
    """
    if isinstance(acquisition_type, Segmentation):
        _warn_of_name("measure with a Segmentation", "describe")
        return describe(image, acquisition_type, families, color=color)
    size = _check_scale(mm_per_pixel, unit)
    check_color(color)
    picture = to_picture(image, "image", color)
    array = to_image(picture)
    if leaf is None:
        leaf = read_alpha(picture.file, picture.data)
    judged: Iterable[tuple[LeafMeasures, str | None]]
    if leaf is None:
        judge = model or read_once(find_bundled_model())
        type_ = _find_type(picture, array, acquisition_type)
        leaves = _find_leaves(array, type_, each_leaf)
        judged = judge_leaves(judge, picture, array, leaves, type_)
    else:
        # What a person marks is a leaf.
        parts = _split_mask(_to_leaf(leaf, array), each_leaf)
        judged = ((measure_leaf(part), None) for part in parts)
    return [
        {"verdict": verdict} | measures.to_record(size, unit)
        for measures, verdict in judged
    ]


def _check_scale(mm_per_pixel: float | None, unit: str) -> float | None:
    if unit not in ("mm", "cm"):
        raise InputError(f"unit: expected mm or cm, found {unit!r}")
    if mm_per_pixel is None:
        return None
    if not isinstance(mm_per_pixel, Real) or not 0 < mm_per_pixel <= _MOST_MM:
        raise InputError(
            f"mm_per_pixel: expected a number above 0, at most {_MOST_MM}, found "
            f"{mm_per_pixel!r}"
        )
    return float(mm_per_pixel)


def _find_leaves(
    image: Image, acquisition_type: AcquisitionType, each_leaf: bool
) -> list[Segmentation]:
    if not acquisition_type.lies_on_sheet:
        raise InputError(
            "acquisition_type: expected scan or scan-like, or a mask of the leaf as "
            f"leaf, found {acquisition_type}"
        )
    leaves = segment_leaves(image, acquisition_type)
    if each_leaf:
        return leaves
    return leaves[:1]


def _split_mask(leaf: Segmentation, each_leaf: bool) -> list[Segmentation]:
    if not leaf.mask.any():
        return []
    if each_leaf:
        return split_parts(leaf)
    return [leaf]


def _to_leaf(leaf: Segmentation | ArrayLike, image: Image) -> Segmentation:
    if not isinstance(leaf, Segmentation):
        leaf = Segmentation.from_mask(leaf)
    if leaf.mask.shape != image.shape[:2]:
        raise InputError(
            f"leaf: expected a mask of an image of {image.shape[:2]} pixels, found "
            f"{leaf.mask.shape}"
        )
    return leaf


def traits(
    image: Any, acquisition_type: AcquisitionType | str | None = None, **options: Any
) -> list[dict[str, Any]]:
    """Call `measure`; this name is deprecated."""
    _warn_of_name("traits", "measure")
    return measure(image, acquisition_type, **options)


def _warn_of_name(old: str, new: str) -> None:
    warnings.warn(
        f"leafid.{old} is deprecated, call leafid.{new}",
        DeprecationWarning,
        stacklevel=3,
    )


def describe(
    image: Any,
    leaf: Segmentation | ArrayLike,
    families: str | Iterable[str] | None = None,
    *,
    color: str = "bgr",
) -> dict[str, float]:
    """Describe a leaf by numbers: its shape, margin, texture, colour.

    Parameters
    ----------
    image : uint8 (H, W, 3), path, or whatever `segment` takes
    leaf : Segmentation or (H, W)
        The leaf of this image, as `segment` or `Segmentation.from_mask` gives it, or a
        mask that the latter takes.
    families : str or iterable of str, optional
        Descriptor families (``leafid describe --list`` names them); all by default.
    color : {"bgr", "rgb"}
        The order of channels in an array.

    Returns
    -------
    dict of str to float
        The values by their names, as in the table that ``leafid describe`` writes:
        ``geometry.log_aspect_box``. Lengths are relative to the leaf.

    Raises
    ------
    LeafidError
        When there is no leaf, it is of an image of another size, or there is no such
        family.
    """
    array = to_image(image, color=color)
    if not isinstance(families, str | None):
        families = list(families)
    vectors = measure_families(array, _to_leaf(leaf, array), families)
    values = map(float, chain.from_iterable(vectors.values()))
    return dict(zip(get_column_names(families), values, strict=True))
