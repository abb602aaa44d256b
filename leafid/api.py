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
from leafid.pictures.reading import Paths, read_and_warn
from leafid.pictures.splits import (
    assume_plants,
    check_labels,
    select_training_pictures,
    select_unknown_pictures,
)
from leafid.pictures.summary import warn_of_shared_pictures

#: A collection, the paths of one or several, or pictures.
Labelled = Collection | Paths | Sequence[Picture]


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
    collection: Labelled,
    recipe: str = "default",
    *,
    unknown: Labelled = (),
    assume_type: AcquisitionType | str | None = None,
    only_type: AcquisitionType | str | None = None,
    jobs: int = 1,
    cache: StrPath | bool = True,
    seed: int = 0,
    thumbnails: bool | Sequence[str] = True,
) -> Model:
    """Train a model: one classifier for each acquisition type of the collection.

    Parameters
    ----------
    collection : Collection, path or several, or sequence of Picture
        Only labelled pictures are used, of a collection with parts only the training
        part. Of several collections, species of the same name are one, and pictures
        without a plant count as one plant of their collection and species.
    recipe : str
        ``default``, ``fast``, ``small``, ``baseline-bow``, or a ``.toml`` file or a
        folder of such files.
    unknown : Collection, path or several, or sequence of Picture, optional
        Leaves of species that the model is not to know; labels are not needed.
    assume_type : {"scan", "scan-like", "photo"}, optional
        Take every picture for one of this type. Without it, the bundled model
        recognises types that are unknown, in each collection by itself.
    only_type : {"scan", "scan-like", "photo"}, optional
        Train for this type only.
    jobs : int
        Number of worker processes, as for `leafid.Model.identify`. The model doesn't
        depend on it.
    cache : path or bool
        The folder that keeps computed features: True for the one of the commands
        (``$LEAFID_CACHE``, or ``~/.cache/leafid``), False for none.
    seed : int
        Seed of every random choice.
    thumbnails : bool or sequence of str
        Keep up to three small pictures of each species and type in the model; of the
        collections with these names (`Picture.collection`) only.

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
        further = select_unknown_pictures(_read(unknown, assume_type), pictures)
        return train_model(
            pictures,
            recipes,
            loader,
            seed,
            thumbnails=thumbnails,
            unknown=assign_types(further, loader),
        )


def extend(
    model: Model,
    collection: Labelled,
    *,
    assume_type: AcquisitionType | str | None = None,
    jobs: int = 1,
    cache: StrPath | bool = True,
    thumbnails: bool | Sequence[str] = True,
) -> Model:
    """Add the species of a collection to a model, without its training pictures.

    Parameters
    ----------
    model : Model
        Its thresholds and scores stay the same.
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
    collection: Labelled,
    assume_type: AcquisitionType | str | None,
    loader: FeatureLoader,
    recogniser: TypeRecogniser | None = None,
) -> list[Picture]:
    """Select labelled pictures, and give each a type.

    The bundled model recognises unknown types by default.
    """
    pictures = _read(collection, assume_type)
    warn_of_shared_pictures(pictures)
    pictures = assume_plants(select_training_pictures(pictures))
    if recogniser is None:
        check_labels(pictures)
    return assign_types(pictures, loader, recogniser)


def _are_all(values: Any, kind: Any) -> bool:
    return isinstance(values, Sequence) and all(isinstance(v, kind) for v in values)


def _read(
    collection: Labelled, assume_type: AcquisitionType | str | None
) -> Sequence[Picture]:
    """Read pictures, of an assumed type if there is one."""
    pictures: Any = getattr(collection, "pictures", collection)
    if isinstance(pictures, (str, os.PathLike)):
        pictures = [pictures]
    if not _are_all(pictures, Picture):
        if not _are_all(pictures, (str, os.PathLike)):
            expected = (
                "expected a path, a Collection, or a sequence of Picture, "
                "each with its species as its taxon"
            )
            raise InputError(f"collection: {expected}, found {collection!r:.60}")
        pictures = read_and_warn(pictures, (EmptyClass,)).pictures
    if assume_type is None:
        return pictures
    type_ = AcquisitionType.parse(assume_type)
    return [replace(picture, type=type_) for picture in pictures]


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
