"""The models of leafid from Python: ``load_model``, ``train``, ``extend``, ``explain``.

>>> import leafid
>>> model = leafid.load_model()
>>> [answer] = model.identify("examples/leaves/fig.jpg")
>>> answer.name
'Ficus carica'
"""

import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from leafid.checking import Seed, check_arguments
from leafid.errors import InputError, LeafidError
from leafid.features.loader import FeatureLoader, open_loader
from leafid.features.recipe import Recipe, choose_types_to_train, load_recipe
from leafid.files import StrPath
from leafid.model.bundled import assign_types, find_bundled_model, read_once
from leafid.model.model import Model
from leafid.pages.explaining import Explanation, explain_answer
from leafid.pictures.columns import Labelled, TypeName, parse_type, read_pictures
from leafid.pictures.conversion import list_pictures
from leafid.pictures.picture import AcquisitionType, Collection, EmptyClass, Picture
from leafid.pictures.splitting.selection import (
    assume_plants,
    check_labels,
    select_training_pictures,
    select_unknown_pictures,
)
from leafid.pictures.summary import warn_of_shared_pictures

_log = logging.getLogger(__name__)


@check_arguments
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


@check_arguments
def train(
    collection: Labelled,
    recipe: StrPath = "default",
    *,
    unknown: Labelled = (),
    assume_type: TypeName | None = None,
    only_type: TypeName | None = None,
    jobs: int = 1,
    cache: StrPath | bool | FeatureLoader = True,
    seed: Seed = 0,
    thumbnails: bool | Sequence[str] = True,
) -> Model:
    """Train a model: one classifier for each acquisition type of the collection.

    Parameters
    ----------
    collection : path or several, Collection, pictures, mapping or data frame
        A mapping has the label of each picture by its file or, as a data frame, the
        columns of a table of pictures: ``file``, ``label``, ``plant``, ``type``. Only
        labelled pictures are used, of a collection with parts only the training part.
        Of several collections, species of the same name are one, and pictures without
        a plant count as one plant of their collection and species.
    recipe : str or path
        ``default``, ``fast``, ``small``, ``baseline-bow``, or a ``.toml`` file or a
        folder of such files.
    unknown : as `collection`, optional
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
    # The training takes a second to import.
    from leafid.training.model import train as train_model

    with open_loader(jobs, cache) as loader:
        pictures = assign_types_and_warn(
            read_training_pictures(collection, assume_type), loader
        )
        recipes = load_recipes(recipe, pictures, only_type)
        unknown_pictures = select_unknown_pictures(
            read_with_type(unknown, assume_type, "unknown"), pictures
        )
        return train_model(
            pictures,
            recipes,
            loader,
            seed,
            thumbnails=thumbnails,
            unknown=assign_types(unknown_pictures, loader),
        )


@check_arguments
def extend(
    model: Model,
    collection: Labelled,
    *,
    assume_type: TypeName | None = None,
    jobs: int = 1,
    cache: StrPath | bool | FeatureLoader = True,
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
    # As for `train`.
    from leafid.training import extending

    with open_loader(jobs, cache) as loader:
        pictures = read_training_pictures(collection, assume_type)
        extending.check_extension(model, pictures)
        pictures = assign_types(pictures, loader, model.recogniser)
        return extending.extend(model, pictures, loader, thumbnails=thumbnails)


def read_training_pictures(
    collection: Labelled, assume_type: TypeName | None
) -> list[Picture]:
    """Read pictures, and select what to learn from, as `select_pictures` does."""
    pictures = read_with_type(collection, assume_type)
    return select_pictures(pictures, source=name_source(collection))


def name_source(collection: Labelled, name: str = "the collection") -> str:
    """Name a collection after its folder, if it is one that was read."""
    if isinstance(collection, Collection):
        name = str(collection.root)
    return name


def read_with_type(
    collection: Labelled, assume_type: TypeName | None, argument: str = "collection"
) -> Sequence[Picture]:
    """Read pictures, or make them of an object, of an assumed type if there is one."""
    pictures = read_pictures(collection, argument, (EmptyClass,))
    type_ = parse_type("assume_type", assume_type)
    if type_ is None:
        return pictures
    return [replace(picture, type=type_) for picture in pictures]


def select_pictures(
    pictures: Sequence[Picture],
    *,
    all_parts: bool = False,
    source: str = "the collection",
) -> list[Picture]:
    """Select the labelled pictures of the training part, if there is one, or of all."""
    warn_of_shared_pictures(pictures)
    selected = select_training_pictures(pictures, source)
    if all_parts:
        selected = [picture for picture in pictures if picture.species is not None]
    return assume_plants(selected)


def assign_types_and_warn(
    pictures: Sequence[Picture], loader: FeatureLoader
) -> list[Picture]:
    """Recognise unknown acquisition types.

    Warn that unknown plants make held-out scores too high.
    """
    check_labels(pictures)
    if n_unknown := sum(picture.plant is None for picture in pictures):
        _log.warning(
            "the plants of %d of %d pictures are unknown: where several show one "
            "plant, held-out scores are too high (top-1 0.993 instead of 0.85 for "
            "scans of ImageCLEF 2011); say --plants-from, or look for pictures of "
            "one leaf with 'leafid info --similar'",
            n_unknown,
            len(pictures),
        )
    return assign_types(pictures, loader)


def load_recipes(
    recipe: StrPath,
    pictures: Sequence[Picture],
    only_type: TypeName | None = None,
) -> dict[AcquisitionType, Recipe]:
    """Load a recipe for each type of the pictures, or for one of these types only."""
    only = parse_type("only_type", only_type)
    name = os.fspath(recipe)
    return {
        type_: load_recipe(name, type_)
        for type_ in choose_types_to_train([name], pictures, only)
    }


@check_arguments
def explain(
    picture: Any,
    model: Model | None = None,
    *,
    assume_type: TypeName | None = None,
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
