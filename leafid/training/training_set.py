"""The training set of identifiers: unchanged, jittered, and composited pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from leafid.descriptors.encoding import Encoder
from leafid.errors import LeafidError
from leafid.features.augmentation import Augmentation, AugmentationKind
from leafid.features.codebooks import learn_encoders
from leafid.features.extractor import FeatureExtractor, Features
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe
from leafid.grouping import group_by
from leafid.learning.classifiers.linear import weigh_pictures
from leafid.learning.classifiers.rows import (
    TrainingRows,
    make_array,
    make_rows,
    release_memory,
)
from leafid.learning.classifiers.settings import ClassifierSettings
from leafid.model.bundled import find_bundled_model, read_once
from leafid.pictures.picture import AcquisitionType, Picture, count_plants

#: Number of training pictures above which there are no augmentations: a large set
#: varies enough.
MAX_AUGMENTED_PICTURES = 20_000
#: Maximum number of pictures of a plant and type that photos are composited from:
#: pictures of one plant resemble each other.
MAX_COMPOSITED_PER_PLANT = 8
#: Weight of a picture outside the collection with most plants, beside one in it.
FURTHER_COLLECTION_WEIGHT = 0.5
#: Weight of all composited photos of a picture, relative to the picture itself.
COMPOSITED_WEIGHT = 1.0
# The keys of an expert that decide how local descriptors are encoded.
_ENCODER_KEYS = ("descriptor", "encoder", "modes", "components", "position")


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The rows of the training vectors: one for each picture, then augmented ones."""

    recipe: Recipe
    extractor: FeatureExtractor
    #: The pictures that could be read.
    pictures: list[Picture]
    #: float64 (n_rows,): confidence of the segmentation.
    confidence: np.ndarray
    #: int (n_rows,): the picture of each row.
    picture_indices: np.ndarray
    #: int (n_rows,): 0: the unaltered picture; from 1: the recipe's jittered pictures,
    #: then its composited photos.
    augmentations: np.ndarray
    #: float64 (n_rows,): weight of a row divided by the unaltered picture's weight.
    relative_weights: np.ndarray
    #: Vectors by name, as in `Features`: float16 (n_rows, n_columns), mapped to a
    #: temporary file where they are many.
    vectors: Mapping[str, np.ndarray]
    #: The folder that temporary files are written to.
    folder: Path | None = None
    #: The rows that were made, by the expert's name, for further fits; None where they
    #: are not kept.
    rows: dict[str, TrainingRows] | None = None

    def select_pictures(self, indices: np.ndarray) -> list[Picture]:
        """Select pictures by their indices."""
        return [self.pictures[index] for index in indices.tolist()]

    def find_rows(self, pictures: np.ndarray) -> np.ndarray:
        """Find all rows of some pictures, given by their indices."""
        return np.flatnonzero(np.isin(self.picture_indices, pictures))

    def find_jittered(self, pictures: np.ndarray) -> np.ndarray:
        """Find the rows of the jittered copies of pictures with some indices."""
        rows = self.find_rows(pictures)
        return rows[
            (self.augmentations[rows] > 0)
            & (self.augmentations[rows] <= self.recipe.jittered)
        ]

    def number_domains(self) -> np.ndarray:
        """Give the number of each row's domain: int (n_rows,).

        Rows of a domain resemble each other, and are centred on their mean. The first
        domains have the pictures of each of the recipe's training types, unaltered or
        jittered; the next ones have, for each composited photo of a picture, the photos
        of each type; then the same follows for each further collection, whose camera
        shifts the mean.
        """
        types = self.recipe.training_types
        type_numbers = np.array(
            [types.index(picture.require_type()) for picture in self.pictures], int
        )
        composites = np.maximum(self.augmentations - self.recipe.jittered, 0)
        domains = type_numbers[self.picture_indices] + len(types) * composites
        ranks = self.collection_ranks[self.picture_indices]
        return domains + ranks * (int(domains.max(initial=0)) + 1)

    @cached_property
    def collection_ranks(self) -> np.ndarray:
        """The rank of each picture's collection, as by `rank_collections`."""
        return rank_collections(self.pictures)

    def balance_pictures(
        self, indices: np.ndarray, settings: ClassifierSettings
    ) -> np.ndarray:
        """Weigh some pictures, each 1 if its species and plant have no other of them.

        Species are balanced in each collection by itself: the pictures of another
        camera would else take the weight of the first one's. Each picture of a
        collection other than the one with most plants weighs half.

        Parameters
        ----------
        indices : ndarray of int, (n,)
        settings : ClassifierSettings
            The balances of species and plants.

        Returns
        -------
        ndarray of float64, (n,)
            From 0 to 1.
        """
        pictures = self.select_pictures(indices)
        weights = weigh_pictures(
            [f"{picture.species} {picture.collection}" for picture in pictures],
            # Scans and photos of a plant count as two plants: they differ.
            [f"{picture.group} {picture.type}" for picture in pictures],
            settings.species_balance,
            settings.plant_balance,
        )
        weights[self.collection_ranks[indices] > 0] *= FURTHER_COLLECTION_WEIGHT
        return weights

    def weigh_rows(self, picture_weights: np.ndarray) -> np.ndarray:
        """Turn weights of pictures into weights of rows, (n_rows,), of the same sum."""
        weights = picture_weights[self.picture_indices] * self.relative_weights
        if not weights.any():
            return weights
        return weights * (picture_weights.sum() / weights.sum())

    def make_rows(self, name: str) -> TrainingRows:
        """Make the training rows of an expert, or take rows that were kept."""
        if self.rows and name in self.rows:
            return self.rows[name]
        centre_types = self.recipe.experts[name].centre_types
        domains = self.number_domains() if centre_types else None
        rows = self.prepare_vectors(name, self.vectors[name], domains)
        if self.rows is not None:
            self.rows[name] = rows
        return rows

    def prepare_vectors(
        self, name: str, vectors: np.ndarray, domains: np.ndarray | None = None
    ) -> TrainingRows:
        """Turn vectors of an expert, float (n, n_columns), into training rows."""
        expert = self.recipe.experts[name]
        return make_rows(
            vectors,
            map=expert.feature_map,
            standardise=not expert.is_local,
            domains=domains,
            folder=self.folder,
        )


def rank_collections(pictures: Sequence[Picture]) -> np.ndarray:
    """Rank each picture's collection by its number of plants of the picture's type.

    An int (n_pictures,): 0 for the collection with most plants.
    """
    plants = group_by(pictures, lambda p: (p.type, p.collection))
    sizes = {key: count_plants(group) for key, group in plants.items()}
    ranks = {}
    n_ranked: Counter[AcquisitionType | None] = Counter()
    for type_, collection in sorted(sizes, key=lambda key: -sizes[key]):
        ranks[type_, collection] = n_ranked[type_]
        n_ranked[type_] += 1
    return np.array([ranks[p.type, p.collection] for p in pictures], int)


def build_training_set(
    pictures: Sequence[Picture],
    recipe: Recipe,
    loader: FeatureLoader,
    seed: int = 0,
    extractor: FeatureExtractor | None = None,
) -> TrainingSet:
    """Extract the features of the pictures of a recipe, and of their augmentations.

    Parameters
    ----------
    pictures : sequence of Picture
        Labelled pictures of known types.
    recipe : Recipe
    loader : FeatureLoader
    seed : int
        Seed of the sample that codebooks are learned from.
    extractor : FeatureExtractor, optional
        By default, its encoders are learned from the pictures, or taken from the
        bundled model.

    Returns
    -------
    TrainingSet
    """
    labelled = _select_labelled(pictures, recipe)
    is_source = _choose_composite_sources(labelled)
    is_used = is_source | _find_used(labelled, recipe)
    pictures = [labelled[index] for index in np.flatnonzero(is_used)]
    if extractor is None:
        if recipe.codebooks == "bundled":
            encoders = load_encoders(recipe)
        else:
            encoders = learn_encoders(labelled, recipe, loader, seed)
        extractor = FeatureExtractor.from_recipe(recipe, encoders)
    augmentations, weights = _list_augmentations(recipe, len(pictures))
    is_served = np.array([picture.type in recipe.types for picture in pictures], bool)
    # Jittered copies of another camera's pictures would teach more of that camera, in
    # favour of the species that it shows.
    is_jittered = is_served & (rank_collections(pictures) == 0)
    masks = {"jitter": is_jittered, "composite": is_source[is_used]}
    everywhere = np.ones(len(pictures), bool)
    is_augmented = [masks[a.kind] if a else everywhere for a in augmentations]
    numbers, indices = np.nonzero(is_augmented)
    vectors, confidence = _extract(
        pictures,
        extractor,
        loader=loader,
        augmentations=[augmentations[number] for number in numbers.tolist()],
        indices=indices,
    )
    is_read = np.isfinite(confidence[: len(pictures)])
    rows: slice | np.ndarray = slice(None)
    if not is_read.all():
        rows = np.flatnonzero(is_read[indices])
    relative_weights = weights[numbers]
    # A picture weighs as much without jittered copies as with them.
    jittered_weight = weights[1 : recipe.jittered + 1].sum()
    relative_weights[~is_jittered[indices]] *= 1 + jittered_weight
    return TrainingSet(
        recipe=recipe,
        extractor=extractor,
        pictures=[pictures[index] for index in np.flatnonzero(is_read)],
        confidence=confidence[rows],
        picture_indices=(np.cumsum(is_read) - 1)[indices[rows]],
        augmentations=numbers[rows],
        relative_weights=relative_weights[rows],
        vectors={name: array[rows] for name, array in vectors.items()},
        folder=loader.folder,
    )


def _select_labelled(pictures: Sequence[Picture], recipe: Recipe) -> list[Picture]:
    """Select the labelled pictures that a recipe learns from.

    Only collections that have a type that the recipe serves are used: leaves by another
    camera help to recognise leaves by a third one, but photos gain nothing by another
    collection's sheets. All collections are used if these lack a type.
    """
    labelled = [
        p for p in pictures if p.type in recipe.training_types and p.species is not None
    ]
    collections = {p.collection for p in labelled if p.type in recipe.types}
    related = [p for p in labelled if p.collection in collections]
    if {p.type for p in related} < {p.type for p in labelled}:
        return labelled
    return related


def load_encoders(recipe: Recipe) -> dict[str, Encoder]:
    """Load the encoders of a recipe from the bundled model.

    Parameters
    ----------
    recipe : Recipe

    Returns
    -------
    dict of str to Encoder
        By the name of the expert.

    Raises
    ------
    LeafidError
        When the model has no encoder with the settings of the recipe.
    """
    identifier = read_once(find_bundled_model())[recipe.types[0]].identifier
    local = {name: expert for name, expert in recipe.experts.items() if expert.is_local}
    for name, expert in local.items():
        bundled = identifier.recipe.experts.get(name)
        if bundled is None or any(
            getattr(bundled, key) != getattr(expert, key) for key in _ENCODER_KEYS
        ):
            raise LeafidError(
                'codebooks = "bundled": expected an expert '
                f"{', '.join(identifier.extractor.encoders)} with the "
                f"{', '.join(_ENCODER_KEYS)} of the bundled model, found others of "
                f"expert {name!r}"
            )
    return {name: identifier.extractor.encoders[name] for name in local}


def _find_used(pictures: Sequence[Picture], recipe: Recipe) -> np.ndarray:
    """Find the pictures whose unaltered vectors are learned from: bool (n,).

    Of types that the recipe doesn't serve, the pictures that photos are composited from
    are enough.
    """
    types = set(recipe.training_types)
    if recipe.composited:
        types = {t for t in types if t in recipe.types or not t.lies_on_sheet}
    return np.array([picture.type in types for picture in pictures], bool)


def _list_augmentations(
    recipe: Recipe, n_pictures: int
) -> tuple[list[Augmentation | None], np.ndarray]:
    """List the augmentations, with the weight that a picture has relative to them.

    The first augmentation, None, is the unaltered picture.
    """
    augmentations: list[Augmentation | None] = [None]
    weights = [1.0]
    kinds: list[tuple[AugmentationKind, int, float]] = [
        ("jitter", recipe.jittered, recipe.jittered_weight),
        ("composite", recipe.composited, COMPOSITED_WEIGHT),
    ]
    if n_pictures <= MAX_AUGMENTED_PICTURES:
        for kind, number, weight in kinds:
            augmentations += [Augmentation(kind, k + 1) for k in range(number)]
            weights += [weight / max(number, 1)] * number
    return augmentations, np.array(weights)


def _choose_composite_sources(pictures: Sequence[Picture]) -> np.ndarray:
    """Choose the pictures that photos are composited from: bool (n,).

    Of each plant and type, the same number is chosen.
    """
    sheets = [
        index
        for index, picture in enumerate(pictures)
        if picture.require_type().lies_on_sheet
    ]
    by_plant = group_by(
        sheets, lambda index: (pictures[index].group, pictures[index].type)
    )
    is_source = np.zeros(len(pictures), bool)
    for members in by_plant.values():
        number = min(len(members), MAX_COMPOSITED_PER_PLANT)
        is_source[[members[len(members) * k // number] for k in range(number)]] = True
    return is_source


def _extract(
    pictures: Sequence[Picture],
    extractor: FeatureExtractor,
    loader: FeatureLoader,
    augmentations: Sequence[Augmentation | None],
    indices: np.ndarray,
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Extract the vectors of each expert, and the confidences of the segmentation.

    A row is an augmentation of the picture with its index. Vectors are float16 (n_rows,
    n_columns), confidences float64 (n_rows,), NaN for unreadable pictures.
    """
    vectors: dict[str, np.ndarray] = {}
    confidence = np.full(len(indices), np.nan)

    def store(row: int, features: Features) -> None:
        confidence[row] = features.confidence
        for name, vector in features.vectors.items():
            if name not in vectors:
                shape = len(indices), len(vector)
                vectors[name] = make_array(*shape, np.float16, loader.folder)
            vectors[name][row] = vector

    rows = group_by(range(len(indices)), lambda row: int(indices[row]))
    # Pictures with the same augmentations are streamed together: each is read once for
    # all of them.
    patterns = group_by(
        rows, lambda index: tuple(augmentations[row] for row in rows[index])
    )
    for views, members in patterns.items():
        sources = [pictures[index] for index in members]
        with closing(loader.stream_augmented(sources, extractor, views)) as stream:
            for index, features in zip(members, stream, strict=True):
                if features is not None:
                    for row, view in zip(rows[index], features, strict=True):
                        store(row, view)
        for array in vectors.values():
            release_memory(array)
    return vectors, confidence
