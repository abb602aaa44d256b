"""Each metric against scikit-learn, or its formula written down literally."""

import csv
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn

from leafid import evaluate
from leafid.errors import UsageError
from leafid.pictures.picture import Picture, Taxon
from leafid.scoring.metrics import find_metric
from leafid.scoring.tables import read_metrics

SPECIES = ("Acer opalus", "Ilex aquifolium", "Quercus ilex", "Ulmus minor")


def average_with_sklearn(score, labels, named, average):
    """Score names, and average the species that are shown."""
    return score(
        labels, named, labels=sorted({*labels}), average=average, zero_division=0
    )


def score_with_sklearn(labels, scores):
    """Compute metrics of probabilities, (n, species), of which no two are equal."""
    named, columns = scores.argmax(axis=1), np.arange(len(SPECIES))
    shown = sorted({*labels})
    ranks = 1 + (scores > scores[np.arange(len(labels)), labels][:, None]).sum(axis=1)
    top_2 = [sklearn.top_k_accuracy_score(labels, scores, k=2, labels=columns)]
    macro = [
        np.mean([(ranks <= 2)[np.array(labels) == label].mean() for label in shown])
    ]
    return {
        "top-1": sklearn.accuracy_score(labels, named),
        "top-2": top_2[0],
        "macro-top-2": macro[0],
        "mrr": sklearn.label_ranking_average_precision_score(
            np.eye(len(SPECIES))[labels], scores
        ),
        "balanced-accuracy": sklearn.balanced_accuracy_score(labels, named),
        "recall": average_with_sklearn(sklearn.recall_score, labels, named, "macro"),
        "precision": average_with_sklearn(
            sklearn.precision_score, labels, named, "macro"
        ),
        "f1": average_with_sklearn(sklearn.f1_score, labels, named, "macro"),
        "macro-f1": average_with_sklearn(sklearn.f1_score, labels, named, "macro"),
        "weighted-f1": average_with_sklearn(
            sklearn.f1_score, labels, named, "weighted"
        ),
        "kappa": sklearn.cohen_kappa_score(labels, named, labels=columns),
        "mcc": sklearn.matthews_corrcoef(labels, named),
        "log-loss": sklearn.log_loss(labels, scores, labels=columns),
        "brier": ((scores - np.eye(len(SPECIES))[labels]) ** 2).sum(axis=1).mean(),
        "confidence": scores.max(axis=1).mean(),
    }


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 30))
def test_scores_are_those_of_scikit_learn(seed, n_pictures):
    random = np.random.default_rng(seed)
    labels = random.integers(0, len(SPECIES), n_pictures)
    scores = random.dirichlet(np.ones(len(SPECIES)), n_pictures)
    pictures = [
        Picture(Path(f"{index}.jpg"), taxon=Taxon(SPECIES[label]))
        for index, label in enumerate(labels)
    ]
    known = [
        Picture(Path(f"x{index}.jpg"), taxon=Taxon(name), part="train")
        for index, name in enumerate(SPECIES)
    ]
    tested = [
        Picture(picture.file, taxon=picture.taxon, part="test") for picture in pictures
    ]
    run = {
        f"{index}.jpg": dict(zip(SPECIES, row.tolist(), strict=True))
        for index, row in enumerate(scores)
    }
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # scikit-learn warns of labels that are only named
        expected = score_with_sklearn(labels, scores)
    [record] = evaluate([*known, *tested], run, [*expected])
    assert {name: record[name] for name in expected} == pytest.approx(
        expected, abs=1e-9, nan_ok=True
    )


@pytest.mark.filterwarnings("ignore:A single label")
@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.sampled_from(SPECIES), st.sampled_from([*SPECIES, "Acer x", ""])),
        min_size=1,
        max_size=20,
    )
)
def test_scores_of_a_species_are_those_of_scikit_learn(rows):
    pictures = [
        Picture(Path(f"{index}.jpg"), taxon=Taxon(label))
        for index, (label, _) in enumerate(rows)
    ]
    pictures.append(Picture(Path("x.jpg"), taxon=Taxon("Acer x"), part="train"))
    # A picture without a name is missing in the run.
    run = {f"{index}.jpg": name for index, (_, name) in enumerate(rows) if name}
    # A run without any of the species is refused.
    if {*dict(rows)}.isdisjoint(run.values()):
        return
    metrics = ["f1", "precision", "recall", "kappa", "mcc", "top-1"]
    records = evaluate(pictures[:-1], run, metrics, by="species")
    assert [record["species"] for record in records] == sorted({*dict(rows)})
    for record in records:
        labels, named = (
            [name == record["species"] for name in column]
            for column in zip(*rows, strict=True)
        )
        expected = {
            "precision": sklearn.precision_score(labels, named, zero_division=0),
            "recall": sklearn.recall_score(labels, named),
            "f1": sklearn.f1_score(labels, named),
            "top-1": sklearn.recall_score(labels, named),
            "mcc": sklearn.matthews_corrcoef(labels, named),
        }
        if {*labels, *named} == {False, True}:
            expected["kappa"] = sklearn.cohen_kappa_score(labels, named)
        assert {name: record[name] for name in expected} == pytest.approx(expected)
        assert record["pictures"] == sum(labels)


NAME_METRICS = ["precision", "recall", "f1", "weighted-f1", "kappa", "mcc"]


def evaluate_names(rows):
    """Score lists of a label and a name."""
    pictures = [
        Picture(Path(f"{index}.jpg"), taxon=Taxon(label))
        for index, (label, _) in enumerate(rows)
    ]
    run = {f"{index}.jpg": name for index, (_, name) in enumerate(rows)}
    [record] = evaluate(pictures, run, NAME_METRICS)
    return [record[name] for name in NAME_METRICS]


@settings(max_examples=20)
@given(st.permutations([*SPECIES, *SPECIES]), st.permutations(range(8)))
def test_scores_of_names_have_bounds_and_no_order(names, order):
    rows = list(zip([*SPECIES, *SPECIES], names, strict=True))
    scores = evaluate_names(rows)
    assert scores == pytest.approx(evaluate_names([rows[index] for index in order]))
    assert all(-1 <= score <= 1 for score in scores)
    assert min(scores[:4]) >= 0
    perfect = evaluate_names([(label, label) for label, _ in rows])
    assert perfect == pytest.approx([1] * 6)


def test_what_cannot_be_scored_by_group_is_refused():
    pictures = [Picture(Path("1.jpg"), taxon=Taxon("Acer opalus"))]
    for by, metric in (("genus", "f1"), ("family", "kappa"), ("species", "ece")):
        with pytest.raises(UsageError, match=f"by {by}, found {metric}$"):
            evaluate(pictures, {"1.jpg": "Acer opalus"}, [metric, "top-1"], by=by)


def test_only_means_over_pictures_have_an_interval():
    pictures = [
        Picture(Path(f"{index}.jpg"), taxon=Taxon(SPECIES[index % 4]))
        for index in range(8)
    ]
    run = {f"{index}.jpg": SPECIES[index // 2] for index in range(8)}
    [record] = evaluate(pictures, run, ["top-1", *NAME_METRICS], intervals="bounds")
    ends = {name.removesuffix(" low") for name in record if name.endswith(" low")}
    assert ends == {"top-1", "recall"}


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from([0.1, 0.4, 0.7, 0.9])),
        min_size=2,
        max_size=20,
    )
)
def test_auroc_is_that_of_scikit_learn(rows):
    known = [is_known for is_known, _ in rows]
    pictures = [
        Picture(
            Path(f"{index}.jpg"),
            taxon=Taxon("Acer opalus" if is_known else "Unknown species"),
        )
        for index, is_known in enumerate(known)
    ]
    if not any(known):
        return
    run = {
        f"{index}.jpg": {"Acer opalus": score} for index, (_, score) in enumerate(rows)
    }
    [record] = evaluate(pictures, run, ["auroc"])
    if all(known):
        assert math.isnan(record["auroc"])
    else:
        assert record["auroc"] == pytest.approx(
            sklearn.roc_auc_score(known, [score for _, score in rows])
        )


def test_what_a_run_lacks_has_probability_0():
    pictures = [
        Picture(Path(f"{index}.jpg"), taxon=Taxon("Acer opalus")) for index in range(3)
    ]
    run = {"0.jpg": {"Acer opalus": 0.8}, "1.jpg": {"Quercus ilex": 0.6}}
    [record] = evaluate(
        pictures, run, ["log-loss", "brier", "confidence", "mrr", "macro-f1"]
    )
    assert record["log-loss"] == pytest.approx(
        (-math.log(0.8) + 2 * 52 * math.log(2)) / 3
    )
    assert record["brier"] == pytest.approx((0.2**2 + 1 + 0.6**2 + 1) / 3)
    assert record["confidence"] == pytest.approx((0.8 + 0.6) / 3)
    assert record["mrr"] == pytest.approx(1 / 3)
    assert record["macro-f1"] == pytest.approx(2 * 1 / (1 + 3))


def test_the_list_and_the_functions_agree():
    listed = {
        row["metric"]: row
        for row in read_metrics()
        if row["command"] in ("evaluate", "evaluate --metrics")
    }
    for name in listed:
        metric = find_metric(name.replace("K", "3").replace("at-P", "at-3"))
        assert metric.description == listed[name]["what it is"]
        assert metric.is_error == (listed[name]["better"] == "lower")
    with (
        Path(find_metric.__code__.co_filename)
        .with_name("metrics.csv")
        .open(encoding="utf-8") as file
    ):
        assert len({row["metric"] for row in csv.DictReader(file)}) == len(
            read_metrics()
        )
