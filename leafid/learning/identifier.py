"""The identifier of one acquisition type: experts that each give an opinion, and the fusion of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafid.collection import plant_folds
from leafid.collection.picture import AcquisitionType, Picture
from leafid.encoding import Encoder
from leafid.errors import LeafidError
from leafid.learning.describing import Described, Describer
from leafid.learning.descriptions import Descriptions
from leafid.learning.fusion import fused, learn_weights
from leafid.learning.linear import LinearScorer, Rows, picture_weights
from leafid.learning.recipe import Expert, Recipe

N_FOLDS = 5


@dataclass
class HeldOut:
    """What an identifier said of its training pictures, each time trained without the picture's plant.

    Attributes
    ----------
    pictures : list of Picture
        Those of the identifier's own type.
    probabilities : float64 (n, n_species)
    species : tuple of str
        The columns.
    seen : bool (n,)
        Whether the species had another plant to learn from; only then can the answer be right.
    """

    pictures: list[Picture]
    probabilities: np.ndarray
    species: tuple[str, ...]
    seen: np.ndarray


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
    describer_ : Describer
    scorers_ : dict of str to LinearScorer
        By the expert's name.
    weights_ : float64 (n_experts,)
        Of the experts, in the recipe's order.
    n_pictures_, n_plants_ : int
        What it was trained on.
    held_out_ : HeldOut
        Of the fit; None in an identifier read from a file.
    """

    def __init__(self, recipe: Recipe, seed: int = 0) -> None:
        self.recipe = recipe
        self.seed = seed
        self.held_out_: HeldOut | None = None

    @property
    def type(self) -> AcquisitionType:
        """The acquisition type that it is for."""
        return self.recipe.type

    def fit(
        self, pictures: Sequence[Picture], descriptions: Descriptions, encoders: dict[str, Encoder] | None = None
    ) -> Identifier:
        """Learn from labelled pictures.

        Parameters
        ----------
        pictures : sequence of Picture
            Of known species and type; those of other types than the recipe trains on are left out.
        descriptions : Descriptions
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
        chosen = trainable(pictures, self.recipe)
        if not any(picture.type == self.type for picture in chosen):
            raise LeafidError(f"no labelled picture of type {self.type} to train on")
        if encoders is None:
            encoders = descriptions.learn_encoders(chosen, self.recipe, self.seed)
        self.describer_ = Describer(self.recipe.experts, encoders, self.recipe.longest_side)
        found = descriptions.describe(chosen, self.describer_)
        readable = [(p, d) for p, d in zip(chosen, found, strict=True) if d is not None]
        if not any(picture.type == self.type for picture, _ in readable):
            raise LeafidError(f"no picture of type {self.type} could be read; nothing to train on")
        self._learn([picture for picture, _ in readable], [described for _, described in readable])
        return self

    def predict_proba(self, described: Sequence[Described]) -> np.ndarray:
        """Give the probability of every species for described pictures.

        Returns
        -------
        float64 (n, n_species)
            Rows sum to 1; columns as in `species_`. All species are equally likely where no leaf was found.
        """
        scores = [self.scorers_[name].scores(_stacked(described, name)) for name in self.recipe.experts]
        probabilities = fused(scores, self._trust(described), self.weights_)
        probabilities[[one.confidence == 0 for one in described]] = 1 / len(self.species_)
        return probabilities

    def _learn(self, pictures: list[Picture], described: list[Described]) -> None:
        names = np.array([picture.species for picture in pictures])
        self.species_ = tuple(sorted(set(names)))
        labels = np.searchsorted(self.species_, names)
        self.n_pictures_ = len(pictures)
        self.n_plants_ = len({picture.group for picture in pictures})
        own = np.array([picture.type == self.type for picture in pictures])
        types = np.array([self.recipe.training_types.index(p.type) for p in pictures if p.type is not None])
        folds = _folds(pictures, self.seed)
        held_out: list[np.ndarray] = []
        self.scorers_: dict[str, LinearScorer] = {}
        for name, expert in self.recipe.experts.items():
            rows = Rows(
                _stacked(described, name),
                expert.map,
                standardise=not expert.is_local,
                types=types if expert.centre_types else None,
                own_type=self.recipe.training_types.index(self.type),
            )
            weights = picture_weights(labels, [f"{p.group} {p.type}" for p in pictures], expert.balance)
            held_out.append(_held_out_scores(rows, labels, weights, folds, expert))
            fit = rows.fit(expert.classifier, np.arange(len(labels)), labels, expert.regularisation, weights)
            self.scorers_[name] = rows.scorer(fit.coefficients, fit.intercepts, fit.back)
        scores = [s[own] for s in held_out]
        trust = [t[own] for t in self._trust(described)]
        seen = np.isfinite(scores[0][np.arange(own.sum()), labels[own]])
        own_pictures = [picture for picture in pictures if picture.type == self.type]
        self.weights_ = learn_weights(
            [s[seen] for s in scores], [t[seen] for t in trust], labels[own][seen], _importance(own_pictures)[seen]
        )
        self.held_out_ = HeldOut(own_pictures, fused(scores, trust, self.weights_), self.species_, seen)

    def _trust(self, described: Sequence[Described]) -> list[np.ndarray]:
        sure = np.array([one.confidence for one in described])
        return [
            sure if expert.trust == "segmentation" else np.ones(len(sure)) for expert in self.recipe.experts.values()
        ]


def trainable(pictures: Sequence[Picture], recipe: Recipe) -> list[Picture]:
    """Choose the labelled pictures of the types that a recipe trains on."""
    return [p for p in pictures if p.type in recipe.training_types and p.species is not None]


def _stacked(described: Sequence[Described], name: str) -> np.ndarray:
    return np.stack([one.vectors[name] for one in described]).astype(np.float32)


def _folds(pictures: list[Picture], seed: int) -> list[np.ndarray]:
    n_plants = len({picture.group for picture in pictures})
    return plant_folds(pictures, min(N_FOLDS, n_plants), seed) if n_plants > 1 else []


def _held_out_scores(
    rows: Rows, labels: np.ndarray, weights: np.ndarray, folds: list[np.ndarray], expert: Expert
) -> np.ndarray:
    """Score every row by a classifier that did not see its plant; -inf for species that classifier did not see."""
    scores = np.full((len(labels), labels.max() + 1), -np.inf, np.float32)
    for test in folds:
        train = np.setdiff1d(np.arange(len(labels)), test)
        seen, own_labels = np.unique(labels[train], return_inverse=True)
        fit = rows.fit(expert.classifier, train, own_labels, expert.regularisation, weights[train])
        scores[np.ix_(test, seen)] = fit.scores(test)
    return scores


def _importance(pictures: Sequence[Picture]) -> np.ndarray:
    """Let a plant count once, however many pictures there are of it: the official score does."""
    groups = [picture.group for picture in pictures]
    _, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return 1 / counts[inverse]
