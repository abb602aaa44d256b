"""Learns to reject pictures, from known and unknown species, and without a leaf."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain

import numpy as np

from leafid.features.augmentation import Augmentation
from leafid.features.extractor import Features
from leafid.features.loader import FeatureLoader
from leafid.features.non_leaves import ALL_KINDS, TRAINING_KINDS
from leafid.learning.knownness import (
    HeldOutLeaves,
    compute_evidence,
)
from leafid.learning.logistic import Examples
from leafid.learning.rejection import Rejection, fit_rejection
from leafid.learning.rows import make_array, release_memory
from leafid.model.identifier import Identifier, expert_trust
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.splits import sample_by_plant, weigh_by_plant
from leafid.training.folds import FoldPlan
from leafid.training.fusing import HeldOutScores
from leafid.training.training_set import TrainingSet

# Number of pictures without a leaf that an identifier of sheets learns from.
_N_SHEETS = 240
# The same of photos: anything can be behind the leaf of a photo.
_N_PHOTOS = 720
#: Maximum number of held-out leaves that it learns from.
MAX_HELD_OUT = 1_500


def train_rejection(
    identifier: Identifier,
    plan: FoldPlan,
    scores: HeldOutScores,
    pictures: Sequence[Picture],
    unknown: Sequence[Picture],
    loader: FeatureLoader,
) -> Rejection | None:
    """Train the rejection of pictures that show no leaf of a known species.

    Parameters
    ----------
    identifier : Identifier
        It was trained in the folds of the plan.
    plan : FoldPlan
    scores : HeldOutScores
        What its experts give to the held-out rows of its type.
    pictures : sequence of Picture
        They lend their background to pictures without a leaf.
    unknown : sequence of Picture
        Leaves of species that the identifier doesn't know.
    loader : FeatureLoader

    Returns
    -------
    Rejection or None
        None without pictures to learn from.
    """
    if not all(np.isfinite(of_experts[0]).any() for of_experts in scores):
        return None
    training_set = plan.training_set
    sample = _sample_leaves(identifier, plan)
    rows = plan.held_out_rows[identifier.type][sample]
    indices = training_set.picture_indices[rows]
    leaf_pictures = training_set.select_pictures(indices)
    confidence = training_set.confidence[rows]
    leaves = HeldOutLeaves(
        labels=plan.labels[indices],
        plants=np.array([picture.group for picture in leaf_pictures]),
        weights=weigh_by_plant(leaf_pictures),
        confidence=confidence,
        is_jittered=training_set.augmentations[rows] > 0,
        trust=expert_trust(identifier.recipe, confidence),
        scores=scores.map(lambda of_experts: [s[sample] for s in of_experts]),
    )
    non_leaves = gather_non_leaves(identifier, pictures, loader)
    if not non_leaves or not leaves.sees_species.without_plant.any():
        return None
    kinds = [kind for kind, _ in non_leaves]
    features = [features for _, features in non_leaves]
    examples = Examples(
        rows=_join_vectors(training_set, rows, features),
        is_positive=np.arange(len(rows) + len(kinds)) < len(rows),
        weights=np.append(leaves.weights, np.ones(len(kinds))),
        groups=np.append(leaves.plants, kinds),
    )
    further = _assess_unknown(identifier, unknown, loader)
    return fit_rejection(leaves, examples, identifier.weights, further)


def _sample_leaves(identifier: Identifier, plan: FoldPlan) -> np.ndarray:
    """Sample positions among the held-out rows of the identifier's type with a leaf."""
    rows = plan.held_out_rows[identifier.type]
    indices = plan.training_set.picture_indices[rows]
    pictures = plan.training_set.select_pictures(indices)
    sample = np.array(sample_by_plant(pictures, MAX_HELD_OUT, identifier.seed), int)
    return sample[plan.training_set.confidence[rows[sample]] > 0]


def _assess_unknown(
    identifier: Identifier, pictures: Sequence[Picture], loader: FeatureLoader
) -> Examples | None:
    """Make examples of unknown leaves of the identifier's type, if there are any."""
    of_type = [picture for picture in pictures if picture.type is identifier.type]
    with closing(loader.stream(of_type, identifier.extractor)) as stream:
        pairs = zip(of_type, stream, strict=True)
        leaves = [(p, leaf) for p, leaf in pairs if leaf and leaf.confidence > 0]
    if not leaves:
        return None
    shown, features = zip(*leaves, strict=True)
    confidence = np.array([leaf.confidence for leaf in features])
    trust = expert_trust(identifier.recipe, confidence)
    scores = identifier.score(features)
    return Examples(
        rows=compute_evidence(scores, trust, identifier.weights, confidence),
        is_positive=np.zeros(len(shown), bool),
        weights=weigh_by_plant(shown),
        groups=[picture.group for picture in shown],
    )


def _join_vectors(
    training_set: TrainingSet, rows: np.ndarray, further: Sequence[Features]
) -> np.ndarray:
    """Join the vectors of all experts, of the training set's rows and further features.

    The result is float16.
    """
    names = list(training_set.recipe.experts)
    ends = np.cumsum([training_set.vectors[name].shape[1] for name in names])
    n_rows = len(rows) + len(further)
    vectors = make_array(n_rows, int(ends[-1]), np.float16, training_set.folder)
    for name, part in zip(names, np.split(vectors, ends[:-1], axis=1), strict=True):
        part[: len(rows)] = training_set.vectors[name][rows]
        part[len(rows) :] = [features.vectors[name] for features in further]
        release_memory(training_set.vectors[name])
    return vectors


def gather_non_leaves(
    identifier: Identifier, pictures: Sequence[Picture], loader: FeatureLoader
) -> list[tuple[str, Features]]:
    """Gather the features of pictures without a leaf, with the pictures' kinds."""
    number = _N_PHOTOS
    if identifier.type.lies_on_sheet:
        number = _N_SHEETS
    return list(
        load_non_leaves(
            identifier, pictures, loader=loader, number=number, kinds=TRAINING_KINDS
        )
    )


def load_non_leaves(
    identifier: Identifier,
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    number: int,
    kinds: Iterable[str],
) -> Iterator[tuple[str, Features]]:
    """Load the features of `number` pictures without a leaf, with their kinds.

    In each of them the segmentation takes something for a leaf.

    Every second one is jittered, so that a poor picture does not look like a leaf for
    that. The sheets of `pictures` lend their background. The leaf is searched for, and
    features are extracted, as in a picture of the identifier's type.
    """
    sheets = [picture for picture in pictures if picture.require_type().lies_on_sheet]
    # Where there are only photos, these lend their background.
    sheets = sheets or list(pictures)
    indices = np.linspace(0, len(sheets) - 1, min(number // 2, len(sheets))).astype(int)
    type_ = identifier.type
    if type_.lies_on_sheet:
        # Pictures of sheets are segmented alike: their types share these in the cache.
        type_ = AcquisitionType.SCAN
    sources = [replace(sheets[index], type=type_) for index in indices]
    names = list(kinds)
    for position, kind in enumerate(names):
        augmentations = [
            Augmentation("no-leaf", ALL_KINDS[kind]),
            Augmentation("jittered-no-leaf", ALL_KINDS[kind]),
        ]
        stream = loader.stream_augmented(
            sources[position :: len(names)], identifier.extractor, augmentations
        )
        with closing(stream):
            for features in chain.from_iterable(filter(None, stream)):
                if features.confidence > 0:
                    yield kind, features
