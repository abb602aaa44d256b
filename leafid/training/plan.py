"""What is fitted on which pictures: species, weights, folds, and the pictures that are held out."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from leafid.learning.linear import weigh_pictures
from leafid.learning.settings import ClassifierSettings
from leafid.pictures import split_by_plant
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.splits import sample_by_plant
from leafid.training.training_set import TrainingSet

N_FOLDS = 5
#: Number of folds of the classifiers that see fewer plants. If their errors are in inverse proportion to the number of
#: plants, scores change as much from two thirds to four fifths of the plants as from there to all of them.
N_LARGE_FOLDS = 3
#: Number of species below which an identifier doesn't learn to reject pictures.
MIN_SPECIES_FOR_REJECTION = 3
#: Maximum number of held-out pictures that fusion weights, thresholds and scores are learned from.
HELD_OUT_PICTURES = 20_000


@dataclass(frozen=True, eq=False)
class FitPlan:
    """The fit of identifiers for some types that the recipe of a training set serves."""

    training_set: TrainingSet
    types: Sequence[AcquisitionType]
    #: int (k,): the pictures of the training set to learn from, by their indices, ascending.
    chosen: np.ndarray
    seed: int
    #: Learn to reject pictures (`Identifier.rejection`), which takes twice as long as the fits without each fold.
    rejection: bool = True

    @cached_property
    def pictures(self) -> list[Picture]:
        """The chosen pictures."""
        return [self.training_set.pictures[index] for index in self.chosen.tolist()]

    @cached_property
    def species(self) -> tuple[str, ...]:
        """The species of the chosen pictures, sorted."""
        return tuple(sorted({str(picture.species) for picture in self.pictures}))

    @cached_property
    def labels(self) -> np.ndarray:
        """The species of each picture of the training set, int (n_pictures,); 0 for those that are not chosen."""
        labels = np.zeros(len(self.training_set.pictures), np.intp)
        labels[self.chosen] = np.searchsorted(self.species, [str(picture.species) for picture in self.pictures])
        return labels

    @cached_property
    def partitions(self) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
        """Ways to divide the pictures: folds of plants, of species, and larger ones of plants; indices of pictures.

        The last two are empty where the identifiers don't learn to reject pictures.
        """
        if not self.rejection or len(self.species) < MIN_SPECIES_FOR_REJECTION:
            return self._split_by_plant(N_FOLDS), [], []
        n_folds = min(N_FOLDS, len(self.species))
        folds = np.random.default_rng(self.seed).permutation(len(self.species)) % n_folds
        own = folds[self.labels[self.chosen]]
        by_species = [self.chosen[own == fold] for fold in range(n_folds)]
        return self._split_by_plant(N_FOLDS), by_species, self._split_by_plant(N_LARGE_FOLDS)

    def _split_by_plant(self, n_folds: int) -> list[np.ndarray]:
        n_plants = len({picture.group for picture in self.pictures})
        folds = split_by_plant(self.pictures, min(n_folds, n_plants), self.seed) if n_plants > 1 else []
        return [self.chosen[fold] for fold in folds]

    @cached_property
    def held_out(self) -> list[np.ndarray]:
        """For each type, its pictures that are scored without their fold, by their indices."""
        held_out = []
        for type_ in self.types:
            own = np.flatnonzero([picture.type == type_ for picture in self.pictures])
            pictures = [self.pictures[index] for index in own.tolist()]
            held_out.append(self.chosen[own[sample_by_plant(pictures, HELD_OUT_PICTURES, self.seed)]])
        return held_out

    @cached_property
    def scored(self) -> np.ndarray:
        """The pictures that are held out for any type."""
        return np.unique(np.concatenate(self.held_out))

    def weigh(self, settings: ClassifierSettings) -> list[np.ndarray]:
        """Weigh the rows: for training on all chosen pictures, then without each fold; those left out weigh 0.

        The pictures of a fold are not counted: they would make their species seem more frequent than it is among those
        that are trained on.
        """
        weights = []
        for fold in (np.array([], int), *chain(*self.partitions)):
            own = np.zeros(len(self.training_set.pictures))
            if len(rest := np.setdiff1d(self.chosen, fold)):
                pictures = [self.training_set.pictures[index] for index in rest.tolist()]
                alone = weigh_alone(pictures, self.labels[rest], settings)
                own[rest] = alone / alone.mean()
            weights.append(self.training_set.weigh_rows(own))
        return weights

    def compute_unit(self, settings: ClassifierSettings, weights: np.ndarray) -> float:
        """Compute the weight of a picture whose species and plant have no other, from the weights of all rows."""
        alone = weigh_alone(self.pictures, self.labels[self.chosen], settings)
        return float(weights[self.chosen[0]] / alone[0])


def weigh_alone(pictures: Sequence[Picture], labels: np.ndarray, settings: ClassifierSettings) -> np.ndarray:
    """Give each picture the weight that it has relative to one whose species and plant have no other picture."""
    # Scans and photos of one plant count as two plants: they don't resemble each other.
    plants = [f"{picture.group} {picture.type}" for picture in pictures]
    return weigh_pictures(labels, plants, settings.species_balance, settings.plant_balance)
