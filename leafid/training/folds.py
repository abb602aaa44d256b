"""Plans a training: the species, the weights of pictures, the named folds, and the pictures that are held out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leafid.learning.linear import weigh_pictures
from leafid.learning.settings import ClassifierSettings
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.splits import sample_by_plant, split_by_plant
from leafid.training.training_set import TrainingSet

#: Names of folds, by what a classifier that is trained without a fold has not seen: the plants of the fold's pictures;
#: their species; or their plants, of which there are more in each of these folds.
WITHOUT_PLANT, WITHOUT_SPECIES, WITHOUT_MORE_PLANTS = (
    "without_plant",
    "without_species",
    "without_more_plants",
)
N_FOLDS = 5
#: Number of folds of the classifiers that see fewer plants. If their errors are in inverse proportion to the number of
#: plants, scores change as much from two thirds to four fifths of the plants as from there to all of them.
N_LARGE_FOLDS = 3
#: Number of species below which an identifier doesn't learn to reject pictures.
MIN_SPECIES_FOR_REJECTION = 3
#: Maximum number of held-out pictures that fusion weights, thresholds and scores are learned from.
HELD_OUT_PICTURES = 20_000


@dataclass(frozen=True, eq=False)
class FoldPlan:
    """The folds in which identifiers for some types are trained on pictures of a training set."""

    training_set: TrainingSet
    types: Sequence[AcquisitionType]
    #: int (k,): the pictures of the training set to learn from, by their indices, ascending.
    chosen: np.ndarray
    seed: int
    #: Whether to make the folds for learning to reject pictures, which take twice the time of those without a plant.
    learn_rejection: bool = True

    @cached_property
    def pictures(self) -> list[Picture]:
        """The chosen pictures."""
        return self.training_set.select_pictures(self.chosen)

    @cached_property
    def species(self) -> tuple[str, ...]:
        """The species of the chosen pictures, sorted."""
        return tuple(sorted({str(picture.species) for picture in self.pictures}))

    @cached_property
    def labels(self) -> np.ndarray:
        """The species of each picture of the training set, int (n_pictures,); 0 for those that are not chosen."""
        labels = np.zeros(len(self.training_set.pictures), np.intp)
        labels[self.chosen] = np.searchsorted(
            self.species, [str(picture.species) for picture in self.pictures]
        )
        return labels

    @cached_property
    def folds(self) -> dict[str, list[np.ndarray]]:
        """By name, the pictures of each fold, by their indices: the chosen ones, divided in several ways."""
        folds = {WITHOUT_PLANT: self._split_by_plant(N_FOLDS)}
        if self.learn_rejection and len(self.species) >= MIN_SPECIES_FOR_REJECTION:
            n_folds = min(N_FOLDS, len(self.species))
            fold_of_species = (
                np.random.default_rng(self.seed).permutation(len(self.species))
                % n_folds
            )
            fold_of_picture = fold_of_species[self.labels[self.chosen]]
            folds[WITHOUT_SPECIES] = [
                self.chosen[fold_of_picture == fold] for fold in range(n_folds)
            ]
            folds[WITHOUT_MORE_PLANTS] = self._split_by_plant(N_LARGE_FOLDS)
        return folds

    def _split_by_plant(self, n_folds: int) -> list[np.ndarray]:
        n_plants = len({picture.group for picture in self.pictures})
        folds = (
            split_by_plant(self.pictures, min(n_folds, n_plants), self.seed)
            if n_plants > 1
            else []
        )
        return [self.chosen[fold] for fold in folds]

    @cached_property
    def held_out(self) -> Mapping[AcquisitionType, np.ndarray]:
        """For each type, the pictures that are scored without their fold, by their indices."""
        held_out = {}
        for type_ in self.types:
            of_type = np.flatnonzero(
                [picture.type == type_ for picture in self.pictures]
            )
            pictures = [self.pictures[index] for index in of_type.tolist()]
            held_out[type_] = self.chosen[
                of_type[sample_by_plant(pictures, HELD_OUT_PICTURES, self.seed)]
            ]
        return held_out

    @cached_property
    def held_out_rows(self) -> Mapping[AcquisitionType, np.ndarray]:
        """For each type, the rows that are scored without their fold: held-out pictures, then their jittered copies.

        What is learned from their scores holds for poorer cameras and other light, too.
        """
        find_jittered = self.training_set.find_jittered
        return {
            type_: np.concatenate([rows, find_jittered(rows)])
            for type_, rows in self.held_out.items()
        }

    @cached_property
    def scored(self) -> np.ndarray:
        """The rows that are held out for any type."""
        return np.unique(np.concatenate(list(self.held_out_rows.values())))

    def weigh_rows(
        self, settings: ClassifierSettings, fold: Sequence[int] | np.ndarray = ()
    ) -> np.ndarray:
        """Weigh the rows for training on the chosen pictures without those of a fold; rows that are left out weigh 0.

        The pictures of a fold are not counted: they would make their species seem more frequent than it is among those
        that are trained on.
        """
        weights = np.zeros(len(self.training_set.pictures))
        if len(remaining := np.setdiff1d(self.chosen, fold)):
            pictures = self.training_set.select_pictures(remaining)
            relative = relative_picture_weights(
                pictures, self.labels[remaining], settings
            )
            weights[remaining] = relative / relative.mean()
        return self.training_set.weigh_rows(weights)


def relative_picture_weights(
    pictures: Sequence[Picture], labels: np.ndarray, settings: ClassifierSettings
) -> np.ndarray:
    """Give each picture the weight that it has relative to one whose species and plant have no other picture."""
    # Scans and photos of one plant count as two plants: they don't resemble each other.
    plants = [f"{picture.group} {picture.type}" for picture in pictures]
    return weigh_pictures(
        labels, plants, settings.species_balance, settings.plant_balance
    )
