"""Learns to reject pictures: gathers leaves of known and of unknown species, and pictures without a leaf."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from leafid.features.augmentation import Augmentation
from leafid.features.extractor import Features
from leafid.features.loader import FeatureLoader, get_type
from leafid.features.non_leaves import ALL_KINDS, KINDS
from leafid.grouping import group_by
from leafid.learning.rejection import Examples, compute_evidence, fit_rejection
from leafid.learning.rows import make_array
from leafid.model.identifier import Identifier, expert_trust
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.splits import sample_by_plant, weigh_by_plant
from leafid.training.training_set import TrainingSet

# Number of pictures without a leaf that an identifier learns from, of sheets and of photos: anything can be behind the
# leaf of a photo.
_N_SHEETS, _N_PHOTOS = 240, 720
#: Maximum number of held-out leaves that it learns from.
MAX_HELD_OUT = 1_500


class RejectionExamples(NamedTuple):
    """Of held-out pictures: vectors and evidence where the species is known, evidence where it is unknown.

    `gain`, float (n_evidence,), is the mean change of the evidence of known species by further plants. `is_typical`
    tells of which leaves another plant of the species was photographed in the same way: a classifier that has seen none
    says little of one that will have seen some.
    """

    leaves: Examples
    known: Examples
    unknown: Examples
    gain: np.ndarray
    is_typical: np.ndarray


def gather_examples(
    identifier: Identifier,
    training_set: TrainingSet,
    indices: np.ndarray,
    labels: np.ndarray,
    expert_scores: Sequence[Sequence[np.ndarray]],
) -> RejectionExamples:
    """Gather held-out pictures as examples; all plants have the same total weight.

    Parameters
    ----------
    identifier : Identifier
    training_set : TrainingSet
    indices : int (n,)
        The held-out pictures.
    labels : int (n,)
        Their species.
    expert_scores : three sequences of float (n, n_species)
        The scores of each expert by classifiers that did not see the picture's plant, that did not see its species, and
        that saw fewer of the other plants.
    """
    pictures = [training_set.pictures[index] for index in indices.tolist()]
    confidence = training_set.confidence[indices]
    trust = expert_trust(identifier.recipe, confidence)
    known, unknown, with_fewer = (
        compute_evidence(scores, trust, identifier.weights, confidence) for scores in expert_scores
    )
    is_known, is_known_to_fewer = (
        np.isfinite(expert_scores[kind][0][np.arange(len(labels)), labels]) for kind in (0, 2)
    )
    weights = weigh_by_plant(pictures)
    plants = np.array([picture.group for picture in pictures])
    sample = np.array(sample_by_plant(pictures, MAX_HELD_OUT, identifier.seed), int)
    sample = sample[confidence[sample] > 0]
    own = sample[is_known[sample]]
    both = own[is_known_to_fewer[own]]
    gains = (known[both] - with_fewer[both]) * weights[both, None]
    by_species = group_by(pictures, lambda picture: picture.species)
    has_others = {name: len({picture.group for picture in found}) > 1 for name, found in by_species.items()}
    ends = np.cumsum([training_set.vectors[name].shape[1] for name in identifier.recipe.experts])
    vectors = make_array(len(own), int(ends[-1]), np.float16, training_set.folder)
    for name, part in zip(identifier.recipe.experts, np.split(vectors, ends[:-1], axis=1), strict=True):
        part[:] = training_set.read_vectors(name, indices[own])
    return RejectionExamples(
        Examples(vectors, weights[own], plants[own]),
        Examples(known[own], weights[own], plants[own]),
        Examples(unknown[sample], weights[sample], plants[sample]),
        gains.sum(axis=0) / max(weights[both].sum(), 1e-12),
        np.array([has_others[pictures[index].species] for index in own.tolist()], bool),
    )


def learn_to_reject(
    identifier: Identifier, examples: RejectionExamples, pictures: Sequence[Picture], loader: FeatureLoader
) -> Identifier:
    """Add to an identifier what it learns from examples, and from pictures without a leaf that `pictures` lend."""
    kinds: list[str] = []
    vectors = examples.leaves.rows
    number = _N_SHEETS if identifier.type.lies_on_sheet else _N_PHOTOS
    rows = make_array(number, vectors.shape[1], np.float16, loader.folder)
    for kind, features in load_non_leaves(identifier, pictures, loader, len(rows), KINDS):
        rows[len(kinds)] = identifier.join_vectors([features])
        kinds.append(kind)
    if not kinds or not len(vectors):
        return identifier
    non_leaves = Examples(rows[: len(kinds)], np.ones(len(kinds)), kinds)
    leaves, known, unknown, gain, is_typical = examples
    rejection = fit_rejection(leaves, non_leaves, known, unknown, gain, is_typical)
    return replace(identifier, rejection=rejection)


def load_non_leaves(
    identifier: Identifier, pictures: Sequence[Picture], loader: FeatureLoader, number: int, kinds: Iterable[str]
) -> Iterator[tuple[str, Features]]:
    """Load the features of `number` pictures without a leaf in which the segmentation finds one, with their kinds.

    The sheets of `pictures` lend their background. The leaf is searched for, and features are extracted, as in a
    picture of the identifier's type.
    """
    # Where there are photos only, these have to do.
    sheets = [picture for picture in pictures if get_type(picture).lies_on_sheet] or pictures
    indices = np.linspace(0, len(sheets) - 1, min(number, len(sheets))).astype(int)
    # All pictures of sheets are segmented alike: their types share these in the cache.
    type_ = AcquisitionType.SCAN if identifier.type.lies_on_sheet else identifier.type
    sources = [replace(sheets[index], type=type_) for index in indices]
    names = list(kinds)
    for position, kind in enumerate(names):
        augmentation = Augmentation("no-leaf", list(ALL_KINDS).index(kind))
        own = sources[position :: len(names)]
        with closing(loader.stream_augmented(own, identifier.extractor, [augmentation])) as stream:
            yield from ((kind, found[0]) for found in stream if found is not None and found[0].confidence > 0)
