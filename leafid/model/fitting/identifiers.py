"""Fits identifiers: loads the features of the training pictures, and fits the classifiers of each expert."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial

import numpy as np

from leafid.descriptors.encoding import Encoder
from leafid.errors import LeafidError
from leafid.features.extractor import FeatureExtractor
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe
from leafid.features.sampling import sample_by_plant
from leafid.learning.cross_fitter import CrossFitter
from leafid.learning.cross_fitting import cross_fit
from leafid.learning.disk_backed_array import DiskBackedArray
from leafid.learning.row_statistics import N_COMPONENTS, ExpertStatistics, RowStatistics
from leafid.learning.training_matrix import TrainingMatrix
from leafid.model.bundled import find_encoders
from leafid.model.fitting.fusing import FittedClassifier, FittedIdentifier, fuse_classifiers
from leafid.model.fitting.rejection import RejectionExamples, learn_to_reject
from leafid.model.fitting.shared import SelectedVectors, SharedTrainingSet
from leafid.model.fitting.training_set import TrainingSet, build_training_set, weigh_alone, weigh_pictures
from leafid.pictures import split_by_plant
from leafid.pictures.picture import AcquisitionType, Picture

N_FOLDS = 5
#: Number of folds of the classifiers that see fewer plants. If their errors are in inverse proportion to the number of
#: plants, scores change as much from two thirds to four fifths of the plants as from there to all of them.
N_LARGE_FOLDS = 3
#: Number of species below which an identifier doesn't learn to reject pictures.
MIN_SPECIES_FOR_REJECTION = 3
#: Maximum number of held-out pictures that fusion weights, thresholds and scores are learned from.
HELD_OUT_PICTURES = 20_000
# Maximum number of held-out probabilities (pictures times species) of all identifiers that are fitted together ...
_HELD_OUT_PROBABILITIES = 2**25
# ... which does not reduce the held-out pictures of one identifier below this number.
_MIN_HELD_OUT_PICTURES = 2_000


def fit_identifiers(
    recipe: Recipe,
    types: Sequence[AcquisitionType],
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    seed: int = 0,
    encoders: dict[str, Encoder] | None = None,
    *,
    learn_rejection: bool = True,
    keep_statistics: bool = True,
    shared: SharedTrainingSet | None = None,
) -> list[FittedIdentifier]:
    """Fit an identifier for each of some types that a recipe serves.

    The experts' classifiers are trained once for all of the types. Pictures without a species, and those of types that
    the recipe doesn't train on, are ignored. `encoders` of the experts on
    local features are learned from the pictures by default. `learn_rejection` also learns to reject pictures
    (`Identifier.rejection`), which takes twice as long as the fits without each fold. `keep_statistics` keeps what
    `leafid.model.fitting.extending` needs, where all classifiers are ridge regressions. `shared` has the
    encoders, and the features of these and other pictures. A `LeafidError` is raised when there is no readable labelled
    picture of one of the types.
    """
    chosen = select_trainable(pictures, recipe)
    _check_types(types, chosen, "no labelled picture of type {} to train on")
    if shared:
        extractor = shared.extractor
    else:
        encoders = find_encoders(recipe, chosen, loader, seed) if encoders is None else encoders
        extractor = FeatureExtractor(recipe.experts, encoders, recipe.longest_side)
    with ExitStack() as stack:
        vectors: Mapping[str, DiskBackedArray | SelectedVectors]
        if selection := shared and shared.select(chosen):
            training_set, vectors = selection
        else:
            arrays = {name: stack.enter_context(DiskBackedArray(folder=loader.folder)) for name in recipe.experts}
            training_set, vectors = build_training_set(chosen, recipe, loader, extractor, arrays), arrays
        _check_types(types, training_set.pictures, "no picture of type {} could be read; nothing to train on")
        fitted = _fit_on_vectors(
            recipe,
            types,
            training_set,
            vectors,
            extractor,
            seed,
            loader,
            learn_rejection=learn_rejection,
            keep_statistics=keep_statistics and all(own.classifier == "ridge" for own in recipe.experts.values()),
        )
    return [
        own._replace(identifier=learn_to_reject(own.identifier, examples, pictures, loader)) if examples else own
        for own, examples in loader.show_progress(fitted, len(fitted), "learn to reject")
    ]


def select_trainable(pictures: Sequence[Picture], recipe: Recipe) -> list[Picture]:
    """Select the labelled pictures of the types that a recipe trains on."""
    return [p for p in pictures if p.type in recipe.training_types and p.species is not None]


def _check_types(types: Sequence[AcquisitionType], pictures: Sequence[Picture], message: str) -> None:
    present = {picture.type for picture in pictures}
    for type_ in types:
        if type_ not in present:
            raise LeafidError(message.format(type_))


def _fit_on_vectors(
    recipe: Recipe,
    types: Sequence[AcquisitionType],
    training_set: TrainingSet,
    vectors: Mapping[str, DiskBackedArray | SelectedVectors],
    extractor: FeatureExtractor,
    seed: int,
    loader: FeatureLoader,
    *,
    learn_rejection: bool,
    keep_statistics: bool,
) -> list[tuple[FittedIdentifier, RejectionExamples | None]]:
    pictures, folder = training_set.pictures, loader.folder
    names = [str(picture.species) for picture in pictures]
    species = tuple(sorted(set(names)))
    labels = np.searchsorted(species, names)
    domains = training_set.number_domains(recipe)
    folds = split_into_folds(pictures, seed)
    species_folds = _split_by_species(labels, len(species), seed) if learn_rejection else []
    large_folds = split_into_folds(pictures, seed, N_LARGE_FOLDS) if species_folds else []
    all_folds = [*folds, *species_folds, *large_folds]
    picture_partitions = (folds, species_folds, large_folds)
    partitions = [[training_set.find_rows(fold) for fold in own] for own in picture_partitions]
    n_affordable = _HELD_OUT_PROBABILITIES // len(types) // len(species)
    limit = min(HELD_OUT_PICTURES, max(_MIN_HELD_OUT_PICTURES, n_affordable))
    is_of_type = [np.array([picture.type == type_ for picture in pictures]) for type_ in types]
    held_out_indices = []
    for own_type in is_of_type:
        own_indices = np.flatnonzero(own_type)
        sample = sample_by_plant([pictures[index] for index in own_indices.tolist()], limit, seed)
        held_out_indices.append(own_indices[sample])
    scored = np.unique(np.concatenate(held_out_indices))
    classifiers: list[list[FittedClassifier]] = [[] for _ in types]
    statistics: dict[str, ExpertStatistics] = {}
    summaries: list[RowStatistics] = []

    def observe(fitter: CrossFitter) -> None:
        summaries.append(fitter.summarise_rows(N_COMPONENTS))

    n_fits = len(recipe.experts) * (len(all_folds) + 1)
    progress = iter(loader.show_progress(range(n_fits), n_fits, "fit"))
    advance = partial(next, progress, None)
    advance()
    for index, (name, expert) in enumerate(recipe.experts.items()):
        own_vectors = vectors[name]
        matrix = TrainingMatrix(
            own_vectors,
            expert.feature_map,
            standardise=not expert.is_local,
            domains=domains if expert.centre_types else None,
            read_kernel=own_vectors.read_kernel if isinstance(own_vectors, SelectedVectors) else None,
        )
        weights, *fold_weights = (
            training_set.weigh_rows(own) for own in weigh_pictures(pictures, labels, all_folds, expert)
        )
        row_labels = labels[training_set.picture_indices]
        fits = cross_fit(
            matrix,
            row_labels,
            weights,
            partitions,
            scored,
            expert,
            folder,
            fold_weights,
            advance,
            observe if keep_statistics else None,
        )
        if keep_statistics:
            unit = float(weights[0] / weigh_alone(pictures, labels, expert)[0])
            statistics[name] = ExpertStatistics(summaries[-1], matrix.preparation, unit)
        for scorer, all_scores in fits:
            targets = _relate_scores(all_scores[0], fits[0][1][0])
            for type_, indices, fitted in zip(types, held_out_indices, classifiers, strict=True):
                scorer_of_type = matrix.adapt_to_domain(scorer, recipe.training_types.index(type_))
                positions = np.searchsorted(scored, indices)
                scores_of_type = (scores[positions] for scores in all_scores)
                fitted.append(FittedClassifier(index, scorer_of_type, targets, *scores_of_type))
    return [
        fuse_classifiers(
            recipe,
            type_,
            species,
            training_set,
            indices,
            fitted,
            vectors,
            extractor,
            seed,
            statistics,
        )
        for type_, indices, fitted in zip(types, held_out_indices, classifiers, strict=True)
    ]


def _relate_scores(scores: np.ndarray, ridge_scores: np.ndarray) -> tuple[float, float]:
    """Find what scores correspond to the targets of a ridge regression, -1 and 1, by least squares over both scores."""
    possible = np.isfinite(ridge_scores)
    if scores is ridge_scores or not possible.any() or np.ptp(ridge_scores[possible]) == 0:
        return -1.0, 1.0
    slope, offset = np.polyfit(ridge_scores[possible].astype(np.float64), scores[possible], 1).tolist()
    return offset - slope, offset + slope


def split_into_folds(pictures: list[Picture], seed: int, n_folds: int = N_FOLDS) -> list[np.ndarray]:
    """Split pictures into at most `n_folds` folds of whole plants; no folds of a single plant."""
    n_plants = len({picture.group for picture in pictures})
    return split_by_plant(pictures, min(n_folds, n_plants), seed) if n_plants > 1 else []


def _split_by_species(labels: np.ndarray, n_species: int, seed: int) -> list[np.ndarray]:
    """Deal the species out to folds, each the indices of all pictures of its species."""
    if n_species < MIN_SPECIES_FOR_REJECTION:
        return []
    folds = np.random.default_rng(seed).permutation(n_species) % min(N_FOLDS, n_species)
    return [np.flatnonzero(folds[labels] == fold) for fold in range(min(N_FOLDS, n_species))]
