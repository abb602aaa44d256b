"""Learns to reject pictures, from known and unknown species, and without a leaf."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from leafid.features.augmentation import Augmentation
from leafid.features.extractor import LEAF_MEASURES, FeatureExtractor, Features
from leafid.features.loader import FeatureLoader
from leafid.features.non_leaves import ALL_KINDS, TRAINING_KINDS
from leafid.learning.knownness import HeldOutLeaves, compute_evidence
from leafid.learning.leafness import Leafness
from leafid.learning.leafness_fits import LeafExamples, fit_forest, fit_linear
from leafid.learning.logistic import Examples
from leafid.learning.rejection import Rejection, fit_rejection
from leafid.model.identifier import Identifier, expert_trust
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.splitting.units import sample_by_plant, weigh_by_plant
from leafid.training.folds import FoldPlan
from leafid.training.fusing import HeldOutScores

# Number of pictures without a leaf that a training on sheets learns from.
_N_SHEETS = 960
# The same for photos: anything can be behind the leaf of a photo. Parts of photographs
# are as many times more often among them than other kinds.
_N_PHOTOS = 1_440
_FURTHER_PHOTOGRAPHS = 4
#: Maximum number of held-out leaves of a type that a training learns from.
MAX_HELD_OUT = 1_500


@dataclass(frozen=True, eq=False)
class LeafnessFit:
    """The leafness that types learn together, and its answers to held-out leaves."""

    leafness: Leafness
    #: int (n,): the rows of held-out leaves of all types.
    rows: np.ndarray
    #: float64 (n,): their probabilities without their plant.
    probabilities: np.ndarray


def train_leafness(
    plan: FoldPlan, pictures: Sequence[Picture], loader: FeatureLoader
) -> LeafnessFit | None:
    """Train the distinction of leaves from other things, for all types of a plan.

    The pictures lend their background to pictures without a leaf. None where there is
    nothing to learn from.
    """
    training_set = plan.training_set
    rows = np.concatenate([_sample_leaves(plan, type_) for type_ in plan.types])
    leaf_pictures = training_set.select_pictures(training_set.picture_indices[rows])
    names = training_set.extractor.leaf_vectors
    drawn: dict[str, list[np.ndarray]] = {name: [] for name in names}
    groups: list[str] = []
    for group, views in gather_non_leaves(plan, pictures, loader):
        for name in names:
            drawn[name] += [view.vectors[name].astype(np.float16) for view in views]
        groups += [group] * len(views)
    if min(len(rows), len(groups)) < 2:
        return None
    examples = LeafExamples(
        is_leaf=np.arange(len(rows) + len(groups)) < len(rows),
        weights=np.append(weigh_by_plant(leaf_pictures), np.ones(len(groups))),
        groups=[*(picture.group for picture in leaf_pictures), *groups],
    )

    def join_vectors(name: str) -> np.ndarray:
        return np.vstack([training_set.vectors[name][rows], *drawn.pop(name)])

    if LEAF_MEASURES in names:
        measures = join_vectors(LEAF_MEASURES)
        leafness, probabilities = fit_forest(LEAF_MEASURES, measures, examples)
    else:
        # One expert's vectors at a time: those of all take hundreds of megabytes.
        expert_rows = (
            (name, training_set.prepare_vectors(name, join_vectors(name)))
            for name in names
        )
        leafness, probabilities = fit_linear(expert_rows, examples)
    return LeafnessFit(leafness, rows, probabilities[: len(rows)])


def train_rejection(
    identifier: Identifier,
    plan: FoldPlan,
    scores: HeldOutScores,
    leafness: LeafnessFit,
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
    leafness : LeafnessFit
        What was learned of leaves for all types of the plan.
    unknown : sequence of Picture
        Leaves of species that the identifier doesn't know.
    loader : FeatureLoader

    Returns
    -------
    Rejection or None
        None without pictures to learn from.
    """
    if not all(np.isfinite(experts[0]).any() for experts in scores):
        return None
    training_set = plan.training_set
    rows_of_type = plan.held_out_rows[identifier.type]
    is_of_type = np.isin(leafness.rows, rows_of_type)
    rows = leafness.rows[is_of_type]
    positions = np.searchsorted(rows_of_type, rows)
    indices = training_set.picture_indices[rows]
    leaf_pictures = training_set.select_pictures(indices)
    confidence = training_set.confidence[rows]
    copies = training_set.find_jittered(indices)
    has_copy = np.isin(indices, training_set.picture_indices[copies])
    leaves = HeldOutLeaves(
        labels=plan.labels[indices],
        plants=np.array([picture.group for picture in leaf_pictures]),
        weights=weigh_by_plant(leaf_pictures),
        confidence=confidence,
        is_last_copy=(training_set.augmentations[rows] > 0) | ~has_copy,
        trust=expert_trust(identifier.recipe, confidence),
        scores=scores.map(lambda experts: [values[positions] for values in experts]),
    )
    if not leaves.sees_species.without_plant.any():
        return None
    p_leaf = leafness.probabilities[is_of_type]
    further = _assess_unknown(identifier, unknown, loader)
    return fit_rejection(leaves, leafness.leafness, p_leaf, identifier.weights, further)


def _sample_leaves(plan: FoldPlan, type_: AcquisitionType) -> np.ndarray:
    """Sample rows with a leaf among the held-out rows of a type."""
    training_set = plan.training_set
    rows = plan.held_out_rows[type_]
    pictures = training_set.select_pictures(training_set.picture_indices[rows])
    sample = rows[sample_by_plant(pictures, MAX_HELD_OUT, plan.seed)]
    return sample[training_set.confidence[sample] > 0]


def _assess_unknown(
    identifier: Identifier, pictures: Sequence[Picture], loader: FeatureLoader
) -> Examples | None:
    """Make examples of unknown leaves of the identifier's type, if there are any."""
    pictures = [picture for picture in pictures if picture.type is identifier.type]
    with closing(loader.stream(pictures, identifier.extractor)) as stream:
        pairs = zip(pictures, stream, strict=True)
        leaves = [(p, leaf) for p, leaf in pairs if leaf and leaf.confidence > 0]
    if not leaves:
        return None
    pictures, features = zip(*leaves, strict=True)
    confidence = np.array([leaf.confidence for leaf in features])
    trust = expert_trust(identifier.recipe, confidence)
    scores = identifier.score(features)
    return Examples(
        rows=compute_evidence(scores, trust, identifier.weights, confidence),
        is_positive=np.zeros(len(pictures), bool),
        weights=weigh_by_plant(pictures),
        groups=[picture.group for picture in pictures],
    )


def gather_non_leaves(
    plan: FoldPlan, pictures: Sequence[Picture], loader: FeatureLoader
) -> list[tuple[str, list[Features]]]:
    """Gather the vectors of pictures without a leaf: views of each, and its group."""
    type_ = plan.types[0]
    number = _N_PHOTOS
    kinds = [*TRAINING_KINDS, *["photograph"] * _FURTHER_PHOTOGRAPHS]
    if type_.lies_on_sheet:
        number = _N_SHEETS
        kinds = [*TRAINING_KINDS]
    drawings = load_non_leaves(
        plan.training_set.extractor,
        type_,
        pictures,
        loader=loader,
        number=number,
        kinds=kinds,
        names=plan.training_set.extractor.leaf_vectors,
    )
    return [(group, views) for _, group, views in drawings]


def load_non_leaves(
    extractor: FeatureExtractor,
    type_: AcquisitionType,
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    number: int,
    kinds: Sequence[str],
    names: Sequence[str] | None = None,
) -> Iterator[tuple[str, str, list[Features]]]:
    """Load the features of `number` pictures without a leaf: kind, group, and views.

    A kind that is named twice has twice the drawings. Parts of one photograph are one
    group, any other drawing is a group. Each comes as it is, and jittered, so that
    being poor makes no picture look like a leaf; views in which the segmentation finds
    nothing are left out. The sheets of `pictures` lend their background. The leaf is
    searched for as in a picture of the type. `names` selects vectors of the extractor.
    """
    sheets = [picture for picture in pictures if picture.require_type().lies_on_sheet]
    # Where there are only photos, these lend their background.
    sheets = sheets or list(pictures)
    indices = np.linspace(0, len(sheets) - 1, min(number // 2, len(sheets))).astype(int)
    if type_.lies_on_sheet:
        # Pictures of sheets are segmented alike: their types share these in the cache.
        type_ = AcquisitionType.SCAN
    sources = [replace(sheets[index], type=type_) for index in indices]
    for position, kind in enumerate(kinds):
        drawn_on = sources[position :: len(kinds)]
        numbers = ALL_KINDS[kind]
        for offset, drawing in enumerate(numbers):
            augmentations = [
                Augmentation("no-leaf", drawing),
                Augmentation("jittered-no-leaf", drawing),
            ]
            stream = loader.stream_augmented(
                drawn_on[offset :: len(numbers)], extractor, augmentations, names
            )
            with closing(stream):
                for index, drawings in enumerate(stream):
                    group = f"{kind} {drawing if len(numbers) > 1 else index}"
                    views = [v for v in drawings or () if v.confidence > 0]
                    if views:
                        yield kind, group, views
