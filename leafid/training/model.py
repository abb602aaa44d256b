"""Trains a model: identifiers with their thresholds, and the type recogniser."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from leafid.features.computations import TYPE_FEATURES, PictureFunction
from leafid.features.extractor import N_TYPE_FEATURES, TYPE_SIDE
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe, group_by_training
from leafid.features.surroundings import measure_types_elsewhere
from leafid.learning.classifiers.estimators import fit_estimator, to_linear
from leafid.learning.classifiers.rows import make_rows
from leafid.learning.classifiers.scorers import RowTransform
from leafid.learning.plant_fusion import fit_plant_exponent
from leafid.model.held_out import HeldOutAnswers, held_out_scores
from leafid.model.identifier import Identifier, TypeModel
from leafid.model.model import Model
from leafid.model.recogniser import TypeRecogniser, expand_features
from leafid.model.thresholds import fit_thresholds
from leafid.pictures.picture import (
    AcquisitionType,
    Picture,
    count_plants,
    warn_of_lost_species,
)
from leafid.pictures.splitting.units import sample_by_plant, split_by_plant
from leafid.pictures.summary import compute_fingerprint
from leafid.training.identifiers import train_identifiers
from leafid.training.species import describe_species
from leafid.training.training_set import build_training_set
from leafid.versions import SURROUNDINGS_VERSION

#: Maximum number of pictures that the type recogniser is learned from.
RECOGNISER_PICTURES = 20_000
_RECOGNISER_C = 1e3
_RECOGNISER_ITERATIONS = 200
_RECOGNISER_FOLDS = 5
# The weight of each of the two drawings of a leaf on a sheet, beside a picture's.
_DRAWING_WEIGHT = 0.25
_FEATURES_ELSEWHERE = PictureFunction(
    f"types elsewhere|{SURROUNDINGS_VERSION}",
    measure_types_elsewhere,
    TYPE_SIDE,
)
_log = logging.getLogger(__name__)


def train(
    pictures: Sequence[Picture],
    recipes: Mapping[AcquisitionType, Recipe],
    loader: FeatureLoader,
    seed: int = 0,
    *,
    thumbnails: bool | Collection[str] = True,
    unknown: Sequence[Picture] = (),
) -> Model:
    """Train a model: an identifier for each of the recipes.

    Parameters
    ----------
    pictures : sequence of Picture
        Labelled ones, each of a known acquisition type.
    recipes : mapping of AcquisitionType to Recipe
    loader : FeatureLoader
    seed : int
        It decides about folds and samples.
    thumbnails : bool or collection of str
        Keep small pictures of each species; of these collections only.
    unknown : sequence of Picture
        Leaves of known types and of further species, to be rejected.

    Raises
    ------
    LeafidError
        When no labelled picture of one of the types can be read.
    """
    trained: dict[AcquisitionType, tuple[Identifier, HeldOutAnswers]] = {}
    files: set[Path] = set()
    for types in group_by_training(recipes):
        step = loader.with_step(", ".join(types))
        recipe = recipes[types[0]]
        training_set = build_training_set(pictures, recipe, step, seed)
        files |= {picture.file for picture in training_set.pictures}
        trained |= train_identifiers(
            training_set,
            types,
            pictures=pictures,
            loader=step,
            seed=seed,
            unknown=unknown,
        )
        if len(trained[types[0]][0].species) == 1:
            _log.warning(
                "all pictures are of one species; it will be the answer to every %s",
                " or ".join(types),
            )
    types_to_learn = {t for recipe in recipes.values() for t in recipe.training_types}
    pictures = [picture for picture in pictures if picture.type in types_to_learn]
    # A picture whose altered copies can't be described is learned from nevertheless.
    readable = [picture for picture in pictures if picture.file in files]
    warn_of_lost_species(pictures, readable)
    served = [picture for picture in readable if picture.type in recipes]
    sample = sample_by_plant(served, RECOGNISER_PICTURES, seed)
    recogniser = train_recogniser(
        [served[index] for index in sample], loader.with_step("acquisition types"), seed
    )
    held_out = {type_: trained[type_][1] for type_ in recipes}
    species = describe_species(
        readable, held_out, loader.with_step("traits"), thumbnails=thumbnails
    )
    taxa = {name: info.taxon for name, info in species.items()}
    models = {
        type_: TypeModel(
            identifier=trained[type_][0],
            scores=held_out_scores([answers]),
            plant_exponent=_fit_exponent(answers, seed),
            thresholds=fit_thresholds(answers, taxa),
        )
        for type_, answers in held_out.items()
    }
    return Model(models, species, recogniser, compute_fingerprint(readable))


def _fit_exponent(answers: HeldOutAnswers, seed: int) -> float:
    of_known = answers.select_known()
    plants = [picture.group for picture in of_known.pictures]
    return fit_plant_exponent(of_known.probabilities, of_known.labels, plants, seed)


def train_recogniser(
    pictures: Sequence[Picture], loader: FeatureLoader, seed: int
) -> TypeRecogniser:
    """Train a recogniser of types, and measure its accuracy on held-out plants.

    Leaves on sheets are learned on other grounds, on paper on a table and beside a
    chart, as well.

    Parameters
    ----------
    pictures : sequence of Picture
        Pictures of known types; unreadable ones are left out.
    loader : FeatureLoader
    seed : int
        Seed of the folds.

    Returns
    -------
    TypeRecogniser
    """
    on_sheets = [
        picture for picture in pictures if picture.type is AcquisitionType.SCAN_LIKE
    ]
    table = loader.compute_for_each(TYPE_FEATURES, pictures)
    drawings = loader.compute_for_each(_FEATURES_ELSEWHERE, on_sheets)
    rows: list[np.ndarray] = []
    readable: list[Picture] = []
    for picture, values in zip(
        [*pictures, *on_sheets], [*table, *drawings], strict=True
    ):
        if values is not None:
            of_picture = values.reshape(-1, N_TYPE_FEATURES)
            rows.extend(of_picture)
            readable += [picture] * len(of_picture)
    types = [picture.require_type() for picture in readable]
    if len(set(types)) < 2:
        return TypeRecogniser(tuple(dict.fromkeys(types)))
    features = np.array(rows, np.float32)
    n_pictures = sum(values is not None for values in table)
    weights = np.full(len(rows), _DRAWING_WEIGHT)
    weights[:n_pictures] = 1
    is_correct = _recognise_held_out(features, readable, types, weights, seed)
    recogniser = fit_type_recogniser(features, types, weights)
    if np.isnan(is_correct).all():
        return recogniser
    return replace(recogniser, accuracy=float(np.nanmean(is_correct[:n_pictures])))


def _recognise_held_out(
    features: np.ndarray,
    pictures: Sequence[Picture],
    types: Sequence[AcquisitionType],
    weights: np.ndarray,
    seed: int,
) -> np.ndarray:
    """Say which pictures are recognised without their plant: float (n,), 1 or 0.

    All are NaN where there are no two types to learn from.
    """
    is_correct = np.full(len(pictures), np.nan)
    n_plants = count_plants(pictures)
    if n_plants < 2:
        return is_correct
    for test in split_by_plant(pictures, min(_RECOGNISER_FOLDS, n_plants), seed):
        training = np.setdiff1d(np.arange(len(pictures)), test)
        training_types = [types[index] for index in training]
        if len(set(training_types)) < 2:
            continue
        recogniser = fit_type_recogniser(
            features[training], training_types, weights[training]
        )
        for index in test:
            recognised, _ = recogniser.recognise(features[index])
            is_correct[index] = recognised is types[index]
    return is_correct


def fit_type_recogniser(
    features: np.ndarray,
    types: Sequence[AcquisitionType],
    weights: np.ndarray | None = None,
) -> TypeRecogniser:
    """Fit a recogniser of types to the features of pictures.

    Parameters
    ----------
    features : (n, N_TYPE_FEATURES), float
    types : sequence of AcquisitionType
        The type of each row. All types have the same total weight.
    weights : (n,), float, optional
        The weight of each row among those of its type; by default, all have the same.

    Returns
    -------
    TypeRecogniser
    """
    names, labels = np.unique([str(type_) for type_ in types], return_inverse=True)
    if weights is None:
        weights = np.ones(len(labels))
    balanced = weights / np.bincount(labels, weights)[labels]
    balanced /= balanced.mean()
    rows = make_rows(expand_features(features), standardise=True)
    estimator = LogisticRegression(C=_RECOGNISER_C, max_iter=_RECOGNISER_ITERATIONS)
    classifier = to_linear(
        fit_estimator(estimator, rows.read(slice(None)), labels, balanced)
    )
    scorer = RowTransform(rows.map, {}, rows.mean, rows.scale).make_scorer(*classifier)
    return TypeRecogniser(tuple(AcquisitionType(str(name)) for name in names), scorer)
