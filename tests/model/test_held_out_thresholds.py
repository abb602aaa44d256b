from pathlib import Path

import numpy as np
import pytest

from leafid.metrics.held_out import HeldOutAnswers
from leafid.metrics.hierarchy import back_off, hierarchical_error
from leafid.model.thresholds import fit_thresholds
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.pictures.taxonomy import Taxonomy

TAXA = {
    name: Taxon(name, name.split()[0], family)
    for name, family in {
        "Acer campestre": "Sapindaceae",
        "Acer platanoides": "Sapindaceae",
        "Quercus ilex": "Fagaceae",
        "Quercus robur": "Fagaceae",
    }.items()
}
SPECIES = tuple(TAXA)


def made_up(n=60, sureness=3.0, seed=0, unseen=()):
    random = np.random.default_rng(seed)
    right = random.integers(0, len(SPECIES), n)
    logits = random.normal(size=(n, len(SPECIES)))
    logits[np.arange(n), right] += sureness * random.random(n)
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    pictures = [
        Picture(Path(f"{i}.jpg"), AcquisitionType.SCAN, taxon=TAXA[SPECIES[column]], plant=str(random.integers(15)))
        for i, column in enumerate(right)
    ]
    seen = np.ones(n, bool)
    seen[list(unseen)] = False
    return HeldOutAnswers(pictures, probabilities, SPECIES, seen), right


@pytest.mark.parametrize(("sureness", "seed"), [(0.0, 1), (2.0, 2), (4.0, 3)])
def test_no_other_back_off_threshold_is_better(sureness, seed):
    held_out, right = made_up(sureness=sureness, seed=seed)
    tree = Taxonomy(TAXA.values())
    plants = [picture.plant for picture in held_out.pictures]

    def by_plant(threshold):
        answers = [name for name, _ in back_off(held_out.probabilities, tree, threshold)]
        errors = [hierarchical_error(SPECIES[column], said, tree) for column, said in zip(right, answers, strict=True)]
        return np.mean([np.mean([e for e, p in zip(errors, plants, strict=True) if p == one]) for one in set(plants)])

    fitted = by_plant(fit_thresholds(held_out, TAXA).back_off)
    assert fitted <= min(by_plant(threshold) for threshold in np.linspace(0, 1.01, 102)) + 1e-9
    assert fitted <= by_plant(0)  # never worse than always naming a species, on what it was fitted on
