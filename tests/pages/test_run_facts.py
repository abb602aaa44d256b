import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.pages.run_facts import (
    Confusion,
    compute_reliability,
    count_answers,
    find_confusions,
    find_probabilities,
    find_rankings,
)
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.scoring.run_reading import read_run
from leafid.scoring.truth import make_ground_truth

SPECIES = {"1": "Acer opalus", "2": "Acer opalus", "3": "Quercus ilex", "4": "Ilex aquifolium", "5": "Ilex aquifolium"}


@pytest.fixture
def truth(tmp_path):
    return make_ground_truth(
        Picture(tmp_path / f"{name}.jpg", AcquisitionType.SCAN, taxon=Taxon(species))
        for name, species in SPECIES.items()
    )


@pytest.fixture
def run(tmp_path):
    file = tmp_path / "run.txt"
    file.write_text(
        "4.jpg Quercus ilex 1 0.6\n4.jpg Ilex aquifolium 2 0.4\n"
        "1.jpg Acer opalus 1 0.9\n"
        "5.jpg Quercus ilex 1 0.8\n"
        "2.jpg Quercus ilex 1 0.5\n"
    )
    return read_run(file)


def test_rankings_are_in_the_order_of_the_truth(run, truth):
    rankings = find_rankings(run, truth, 2)
    assert [own[:1] for own in rankings] == [
        [("Acer opalus", 0.9)],
        [("Quercus ilex", 0.5)],
        [],
        [("Quercus ilex", 0.6)],
        [("Quercus ilex", 0.8)],
    ]
    score, correct = find_probabilities(rankings, truth)
    assert (score.tolist(), correct.tolist()) == ([0.9, 0.5, 0.6, 0.8], [True, False, False, False])
    assert find_probabilities([[("Acer opalus", 42.0)], [], [], [], []], truth) is None


def test_confusions_are_sorted_by_pictures_and_their_pictures_by_confidence(run, truth):
    most, least = find_confusions(find_rankings(run, truth, 1), truth)
    assert most == Confusion("Ilex aquifolium", "Quercus ilex", ("5.jpg", "4.jpg"), 1.0)
    assert least == Confusion("Acer opalus", "Quercus ilex", ("2.jpg",), 0.5)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60), st.integers(1, 12))
def test_reliability_by_its_definition(predictions, n_bins):
    probabilities, correct = zip(*predictions, strict=True)
    bins: dict[int, list[tuple[float, bool]]] = {}
    for probability, hit in predictions:
        bins.setdefault(min(int(probability * n_bins), n_bins - 1), []).append((probability, hit))
    means = [
        (np.mean([p for p, _ in bins[b]]), np.mean([float(h) for _, h in bins[b]]), len(bins[b])) for b in sorted(bins)
    ]
    probability, accuracy, count = compute_reliability(probabilities, correct, n_bins)
    # Means of at most 60 numbers below 1, added in another order.
    np.testing.assert_allclose(probability, [mean for mean, _, _ in means], atol=1e-12)
    np.testing.assert_allclose(accuracy, [share for _, share, _ in means], atol=1e-12)
    assert count.tolist() == [number for _, _, number in means]


def test_the_confusion_matrix_counts_every_answer(run, truth):
    rankings = find_rankings(run, truth, 1)
    whole = count_answers(rankings, truth, 10)
    # All of one unknown family, so by name; the picture that the run lacks is nowhere.
    assert whole.species == ("Acer opalus", "Ilex aquifolium", "Quercus ilex")
    assert whole.counts.tolist() == [[1, 0, 1, 0], [0, 0, 2, 0], [0, 0, 0, 0]]
    part = count_answers(rankings, truth, 2)
    assert (part.species, part.n_left_out) == (("Ilex aquifolium", "Quercus ilex"), 1)
    assert part.counts.tolist() == [[0, 2, 0], [0, 0, 0]]
