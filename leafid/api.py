"""The models of leafid from Python: ``load_model``, ``train``, ``extend``, ``explain``.

>>> import leafid
>>> model = leafid.load_model()
>>> [answer] = model.identify("examples/leaves/fig.jpg")
>>> answer.name
'Ficus carica'
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from leafid.errors import InputError, LeafidError
from leafid.features.loader import FeatureLoader, open_loader
from leafid.features.recipe import Recipe, choose_types_to_train, load_recipe
from leafid.files import StrPath
from leafid.model.bundled import assign_types, find_bundled_model, read_once
from leafid.model.model import Model
from leafid.model.recogniser import TypeRecogniser
from leafid.pages.explaining import Explanation, explain_answer
from leafid.pictures.conversion import (
    list_pictures,
)
from leafid.pictures.picture import AcquisitionType, Collection, EmptyClass, Picture
from leafid.pictures.reading import read_and_warn
from leafid.pictures.splits import check_labels, select_training_pictures
from leafid.pictures.summary import warn_of_shared_pictures


def load_model(path: StrPath | None = None) -> Model:
    """Read a model file, by default the bundled model.

    Parameters
    ----------
    path : path, optional

    Returns
    -------
    Model

    Raises
    ------
    LeafidError
        When the file can't be read, or holds no model of this version.
    """
    if path is None:
        path = find_bundled_model()
    return Model.read(path)


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
        Only labelled pictures are used, and of a collection with parts only the
        training part.
    recipe : str
        ``default``, ``fast``, ``small``, ``baseline-bow``, or a ``.toml`` file or a
        folder of such files.
    assume_type : {"scan", "scan-like", "photo"}, optional
        Take every picture for one of this type. Without it, the bundled model
        recognises types that are unknown.
    only_type : {"scan", "scan-like", "photo"}, optional
        Train for this type only.
    jobs : int
        Number of worker processes, as for `leafid.Model.identify`. The model doesn't
        depend on it.
    cache : path or bool
        The folder that keeps computed features: True for that of the commands
        (``$LEAFID_CACHE``, or ``~/.cache/leafid``), False for none.
    seed : int
        Seed of every random choice.
    thumbnails : bool
        Keep up to three small pictures of each species and type in the model.

    Returns
    -------
    Model

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
    """Add the species of a collection to a model, without its training pictures.

    Parameters
    ----------
    model : Model
        Its thresholds and scores don't change.
    collection, assume_type, jobs, cache, thumbnails
        As for `train`.

    Returns
    -------
    Model

    Raises
    ------
    LeafidError
        When the model knows a species of the collection, doesn't learn from a type of
        its pictures, or was trained with classifiers that are not linear.
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
    """Select labelled pictures, and give each a type.

    The bundled model recognises unknown types by default.
    """
    if isinstance(collection, (str, os.PathLike)):
        collection = read_and_warn(collection, (EmptyClass,))
    pictures = getattr(collection, "pictures", collection)
    if not isinstance(pictures, Sequence) or not all(
        isinstance(picture, Picture) for picture in pictures
    ):
        expected = (
            "expected a path, a Collection, or a sequence of Picture, "
            "each with its species as its taxon"
        )
        raise InputError(f"collection: {expected}, found {collection!r:.60}")
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
    only = None
    if only_type is not None:
        only = AcquisitionType.parse(only_type)
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
    """Explain the answer of a model to a picture.

    Parameters
    ----------
    picture
        One picture of whatever kind `Model.identify` takes.
    model : Model, optional
        By default the bundled model.
    assume_type : {"scan", "scan-like", "photo"}, optional
        Take the picture for one of this type. Without it, the model recognises the
        type.
    color : {"bgr", "rgb"}
        The order of channels in an array.

    Returns
    -------
    Explanation

    Raises
    ------
    LeafidError
        When the picture can't be read, or there are several.
    """
    model = model or read_once(find_bundled_model())
    pictures = list_pictures(picture, color)
    if len(pictures) != 1:
        raise InputError(f"picture: expected one, found {len(pictures)}")
    [answer] = model.identify(pictures, assume_type=assume_type)
    if answer.problem:
        raise LeafidError(answer.problem)
    return explain_answer(model, answer)
