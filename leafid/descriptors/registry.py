"""The global descriptor families by name, imported only when used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from leafid.errors import LeafidError, UsageError, suggest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from leafid.segmentation import Segmentation


@dataclass(frozen=True, slots=True)
class Family:
    """One vector of numbers that every leaf has."""

    #: As in recipes and on the command line.
    name: str
    summary: str
    #: Key in `SOURCES` of what the family is measured on; families of one source share its computation.
    source: str
    #: Measures the source: module and function in `leafid.descriptors`. The tuple ``X_NAMES`` beside ``measure_X``
    #: names its values.
    function: str
    #: The paper, and its DOI where it has one; empty where the measurement is common knowledge or leafid's own.
    citation: str = ""

    @property
    def value_names(self) -> tuple[str, ...]:
        """Names of the values, in order, without the family's name."""
        module, _, function = self.function.rpartition(".")
        names: tuple[str, ...] = _load(f"{module}.{function.removeprefix('measure_').upper()}_NAMES")
        return names


def measure_families(
    image: NDArray[np.uint8], segmentation: Segmentation, families: Iterable[str] | None = None
) -> dict[str, NDArray[np.float32]]:
    """Measure families of one leaf, by default all, float32 (n_values,) by name; what they share is computed once.

    `get_column_names` names the values. An unknown family raises a `UsageError`, an empty segmentation a `LeafidError`.
    """
    selected = find_families(families)
    if not segmentation.blade.any():
        raise LeafidError("no leaf was found; leave the picture out, or try another acquisition type")
    # Without a petiole, the whole leaf is the blade: one measurement holds for both.
    mask, blade = segmentation.mask, segmentation.blade
    keys = {family.source for family in selected}
    is_bare = {"whole", "blade"} <= keys and (mask is blade or bool((mask == blade).all()))
    sources = {key: SOURCES[key](image, segmentation) for key in keys if not (is_bare and key == "whole")}
    values: dict[str, NDArray[np.float32]] = {}
    measured: dict[tuple[str, str], NDArray[np.float32]] = {}
    for family in selected:
        source = "blade" if is_bare and family.source == "whole" else family.source
        key = source, family.function
        if key not in measured:
            measured[key] = _load(family.function)(*sources[source])
        values[family.name] = measured[key]
    return values


def get_column_names(families: Iterable[str] | None = None) -> list[str]:
    """Name the columns of a table of these families, by default all: ``geometry.log_aspect_box``."""
    return [f"{family.name}.{name}" for family in find_families(families) for name in family.value_names]


def find_families(names: Iterable[str] | None = None) -> list[Family]:
    """Find families by name; by default all.

    A `UsageError` is raised when there is no name, a family is unknown, or one is named twice.
    """
    if names is None:
        return list(FAMILIES.values())
    names = list(names)
    if not names:
        raise UsageError(f"expected at least one descriptor family ({', '.join(FAMILIES)}), found none")
    for index, name in enumerate(names):
        if name not in FAMILIES:
            hint = suggest(name, FAMILIES, f"; there are {', '.join(FAMILIES)}")
            raise UsageError(f"unknown descriptor family {name!r}{hint}")
        if name in names[:index]:
            raise UsageError(f"descriptor family {name!r} is named twice; name it once")
    return [FAMILIES[name] for name in names]


def _load(name: str) -> Any:
    """Import a function or constant of this package, given as ``module.attribute``."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(f"leafid.descriptors.{module}"), attribute)


Source = Callable[["NDArray[np.uint8]", "Segmentation"], tuple[Any, ...]]
#: What families are measured on: the arguments of their functions, made from a picture and its segmentation.
SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "blade": lambda image, leaf: (_load("shape.contour.normalise_shape")(leaf.blade),),
        "whole": lambda image, leaf: (_load("shape.contour.normalise_shape")(leaf.mask),),
        "texture": lambda image, leaf: (_load("surface.texture.LeafTexture")(image, leaf.blade),),
        "pixels": lambda image, leaf: (image, leaf.blade),
    }
)

_SULC = "Šulc, Matas, Texture-based leaf identification, ECCV 2014 workshops, doi:10.1007/978-3-319-16220-1_14"
_KUHL = "Kuhl, Giardina, Elliptic Fourier features of a closed contour, CGIP 18, 1982, doi:10.1016/0146-664X(82)90034-X"
_KUMAR = "Kumar et al., Leafsnap, ECCV 2012, doi:10.1007/978-3-642-33709-3_36"
_HU = "Hu, Visual pattern recognition by moment invariants, IRE Trans. IT 8, 1962, doi:10.1109/TIT.1962.1057692"
_ZHANG = "Zhang, Lu, Generic Fourier descriptor, Signal Processing: IC 17, 2002, doi:10.1016/S0923-5965(02)00084-X"
_ZHANG_ACCV = "Zhang, Lu, A comparative study of Fourier descriptors for shape representation and retrieval, ACCV 2002"
_SANDE = "van de Sande et al., Evaluating color descriptors, PAMI 32, 2010, doi:10.1109/TPAMI.2009.154"
_MARAGOS = "Maragos, Pattern spectrum and multiscale shape representation, PAMI 11, 1989, doi:10.1109/34.192465"
_MOUINE = "Mouine et al., A shape-based approach for leaf classification, ICMR 2013, doi:10.1145/2461466.2461489"
_FRANGI = "Frangi et al., Multiscale vessel enhancement filtering, MICCAI 1998, doi:10.1007/BFb0056195"

_FAMILIES = (
    Family("geometry", "proportions, convexity and profiles of the blade", "blade", "shape.geometry.measure_geometry"),
    Family("geometry_whole", "the same with the petiole", "whole", "shape.geometry.measure_geometry"),
    Family("hu", "Hu's moment invariants", "blade", "shape.moments.measure_hu_moments", _HU),
    Family("polar_fourier", "angular Fourier in rings", "blade", "shape.moments.measure_polar_fourier", _ZHANG),
    Family("elliptic", "elliptic Fourier outline", "blade", "shape.fourier.measure_elliptic_fourier", _KUHL),
    Family(
        "centroid_distance",
        "outline's distance from its centroid",
        "blade",
        "shape.fourier.measure_centroid_distance",
        _ZHANG_ACCV,
    ),
    Family("arch", "arch heights and chords over span", "blade", "shape.triangle.measure_arches", _MOUINE),
    Family("triangle", "triangles along the outline, over span", "blade", "shape.triangle.measure_triangles", _MOUINE),
    Family("curvature", "curvature over scale", "blade", "shape.curvature.measure_curvature", _KUMAR),
    Family("curvature_whole", "the same with the petiole", "whole", "shape.curvature.measure_curvature", _KUMAR),
    Family("teeth", "teeth of the margin over scale", "blade", "shape.margin.measure_teeth"),
    Family("lobes", "lobes of the margin", "blade", "shape.margin.measure_lobes"),
    Family("leaflets", "leaflets and pattern spectrum", "blade", "shape.leaflets.measure_leaflets", _MARAGOS),
    Family("interior", "texture of the inside (LBP-HF)", "texture", "surface.texture.measure_interior", _SULC),
    Family("border", "texture along the edge (LBP-HF)", "texture", "surface.texture.measure_border", _SULC),
    Family("outline", "texture of the edge's silhouette (LBP-HF)", "texture", "surface.texture.measure_outline", _SULC),
    Family("veins", "density and direction of veins", "pixels", "surface.veins.measure_veins", _FRANGI),
    Family("colour", "colour inside the blade", "pixels", "surface.colour.measure_colour", _SANDE),
)
#: Every family, by name.
FAMILIES: Mapping[str, Family] = MappingProxyType({family.name: family for family in _FAMILIES})
