from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from leafid.features.extractor import LEAF_MEASURES, Features
from leafid.features.recipe import Expert, Recipe
from leafid.model.identifier import expert_trust
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.segmentation.condition import Condition
from leafid.training.identifiers import train_identifiers
from leafid.training.training_set import build_training_set

SCAN, SHEET = AcquisitionType.SCAN, AcquisitionType.SCAN_LIKE
SHAPE = Expert(descriptor="measures", families=("hu",))
RECIPE = Recipe(
    types=(SCAN,),
    experts={
        "first": SHAPE,
        "second": structs.replace(SHAPE, classifier="sklearn.naive_bayes.GaussianNB"),
    },
    training_types=(SCAN,),
)


class Given:
    """Stands for `FeatureLoader`: says what it was given."""

    folder = None

    def __init__(self, by_file):
        self.by_file = by_file

    def show_progress(self, items, total, what):
        return items

    def load(self, pictures, extractor):
        return [self.by_file[picture.file] for picture in pictures]

    def stream(self, pictures, extractor):
        yield from self.load(pictures, extractor)

    def stream_augmented(self, pictures, extractor, augmentations, names=None):
        for features in self.load(pictures, extractor):
            yield [features] * len(augmentations)


def simulated(n_species=3, n_plants=4, n_pictures=2, seed=0, types=(SCAN,), noise=0.5):
    """Pictures whose vectors scatter around their species, less around their plant."""
    random = np.random.default_rng(seed)
    centres = 3 * np.random.default_rng(1).normal(size=(n_species, 6))
    pictures, vectors = [], {}
    for species in range(n_species):
        for plant in range(n_plants):
            centre = centres[species] + noise * random.normal(size=6)
            for number in range(n_pictures):
                for type_ in types:
                    file = Path(f"{species}-{plant}-{number}-{type_}.jpg")
                    name = f"Genus {'abcdefgh'[species]}"
                    pictures.append(
                        Picture(
                            file, type_, taxon=Taxon(name), plant=f"{species}.{plant}"
                        )
                    )
                    vector = (centre + 0.1 * random.normal(size=6)).astype(np.float32)
                    by_name = {"first": vector, "second": vector[:4]}
                    by_name[LEAF_MEASURES] = vector
                    vectors[file] = Features(by_name, Condition(0.9))
    return pictures, Given(vectors)


def fit_all(recipe, types, pictures, loader, seed=0):
    return train_identifiers(
        build_training_set(pictures, recipe, loader), types, pictures, loader, seed
    )


def fit(recipe, pictures, loader):
    [trained] = fit_all(recipe, recipe.types, pictures, loader).values()
    return trained


def test_a_species_of_one_plant_can_not_be_right_when_held_out():
    pictures, given = simulated()
    lone = [p for p in pictures if p.species != "Genus c" or p.plant == "2.0"]
    _, held_out = fit(RECIPE, lone, given)
    assert [p.species == "Genus c" for p in held_out.pictures] == (
        ~held_out.is_known
    ).tolist()
    assert (held_out.probabilities[~held_out.is_known, 2] == 0).all()
    np.testing.assert_allclose(held_out.probabilities.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("n_species", "n_plants", "n_pictures"),
    [(1, 1, 1), (1, 3, 1), (3, 1, 1), (2, 1, 2)],
)
def test_little_to_learn_from(n_species, n_plants, n_pictures):
    pictures, given = simulated(n_species, n_plants, n_pictures)
    identifier, held_out = fit(RECIPE, pictures, given)
    probabilities = identifier.predict_proba(given.load(pictures, None))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(held_out.probabilities.sum(axis=1), 1)


def test_types_that_are_fitted_together_are_as_each_by_itself():
    pictures, given = simulated(types=(SCAN, SHEET))
    # One plant of scans less: the types do not ask the same.
    pictures = [p for p in pictures if p.plant != "1.2" or p.type == SHEET]
    experts = {
        name: structs.replace(expert, centre_types=True)
        for name, expert in RECIPE.experts.items()
    }
    recipe = structs.replace(RECIPE, training_types=(SCAN, SHEET), experts=experts)
    together = fit_all(recipe, (SCAN, SHEET), pictures, given, 3)
    described = given.load(pictures, None)
    for type_, (identifier, held_out) in together.items():
        [(identifier_alone, alone)] = fit_all(
            recipe, (type_,), pictures, given, 3
        ).values()
        assert identifier.type == type_
        assert held_out.pictures == alone.pictures
        np.testing.assert_array_equal(held_out.is_known, alone.is_known)
        # Scores of all held-out rows together are float32 products of other sizes.
        np.testing.assert_allclose(
            held_out.probabilities, alone.probabilities, atol=1e-5
        )
        probabilities = identifier_alone.predict_proba(described)
        np.testing.assert_allclose(
            identifier.predict_proba(described), probabilities, atol=1e-5
        )


def test_the_trust_in_an_expert_is_the_confidence_of_the_segmentation_if_it_asks():
    first, second = RECIPE.experts.values()
    recipe = structs.replace(
        RECIPE,
        experts={
            "first": structs.replace(first, trust="segmentation"),
            "second": second,
        },
    )
    trust = expert_trust(recipe, np.array([0.25, 1.0]))
    assert [values.tolist() for values in trust] == [[0.25, 1.0], [1.0, 1.0]]
