"""The bundled model: where it is, and its recogniser of acquisition types."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from leafid.errors import LeafidError
from leafid.features.loader import FeatureLoader
from leafid.files import StrPath
from leafid.model.model import Model
from leafid.model.recogniser import TypeRecogniser, log_types
from leafid.pictures.picture import (
    Picture,
    group_by_collection,
    warn_of_lost_species,
)

DEFAULT_NAME = "imageclef2011.leafid"
#: Share of the pictures without a type below which a recognised type is taken for an
#: error of the recogniser.
MIN_TYPE_SHARE = 0.1


def find_bundled_model() -> Path:
    """Return the path of the model that is used where none is named."""
    package = Path(__file__).resolve().parents[1]
    # Installed, models/ lies inside the package; in a checkout, beside it.
    for folder in (package / "models", package.parent / "models"):
        if (folder / DEFAULT_NAME).is_file():
            return folder / DEFAULT_NAME
    raise LeafidError(
        f"the bundled model ({DEFAULT_NAME}) is missing from this installation; "
        "name one with --model, or train one with 'leafid train'; "
        "to recognise no types, say --assume-type"
    )


@lru_cache(maxsize=1)
def read_once(path: Path) -> Model:
    """Read a model, the same object for the same path."""
    return Model.read(path)


def load_recogniser(
    pictures: Sequence[Picture], model: StrPath | None = None
) -> TypeRecogniser | None:
    """Read the type recogniser of a model, by default the bundled one.

    None if the type of every picture is known.
    """
    if all(picture.type for picture in pictures):
        return None
    return read_once(Path(model or find_bundled_model())).recogniser


def assign_types(
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    recogniser: TypeRecogniser | None = None,
) -> list[Picture]:
    """Give pictures without a type one that is frequent in their collection.

    The types are logged, and lost species warned of.

    Parameters
    ----------
    pictures : sequence of Picture
    loader : FeatureLoader
    recogniser : TypeRecogniser, optional
        By default the one of the bundled model.

    Returns
    -------
    list of Picture
        Without unreadable ones.
    """
    recogniser_of_types = recogniser or load_recogniser(pictures)
    if recogniser_of_types is None:
        return list(pictures)
    typed: list[Picture] = []
    for name, members in group_by_collection(pictures).items():
        typed += _assign_types_of_collection(members, loader, recogniser_of_types, name)
    warn_of_lost_species(pictures, typed)
    return typed


def _assign_types_of_collection(
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    recogniser: TypeRecogniser,
    name: str,
) -> list[Picture]:
    typed_pictures = recogniser.recognise_pictures(pictures, loader).values()
    counts = Counter(
        picture.require_type()
        for picture, probability in typed_pictures
        if probability is not None
    )
    types_by_count = counts.most_common()
    frequent_types = {
        type_: types_by_count[0][0]
        if count < MIN_TYPE_SHARE * counts.total()
        else type_
        for type_, count in types_by_count
    }
    types = Counter(frequent_types[type_] for type_ in counts.elements())
    log_types(types, collection=name)
    return [
        replace(p, type=frequent_types[p.require_type()])
        if probability is not None
        else p
        for p, probability in typed_pictures
    ]
