"""Learns to reject pictures, from leaves of known and of unknown species and from pictures without a leaf."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np

from leafid.features.augmentation import Augmentation
from leafid.features.extractor import Features
from leafid.features.loader import FeatureLoader
from leafid.features.non_leaves import ALL_KINDS, TRAINING_KINDS
from leafid.grouping import group_by
from leafid.learning.fusion import fuse
from leafid.learning.rejection import Rejection, compute_evidence
from leafid.learning.rejection_fitting import Examples, FirstSpecies, fit_rejection
from leafid.learning.rows import make_array, release_memory
from leafid.model.identifier import Identifier, expert_trust
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.splits import sample_by_plant, weigh_by_plant
from leafid.training.folds import (
    WITHOUT_MORE_PLANTS,
    WITHOUT_PLANT,
    WITHOUT_SPECIES,
    FoldPlan,
)
from leafid.training.training_set import TrainingSet

# Number of pictures without a leaf that an identifier learns from, of sheets and of photos: anything can be behind the
# leaf of a photo.
_N_SHEETS, _N_PHOTOS = 240, 720
#: Maximum number of held-out leaves that it learns from.
MAX_HELD_OUT = 1_500


def train_rejection(
    identifier: Identifier,
    plan: FoldPlan,
    scores: Mapping[str, Sequence[np.ndarray]],
    pictures: Sequence[Picture],
    loader: FeatureLoader,
) -> Rejection | None:
    """Train what tells leaves of known species from all else; None without pictures to learn from.

    The identifier was trained in the folds of the plan. `scores`, float (n, n_species), are those of its type's
    `FoldPlan.held_out_rows` by each expert, by the name of the folds without which it was trained. The pictures lend
    their background to pictures without a leaf.
    """
    training_set, rows = plan.training_set, plan.held_out_rows[identifier.type]
    held_out_pictures = training_set.select_pictures(training_set.picture_indices[rows])
    confidence = training_set.confidence[rows]
    sample = np.array(
        sample_by_plant(held_out_pictures, MAX_HELD_OUT, identifier.seed), int
    )
    sample = sample[confidence[sample] > 0]
    sampled = [held_out_pictures[index] for index in sample.tolist()]
    labels = plan.labels[training_set.picture_indices[rows[sample]]]
    weights, plants = (
        weigh_by_plant(sampled),
        np.array([picture.group for picture in sampled]),
    )
    is_jittered = training_set.augmentations[rows[sample]] > 0
    # The number of an answer is to hold for poor pictures.
    is_used = is_jittered if is_jittered.any() else ~is_jittered
    confidence = confidence[sample]
    trust = expert_trust(identifier.recipe, confidence)
    sampled_scores = {
        name: [values[sample] for values in kind] for name, kind in scores.items()
    }
    evidence = {
        name: compute_evidence(kind, trust, identifier.weights, confidence)
        for name, kind in sampled_scores.items()
    }
    # A classifier does not know the species of a fold that has all other plants of the species, too.
    sees_species = {
        name: np.isfinite(kind[0][np.arange(len(labels)), labels])
        for name, kind in sampled_scores.items()
    }
    non_leaves = gather_non_leaves(identifier, pictures, loader)
    if non_leaves is None or not sees_species[WITHOUT_PLANT].any():
        return None
    comparable = sees_species[WITHOUT_PLANT] & sees_species[WITHOUT_MORE_PLANTS]
    gains = (evidence[WITHOUT_PLANT] - evidence[WITHOUT_MORE_PLANTS])[comparable]
    mean_gain = weights[comparable] @ gains / max(weights[comparable].sum(), 1e-12)
    known, unknown = (
        fuse(sampled_scores[name], trust, identifier.weights)
        for name in (WITHOUT_PLANT, WITHOUT_SPECIES)
    )
    return fit_rejection(
        Examples(
            _join_vectors(identifier, training_set, rows[sample]), weights, plants
        ),
        non_leaves,
        Examples(
            evidence[WITHOUT_PLANT], weights * sees_species[WITHOUT_PLANT], plants
        ),
        Examples(evidence[WITHOUT_SPECIES], weights, plants),
        mean_gain,
        _have_another_plant(sampled),
        FirstSpecies(
            known.max(axis=1),
            unknown.max(axis=1),
            known.argmax(axis=1) == labels,
            is_used,
        ),
    )


def _have_another_plant(pictures: Sequence[Picture]) -> np.ndarray:
    """Tell of which pictures another plant of the species is among them, bool (n,).

    A classifier that has seen no other plant photographed in the same way says little of one that will have seen some.
    """
    by_species = group_by(pictures, lambda picture: picture.species)
    n_plants = {
        name: len({picture.group for picture in members})
        for name, members in by_species.items()
    }
    return np.array([n_plants[picture.species] > 1 for picture in pictures], bool)


def _join_vectors(
    identifier: Identifier, training_set: TrainingSet, rows: np.ndarray
) -> np.ndarray:
    """Join the vectors of all experts for rows of the training set, float16 (n, n_columns)."""
    names = list(identifier.recipe.experts)
    ends = np.cumsum([training_set.vectors[name].shape[1] for name in names])
    vectors = make_array(len(rows), int(ends[-1]), np.float16, training_set.folder)
    for name, part in zip(names, np.split(vectors, ends[:-1], axis=1), strict=True):
        part[:] = training_set.vectors[name][rows]
        release_memory(training_set.vectors[name])
    return vectors


def gather_non_leaves(
    identifier: Identifier, pictures: Sequence[Picture], loader: FeatureLoader
) -> Examples | None:
    """Gather pictures without a leaf as examples, grouped by kind; None where the segmentation finds none in any."""
    number = _N_SHEETS if identifier.type.lies_on_sheet else _N_PHOTOS
    loaded = load_non_leaves(identifier, pictures, loader, number, TRAINING_KINDS)
    examples = [
        (kind, identifier.join_vectors([features]).astype(np.float16))
        for kind, features in loaded
    ]
    if not examples:
        return None
    kinds, rows = zip(*examples, strict=True)
    return Examples(np.concatenate(rows), np.ones(len(rows)), kinds)


def load_non_leaves(
    identifier: Identifier,
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    number: int,
    kinds: Iterable[str],
) -> Iterator[tuple[str, Features]]:
    """Load the features of `number` pictures without a leaf in which the segmentation finds one, with their kinds.

    Every second one is jittered, so that a poor picture does not look like a leaf for that. The sheets of `pictures`
    lend their background. The leaf is searched for, and features are extracted, as in a picture of the identifier's
    type.
    """
    # Where there are only photos, these lend their background.
    sheets = [
        picture for picture in pictures if picture.require_type().lies_on_sheet
    ] or pictures
    indices = np.linspace(0, len(sheets) - 1, min(number // 2, len(sheets))).astype(int)
    # All pictures of sheets are segmented alike: their types share these in the cache.
    type_ = AcquisitionType.SCAN if identifier.type.lies_on_sheet else identifier.type
    sources = [replace(sheets[index], type=type_) for index in indices]
    names = list(kinds)
    for position, kind in enumerate(names):
        augmentations = [
            Augmentation(made, ALL_KINDS[kind])
            for made in ("no-leaf", "jittered-no-leaf")
        ]
        chosen = sources[position :: len(names)]
        with closing(
            loader.stream_augmented(chosen, identifier.extractor, augmentations)
        ) as stream:
            for views in stream:
                yield from ((kind, view) for view in views or [] if view.confidence > 0)
