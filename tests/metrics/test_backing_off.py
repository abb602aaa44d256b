from itertools import product
from pathlib import Path

import numpy as np
import pytest

from leafid.errors import LeafidError
from leafid.metrics.hierarchy import (
    back_off,
    find_likeliest_taxa,
    fit_back_off_threshold,
)
from leafid.pictures.picture import Picture, Taxon
from leafid.pictures.taxonomy import Taxonomy

TAXA = [
    Taxon("Quercus robur", "Quercus", "Fagaceae", "Fagales"),
    Taxon("Quercus ilex", "Quercus", "Fagaceae", "Fagales"),
    Taxon("Fagus sylvatica", "Fagus", "Fagaceae", "Fagales"),
    Taxon("Betula pendula", "Betula", "Betulaceae", "Fagales"),
    Taxon("Acer campestre", "Acer", "Sapindaceae", "Sapindales"),
    Taxon("Platanus x hispanica", "Platanus", "Platanaceae", "Proteales"),
]
TREE = Taxonomy(TAXA)
ANSWERS = [
    *TREE.species,
    *sorted({f"{name} *" for t in TAXA for name in (t.order, t.family, t.genus)}),
    "*",
]


def literal_error(correct: str, answer: str) -> float:
    """Order, family, genus, species counted by hand from the list of taxa."""
    paths = {
        taxon.species: (taxon.order, taxon.family, taxon.genus, taxon.species)
        for taxon in TAXA
    }
    correct_path, name = paths[correct], answer.removesuffix(" *")
    given_path = next(
        (path[: path.index(name) + 1] for path in paths.values() if name in path), ()
    )
    total = worst = 0.0
    for i in range(1, 5):
        siblings = {
            path[:i]
            for path in paths.values()
            if path[: i - 1] == correct_path[: i - 1]
        }
        weight = 1 / len(siblings) / i
        worst += weight
        if any(
            given_path[j] != correct_path[j] for j in range(min(i, len(given_path)))
        ):
            total += weight
        elif i > len(given_path):
            total += 0.5 * weight
    return total / worst


def test_as_the_literal_version():
    for correct, answer in product(TREE.species, ANSWERS):
        # The same few numbers, added in the same order.
        expected = pytest.approx(literal_error(correct, answer), abs=1e-12)
        assert TREE.compute_error(correct, answer) == expected, (correct, answer)


@pytest.mark.parametrize("correct", TREE.species)
def test_backing_off_lowers_the_price_of_a_mistake_and_costs_a_hit(correct):
    chain = [f"{name} *" for name in reversed(TREE.paths[correct][:-1])] + ["*"]
    errors = [TREE.compute_error(correct, answer) for answer in [correct, *chain]]
    assert errors == sorted(errors)
    assert max(errors) == 0.5


def test_a_taxon_has_one_place():
    with pytest.raises(
        LeafidError,
        match=(
            r"expected one place for 'Quercus' .*, found Fagales > .* and Rosales > .*"
        ),
    ):
        Taxonomy([TAXA[0], Taxon("Quercus alba", "Quercus", "Rosaceae", "Rosales")])


def posteriors(rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(len(TAXA), 0.4), rows)


def test_a_higher_threshold_never_gives_a_finer_answer():
    answers = [
        back_off(posteriors(100), TREE.path_table, threshold)
        for threshold in np.linspace(0, 1, 21)
    ]
    n_open = [[TREE.find_path(name).count("*") for name, _ in row] for row in answers]
    assert (np.diff(n_open, axis=0) >= 0).all()


@pytest.mark.parametrize("threshold", [0, 0.3, 0.6, 0.9])
def test_back_off_does_not_depend_on_the_order_of_species(threshold):
    rows, order = posteriors(100), [3, 0, 5, 1, 4, 2]
    shuffled = Taxonomy([TAXA[i] for i in order])
    answers = (
        [name for name, _ in back_off(*case, threshold)]
        for case in ((rows[:, order], shuffled.path_table), (rows, TREE.path_table))
    )
    assert next(answers) == next(answers)


@pytest.mark.parametrize("seed", range(4))
def test_the_fitted_threshold_is_the_best_of_all(seed):
    rows = posteriors(60, seed)
    generator = np.random.default_rng(seed)
    # Right about as often as the posterior says, or hardly ever.
    honest = [
        TREE.species[generator.choice(len(TAXA), p=row if seed % 2 else None)]
        for row in rows
    ]
    weights = generator.integers(0, 3, 60)

    def mean(at: float) -> float:
        pairs = zip(honest, back_off(rows, TREE.path_table, at), strict=True)
        errors = [TREE.compute_error(correct, answer) for correct, (answer, _) in pairs]
        return float(np.average(errors, weights=weights))

    answers, masses = find_likeliest_taxa(rows, TREE.path_table)
    table = np.array([[*map(TREE.compute_error, honest, row)] for row in answers])
    best = mean(fit_back_off_threshold(table, masses, weights))
    # The errors that the threshold was chosen by are running sums of 60 × 4
    # differences, mean() is a plain mean.
    assert min(mean(at) for at in [*np.linspace(0, 1, 51), 1.1]) >= best - 1e-9


def test_the_tree_of_pictures():
    labels = [
        Taxon("Acer campestre"),
        None,
        Taxon("Acer campestre", family="Sapindaceae"),
    ]
    tree = Taxonomy.from_pictures(
        Picture(Path(f"{number}.jpg"), taxon=taxon)
        for number, taxon in enumerate(labels)
    )
    assert tree.paths == {"Acer campestre": ("Sapindaceae", "Acer", "Acer campestre")}
