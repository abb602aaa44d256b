"""Cross-validation in an open world: some species are held out of training, and some pictures show no leaf."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass

import numpy as np

from leafid.features.extractor import Features
from leafid.features.loader import FeatureLoader
from leafid.features.non_leaves import ALL_KINDS
from leafid.features.recipe import Recipe, group_by_training
from leafid.model.crossvalidation import share_training_sets
from leafid.model.fitting.identifiers import fit_identifiers
from leafid.model.fitting.rejection import load_non_leaves
from leafid.model.identifier import Identifier
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.protocols import Split

#: Share of the species that each fold holds out, 20 of 71, and number of pictures without a leaf that it tests.
HELD_OUT_SPECIES_SHARE = 0.28
N_TESTED_NON_LEAVES = 140


@dataclass(frozen=True)
class Judgements:
    """What an identifier says of some pictures; every array has an item for each."""

    #: Probabilities that there is a leaf, and that a leaf is of a known species.
    leaf: np.ndarray
    known: np.ndarray
    #: The probability of the first species, and which it is.
    highest: np.ndarray
    first: np.ndarray
    is_no_leaf: np.ndarray
    is_unknown: np.ndarray

    @property
    def is_named(self) -> np.ndarray:
        """Whether a species is named."""
        return ~(self.is_no_leaf | self.is_unknown)

    @property
    def score(self) -> np.ndarray:
        """The probability that there is a leaf of a known species."""
        return self.leaf * self.known


@dataclass(frozen=True)
class OpenWorldFold:
    """Judgements on one fold's test pictures of one type."""

    type: AcquisitionType
    seed: int
    fold: int
    known: Judgements
    is_correct: np.ndarray
    unknown: Judgements
    #: By kind (`leafid.features.non_leaves`); where the segmentation finds nothing there is no judgement.
    non_leaves: Mapping[str, Judgements]

    @property
    def has_both(self) -> bool:
        """Whether there are leaves both of known and of unknown species."""
        return bool(len(self.known.known) and len(self.unknown.known))


def cross_validate_open_world(
    pictures: Sequence[Picture],
    recipes: Mapping[AcquisitionType, Recipe],
    loader: FeatureLoader,
    splits: Iterable[Split],
    *,
    shared_codebooks: bool = False,
) -> Iterator[OpenWorldFold]:
    """Train on each split without some species, drawn at random; judge these, test pictures, and pictures without leaf.

    `shared_codebooks` learns the codebooks once, from all pictures without their labels. Identifiers that can't learn
    to reject pictures, as there are too few species, are left out.
    """
    names = sorted({str(picture.species) for picture in pictures})
    with ExitStack() as stack:
        shared = share_training_sets(pictures, recipes, loader, stack) if shared_codebooks else {}
        for split in splits:
            order = np.random.default_rng([split.seed, split.fold]).permutation(len(names))
            unknown = {names[index] for index in order[: round(HELD_OUT_SPECIES_SHARE * len(names))]}
            training = [pictures[index] for index in split.training if pictures[index].species not in unknown]
            test = [pictures[index] for index in split.test]
            others = [picture for picture in pictures if picture.species in unknown]
            trained = {picture.type for picture in training}
            for types in group_by_training({type_: recipe for type_, recipe in recipes.items() if type_ in trained}):
                recipe, shared_set = recipes[types[0]], shared.get(types[0])
                for fitted in fit_identifiers(recipe, types, training, loader, split.seed, shared=shared_set):
                    if fitted.identifier.rejection is not None:
                        yield _judge_split(fitted.identifier, split, test, others, loader)


def _judge_split(
    identifier: Identifier,
    split: Split,
    test: Sequence[Picture],
    unknown: Sequence[Picture],
    loader: FeatureLoader,
) -> OpenWorldFold:
    names = set(identifier.species)
    judged = []
    for queries in ([picture for picture in test if picture.species in names], unknown):
        own = [picture for picture in queries if picture.type == identifier.type]
        with closing(loader.stream(own, identifier.extractor)) as stream:
            found = [(query, features) for query, features in zip(own, stream, strict=True) if features is not None]
        judgements = judge(identifier, [features for _, features in found])
        judged.append((judgements, np.array([query.species for query, _ in found])))
    (known, labels), (others, _) = judged
    by_kind: dict[str, list[Features]] = {}
    for kind, features in load_non_leaves(identifier, test, loader, N_TESTED_NON_LEAVES, ALL_KINDS):
        by_kind.setdefault(kind, []).append(features)
    return OpenWorldFold(
        identifier.type,
        split.seed,
        split.fold,
        known,
        np.array(identifier.species)[known.first] == labels,
        others,
        {kind: judge(identifier, features) for kind, features in by_kind.items()},
    )


def judge(identifier: Identifier, features: Sequence[Features]) -> Judgements:
    """Judge pictures with an identifier that has a `rejection`, by their features."""
    assert identifier.rejection is not None
    if not features:
        empty = np.zeros(0)
        return Judgements(empty, empty, empty, empty.astype(int), empty.astype(bool), empty.astype(bool))
    scores = identifier.score(features)
    probabilities = identifier.predict_proba(features, scores)
    leaf, known = identifier.assess(features, scores) or (np.zeros(0), np.zeros(0))
    is_no_leaf, is_unknown = identifier.rejection.reject(leaf, known)
    return Judgements(leaf, known, probabilities.max(axis=1), probabilities.argmax(axis=1), is_no_leaf, is_unknown)
