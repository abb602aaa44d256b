"""Finds the bundled model, and the types of pictures by it."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from leafid.errors import LeafidError
from leafid.pictures.picture import AcquisitionType, Picture

if TYPE_CHECKING:
    from leafid.descriptors.encoding import Encoder
    from leafid.features.loader import FeatureLoader
    from leafid.features.recipe import Recipe
    from leafid.learning.type_recogniser import TypeRecognition
    from leafid.model.model import Model

DEFAULT_NAME = "imageclef2011.leafid"
#: Share of the pictures without a type below which a recognised type is taken for an error of the recogniser.
MIN_TYPE_SHARE = 0.1
# A few pictures are taken for a mixture, not for a collection of one kind.
_MIN_COLLECTION = 10
_log = logging.getLogger(__name__)


def find_bundled_model() -> Path:
    """Return the path of the model that is used where none is named."""
    package = Path(__file__).resolve().parents[1]
    # Installed, models/ lies inside the package; in a checkout, beside it.
    for folder in (package / "models", package.parent / "models"):
        if (folder / DEFAULT_NAME).is_file():
            return folder / DEFAULT_NAME
    raise LeafidError(
        f"the bundled model ({DEFAULT_NAME}) is missing from this installation; "
        "name one with --model, or train one with 'leafid train'"
    )


def find_encoders(recipe: Recipe, pictures: Sequence[Picture], loader: FeatureLoader, seed: int) -> dict[str, Encoder]:
    """Learn the encoders of a recipe from pictures, or take those of the bundled model if it says so."""
    from leafid.features.codebooks import learn_encoders

    return load_encoders(recipe) if recipe.codebooks == "bundled" else learn_encoders(pictures, recipe, loader, seed)


def load_encoders(recipe: Recipe) -> dict[str, Encoder]:
    """Load the encoders of a recipe from the bundled model, or raise a `LeafidError` where that has no such."""
    identifier = _read_bundled_model().identifier(recipe.type)
    encoders = {}
    for name, expert in recipe.experts.items():
        if not expert.is_local:
            continue
        own, bundled = expert.to_keys(), identifier.recipe.experts.get(name)
        keys = ("descriptor", "encoder", "modes", "components", "position")
        if bundled is None or not bundled.is_local:
            local = [key for key, other in identifier.recipe.experts.items() if other.is_local]
            raise LeafidError(
                f'codebooks = "bundled": expected an expert of the bundled model ({", ".join(local)}), found {name!r}'
            )
        if different := [key for key in keys if own[key] != bundled.to_keys()[key]]:
            key = different[0]
            raise LeafidError(
                f'codebooks = "bundled": expected {key} = {bundled.to_keys()[key]!r} of expert {name!r}, as in the '
                f"bundled model, found {own[key]!r}"
            )
        encoders[name] = identifier.extractor.encoders[name]
    return encoders


@lru_cache(maxsize=1)
def _read_bundled_model() -> Model:
    from leafid.model.modelfile import read_model

    return read_model(find_bundled_model())


def load_type_recognition(
    pictures: Sequence[Picture], model: str | os.PathLike[str] | None = None
) -> TypeRecognition | None:
    """Read the type recogniser of a model, by default the bundled one; None if the type of every picture is known.

    A `LeafidError` is raised when there is no model, or it can't be read.
    """
    from leafid.model.modelfile import read_type_recognition

    n_unknown = sum(picture.type is None for picture in pictures)
    if not n_unknown:
        return None
    try:
        return read_type_recognition(model or find_bundled_model())
    except LeafidError as error:
        raise LeafidError(
            f"the acquisition type of {n_unknown} of {len(pictures)} pictures is unknown, and no model can recognise "
            f"it: {error}; or say --assume-type"
        ) from error


def recognise_frequent_types(
    recognition: TypeRecognition, pictures: Sequence[Picture], loader: FeatureLoader
) -> tuple[list[Picture], dict[AcquisitionType, int]]:
    """Give readable pictures without a type one of those that are frequent among them, and count what was given."""
    untyped = [picture for picture in pictures if picture.type is None]
    found = {
        picture.file: recognition.recognise(features)[0]
        for picture, features in zip(untyped, loader.load_type_features(untyped), strict=True)
        if features is not None
    }
    counts = Counter(found.values()).most_common()
    rare = {type_ for type_, count in counts if count < MIN_TYPE_SHARE * len(found)}
    type_of = {file: counts[0][0] if type_ in rare else type_ for file, type_ in found.items()}
    typed = [replace(p, type=p.type or type_of[p.file]) for p in pictures if p.type or p.file in type_of]
    given = Counter(type_of.values())
    warn_of_mixed_types(given)
    return typed, {type_: given[type_] for type_ in AcquisitionType if given[type_]}


def warn_of_mixed_types(recognised: Mapping[AcquisitionType, int]) -> None:
    """Warn that pictures were recognised as several types: in a collection of one kind, some of them are errors."""
    if len(recognised) > 1 and sum(recognised.values()) >= _MIN_COLLECTION:
        counts = ", ".join(f"{recognised[type_]} {type_}" for type_ in AcquisitionType if type_ in recognised)
        _log.warning(
            "the acquisition types of %d pictures were recognised as different ones: %s; if all of them were taken in "
            "the same way, say which by --assume-type (in Python: assume_type)",
            sum(recognised.values()),
            counts,
        )
