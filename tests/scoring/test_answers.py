"""Tables of single pictures, against scikit-learn and what trec_eval computes."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from leafid import evaluate
from leafid.pictures.picture import Picture, Taxon
from leafid.scoring.answers import (
    find_differing,
    make_agreement_table,
    make_confusion_table,
)
from leafid.scoring.evaluation import read_and_judge
from leafid.scoring.reading.inputs import to_ground_truth
from tests.scoring.golden_files import GOOD, PARTIAL, TRUTH

SPECIES = ["Acer opalus", "Quercus ilex", "Ulmus minor"]
#: A run may name a species that no picture shows, or lack a picture.
NAMES = [*SPECIES, "Acer x", ""]
ROWS = st.tuples(
    st.sampled_from(SPECIES), st.sampled_from(NAMES), st.sampled_from(NAMES)
)


@settings(max_examples=30)
@given(st.lists(ROWS, max_size=20))
def test_confusions_and_agreement_count_what_scikit_learn_does(rows):
    # Each run has to name a picture's species.
    rows = [*[(name, name, name) for name in SPECIES], *rows]
    labels, *named = map(np.array, zip(*rows, strict=True))
    pictures = [Picture(Path(f"{i}.jpg"), taxon=Taxon(x)) for i, x in enumerate(labels)]
    answers = {
        run: {f"{i}.jpg": name for i, name in enumerate(names) if name}
        for run, names in zip("ab", named, strict=True)
    }
    truth = to_ground_truth(pictures)
    _, runs = read_and_judge(answers, truth)
    counts = np.zeros((2, len(NAMES), len(NAMES)), int)
    for row in make_confusion_table(truth, runs).to_records():
        place = NAMES.index(row["species"]), NAMES.index(row["taken for"])
        counts["ab".index(row["run"])][place] = row["pictures"]
        of_run = dict(zip("ab", named, strict=True))[row["run"]]
        wrong = (labels == row["species"]) & (of_run == row["taken for"])
        assert sorted(row["picture names"].split()) == sorted(
            f"{index}.jpg" for index in np.flatnonzero(wrong)
        )
        assert row["share of the species"] == wrong.sum() / (
            (labels == row["species"]).sum()
        )
    for count, names in zip(counts, named, strict=True):
        expected = confusion_matrix(labels, names, labels=NAMES)
        expected[:, -1] = 0
        assert (count == expected - np.diag(expected.diagonal())).all()
    [row] = make_agreement_table(runs).to_records()
    correct = [names == labels for names in named]
    both = confusion_matrix(*correct, labels=[True, False])
    assert both.ravel()[:3].tolist() == [
        row["both correct"],
        row["only A correct"],
        row["only B correct"],
    ]
    assert row["same wrong answer"] + row["different wrong answers"] == both[1, 1]
    is_differing = named[0] != named[1]
    by_name = dict(zip(truth.pictures, find_differing(runs), strict=True))
    assert [by_name[f"{i}.jpg"] for i in range(len(rows))] == is_differing.tolist()
    assert (
        row["only A correct"] + row["only B correct"] + row["different wrong answers"]
        == is_differing.sum()
    )


@pytest.mark.parametrize("run", [GOOD, PARTIAL])
def test_trec_eval_gets_the_same_scores_from_qrels(cli, tmp_path, run):
    """Its reciprocal rank and P_1 of a topic, computed from the files alone."""
    assert cli("check", run, "--to", "trec", tmp_path / "run").status == 0
    words = ("--only-type", "scan", "--by", "picture", "--metrics", "mrr,top-1")
    outcome = cli(
        "evaluate",
        TRUTH,
        run,
        *words,
        "--qrels",
        tmp_path / "q",
        "--table",
        2,
        "--format",
        "csv",
    )
    assert outcome.status == 0, outcome.err
    lines = (tmp_path / "q").read_text().splitlines()
    qrels = {topic: name for topic, _, name, _ in map(str.split, lines)}
    assert {line.split()[1] + line.split()[3] for line in lines} == {"01"}
    ranked = [line.split() for line in (tmp_path / "run").read_text().splitlines()]
    expected = {}
    for topic, name in qrels.items():
        of_topic = [(float(row[4]), row[2]) for row in ranked if row[0] == topic]
        names = [name for _, name in sorted(of_topic, reverse=True)]
        reciprocal = 1 / (names.index(name) + 1) if name in names else 0
        expected[topic] = [reciprocal, float(reciprocal == 1)]
    # A CSV has 15 digits.
    assert expected == {
        row["picture"]: pytest.approx([float(row["mrr"]), float(row["top-1"])], 1e-14)
        for row in outcome.rows
    }
    records = evaluate(TRUTH, run, ["mrr"], by="picture", qrels=tmp_path / "all")
    assert {*lines} < {*(tmp_path / "all").read_text().splitlines()}
    by_name = {record["picture"]: record for record in records}
    assert {row["picture"]: row["answer"] for row in outcome.rows} == {
        name: by_name[name]["answer"] or "" for name in qrels
    }


def test_what_evaluate_refuses_before_the_work(cli, tmp_path):
    run = tmp_path / "run.txt"
    run.write_bytes(GOOD.read_bytes())
    outcome = cli("evaluate", TRUTH, run, "--qrels", run)
    assert (outcome.status, outcome.out) == (2, "")
    assert "--qrels" in outcome.err
    assert run.read_bytes() == GOOD.read_bytes()
    outcome = cli("evaluate", TRUTH, run, "--by", "picture", "--metrics", "kappa")
    assert (outcome.status, outcome.out) == (2, "")
    assert "expected metrics that score single pictures, found kappa" in outcome.err


def test_names_of_confused_pictures_are_for_csv_alone(cli):
    words = ("--by", "confusion", "--table", 2)
    rows = cli("evaluate", TRUTH, GOOD, *words, "--format", "csv").rows
    names = [row["picture names"] for row in rows]
    assert [len(cell.split()) for cell in names] == [
        int(row["pictures"]) for row in rows
    ]
    text = cli("evaluate", TRUTH, GOOD, *words).out
    assert "taken for" in text
    records = evaluate(TRUTH, GOOD, by=["type", "confusion"]).tables["confusion"]
    assert [record["picture names"] for record in records] == names
    assert "jpg" not in text
