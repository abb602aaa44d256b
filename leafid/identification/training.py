"""Trains a model: one identifier for each acquisition type, and what tells the types apart."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

import numpy as np

from leafid.classifiers.context import Context
from leafid.classifiers.context_fitting import learn_context
from leafid.classifiers.held_out import HeldOut
from leafid.classifiers.type_recogniser import TypeRecogniser
from leafid.collection import compute_fingerprint, split_by_plant
from leafid.collection.picture import AcquisitionType, Picture
from leafid.features.loader import FeatureLoader
from leafid.features.sampling import sample_by_plant
from leafid.identification.identifier import Identifier, fit_together
from leafid.identification.model import Model, known_species
from leafid.recipes.recipe import Recipe, group_by_training

#: Of so many pictures at most it is learned what tells the acquisition types apart, and what place and day say.
RECOGNISER_PICTURES = 20_000
CONTEXT_PICTURES = 4_000
_log = logging.getLogger(__name__)


def train(
    pictures: Sequence[Picture], recipes: Mapping[AcquisitionType, Recipe], loader: FeatureLoader, seed: int = 0
) -> Model:
    """Train a model.

    Parameters
    ----------
    pictures : sequence of Picture
        Labelled, each of a known acquisition type.
    recipes : mapping of AcquisitionType to Recipe
        One identifier is trained for each.
    loader : FeatureLoader
    seed : int, default 0

    Returns
    -------
    Model
        Without `scores` and `thresholds`: `leafid.identification.threshold_fitting.complete` adds them.

    Raises
    ------
    LeafidError
        When there is nothing to train on.
    """
    identifiers = {type_: Identifier(recipe, seed) for type_, recipe in recipes.items()}
    for types in group_by_training(recipes):
        fit_together([identifiers[type_] for type_ in types], pictures, loader)
    for type_, identifier in identifiers.items():
        if len(identifier.species_) == 1:
            _log.warning("type %s: all pictures are of one species; it will be the answer to every picture", type_)
    used = {type_ for recipe in recipes.values() for type_ in recipe.training_types}
    readable = [p for p in pictures if p.file not in loader.unreadable and p.type in used]
    asked = [picture for picture in readable if picture.type in recipes]
    drawn = [asked[index] for index in sample_by_plant(asked, RECOGNISER_PICTURES, seed)]
    recogniser, share = train_recogniser(drawn, loader, seed)
    contexts = {
        type_: bounded_context(identifier.held_out_, readable, seed)
        for type_, identifier in identifiers.items()
        if identifier.held_out_ is not None
    }
    return Model(
        identifiers,
        recogniser,
        known_species(readable),
        compute_fingerprint(readable),
        contexts=contexts,
        type_recognition=share,
    )


def bounded_context(held_out: HeldOut, pictures: Sequence[Picture], seed: int) -> Context:
    """Learn the prior of place and day, of a large collection from a part of the plants.

    Each held-out picture is weighed against each sighting, so that the work, and the memory, grow with the square.

    Parameters
    ----------
    held_out, pictures
        As in `leafid.classifiers.context_fitting.learn_context`.
    seed : int

    Returns
    -------
    Context
    """
    drawn = [pictures[index] for index in sample_by_plant(pictures, CONTEXT_PICTURES, seed)]
    if len(drawn) < len(pictures):
        files = {picture.file for picture in drawn}
        held_out = held_out.chosen(np.array([picture.file in files for picture in held_out.pictures], bool))
    return learn_context(held_out, drawn)


def train_recogniser(
    pictures: Sequence[Picture], loader: FeatureLoader, seed: int
) -> tuple[TypeRecogniser | None, float | None]:
    """Train the recogniser of types; also tell how often it is right on plants that it did not see.

    Returns
    -------
    recogniser : TypeRecogniser or None
        None where there is one type only.
    share : float or None
        None where it can't be told.
    """
    features = loader.type_features(pictures)
    known = [(p, f) for p, f in zip(pictures, features, strict=True) if f is not None and p.type is not None]
    types = [picture.type for picture, _ in known if picture.type is not None]
    if len(set(types)) < 2:
        return None, None
    rows = np.stack([row for _, row in known])
    n_plants = len({picture.group for picture, _ in known})
    right = []
    for test in split_by_plant([picture for picture, _ in known], min(5, n_plants), seed) if n_plants > 1 else []:
        train_rows = np.setdiff1d(np.arange(len(rows)), test)
        chosen = [types[index] for index in train_rows]
        if len(set(chosen)) > 1:
            said = TypeRecogniser().fit(rows[train_rows], chosen).recognise_features(rows[test])
            right += [answer == types[index] for answer, index in zip(said, test, strict=True)]
    return TypeRecogniser().fit(rows, types), float(np.mean(right)) if right else None
