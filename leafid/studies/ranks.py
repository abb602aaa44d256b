"""Ranks of runs over several collections, each of which is one observation.

References
----------
.. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets",
   Journal of Machine Learning Research 7, 2006.
"""

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations, repeat
from typing import Any

import numpy as np
from scipy.stats import friedmanchisquare, studentized_range, wilcoxon

from leafid.pages.plots import draw_ranks
from leafid.scoring.metrics import Metric
from leafid.scoring.score_table import SIGNIFICANT
from leafid.scoring.tables import Estimate, Rows, Table

# Decimals up to which scores are compared, as sums in another order differ.
_DECIMALS = 12


def can_rank() -> bool:
    """Tell whether the packages that `rank_runs` needs are installed."""
    return find_spec("scikit_posthocs") is not None


def rank_runs(
    table: Table, settings: Mapping[str, Sequence[str]], metrics: Sequence[Metric]
) -> tuple[dict[str, Table], dict[str, str]]:
    """Rank runs on collections by their scores, and test the ranks.

    The score of a collection is the mean over its acquisition types. Runs that don't
    answer all types of all collections are left out, and so are collections on which a
    run has no score.

    Parameters
    ----------
    table : Table
        As of `leafid.scoring.score_table.make_score_table`.
    settings : mapping of str to sequence of str
        The collection, type and protocol of each group of the table.
    metrics : sequence of Metric

    Returns
    -------
    tables : dict of str to Table
        "collections" has the scores and mean ranks, "ranks" the tests. There are none
        of fewer than two runs or collections.
    diagrams : dict of str to str
        Critical difference diagrams: SVG by protocol and metric.
    """
    frame = import_module("pandas").DataFrame(table.to_records())
    frame[["collection", "type", "protocol"]] = [
        settings[name] for name in frame[table.columns[0]]
    ]
    names = [*dict.fromkeys(frame["collection"])]
    score_rows: Rows = []
    test_rows: Rows = []
    diagrams = {}
    for protocol, rows in frame.groupby("protocol", sort=False):
        for metric in metrics:
            scores = _average_types(rows, metric.name)
            if min(scores.shape) < 2:
                continue
            key = [str(protocol), metric.name]
            ranks = scores.rank(ascending=metric.is_error)
            score_rows += [[*key, *row] for row in _list_scores(scores, ranks, names)]
            tests, diagram = _test_ranks(scores, ranks.mean(axis=1))
            test_rows += [[*key, *row] for row in tests]
            diagrams[re.sub(r"[^\w.-]+", "-", "-".join(key))] = diagram
    if not score_rows:
        return {}, {}
    tables = {
        "collections": Table(
            title="Scores by collection",
            columns=["protocol", "metric", "run", *names, "mean rank"],
            rows=score_rows,
            notes=["a score is the mean over the collection's acquisition types"],
            n_keys=3,
        ),
        "ranks": Table(
            title="Tests of the mean ranks A and B over collections",
            columns=[
                *("protocol", "metric", "test", "run A", "run B", "A", "B"),
                *("critical difference", "p"),
            ],
            rows=test_rows,
            notes=["p is approximate where there are fewer than 10 collections"],
            n_keys=5,
        ),
    }
    return tables, diagrams


def _average_types(rows: Any, metric: str) -> Any:
    """Average the scores of each run, a row, on each collection, a column."""
    cells = rows.groupby(["run", "collection"])[metric]
    counts = cells.size().unstack()
    is_complete = (counts == counts.max()).all(axis=1)
    means = cells.mean().unstack()[is_complete].round(_DECIMALS).dropna(axis=1)
    # Runs keep the order of the table.
    return means.reindex([run for run in rows["run"].unique() if is_complete[run]])


def _list_scores(scores: Any, ranks: Any, names: Sequence[str]) -> Rows:
    """List the scores and the mean rank of each run."""
    is_best = (ranks == ranks.min()).reindex(columns=names, fill_value=False)
    rows: Rows = []
    for run, values in scores.reindex(columns=names).iterrows():
        marks = is_best.loc[run].tolist()
        cells = map(Estimate, values.tolist(), repeat({}), marks)
        rows.append([run, *cells, float(ranks.loc[run].mean())])
    return rows


def compute_critical_difference(n_runs: int, n_collections: int) -> float:
    """Compute by how much mean ranks differ significantly, by Nemenyi's test."""
    quantile = studentized_range.ppf(1 - SIGNIFICANT, n_runs, np.inf)
    return float(quantile * np.sqrt(n_runs * (n_runs + 1) / 12 / n_collections))


def _test_ranks(scores: Any, mean_ranks: Any) -> tuple[Rows, str]:
    """Test all runs, and every two, and draw the critical difference diagram."""
    values = scores.to_numpy()
    name = "Friedman"
    test = friedmanchisquare
    if len(values) == 2:
        name = "Wilcoxon"
        test = wilcoxon
    p = np.nan
    # Of equal runs, tests divide by 0, and some versions of SciPy raise an error.
    if (values != values[0]).any():
        p = float(test(*values).pvalue)
    difference = compute_critical_difference(*scores.shape)
    rows: Rows = [[name, "all", "all", None, None, difference, p]]
    p_values = import_module("scikit_posthocs").posthoc_nemenyi_friedman(scores.T)
    for pair in combinations(scores.index, 2):
        cells = [*mean_ranks[[*pair]].tolist(), difference, float(p_values.at[pair])]
        rows.append(["Nemenyi", *pair, *cells])
    return rows, draw_ranks(mean_ranks, p_values, difference)
