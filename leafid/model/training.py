"""Trains a model: an identifier for each acquisition type with its thresholds, and the type recogniser."""

import logging
from collections.abc import Mapping, Sequence

import numpy as np

from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe, group_by_training
from leafid.features.sampling import sample_by_plant
from leafid.learning.held_out import held_out_scores
from leafid.learning.plant_fusion import fit_plant_exponent
from leafid.learning.thresholds import fit_thresholds
from leafid.learning.type_recogniser import TypeRecogniser, fit_type_recogniser
from leafid.model.fitting.identifiers import FittedIdentifier, fit_identifiers
from leafid.model.model import Model, collect_species_info
from leafid.model.recording import make_records
from leafid.pictures import compute_fingerprint, split_by_plant
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.workers import get_blas_controller

#: Maximum number of pictures that the type recogniser is learned from.
RECOGNISER_PICTURES = 20_000
_N_FOLDS = 5
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
    # Sums round differently with another number of threads: the model must not depend on it.
    with get_blas_controller().limit(limits=1):
        return _train(pictures, recipes, loader, seed, thumbnails)


def _train(
    pictures: Sequence[Picture],
    recipes: Mapping[AcquisitionType, Recipe],
    loader: FeatureLoader,
    seed: int,
    thumbnails: bool,
) -> Model:
    fitted: dict[AcquisitionType, FittedIdentifier] = {}
    groups = group_by_training(recipes)
    for number, types in enumerate(groups, 1):
        loader.step = f"{number}/{len(groups) + 2} {', '.join(types)}"
        fitted.update(zip(types, fit_identifiers([recipes[t] for t in types], pictures, loader, seed), strict=True))
    identifiers = {type_: fitted[type_].identifier for type_ in recipes}
    for type_, identifier in identifiers.items():
        if len(identifier.species) == 1:
            _log.warning("type %s: all pictures are of one species; it will be the answer to every picture", type_)
    used = {type_ for recipe in recipes.values() for type_ in recipe.training_types}
    readable = [p for p in pictures if p.file not in loader.unreadable and p.type in used]
    own = [picture for picture in readable if picture.type in recipes]
    sample = [own[index] for index in sample_by_plant(own, RECOGNISER_PICTURES, seed)]
    loader.step = f"{len(groups) + 1}/{len(groups) + 2} acquisition types"
    recogniser, recognition = train_recogniser(sample, loader, seed)
    species = collect_species_info(readable)
    taxa = {name: info.taxon for name, info in species.items()}
    held_out = {type_: fitted[type_].held_out for type_ in recipes}
    thresholds = {type_: fit_thresholds(answers, taxa) for type_, answers in held_out.items()}
    loader.step = f"{len(groups) + 2}/{len(groups) + 2} traits"
    records = make_records(readable, held_out, loader, thumbnails=thumbnails)
    plant_exponents = {type_: fit_plant_exponent(answers, seed) for type_, answers in held_out.items()}
    return Model(
        identifiers,
        recogniser,
        species,
        compute_fingerprint(readable),
        scores={str(type_): held_out_scores([answers]) for type_, answers in held_out.items()},
        thresholds={type_: found for type_, found in thresholds.items() if found is not None},
        plant_exponents={type_: found for type_, found in plant_exponents.items() if found is not None},
        type_recognition=recognition,
        records=records,
    )


def train_recogniser(
    pictures: Sequence[Picture], loader: FeatureLoader, seed: int
) -> tuple[TypeRecogniser | None, float | None]:
    """Train the type recogniser, and measure the share of held-out pictures that it recognises correctly.

    The recogniser is None where there is one type only, and the share where it can't be measured.
    """
    rows, types, readable = [], [], []
    for picture, features in zip(pictures, loader.load_type_features(pictures), strict=True):
        if features is not None and picture.type is not None:
            rows.append(features)
            types.append(picture.type)
            readable.append(picture)
    if len(set(types)) < 2:
        return None, None
    table = np.stack(rows)
    n_plants = len({picture.group for picture in readable})
    correct: list[bool] = []
    for test in split_by_plant(readable, min(_N_FOLDS, n_plants), seed) if n_plants > 1 else []:
        training = np.setdiff1d(np.arange(len(table)), test)
        training_types = [types[index] for index in training]
        if len(set(training_types)) > 1:
            recognised = fit_type_recogniser(table[training], training_types).recognise(table[test])
            correct += [type_ == types[index] for type_, index in zip(recognised, test, strict=True)]
    return fit_type_recogniser(table, types), float(np.mean(correct)) if correct else None
