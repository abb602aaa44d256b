"""Sets of species: thresholds against literal ones, and the scores of runs."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from leafid.metrics.averages import accuracy_score
from leafid.metrics.sets import fit_average_k_thresholds
from leafid.pictures.picture import Picture, Taxon
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.truth import make_ground_truth
from leafid.scoring.sets import score_average_k
from tests.scoring.golden_files import GOOD, PARTIAL, TRUTH
from tests.scoring.run_files import write_run

quick = settings(max_examples=40)


@quick
@given(st.integers(1, 30), st.integers(2, 8), st.floats(0.05, 8), st.integers(0, 1000))
def test_sets_have_the_mean_size_k_where_no_probabilities_are_tied(n, classes, k, seed):
    p = np.random.default_rng(seed).random((n, classes))
    size = accuracy_score((p >= fit_average_k_thresholds(p, [k])[0]).sum(axis=1))
    assert size <= k + 1e-9
    assert size > min(k, classes) - 1 / n - 1e-9


SPECIES = [f"Acer species{letter}" for letter in "abcd"]


def make_run(folder, name, probabilities):
    ranked = {
        f"{name}{row}.jpg": sorted(
            zip(SPECIES, values.tolist(), strict=True), key=lambda entry: -entry[1]
        )
        for row, values in enumerate(probabilities)
    }
    write_run(folder / f"{name}.txt", ranked)
    return read_run(folder / f"{name}.txt")


def make_truth(labels):
    return make_ground_truth(
        Picture(Path(f"test{row}.jpg"), taxon=Taxon(SPECIES[label]))
        for row, label in enumerate(labels)
    )


def literal_average_k(validation, p, labels, k):
    """As the authors' implementation: flatten, sort, cut half way; ties are in.

    All are where K is their number.
    """
    s = sorted(validation.ravel().tolist(), reverse=True)
    threshold = (
        (s[len(validation) * k - 1] + s[len(validation) * k]) / 2
        if k < len(SPECIES)
        else -np.inf
    )
    hits = np.array(
        [row[label] >= threshold for row, label in zip(p, labels, strict=True)]
    )
    classes = [np.mean(hits[labels == label]) for label in sorted(set(labels.tolist()))]
    sizes = (p >= threshold).sum(axis=1).tolist()
    return (
        threshold,
        hits.mean(),
        np.mean(classes),
        sum(sizes) / len(p),
        sizes.count(0) / len(p),
    )


probabilities = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.just(4)),
    elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9]),
)


@quick
@given(probabilities, probabilities, st.integers(1, 5), st.data())
def test_scores_are_those_of_the_literal_implementation(
    tmp_path_factory, validation, p, k, data
):
    folder = tmp_path_factory.mktemp("runs")
    labels = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(p), max_size=len(p)))
    )
    run, fitted = make_run(folder, "test", p), make_run(folder, "val", validation)
    (scores,) = score_average_k(make_truth(labels), run, [k], fitted)
    expected = literal_average_k(validation, p, labels, k)
    headings = (
        "threshold",
        "accuracy",
        "macro-average accuracy",
        "mean size",
        "empty sets",
    )
    assert tuple(scores[heading] for heading in headings) == pytest.approx(expected)
    assert fit_average_k_thresholds(validation, [k])[0] == max(expected[0], 0)
    assert min(k, len(SPECIES)) <= scores["size fitted"] + 1 / len(validation)


def test_a_picture_that_the_run_lacks_has_an_empty_set_and_counts_in_the_mean_size(
    tmp_path,
):
    run = make_run(
        tmp_path, "test", np.array([[0.7, 0.2, 0.1, 0.0], [0.4, 0.35, 0.15, 0.1]])
    )
    (scores,) = score_average_k(make_truth([0, 0, 0, 0]), run, [1])
    # Four of the eight scores are in, for four pictures.
    assert (scores["mean size"], scores["empty sets"], scores["accuracy"]) == (
        1,
        0.5,
        0.5,
    )
    # Pictures outside the ground truth don't count.
    (of_pair,) = score_average_k(make_truth([0]), run, [2])
    assert (of_pair["size fitted"], of_pair["mean size"], of_pair["threshold"]) == (
        2,
        2,
        pytest.approx(0.15),
    )


@pytest.mark.parametrize(
    ("n_lines", "cut"), [(4, ""), (3, "for K = 2.5, 1 picture with a list that ends")]
)
def test_lists_that_end_at_the_threshold_are_counted(tmp_path, caplog, n_lines, cut):
    rows = np.array([[0.27, 0.25, 0.245, 0.235], [0.97, 0.015, 0.01, 0.005]])
    ranked = {
        f"test{row}.jpg": [*zip(SPECIES, values.tolist(), strict=True)][:n_lines]
        for row, values in enumerate(rows)
    }
    write_run(tmp_path / "run.txt", ranked)
    score_average_k(make_truth([3, 0]), read_run(tmp_path / "run.txt"), [2.5])
    assert cut in caplog.text
    assert bool(cut) == bool(caplog.records)


@pytest.fixture
def full_runs(tmp_path):
    """A run with all species of the golden truth, most often right, with ties.

    Another is on validation pictures.
    """
    rng = np.random.default_rng(1)
    names = sorted({line.split()[1] + " " + line.split()[2] for line in GOOD.open()})
    for name, pictures in (
        ("run", sorted(path.stem for path in TRUTH.glob("*.xml"))),
        ("val", range(100, 130)),
    ):
        ranked = {}
        for picture in pictures:
            values = np.round(
                rng.dirichlet(np.ones(len(names))), 1 if name == "val" else 6
            )
            ranked[f"{picture}.jpg"] = sorted(
                zip(names, values.tolist(), strict=True), key=lambda entry: -entry[1]
            )
        write_run(tmp_path / f"{name}.txt", ranked)
    return tmp_path / "run.txt", tmp_path / "val.txt"


def test_the_command_fits_thresholds_on_the_validation_run(cli, full_runs):
    run, validation = full_runs
    words = [
        "--average",
        "1,2",
        "--validation",
        validation,
        "--table",
        2,
        "--format",
        "csv",
    ]
    outcome = cli("evaluate", TRUTH, run, *words)
    assert outcome.status == 0, outcome.err
    table = outcome.rows
    assert [row["K"] for row in table] == ["1", "2"]
    assert float(table[0]["accuracy"]) + float(table[0]["error"]) == pytest.approx(1)
    assert float(table[0]["size fitted"]) > 1


def test_options_without_effect_are_refused(cli):
    for words in (
        ["--validation", GOOD],
        ["--average", "1", "--validation", GOOD, "--validation", PARTIAL],
    ):
        outcome = cli("evaluate", TRUTH, GOOD, *words)
        assert (outcome.status, outcome.out) == (2, "")
        assert "expected --average, and --validation once for each run" in outcome.err
