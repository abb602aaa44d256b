from pathlib import Path

import numpy as np

from leafid.metrics.held_out import HeldOutAnswers
from leafid.model.thresholds import fit_thresholds
from leafid.pictures.picture import Picture, Taxon

TAXA = {name: Taxon(name, name.split()[0], "Fagaceae") for name in ("Fagus sylvatica", "Quercus ilex", "Quercus robur")}


def test_backing_off_is_fitted_to_plants_whatever_the_number_of_their_pictures():
    random = np.random.default_rng(0)
    probabilities, labels = random.dirichlet(np.full(3, 0.4), 60), random.integers(3, size=60)

    def fit(rows):
        taxa = [TAXA[list(TAXA)[label]] for label in labels[rows]]
        pictures = [Picture(Path("1.jpg"), taxon=taxon, plant=str(row)) for row, taxon in zip(rows, taxa, strict=True)]
        held_out = HeldOutAnswers(pictures, probabilities[rows], tuple(TAXA), np.ones(len(rows), bool))
        return fit_thresholds(held_out, TAXA).back_off

    rows = np.arange(60)
    assert fit(np.append(rows, np.repeat(rows[:10], 20))) == fit(rows)
