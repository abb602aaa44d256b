"""Plans a training: species, weights of pictures, folds, and held-out pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leafid.learning.classifiers.settings import ClassifierSettings
from leafid.learning.folds import Folds
from leafid.pictures.picture import AcquisitionType, Picture, count_plants
from leafid.pictures.splitting.units import sample_by_plant, split_by_plant
from leafid.training.training_set import TrainingSet

#: Number of folds of plants, and of species.
N_FOLDS = 5
#: Number of folds of more plants. Of n plants, classifiers see 2/3 without such a fold,
#: and 4/5 without one of `N_FOLDS`. If errors are in inverse proportion to the number
#: of plants, scores change as much from 2/3 n to 4/5 n as from there to n:
#: 3/2 - 5/4 = 5/4 - 1.
N_LARGE_FOLDS = 3
#: Number of species below which an identifier doesn't learn to reject pictures.
MIN_SPECIES_FOR_REJECTION = 3
#: Maximum number of held-out pictures that fusion weights, thresholds and scores are
#: learned from.
HELD_OUT_PICTURES = 20_000


@dataclass(frozen=True, eq=False)
class FoldPlan:
    """The folds of a training set in which identifiers for some types are trained."""

    training_set: TrainingSet
    types: Sequence[AcquisitionType]
    #: int (k,): the pictures of the training set to learn from, by their indices,
    #: ascending.
    training_pictures: np.ndarray
    seed: int
    #: Whether to make the folds for learning to reject pictures, which take twice the
    #: time of the folds without a plant.
    learn_rejection: bool = True

    @cached_property
    def pictures(self) -> list[Picture]:
        """The pictures to learn from."""
        return self.training_set.select_pictures(self.training_pictures)

    @cached_property
    def species(self) -> tuple[str, ...]:
        """The species of the pictures to learn from, sorted."""
        return tuple(sorted({str(picture.species) for picture in self.pictures}))

    @cached_property
    def labels(self) -> np.ndarray:
        """The species of each picture of the training set, int (n_pictures,).

        0 where nothing is learned from it.
        """
        labels = np.zeros(len(self.training_set.pictures), np.intp)
        labels[self.training_pictures] = np.searchsorted(
            self.species, [str(picture.species) for picture in self.pictures]
        )
        return labels

    @cached_property
    def folds(self) -> Folds[list[np.ndarray]]:
        """The pictures of each fold, by their indices."""
        by_plant = self._split_by_plant(N_FOLDS)
        if not self.learn_rejection or len(self.species) < MIN_SPECIES_FOR_REJECTION:
            return Folds(by_plant, [], [])
        n_folds = min(N_FOLDS, len(self.species))
        order = np.random.default_rng(self.seed).permutation(len(self.species))
        fold_of_picture = (order % n_folds)[self.labels[self.training_pictures]]
        by_species = [
            self.training_pictures[fold_of_picture == fold] for fold in range(n_folds)
        ]
        return Folds(by_plant, by_species, self._split_by_plant(N_LARGE_FOLDS))

    def _split_by_plant(self, n_folds: int) -> list[np.ndarray]:
        n_plants = count_plants(self.pictures)
        if n_plants < 2:
            return []
        folds = split_by_plant(self.pictures, min(n_folds, n_plants), self.seed)
        return [self.training_pictures[fold] for fold in folds]

    @cached_property
    def held_out_pictures(self) -> Mapping[AcquisitionType, np.ndarray]:
        """For each type, the indices of pictures that are scored without their fold."""
        held_out = {}
        for type_ in self.types:
            is_of_type = [picture.type == type_ for picture in self.pictures]
            indices = self.training_pictures[is_of_type]
            pictures = self.training_set.select_pictures(indices)
            sample = sample_by_plant(pictures, HELD_OUT_PICTURES, self.seed)
            held_out[type_] = indices[sample]
        return held_out

    @cached_property
    def held_out_rows(self) -> Mapping[AcquisitionType, np.ndarray]:
        """For each type, the rows that are scored without their fold.

        Held-out pictures come first, then their jittered copies, by which weights that
        are learned from the scores hold for poorer cameras and other light, too.
        """
        find_jittered = self.training_set.find_jittered
        return {
            type_: np.append(pictures, find_jittered(pictures))
            for type_, pictures in self.held_out_pictures.items()
        }

    @cached_property
    def scored_rows(self) -> np.ndarray:
        """The rows that are held out for any type."""
        return np.unique(np.concatenate(list(self.held_out_rows.values())))

    def weigh_rows(
        self, settings: ClassifierSettings, fold: Sequence[int] | np.ndarray = ()
    ) -> np.ndarray:
        """Weigh the rows for training without the pictures of a fold.

        Rows that are left out weigh 0. The pictures of a fold are not counted: they
        would make their species seem more frequent than it is among the training
        pictures.
        """
        weights = np.zeros(len(self.training_set.pictures))
        if len(indices := np.setdiff1d(self.training_pictures, fold)):
            relative = self.training_set.balance_pictures(indices, settings)
            weights[indices] = relative / relative.mean()
        return self.training_set.weigh_rows(weights)
