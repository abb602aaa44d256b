"""Ranks over collections, against a literal version and Demšar's published example."""

from unittest.mock import patch
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

from leafid.scoring.metrics import find_metrics
from leafid.scoring.tables import Estimate, Table
from leafid.studies.ranks import rank_runs

#: Table 6 of Demšar (2006): the AUC of four runs on 14 collections. Of two scores that
#: the paper rounds to .975, the first was larger, as the ranks that it prints show.
RUNS = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
AUC = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.97501, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def rank(scores, metric="top-1"):
    """Rank runs by scores of (collections, types, runs); NaN where one is missing."""
    rows, groups = [], {}
    for (collection, type_, run), score in np.ndenumerate(scores):
        name = f"{collection}, {type_}"
        groups[name] = (f"collection {collection}", str(type_), "folds")
        if not np.isnan(score):
            rows.append([name, RUNS[run], Estimate(float(score), {"low": 0.0})])
    table = Table("", ["collection, type", "run", metric], rows)
    tables, diagrams = rank_runs(table, groups, find_metrics([metric]))
    return {name: table.to_records() for name, table in tables.items()}, diagrams


def test_the_published_example():
    tables, diagrams = rank(AUC[:, None])
    ranks = {row["run"]: row["mean rank"] for row in tables["collections"]}
    assert ranks == pytest.approx(
        {"C4.5": 3.143, "C4.5+m": 2, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}, abs=5e-4
    )
    assert [*ranks] == RUNS
    friedman, *pairs = tables["ranks"]
    assert friedman["critical difference"] == pytest.approx(1.25, abs=0.005)
    # The paper leaves ties in the ranks out of the statistic, which is 9.28 without.
    assert friedman["p"] == friedmanchisquare(*AUC.T).pvalue
    for pair in pairs:
        is_far = abs(pair["A"] - pair["B"]) > friedman["critical difference"]
        assert is_far == (pair["p"] < 0.05)
    assert [*diagrams] == ["folds-top-1"]
    drawing = ElementTree.fromstring(diagrams["folds-top-1"])
    words = " ".join("".join(text.itertext()) for text in drawing.iter())
    assert all(f"{name} (" in words or f") {name}" in words for name in RUNS)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
@settings(max_examples=15)
@given(arrays(np.int64, (7, 4), elements=st.integers(0, 9)), st.booleans())
def test_ranks_and_tests_are_those_of_the_paper(numbers, is_error):
    """Each run is compared with each other one, place by place."""
    scores = numbers / 10
    if (numbers == numbers[:, :1]).all():
        return
    metric = "ece" if is_error else "top-1"
    # A diagram takes longer than all tests of the ranks.
    with patch("leafid.studies.ranks.draw_ranks"):
        tables, _ = rank(scores[:, None], metric)
    n, k = scores.shape
    sign = 1 if is_error else -1
    mean_ranks = np.mean([rankdata(sign * row) for row in scores], axis=0)
    ranks = {row["run"]: row["mean rank"] for row in tables["collections"]}
    assert ranks == pytest.approx(dict(zip(RUNS, mean_ranks, strict=True)))
    friedman, *pairs = tables["ranks"]
    assert friedman["test"] == "Friedman"
    assert friedman["p"] == pytest.approx(friedmanchisquare(*scores.T).pvalue)
    # Table 5 of the paper has 2.569 for four runs at 0.05.
    distance = 2.569 * np.sqrt(k * (k + 1) / (6 * n))
    assert friedman["critical difference"] == pytest.approx(distance, rel=1e-3)
    assert len(pairs) == 6
    for pair in pairs:
        assert (pair["A"], pair["B"]) == (ranks[pair["run A"]], ranks[pair["run B"]])
        assert (abs(pair["A"] - pair["B"]) > distance) == (pair["p"] < 0.05)


def test_what_a_collection_scores_and_who_is_ranked():
    """Types are averaged; a run without one of them, and what nobody has, is out."""
    scores = np.stack([AUC, AUC[::-1]], axis=1)
    scores[:, 1][:7] = np.nan
    scores[8, 0, 1] = np.nan
    tables, _ = rank(scores)
    rows = {row["run"]: row for row in tables["collections"]}
    assert [*rows] == ["C4.5", "C4.5+cf", "C4.5+m+cf"]
    assert rows["C4.5"]["collection 0"] == 0.763
    assert rows["C4.5"]["collection 13"] == pytest.approx((0.957 + 0.763) / 2)
    assert len(tables["ranks"]) == 1 + 3
    assert rank(AUC[:1, None]) == ({}, {})
    assert rank(AUC[:, None, :1]) == ({}, {})


def test_two_runs():
    tables, _ = rank(AUC[:, None, :2])
    wilcoxon_row, pair = tables["ranks"]
    expected = wilcoxon(AUC[:, 0], AUC[:, 1]).pvalue
    assert (wilcoxon_row["test"], wilcoxon_row["p"]) == (
        "Wilcoxon",
        pytest.approx(expected),
    )
    assert (pair["run A"], pair["run B"]) == ("C4.5", "C4.5+m")
    same, _ = rank(np.full((3, 1, 3), 0.5))
    assert np.isnan(same["ranks"][0]["p"])
    assert {row["p"] for row in same["ranks"][1:]} == {1}
