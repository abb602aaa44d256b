"""Recipes with classifiers of scikit-learn, from ``leafid train`` to ``explain``."""

import re
import sys

import pytest

import leafid
from leafid.learning.classifiers import estimator_bytes
from leafid.model.model import Model
from leafid.pictures.picture import AcquisitionType

RECIPE = """
types = ["scan"]
[experts.outline]
descriptor = "measures"
families = ["geometry", "hu"]
{outline}
[experts.margin]
descriptor = "measures"
families = ["curvature"]
classifier = "sklearn.linear_model.LogisticRegression"
classifier_options = {{ C = 3.0 }}
"""
STEPS = (
    '[["scale", "sklearn.preprocessing.StandardScaler", {}], ["bayes", '
    '"sklearn.naive_bayes.GaussianNB", {}]]'
)
NOT_LINEAR = {
    "sklearn.ensemble.RandomForestClassifier": "{ n_estimators = 20 }",
    "sklearn.pipeline.Pipeline": f"{{ steps = {STEPS} }}",
}


@pytest.fixture
def train(cli, drawn, drawn_cache, tmp_path):
    def run(name, options="{}"):
        outline = f'classifier = "{name}"\nclassifier_options = {options}\n'
        (tmp_path / "recipe.toml").write_text(RECIPE.format(outline=outline))
        words = [
            "--recipe",
            tmp_path / "recipe.toml",
            "--only-type",
            "scan",
            "--jobs",
            1,
        ]
        return cli(
            "train",
            drawn,
            *words,
            "--cache",
            drawn_cache,
            "--output",
            tmp_path / "model",
        )

    return run


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "options"), NOT_LINEAR.items())
def test_a_classifier_that_is_not_linear_names_leaves(
    name, options, cli, train, drawn, drawn_cache, tmp_path
):
    outcome = train(name, options)
    assert outcome.status == 0, outcome.err
    identifier = Model.read(tmp_path / "model")[AcquisitionType.SCAN].identifier
    assert list(identifier.scorers) == ["margin"]
    assert list(identifier.estimators) == ["outline"]
    words = [
        "--model",
        tmp_path / "model",
        "--assume-type",
        "scan",
        "--cache",
        drawn_cache,
    ]
    records = cli("predict", drawn / "Test", *words, "--format", "json").json
    answers = [record for record in records if record["verdict"] == "species"]
    assert answers
    for record in answers:
        assert sum(
            entry["probability"] for entry in record["ranking"]
        ) == pytest.approx(1, abs=1e-6)
    page = cli(
        "explain",
        answers[0]["picture"],
        "--model",
        tmp_path / "model",
        "--assume-type",
        "scan",
    )
    assert page.status == 0, page.err


def test_equal_trainings_give_equal_answers_and_learn_no_further_species(
    cli, train, drawn, drawn_cache, tmp_path
):
    answers = []
    for _ in range(2):
        assert (
            train(
                "sklearn.ensemble.RandomForestClassifier", "{ n_estimators = 5 }"
            ).status
            == 0
        )
        words = [
            "--model",
            tmp_path / "model",
            "--assume-type",
            "scan",
            "--cache",
            drawn_cache,
            "--format",
            "json",
        ]
        answers.append(cli("predict", drawn / "Test", *words).json)
    assert answers[0] == answers[1]
    words = [
        "--extend",
        tmp_path / "model",
        "--output",
        tmp_path / "new",
        "--cache",
        drawn_cache,
    ]
    outcome = cli("train", drawn, *words)
    assert outcome.status == 1
    assert 'not all of its classifiers are "ridge"' in outcome.err


def test_a_model_that_holds_an_estimator_is_read_only_where_it_is_allowed(
    cli, train, drawn, tmp_path, monkeypatch
):
    monkeypatch.delenv("LEAFID_ALLOW")
    file = tmp_path / "model"
    outcome = train("sklearn.svm.SVC")
    assert "to read it, set LEAFID_ALLOW=sklearn" in outcome.err.splitlines()[-1]
    monkeypatch.setattr(estimator_bytes, "load", lambda content: pytest.fail("loaded"))
    advice = (
        r"model: .* scikit-learn, .*; if you trust it, set LEAFID_ALLOW=\S*sklearn in"
    )
    commands = [
        ["info", file],
        ["predict", drawn / "Test", "--model", file],
        ["explain", drawn / "Test" / "1.jpg", "--model", file],
        ["serve", "--model", file],
        ["train", drawn, "--extend", file, "--output", tmp_path / "new"],
    ]
    for words in commands:
        outcome = cli(*words)
        assert outcome.status == 1
        assert re.search(advice, outcome.err.splitlines()[-1])
    monkeypatch.setenv("LEAFID_ALLOW", "sklearn.svm, sklearn.svm.SVC")
    with pytest.raises(leafid.LeafidError, match=advice):
        leafid.load_model(file)


def test_without_skops_one_line_says_what_to_install(train, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    outcome = train("sklearn.svm.SVC")
    assert outcome.status == 1
    assert outcome.err.splitlines()[-1].endswith("pip install 'leafid[skops]'")
