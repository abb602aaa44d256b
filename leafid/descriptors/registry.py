"""All descriptors by name: families of measures of a leaf, and local descriptors."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from leafid.descriptors.arrays import Plane, Singles
from leafid.descriptors.imported import hash_module, import_measure, is_code
from leafid.descriptors.local.edges import extract_edge_sift
from leafid.descriptors.local.gradients import SIFT_LENGTH, Pyramid
from leafid.descriptors.local.grid import Grid, LocalFeatures
from leafid.descriptors.local.outline import extract_outline_sift
from leafid.descriptors.local.sift import (
    CHROMA_LENGTH,
    extract_chroma_sift,
    extract_dense_sift,
    extract_detected_sift,
)
from leafid.descriptors.shape import (
    curvature,
    geometry,
    margin,
    moments,
    triangle,
)
from leafid.descriptors.shape.contour import Shape, normalise_shape
from leafid.descriptors.surface import texture
from leafid.errors import LeafidError, UsageError
from leafid.segmentation.pixels import Mask, get_window
from leafid.segmentation.result import Segmentation


@dataclass(frozen=True, slots=True)
class Family:
    """One vector of numbers that every leaf has."""

    #: Name in recipes and on the command line.
    name: str
    summary: str
    #: Takes the normalised shape of a blade, or the box of a leaf as image and blade;
    #: returns float32 (n_values,).
    measure: Callable[..., Singles]
    #: Names of the values, in order, without the family's name.
    value_names: tuple[str, ...]
    reads: Literal["shape", "pixels"] = "shape"
    #: The hash of its module, for code that is not leafid's.
    version: str = ""


@dataclass(frozen=True, slots=True)
class LocalDescriptor:
    """A kind of local features, of `length` values each.

    `reads` is a view of the picture, in grey or the two colour channels of Lab.
    ``compute(pyramid, region, grid)`` extracts the features of the view's pyramid. The
    region is the leaf's part of the view, or None for all of it.
    """

    length: int
    reads: Literal["grey", "chroma"]
    compute: Callable[[Pyramid, Mask | None, Grid], LocalFeatures]
    summary: str  # for users


def measure_families(
    image: Plane,
    segmentation: Segmentation,
    families: str | Iterable[str] | None = None,
) -> dict[str, Singles]:
    """Measure families of one leaf, by default all.

    Parameters
    ----------
    image : uint8 (H, W, 3)
    segmentation : Segmentation
    families : str or iterable of str, optional

    Returns
    -------
    dict of str to float32 (n_values,)
        By the names of the families; `get_column_names` names the values.

    Raises
    ------
    UsageError
        For an unknown family.
    LeafidError
        For an empty segmentation.
    """
    selected = find_families(families)
    if not segmentation.blade.any():
        raise LeafidError(
            "no leaf was found; leave the picture out, or try another acquisition type"
        )
    window = get_window(segmentation.box)
    pixels = image[window], segmentation.blade[window]
    vectors: dict[str, Singles] = {}
    shape: Shape | None = None
    for family in selected:
        if family.reads == "pixels":
            vectors[family.name] = family.measure(*pixels)
        else:
            shape = shape or normalise_shape(pixels[1])
            vectors[family.name] = family.measure(shape)
    return vectors


def get_column_names(families: str | Iterable[str] | None = None) -> list[str]:
    """Name the columns of a table of families: ``geometry.solidity``.

    By default all families are in the table.
    """
    return [
        f"{family.name}.{name}"
        for family in find_families(families)
        for name in family.value_names
    ]


def find_families(names: str | Iterable[str] | None = None) -> list[Family]:
    """Find a family, or several, by name; by default all of leafid's.

    One named ``package.module:function`` is imported. A `UsageError` is raised when
    that fails, there is no name, a family is unknown, or one is named twice.
    """
    if names is None:
        return list(FAMILIES.values())
    names = [names] if isinstance(names, str) else list(names)
    if not names:
        raise UsageError(
            f"expected at least one descriptor family ({', '.join(FAMILIES)}), found "
            "none"
        )
    for name in names:
        if name not in FAMILIES and not is_code(name):
            raise UsageError(
                f"unknown descriptor family {name!r}; there are {', '.join(FAMILIES)}"
            )
    if len(set(names)) < len(names):
        raise UsageError(
            f"expected each descriptor family once, found {', '.join(names)}"
        )
    return [FAMILIES.get(name) or _import_family(name) for name in names]


def _import_family(name: str) -> Family:
    return Family(
        name,
        "not leafid's",
        *import_measure(name),
        reads="pixels",
        version=hash_module(name),
    )


_FAMILIES = (
    Family(
        "geometry",
        "proportions and profiles of the blade",
        geometry.measure_geometry,
        geometry.GEOMETRY_NAMES,
    ),
    Family(
        "hu",
        "Hu's moment invariants",
        moments.measure_hu_moments,
        moments.HU_MOMENTS_NAMES,
    ),
    Family(
        "arch",
        "arch heights and chords over span",
        triangle.measure_arches,
        triangle.ARCHES_NAMES,
    ),
    Family(
        "triangle",
        "triangles along the outline, over span",
        triangle.measure_triangles,
        triangle.TRIANGLES_NAMES,
    ),
    Family(
        "curvature",
        "curvature over scale",
        curvature.measure_curvature,
        curvature.CURVATURE_NAMES,
    ),
    Family(
        "teeth",
        "teeth of the margin over scale",
        margin.measure_teeth,
        margin.TEETH_NAMES,
    ),
    Family("lobes", "lobes of the margin", margin.measure_lobes, margin.LOBES_NAMES),
    Family(
        "interior",
        "texture of the inside (LBP-HF)",
        texture.measure_interior,
        texture.INTERIOR_NAMES,
        reads="pixels",
    ),
    Family(
        "outline",
        "texture of the edge's silhouette (LBP-HF)",
        texture.measure_outline,
        texture.OUTLINE_NAMES,
        reads="pixels",
    ),
)
#: Every family, by name.
FAMILIES: Mapping[str, Family] = {family.name: family for family in _FAMILIES}

#: Every local descriptor, by name.
LOCAL_DESCRIPTORS: Mapping[str, LocalDescriptor] = {
    "dense-sift": LocalDescriptor(
        SIFT_LENGTH, "grey", extract_dense_sift, "edges in small patches"
    ),
    "dense-chroma-sift": LocalDescriptor(
        CHROMA_LENGTH,
        "chroma",
        extract_chroma_sift,
        "edges between hues in small patches",
    ),
    "detected-sift": LocalDescriptor(
        SIFT_LENGTH, "grey", extract_detected_sift, "edges around distinct points"
    ),
    "edge-sift": LocalDescriptor(
        SIFT_LENGTH, "grey", extract_edge_sift, "patches along margins and veins"
    ),
    "outline-sift": LocalDescriptor(
        SIFT_LENGTH, "grey", extract_outline_sift, "edges along the outline"
    ),
}
