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
from leafid.pictures.picture import Picture, Taxon
from leafid.scoring.metrics import find_metric
from leafid.scoring.tables import read_metrics

SPECIES = ("Acer opalus", "Ilex aquifolium", "Quercus ilex", "Ulmus minor")


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
        "macro-f1": sklearn.f1_score(
            labels, named, labels=shown, average="macro", zero_division=0
        ),
        "weighted-f1": sklearn.f1_score(
            labels, named, labels=shown, average="weighted", zero_division=0
        ),
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
        expected, abs=1e-9
    )


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
        metric = find_metric(name.replace("K", "3"))
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
