from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.errors import LeafidError
from leafid.metrics.hierarchy import back_off, fit_back_off_threshold, hierarchical_error
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
ANSWERS = [*TREE.species, *sorted({f"{name} *" for t in TAXA for name in (t.order, t.family, t.genus)}), "*"]


def literal_error(correct: str, answer: str) -> float:
    """Order, family, genus, species counted by hand from the list of taxa."""
    taxon = next(t for t in TAXA if t.species == correct)
    correct_path = (taxon.order, taxon.family, taxon.genus, taxon.species)
    given_path = next(
        (t.order, t.family, t.genus, t.species)[: 4 - back]
        for back in range(5)
        for t in TAXA
        if answer == (t.species if back == 0 else "*" if back == 4 else f"{(t.order, t.family, t.genus)[3 - back]} *")
    )
    total = worst = 0.0
    for i in range(1, 5):
        siblings = {(t.order, t.family, t.genus, t.species)[:i] for t in TAXA
                    if (t.order, t.family, t.genus, t.species)[: i - 1] == correct_path[: i - 1]}  # fmt: skip
        weight = 1 / len(siblings) / i
        worst += weight
        if any(given_path[j] != correct_path[j] for j in range(min(i, len(given_path)))):
            total += weight
        elif i > len(given_path):
            total += 0.5 * weight
    return total / worst


def test_as_the_literal_version():
    for correct, answer in product(TREE.species, ANSWERS):
        # The same few numbers, added in the same order.
        expected = pytest.approx(literal_error(correct, answer), abs=1e-12)
        assert hierarchical_error(correct, answer, TREE) == expected, (correct, answer)


@pytest.mark.parametrize("correct", TREE.species)
def test_backing_off_lowers_the_price_of_a_mistake_and_costs_a_hit(correct):
    chain = [f"{name} *" for name in reversed(TREE.paths[correct][:-1])] + ["*"]
    errors = [hierarchical_error(correct, answer, TREE) for answer in [correct, *chain]]
    assert errors == sorted(errors)
    assert max(errors) == 0.5


@pytest.mark.parametrize(
    ("taxa", "message"),
    [
        ([], "at least one species"),
        ([TAXA[0], TAXA[0]], "'Quercus robur' twice"),
        ([TAXA[0], Taxon("Quercus alba", "Quercus", "Rosaceae", "Rosales")], "expected one place for 'Quercus'"),
    ],
)
def test_bad_taxonomies_are_refused(taxa, message):
    with pytest.raises(LeafidError, match=message):
        Taxonomy(taxa)


def test_distances_grow_up_the_tree():
    row = dict(zip(TREE.species, TREE.compute_distances()[0], strict=True))
    assert row == {
        "Quercus robur": 0.0,
        "Quercus ilex": 0.25,
        "Fagus sylvatica": 0.5,
        "Betula pendula": 0.75,
        "Acer campestre": 1.0,
        "Platanus x hispanica": 1.0,
    }
    assert np.array_equal(TREE.compute_distances(), TREE.compute_distances().T)


def posteriors(rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(len(TAXA), 0.4), rows)


def test_back_off_goes_up_the_tree():
    row = np.array([[0.4, 0.3, 0.1, 0.1, 0.06, 0.04]])
    answers = [back_off(row, TREE, threshold)[0][0] for threshold in (0, 0.4, 0.5, 0.75, 0.85, 0.95)]
    assert answers == ["Quercus robur", "Quercus robur", "Quercus *", "Fagaceae *", "Fagales *", "*"]


@given(st.integers(0, 10_000), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_never_gives_a_finer_answer(seed, first, second):
    rows = posteriors(5, seed)
    low, high = min(first, second), max(first, second)
    for (bold, _), (careful, _) in zip(back_off(rows, TREE, low), back_off(rows, TREE, high), strict=True):
        assert TREE.find_path(careful).count("*") >= TREE.find_path(bold).count("*")


@given(st.integers(0, 10_000), st.permutations(range(len(TAXA))), st.floats(0, 1))
def test_back_off_does_not_depend_on_the_order_of_species(seed, order, threshold):
    rows = posteriors(5, seed)
    shuffled = Taxonomy([TAXA[i] for i in order])
    answers = ([name for name, _ in back_off(*case, threshold)] for case in ((rows[:, order], shuffled), (rows, TREE)))
    assert next(answers) == next(answers)


@pytest.mark.parametrize("seed", range(8))
def test_the_fitted_threshold_is_the_best_of_all(seed):
    rows = posteriors(60, seed)
    generator = np.random.default_rng(seed)
    # Right about as often as the posterior says, or hardly ever.
    honest = [TREE.species[generator.choice(len(TAXA), p=row if seed % 2 else None)] for row in rows]
    threshold, error = fit_back_off_threshold(rows, honest, TREE)

    def mean(at: float) -> float:
        pairs = zip(honest, back_off(rows, TREE, at), strict=True)
        return float(np.mean([hierarchical_error(correct, answer, TREE) for correct, (answer, _) in pairs]))

    # The fitted error is a running sum of 60 × 4 differences, mean() a plain mean.
    assert mean(threshold) == pytest.approx(error, abs=1e-9)
    assert min(mean(at) for at in [*np.linspace(0, 1, 201), 1.1]) >= error - 1e-9


def test_weights_count_as_copies():
    rows, correct = posteriors(20, 3), [TREE.species[i % 6] for i in range(20)]
    copies = np.arange(20) % 3
    repeated = np.repeat(np.arange(20), copies)
    weighted = fit_back_off_threshold(rows, correct, TREE, weights=copies)
    assert weighted[1] == pytest.approx(fit_back_off_threshold(rows[repeated], [correct[i] for i in repeated], TREE)[1])


def test_the_tree_of_pictures():
    labels = [Taxon("Acer campestre"), None, Taxon("Acer campestre", family="Sapindaceae")]
    tree = Taxonomy.from_pictures(Picture(Path(f"{number}.jpg"), taxon=taxon) for number, taxon in enumerate(labels))
    assert tree.paths == {"Acer campestre": ("Sapindaceae", "Acer", "Acer campestre")}
    with pytest.raises(LeafidError, match="at least one species"):
        Taxonomy.from_pictures([])
