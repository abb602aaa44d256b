"""Trains a model: an identifier for each acquisition type with its thresholds, and the type recogniser."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from leafid.features.augmentation import measure_type_on_surface
from leafid.features.extractor import N_TYPE_FEATURES, TYPE_SIDE
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe, group_by_training
from leafid.learning.estimators import fit_estimator, to_linear
from leafid.learning.linear import weigh_pictures
from leafid.learning.plant_fusion import fit_plant_exponent
from leafid.learning.rows import make_rows
from leafid.learning.scorers import RowTransform
from leafid.model.held_out import HeldOutAnswers, held_out_scores
from leafid.model.identifier import Identifier, TypeModel
from leafid.model.model import Model
from leafid.model.recogniser import TypeRecogniser, expand_features
from leafid.model.thresholds import fit_thresholds
from leafid.pictures.picture import AcquisitionType, Picture, warn_of_lost_species
from leafid.pictures.splits import sample_by_plant, split_by_plant
from leafid.pictures.summary import compute_fingerprint
from leafid.training.identifiers import train_identifiers
from leafid.training.species import describe_species
from leafid.training.training_set import build_training_set
from leafid.versions import SURFACE_TYPE_VERSION

#: Maximum number of pictures that the type recogniser is learned from.
RECOGNISER_PICTURES = 20_000
_RECOGNISER_C, _RECOGNISER_ITERATIONS = 1e3, 200
_RECOGNISER_FOLDS = 5
_log = logging.getLogger(__name__)


def train(
    pictures: Sequence[Picture],
    recipes: Mapping[AcquisitionType, Recipe],
    loader: FeatureLoader,
    seed: int = 0,
    *,
    thumbnails: bool = True,
) -> Model:
    """Train a model on labelled pictures, each of a known acquisition type: an identifier for each of the recipes.

    With `thumbnails`, the model keeps small pictures of each species.
    """
    trained: dict[AcquisitionType, tuple[Identifier, HeldOutAnswers]] = {}
    learned: set[Path] = set()
    for types in group_by_training(recipes):
        step, recipe = loader.with_step(", ".join(types)), recipes[types[0]]
        training_set = build_training_set(pictures, recipe, step, seed)
        learned |= {picture.file for picture in training_set.pictures}
        trained |= train_identifiers(training_set, types, pictures, step, seed)
        if len(trained[types[0]][0].species) == 1:
            _log.warning(
                "all pictures are of one species; it will be the answer to every %s",
                " or ".join(types),
            )
    used = {type_ for recipe in recipes.values() for type_ in recipe.training_types}
    # A picture whose altered copies can't be described is learned from nevertheless.
    readable = [p for p in pictures if p.file in learned and p.type in used]
    warn_of_lost_species([p for p in pictures if p.type in used], readable)
    served = [picture for picture in readable if picture.type in recipes]
    sample = [
        served[index] for index in sample_by_plant(served, RECOGNISER_PICTURES, seed)
    ]
    recogniser = train_recogniser(sample, loader.with_step("acquisition types"), seed)
    held_out = {type_: trained[type_][1] for type_ in recipes}
    species = describe_species(
        readable, held_out, loader.with_step("traits"), thumbnails=thumbnails
    )
    taxa = {name: info.taxon for name, info in species.items()}
    models = {
        type_: TypeModel(
            trained[type_][0],
            held_out_scores([answers]),
            _fit_exponent(answers, seed),
            fit_thresholds(answers, taxa),
        )
        for type_, answers in held_out.items()
    }
    return Model(models, species, recogniser, compute_fingerprint(readable))


def _fit_exponent(answers: HeldOutAnswers, seed: int) -> float:
    known = answers.select_known()
    plants = [picture.group for picture in known.pictures]
    return fit_plant_exponent(known.probabilities, known.labels, plants, seed)


def train_recogniser(
    pictures: Sequence[Picture], loader: FeatureLoader, seed: int
) -> TypeRecogniser:
    """Train a recogniser on pictures of known types, and measure its accuracy on held-out plants.

    Leaves on sheets are learned on card of any colour, and on paper on a table, as well.
    """
    measured = list(zip(pictures, loader.load_type_features(pictures), strict=True))
    on_sheets = [
        picture for picture in pictures if picture.type is AcquisitionType.SCAN_LIKE
    ]
    on_surfaces = loader.load_measures(
        on_sheets,
        f"type on a surface|{SURFACE_TYPE_VERSION}",
        N_TYPE_FEATURES,
        TYPE_SIDE,
        measure_type_on_surface,
    )
    n_readable = sum(row is not None for _, row in measured)
    measured += zip(on_sheets, on_surfaces, strict=True)
    readable, rows = zip(
        *((picture, row) for picture, row in measured if row is not None), strict=True
    )
    types = [picture.require_type() for picture in readable]
    if len(set(types)) < 2:
        return TypeRecogniser(tuple(dict.fromkeys(types)))
    table = np.stack(rows)
    n_plants = len({picture.group for picture in readable})
    correct: list[bool] = []
    for test in (
        split_by_plant(readable, min(_RECOGNISER_FOLDS, n_plants), seed)
        if n_plants > 1
        else []
    ):
        training = np.setdiff1d(np.arange(len(table)), test)
        training_types = [types[index] for index in training]
        if len(set(training_types)) > 1:
            recogniser = fit_type_recogniser(table[training], training_types)
            correct += [
                recogniser.recognise(table[index])[0] is types[index]
                for index in test
                if index < n_readable
            ]
    return replace(
        fit_type_recogniser(table, types),
        accuracy=float(np.mean(correct)) if correct else None,
    )


def fit_type_recogniser(
    features: np.ndarray, types: Sequence[AcquisitionType]
) -> TypeRecogniser:
    """Fit a recogniser to features, (n, N_TYPE_FEATURES), of known types, each type with the same total weight."""
    names, labels = np.unique([str(type_) for type_ in types], return_inverse=True)
    weights = weigh_pictures(labels, [""] * len(labels), 1.0, 0.0)
    weights /= weights.mean()
    rows = make_rows(expand_features(features), standardise=True)
    estimator = LogisticRegression(C=_RECOGNISER_C, max_iter=_RECOGNISER_ITERATIONS)
    classifier = to_linear(
        fit_estimator(estimator, rows.read(slice(None)), labels, weights)
    )
    scorer = RowTransform(rows.map, {}, rows.mean, rows.scale).make_scorer(*classifier)
    return TypeRecogniser(tuple(AcquisitionType(str(name)) for name in names), scorer)
