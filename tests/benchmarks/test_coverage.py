"""Intervals hold what they say, where those of the bootstrap don't."""

import pytest

from benchmarks import coverage


@pytest.mark.slow
def test_intervals_hold_the_true_score():
    metrics = ["S", "top-1", "mrr", "balanced-accuracy"]
    for n_plants, accuracy in ((12, 0.98), (30, 0.9)):
        shares = coverage.measure_coverage(n_plants, accuracy, 100, metrics)
        # Of intervals that hold 95 % of the time, this is 3 standard errors below.
        assert min(shares) >= 0.88
    shares = coverage.measure_difference_coverage(30, 0.9, 100, metrics)
    assert min(shares) >= 0.88
    [share] = coverage.measure_coverage(12, 0.98, 100, ["top-1"], coverage.compute_bca)
    assert share < 0.7


def test_the_tables_have_all_scores(capsys, monkeypatch):
    monkeypatch.setattr(coverage, "_POPULATION", 600)
    coverage.find_truth.cache_clear()
    coverage.main(["--repetitions", "2", "--plants", "12"])
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split("|")[1].strip() for line in lines if line.startswith("| ")]
    without = ["score", "S", "top-1", *coverage.WITHOUT_INTERVALS]
    coverage.find_truth.cache_clear()
    coverage.find_true_difference.cache_clear()
    assert rows == ["score", *coverage.METRICS, *without, "score", *coverage.METRICS]
