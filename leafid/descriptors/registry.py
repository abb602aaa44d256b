"""The global descriptor families by name, imported only when used."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from leafid.errors import LeafidError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from leafid.segmentation import Segmentation


@dataclass(frozen=True, slots=True)
class Family:
    """One vector of numbers that every leaf has.

    Attributes
    ----------
    name : str
        What recipes and the command line call it.
    summary : str
        A line that says what is measured.
    source : str
        The key in `SOURCES` of what the family is measured on; families of one source share its computation.
    module, function : str
        Of the package `leafid.descriptors`: ``function(source)`` measures, ``function_names()`` names the values.
    citation : str
        The paper, and its DOI where it has one; empty where the measurement is common knowledge or leafid's own.
    """

    name: str
    summary: str
    source: str
    module: str
    function: str
    citation: str = ""

    def compute(self, image: NDArray[np.uint8], segmentation: Segmentation) -> NDArray[np.float32]:
        """Measure one leaf.

        Parameters
        ----------
        image : ndarray of uint8, shape (H, W, 3)
            BGR.
        segmentation : Segmentation
            Of this image.

        Returns
        -------
        ndarray of float32, shape (D,)

        Raises
        ------
        LeafidError
            When no leaf was found in the picture.

        See Also
        --------
        measure_families : several families at once, without doing their common work twice.
        """
        return measure_families(image, segmentation, [self.name])[self.name]

    def names(self) -> list[str]:
        """Name the values, in order, without the family's name."""
        return _load(self.module, f"{self.function}_names")()

    def measure(self, source: object) -> NDArray[np.float32]:
        """Measure what `SOURCES` made of a picture."""
        return _load(self.module, self.function)(source)


def measure_families(
    image: NDArray[np.uint8], segmentation: Segmentation, families: Iterable[str] | None = None
) -> dict[str, NDArray[np.float32]]:
    """Measure several families of one leaf; what they share is computed once.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        BGR.
    segmentation : Segmentation
        Of this image.
    families : iterable of str, optional
        By default all of `FAMILIES`.

    Returns
    -------
    dict of str to ndarray of float32, shape (D,)
        By the family's name, in the order asked for.

    Raises
    ------
    UsageError
        When there is no family of a name.
    LeafidError
        When no leaf was found in the picture.
    """
    wanted = find_families(families)
    if not segmentation.blade.any():
        raise LeafidError("no leaf was found; leave the picture out, or try another acquisition type")
    names = {family.source for family in wanted}
    # Without a petiole, the whole leaf is the blade: what was measured of the one holds for the other.
    same = {"whole", "blade"} <= names and _is_bare(segmentation)
    sources = {name: SOURCES[name](image, segmentation) for name in names if not (same and name == "whole")}
    values: dict[str, NDArray[np.float32]] = {}
    measured: dict[tuple[str, str, str], NDArray[np.float32]] = {}
    for family in wanted:
        source = "blade" if same and family.source == "whole" else family.source
        key = source, family.module, family.function
        if key not in measured:
            measured[key] = family.measure(sources[source])
        values[family.name] = measured[key]
    return values


def get_column_names(families: Iterable[str] | None = None) -> list[str]:
    """Name the columns of a table of these families: ``geometry.log_aspect_box``.

    Parameters
    ----------
    families : iterable of str, optional
        By default all of `FAMILIES`.

    Returns
    -------
    list of str
        The family's name, a dot, and the value's name without what is only the family's name again.
    """
    return [f"{family.name}.{name}" for family in find_families(families) for name in _shortened(family.names())]


def find_families(names: Iterable[str] | None = None) -> list[Family]:
    """Look families up by name.

    Raises
    ------
    UsageError
        When none is asked for, there is no family of a name, or one is named twice.
    """
    if names is None:
        return list(FAMILIES.values())
    names = list(names)
    if not names:
        raise UsageError(f"expected at least one descriptor family ({', '.join(FAMILIES)}), found none")
    for index, name in enumerate(names):
        if name not in FAMILIES:
            close = difflib.get_close_matches(name, FAMILIES, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(FAMILIES)}"
            raise UsageError(f"unknown descriptor family {name!r}; {hint}")
        if name in names[:index]:
            raise UsageError(f"descriptor family {name!r} is named twice; name it once")
    return [FAMILIES[name] for name in names]


# The measuring functions take what their source makes, each a type of its own that only their module knows.
def _load(module: str, function: str) -> Callable[..., Any]:
    return getattr(importlib.import_module(f"leafid.descriptors.{module}"), function)


def _shortened(names: list[str]) -> list[str]:
    first = [name.split("_")[0] for name in names]
    if len(names) < 2 or len(set(first)) > 1:
        return names
    rest = [name.partition("_")[2] for name in names]
    return rest if all(rest) else names


def _is_bare(segmentation: Segmentation) -> bool:
    mask, blade = segmentation.mask, segmentation.blade
    return mask is blade or bool((mask == blade).all())


def _blade_shape(image: NDArray[np.uint8], segmentation: Segmentation) -> object:
    return _load("contour", "normalise_shape")(segmentation.blade)


def _whole_shape(image: NDArray[np.uint8], segmentation: Segmentation) -> object:
    return _load("contour", "normalise_shape")(segmentation.mask)


def _texture(image: NDArray[np.uint8], segmentation: Segmentation) -> object:
    return _load("texture", "LeafTexture")(image, segmentation.blade)


def _leaf(image: NDArray[np.uint8], segmentation: Segmentation) -> object:
    return image, segmentation.blade


#: What families are measured on, made from a picture and its segmentation.
SOURCES: Mapping[str, Callable[[NDArray[np.uint8], Segmentation], object]] = MappingProxyType(
    {
        "blade": _blade_shape,
        "whole": _whole_shape,
        "texture": _texture,
        "leaf": _leaf,
    }
)

_SULC = "Šulc, Matas, Texture-based leaf identification, ECCV 2014 workshops, doi:10.1007/978-3-319-16220-1_14"
_KUHL = "Kuhl, Giardina, Elliptic Fourier features of a closed contour, CGIP 18, 1982, doi:10.1016/0146-664X(82)90034-X"
_KUMAR = "Kumar et al., Leafsnap, ECCV 2012, doi:10.1007/978-3-642-33709-3_36"
_HU = "Hu, Visual pattern recognition by moment invariants, IRE Trans. IT 8, 1962, doi:10.1109/TIT.1962.1057692"
_ZHANG = "Zhang, Lu, Generic Fourier descriptor, Signal Processing: IC 17, 2002, doi:10.1016/S0923-5965(02)00084-X"
_ZHANG_OUTLINES = (
    "Zhang, Lu, A comparative study of Fourier descriptors for shape representation and retrieval, ACCV 2002"
)
_SANDE = "van de Sande et al., Evaluating color descriptors, PAMI 32, 2010, doi:10.1109/TPAMI.2009.154"
_MARAGOS = "Maragos, Pattern spectrum and multiscale shape representation, PAMI 11, 1989, doi:10.1109/34.192465"
_MOUINE = "Mouine et al., A shape-based approach for leaf classification, ICMR 2013, doi:10.1145/2461466.2461489"
_FRANGI = "Frangi et al., Multiscale vessel enhancement filtering, MICCAI 1998, doi:10.1007/BFb0056195"

#: Every family, by name.
FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        family.name: family
        for family in (
            Family("geometry", "proportions, convexity and profiles of the blade", "blade", "geometry", "geometry"),
            Family("geometry_whole", "the same with the petiole", "whole", "geometry", "geometry"),
            Family("hu", "Hu's moment invariants", "blade", "moments", "hu_moments", _HU),
            Family("polar_fourier", "angular Fourier in rings", "blade", "moments", "polar_fourier", _ZHANG),
            Family("elliptic", "elliptic Fourier outline", "blade", "fourier", "elliptic_fourier", _KUHL),
            Family(
                "centroid_distance",
                "outline's distance from its centroid",
                "blade",
                "fourier",
                "centroid_distance",
                _ZHANG_OUTLINES,
            ),
            Family("arch", "arch heights and chords over span", "blade", "triangle", "triangle_fourier", _MOUINE),
            Family(
                "triangle", "triangles along the outline, over span", "blade", "triangle", "triangle_quantiles", _MOUINE
            ),
            Family("curvature", "curvature over scale", "blade", "curvature", "curvature_histograms", _KUMAR),
            Family(
                "curvature_whole", "the same with the petiole", "whole", "curvature", "curvature_histograms", _KUMAR
            ),
            Family("teeth", "teeth of the margin over scale", "blade", "margin", "margin_teeth"),
            Family("lobes", "lobes of the margin", "blade", "margin", "margin_lobes"),
            Family("leaflets", "leaflets and pattern spectrum", "blade", "leaflets", "leaflets", _MARAGOS),
            Family("interior", "texture of the inside (LBP-HF)", "texture", "texture", "interior_texture", _SULC),
            Family("border", "texture along the edge (LBP-HF)", "texture", "texture", "border_texture", _SULC),
            Family(
                "outline", "texture of the edge's silhouette (LBP-HF)", "texture", "texture", "outline_texture", _SULC
            ),
            Family("veins", "density and direction of veins", "leaf", "veins", "leaf_veins", _FRANGI),
            Family("colour", "colour inside the blade", "leaf", "colour", "leaf_colour", _SANDE),
        )
    }
)
