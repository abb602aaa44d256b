"""The identifier of one acquisition type: experts that each give an opinion, and the fusion of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np

from leafid.classifiers.expert_fitting import learn_expert
from leafid.classifiers.fusion import fused, learn_weights
from leafid.classifiers.held_out import HeldOut
from leafid.classifiers.linear import LinearScorer, picture_weights, summed
from leafid.classifiers.rows import Rows
from leafid.classifiers.spool import Spool
from leafid.collection import split_by_plant
from leafid.collection.picture import AcquisitionType, Picture
from leafid.encoding import Encoder
from leafid.errors import LeafidError
from leafid.features.extractor import FeatureExtractor, Features
from leafid.features.loader import FeatureLoader
from leafid.features.sampling import sample_by_plant
from leafid.identification.training_set import TrainingSet, gather
from leafid.recipes.recipe import ClassifierSettings, Recipe

N_FOLDS = 5
#: What is learned of held-out plants is learned of at most so many pictures.
HELD_OUT_PICTURES = 20_000
# And of no more than have so many probabilities in all, but of so many pictures at least.
_HELD_OUT_NUMBERS = 2**25
_HELD_OUT_LEAST = 2_000


class Identifier:
    """Names the species of described pictures of one acquisition type.

    Parameters
    ----------
    recipe : Recipe
    seed : int, default 0

    Attributes
    ----------
    species_ : tuple of str
        Sorted; the columns of all probabilities.
    extractor_ : FeatureExtractor
    scorers_ : dict of str to LinearScorer
        By the expert's name.
    weights_ : float64 (n_experts,)
        Of the experts, in the recipe's order.
    n_pictures_, n_plants_ : int
        What it was trained on.
    held_out_ : HeldOut
        Of the fit; None in an identifier read from a file.
    """

    species_: tuple[str, ...]
    extractor_: FeatureExtractor
    scorers_: dict[str, LinearScorer]
    weights_: np.ndarray
    n_pictures_: int
    n_plants_: int

    def __init__(self, recipe: Recipe, seed: int = 0) -> None:
        self.recipe = recipe
        self.seed = seed
        self.held_out_: HeldOut | None = None

    @property
    def type(self) -> AcquisitionType:
        """The acquisition type that it is for."""
        return self.recipe.type

    def fit(
        self, pictures: Sequence[Picture], loader: FeatureLoader, encoders: dict[str, Encoder] | None = None
    ) -> Identifier:
        """Learn from labelled pictures.

        Parameters
        ----------
        pictures : sequence of Picture
            Of known species and type; those of other types than the recipe trains on are left out.
        loader : FeatureLoader
        encoders : dict of str to Encoder, optional
            Of the experts on local features, learned before; by default learned from these pictures.

        Returns
        -------
        Identifier
            Itself.

        Raises
        ------
        LeafidError
            When there is no picture of the identifier's own type that can be read.
        """
        fit_together([self], pictures, loader, encoders)
        return self

    def predict_proba(self, described: Sequence[Features]) -> np.ndarray:
        """Give the probability of every species for described pictures.

        Returns
        -------
        float64 (n, n_species)
            Rows sum to 1; columns as in `species_`. All species are equally likely where no leaf was found.
        """
        # Each picture by itself: a product of several rows rounds otherwise, and no answer is to depend on the others.
        scores = [
            np.concatenate([self.scorers_[name].scores(_stacked([one], name)) for one in described])
            for name in self.recipe.experts
        ]
        trust = self._trust(np.array([one.confidence for one in described]))
        probabilities = fused(scores, trust, self.weights_)
        probabilities[[one.confidence == 0 for one in described]] = 1 / len(self.species_)
        return probabilities

    def _fuse(self, pictures: list[Picture], asked: np.ndarray, sure: np.ndarray, learned: Sequence[_Learned]) -> None:
        """Learn how much each classifier counts, from what it says of held-out pictures (by their indices)."""
        self.n_pictures_ = len(pictures)
        self.n_plants_ = len({picture.group for picture in pictures})
        own = [pictures[index] for index in asked]
        right = np.searchsorted(self.species_, [str(picture.species) for picture in own])
        trust_of = self._trust(sure[asked])
        trust = [trust_of[one.expert] for one in learned]
        scores = [one.held_out for one in learned]
        seen = np.isfinite(scores[0][np.arange(len(asked)), right])
        counts = learn_weights([s[seen] for s in scores], [t[seen] for t in trust], right[seen], _importance(own)[seen])
        self.held_out_ = HeldOut(own, fused(scores, trust, counts), self.species_, seen)
        self.weights_ = np.bincount([one.expert for one in learned], counts, len(self.recipe.experts))
        self.scorers_ = {}
        for number, name in enumerate(self.recipe.experts):
            members = np.flatnonzero([one.expert == number for one in learned])
            # An expert that counts nothing keeps its first classifier.
            shares = counts[members] / self.weights_[number] if self.weights_[number] else members == members[0]
            self.scorers_[name] = summed([learned[member].scorer for member in members.tolist()], shares)

    def _asked(self, pictures: Sequence[Picture], numbers: int) -> np.ndarray:
        """Choose the pictures of the own type that are held out: all of them, or as many as memory has room for."""
        own = np.flatnonzero([picture.type == self.type for picture in pictures])
        limit = min(HELD_OUT_PICTURES, max(_HELD_OUT_LEAST, numbers // len(self.species_)))
        return own[sample_by_plant([pictures[index] for index in own.tolist()], limit, self.seed)]

    def _trust(self, sure: np.ndarray) -> list[np.ndarray]:
        return [
            sure if expert.trust == "segmentation" else np.ones(len(sure)) for expert in self.recipe.experts.values()
        ]


class _Learned(NamedTuple):
    """A classifier of an expert (by its number), and what it scores the asked pictures while they are held out."""

    expert: int
    scorer: LinearScorer
    held_out: np.ndarray


def fit_together(
    identifiers: Sequence[Identifier],
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    encoders: dict[str, Encoder] | None = None,
) -> None:
    """Fit identifiers that learn the same from the same pictures: their experts are trained once for all of them.

    Parameters
    ----------
    identifiers : sequence of Identifier
        Of recipes that are alike but for the type (`Recipe.shares_training_with`), and of one seed.
    pictures, loader, encoders
        As in `Identifier.fit`.

    Raises
    ------
    LeafidError
        When there is no picture of an identifier's own type that can be read.
    """
    recipe, seed = identifiers[0].recipe, identifiers[0].seed
    chosen = trainable(pictures, recipe)
    for identifier in identifiers:
        if not any(picture.type == identifier.type for picture in chosen):
            raise LeafidError(f"no labelled picture of type {identifier.type} to train on")
    if encoders is None:
        encoders = loader.learn_encoders(chosen, recipe, seed)
    extractor = FeatureExtractor(recipe.experts, encoders, recipe.longest_side)
    with ExitStack() as stack:
        vectors = {name: stack.enter_context(Spool(folder=loader.folder)) for name in recipe.experts}
        training_set = gather(chosen, recipe, loader, extractor, vectors)
        for identifier in identifiers:
            if not any(picture.type == identifier.type for picture in training_set.pictures):
                raise LeafidError(f"no picture of type {identifier.type} could be read; nothing to train on")
            identifier.extractor_ = extractor
        _learn(identifiers, training_set, vectors, loader.folder)


def _learn(
    identifiers: Sequence[Identifier],
    training_set: TrainingSet,
    vectors: Mapping[str, Spool],
    folder: Path | None,
) -> None:
    recipe, pictures = identifiers[0].recipe, training_set.pictures
    names = np.array([picture.species for picture in pictures])
    species = tuple(sorted(set(names)))
    labels = np.searchsorted(species, names)
    types = np.array([recipe.training_types.index(p.type) for p in pictures if p.type is not None])
    # What was made in one way of the pictures of a type looks alike as these do.
    kinds = types[training_set.shown] + len(recipe.training_types) * training_set.look
    plants = [f"{picture.group} {picture.type}" for picture in pictures]
    folds = _folds(pictures, identifiers[0].seed)
    asked = []
    for identifier in identifiers:
        identifier.species_ = species
        asked.append(identifier._asked(pictures, _HELD_OUT_NUMBERS // len(identifiers)))
    all_asked = np.unique(np.concatenate(asked))
    learned: list[list[_Learned]] = [[] for _ in identifiers]
    for number, (name, expert) in enumerate(recipe.experts.items()):
        settings = expert.classifier
        rows = Rows(
            vectors[name],
            settings.feature_map,
            standardise=not expert.is_local,
            types=kinds if settings.centre_types else None,
        )
        # Counted with its plants that are held out, a species would be held to be more frequent, and count less.
        of_pictures = [
            picture_weights(labels, plants, settings.species_balance, settings.plant_balance),
            *(_weights_without(fold, labels, plants, settings) for fold in folds),
        ]
        weights, *fold_weights = (training_set.weights(one) for one in of_pictures)
        parts = [training_set.rows(fold) for fold in folds]
        for scorer, held_out in learn_expert(
            rows, labels[training_set.shown], weights, parts, all_asked, settings, folder, fold_weights
        ):
            for identifier, own, into in zip(identifiers, asked, learned, strict=True):
                type_number = recipe.training_types.index(identifier.type)
                into.append(
                    _Learned(number, rows.for_type(scorer, type_number), held_out[np.searchsorted(all_asked, own)])
                )
    for identifier, own, classifiers in zip(identifiers, asked, learned, strict=True):
        identifier._fuse(pictures, own, training_set.confidence, classifiers)


def trainable(pictures: Sequence[Picture], recipe: Recipe) -> list[Picture]:
    """Choose the labelled pictures of the types that a recipe trains on."""
    return [p for p in pictures if p.type in recipe.training_types and p.species is not None]


def _stacked(described: Sequence[Features], name: str) -> np.ndarray:
    return np.stack([one.vectors[name] for one in described]).astype(np.float32)


def _folds(pictures: list[Picture], seed: int) -> list[np.ndarray]:
    n_plants = len({picture.group for picture in pictures})
    return split_by_plant(pictures, min(N_FOLDS, n_plants), seed) if n_plants > 1 else []


def _weights_without(
    fold: np.ndarray, labels: np.ndarray, plants: list[str], settings: ClassifierSettings
) -> np.ndarray:
    rest = np.setdiff1d(np.arange(len(labels)), fold)
    weights = np.zeros(len(labels))
    if len(rest):
        own = [plants[index] for index in rest.tolist()]
        weights[rest] = picture_weights(labels[rest], own, settings.species_balance, settings.plant_balance)
    return weights


def _importance(pictures: Sequence[Picture]) -> np.ndarray:
    """Let a plant count once, however many pictures there are of it: the official score does."""
    groups = [picture.group for picture in pictures]
    _, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return 1 / counts[inverse]
