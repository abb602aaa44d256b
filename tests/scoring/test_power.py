"""Effect sizes and the power of test sets, against exact enumeration and SciPy."""

import numpy as np
import pytest
from scipy.stats import binom, ttest_rel

from leafid import compare, compute_curves, evaluate
from leafid.errors import LeafidError, UsageError
from leafid.scoring.power import (
    DIFFERENCE,
    POWER,
    SIGNIFICANT,
    count_plants_needed,
    find_smallest_difference,
)
from leafid.scoring.resampling import Bootstrap


def compute_exact_power(n_plants, n_differing, difference):
    """Compute the power of the sign test, summed over all numbers of plants.

    On each plant, runs that score 0 or 1 differ with one probability, and the better
    run is the better one with another.
    """
    share_better = (1 + difference / n_differing) / 2
    power = 0.0
    for n in range(1, n_plants + 1):
        limit = binom.isf(SIGNIFICANT / 2, n, 0.5)
        power += binom.pmf(n, n_plants, n_differing) * binom.sf(limit, n, share_better)
    return power


@pytest.mark.parametrize("share", [0.08, 0.2, 0.5])
def test_plants_that_show_a_difference(share):
    differences = np.repeat(
        [1.0, -1.0, 0.0], [share * 300, share * 200, 500 * (1 - share)]
    )
    n_plants = count_plants_needed(differences)
    # The exact test of few plants is a little less powerful than the simulated one.
    power = compute_exact_power(n_plants, share, DIFFERENCE)
    assert power == pytest.approx(POWER, abs=0.05)
    assert count_plants_needed(differences, seed=1) == pytest.approx(n_plants, rel=0.1)


def test_runs_that_hardly_differ_cannot_differ_by_more():
    assert np.isnan(count_plants_needed(np.repeat([1.0, 0.0], [1, 99])))
    assert np.isnan(count_plants_needed(np.zeros(10)))
    assert np.isnan(find_smallest_difference([np.zeros(10)]))


@pytest.mark.parametrize(("n_plants", "share"), [(100, 0.3), (400, 0.1)])
def test_the_smallest_difference_shows_with_its_power(n_plants, share):
    n_differing = round(n_plants * share)
    differences = np.repeat([1.0, 0.0], [n_differing, n_plants - n_differing])
    smallest = find_smallest_difference([differences, -differences])
    power = compute_exact_power(n_plants, share, smallest)
    # The exact test is a little less powerful than the normal distribution.
    assert power == pytest.approx(POWER, abs=0.05)


RANDOM = np.random.default_rng(3)
PICTURES = [f"{index}.jpg" for index in range(60)]
TRUTH = dict.fromkeys(PICTURES, "Acer opalus")
RUNS = {
    name: {
        picture: {"Acer opalus": p, "Quercus ilex": 0.5}
        for picture, p in zip(PICTURES, RANDOM.beta(a, 2, 60).tolist(), strict=True)
    }
    for name, a in (("good", 4), ("poor", 2))
}


def test_a_difference_has_an_interval_and_an_effect_size():
    # Each picture shows another plant.
    [row] = compare(TRUTH, RUNS, ["brier"])
    first, second = (
        np.array([(ranking["Acer opalus"] - 1) ** 2 + 0.25 for ranking in run.values()])
        for run in RUNS.values()
    )
    differences = first - second
    assert row["A - B"] == pytest.approx(differences.mean())
    effect = differences.mean() / differences.std(ddof=1)
    assert row["effect size"] == pytest.approx(effect)
    test = ttest_rel(first, second)
    assert effect * 60**0.5 == pytest.approx(test.statistic)
    assert row["p"] == pytest.approx(test.pvalue, abs=0.01)
    # The interval is a little wider, as it also counts one more plant, by 2 at most.
    low, high = test.confidence_interval()
    width = row["A - B high"] - row["A - B low"]
    assert high - low < width < 1.6 * (high - low)
    assert row["A - B low"] == pytest.approx(low, abs=0.06)


def test_the_difference_of_equal_runs_is_not_sure():
    """A run that answers 60 plants as another one can still differ on others."""
    runs = dict.fromkeys("ab", RUNS["good"])
    [row] = compare(TRUTH, runs, ["top-1"], bootstrap=Bootstrap(20_000))
    assert row["A - B"] == 0
    assert row["A - B high"] == pytest.approx(-row["A - B low"], abs=0.005)
    # Half a plant each way among 60 others.
    draws = np.random.default_rng(0).dirichlet([60, 0.5, 0.5], 20_000)
    expected = np.quantile(draws[:, 1] - draws[:, 2], 0.975)
    assert row["A - B high"] == pytest.approx(expected, abs=0.004)
    assert np.isnan(row["effect size"])


def test_the_table_has_p_of_each_pair_and_the_smallest_difference():
    runs = RUNS | {"same": RUNS["good"]}
    table = evaluate(TRUTH, runs, ["top-1", "macro-f1"])
    pairs = {
        (row["run A"], row["run B"], row["metric"]): row["p (Holm)"]
        for row in compare(TRUTH, runs, ["top-1", "macro-f1"])
    }
    good, poor, same = table
    assert [row["letter"] for row in table] == ["a", "b", "c"]
    assert [row["top-1 best"] for row in table] == [True, False, True]
    for metric in ("top-1", "macro-f1"):
        assert good[f"{metric} p b"] == poor[f"{metric} p a"]
        assert good[f"{metric} p b"] == pairs["good", "poor", metric]
        assert good[f"{metric} p c"] == pairs["good", "same", metric] == 1
        assert np.isnan(good[f"{metric} p a"])
        is_better = good[f"{metric} p b"] < SIGNIFICANT
        assert good[f"{metric} better than"] == "b" * is_better
    assert same["top-1 smallest difference"] == good["top-1 smallest difference"]
    smallest = f"all pictures top-1 {good['top-1 smallest difference']:.2g}"
    assert any(note.endswith(smallest) for note in table.table.notes)


def test_curves_of_runs():
    curve = compute_curves(TRUTH, RUNS, "risk-coverage")
    [poor] = evaluate(TRUTH, RUNS["poor"], ["top-1", "aurc", "accuracy-at-50"])
    risks = [row["risk"] for row in curve if row["run"] == "poor"]
    assert risks[-1] == pytest.approx(1 - poor["top-1"])
    assert np.mean(risks) == pytest.approx(poor["aurc"])
    assert 1 - risks[29] == pytest.approx(poor["accuracy-at-50"])
    axes = pytest.importorskip("matplotlib.figure").Figure().subplots()
    assert curve.plot(axes) is axes
    assert axes.get_xlabel() == "coverage"
    assert [line.get_label() for line in axes.lines] == [" good", " poor"]
    n_pictures = [row["pictures"] for row in compute_curves(TRUTH, RUNS)]
    assert sum(n_pictures) == 120
    with pytest.raises(LeafidError, match=r"expected pictures of unknown species"):
        compute_curves(TRUTH, RUNS, "open-set")
    with pytest.raises(UsageError, match=r"expected a curve \(reliability, .*'roc'"):
        compute_curves(TRUTH, RUNS, "roc")
    with pytest.raises(LeafidError, match=r"; reliability is computed from"):
        compute_curves(TRUTH, {"0.jpg": {"Acer opalus": 2.0}})
