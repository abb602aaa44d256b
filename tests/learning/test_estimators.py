import io
import json
import re
import zipfile

import numpy as np
import pytest
import sklearn
import skops.io
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from leafid.errors import LeafidError
from leafid.learning.classifiers import estimator_bytes, estimators
from leafid.learning.classifiers.estimators import (
    check_estimator,
    fit_estimator,
    is_linear,
    make_estimator,
    score,
    to_linear,
)

PIPELINE = "sklearn.pipeline.Pipeline"
STEPS = [
    ["scale", "sklearn.preprocessing.StandardScaler", {}],
    ["svc", "sklearn.svm.SVC", {"C": 10}],
]
LINEAR = {
    "sklearn.linear_model.LogisticRegression": {"C": 10},
    "sklearn.linear_model.RidgeClassifier": {"alpha": 0.1},
    "sklearn.svm.LinearSVC": {},
    "sklearn.linear_model.SGDClassifier": {"loss": "log_loss"},
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": {
        "solver": "lsqr",
        "shrinkage": 0.1,
    },
}
WEIGHED = {
    "sklearn.naive_bayes.GaussianNB": {},
    "sklearn.svm.SVC": {"C": 10},
    "sklearn.neighbors.NearestCentroid": {},
    "sklearn.ensemble.RandomForestClassifier": {"n_estimators": 20},
    "sklearn.ensemble.HistGradientBoostingClassifier": {
        "max_iter": 3,
        "min_samples_leaf": 2,
        "learning_rate": 0.5,
    },
    "sklearn.neural_network.MLPClassifier": {
        "hidden_layer_sizes": [10],
        "max_iter": 300,
    },
    PIPELINE: {"steps": STEPS},
}
WITHOUT_WEIGHTS = {"sklearn.neighbors.KNeighborsClassifier": {"n_neighbors": 3}}
ALL = LINEAR | WEIGHED | WITHOUT_WEIGHTS


def make_data(n_species=3, n=60, d=6):
    random = np.random.default_rng(0)
    labels = np.arange(n) % n_species
    rows = random.normal(size=(n, d)).astype(np.float32)
    rows[np.arange(n), labels] += 4
    return rows, labels


def fit(name, rows, labels, weights=None, options=None):
    estimator = make_estimator(name, ALL[name] if options is None else options)
    return fit_estimator(
        estimator, rows, labels, np.ones(len(rows)) if weights is None else weights
    )


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("n_species", [2, 3])
def test_every_classifier_learns(name, n_species):
    check_estimator(name, ALL[name])
    rows, labels = make_data(n_species)
    fitted = fit(name, rows, labels)
    scores = score(fitted, rows)
    assert scores.shape == (60, n_species)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()
    assert (scores.argmax(axis=1) == labels).mean() > 0.9
    assert is_linear(fitted) == (name in LINEAR)
    if name in LINEAR:
        coefficients, intercepts = to_linear(fitted)
        assert coefficients.dtype == intercepts.dtype == np.float32
        np.testing.assert_allclose(
            rows @ coefficients + intercepts, scores, rtol=1e-4, atol=1e-4
        )


def test_a_linear_classifier_without_intercepts():
    rows, labels = make_data()
    fitted = fit(
        "sklearn.linear_model.RidgeClassifier",
        rows,
        labels,
        options={"fit_intercept": False},
    )
    np.testing.assert_allclose(
        rows @ to_linear(fitted)[0], score(fitted, rows), atol=1e-5
    )
    assert not to_linear(fitted)[1].any()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sklearn.linear_model.LogisticRegression", {}),
        ("sklearn.discriminant_analysis.LinearDiscriminantAnalysis", {}),
        (
            PIPELINE,
            {
                "steps": [
                    STEPS[0],
                    ["log", "sklearn.linear_model.LogisticRegression", {}],
                ]
            },
        ),
    ],
)
def test_weights_reach_the_classifier(name, options):
    rows, labels = (
        np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32),
        np.arange(60) % 3,
    )
    assert set(
        score(fit(name, rows, labels, options=options), rows).argmax(axis=1)
    ) == {0, 1, 2}
    weights = np.where(labels == 1, 20.0, 1.0)
    assert set(
        score(fit(name, rows, labels, weights, options), rows).argmax(axis=1)
    ) == {1}


def test_priors_of_the_options_are_kept():
    rows, labels = make_data()
    options = {"priors": [0.2, 0.3, 0.5]}
    fitted = fit(
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        rows,
        labels,
        options=options,
    )
    assert list(fitted.priors_) == [0.2, 0.3, 0.5]


def test_ignored_weights_are_said_once(caplog):
    estimators._warn_of_ignored_weights.cache_clear()
    for _ in range(2):
        fit("sklearn.neighbors.KNeighborsClassifier", *make_data())
    assert [record.message for record in caplog.records] == [
        "KNeighborsClassifier takes no weights: all training pictures count the same "
        "for it"
    ]


def test_the_seed_decides_and_can_be_an_option():
    rows, labels = make_data()
    name = "sklearn.ensemble.RandomForestClassifier"
    assert make_estimator(name, {}).random_state == 0
    assert make_estimator(name, {"random_state": 5}).random_state == 5
    np.testing.assert_array_equal(
        score(fit(name, rows, labels), rows), score(fit(name, rows, labels), rows)
    )


def test_what_cannot_be_fitted_is_said():
    rows, labels = make_data(n=3)
    with pytest.raises(
        LeafidError,
        match="LinearDiscriminantAnalysis can't be fitted to 3 pictures of 3 species: ",
    ):
        fit("sklearn.discriminant_analysis.LinearDiscriminantAnalysis", rows, labels)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "sklearn.linear_model.LogisticRegresion",
            {},
            "did you mean sklearn.linear_model.LogisticRegression",
        ),
        (
            "sklearn.linear.RidgeClassifier",
            {},
            "found 'sklearn.linear.RidgeClassifier'; did you mean sklearn.linear_",
        ),
        ("RidgeClassifier", {}, "did you mean sklearn.linear_model.RidgeClassifier"),
        (
            "os.system",
            {},
            "LinearSVC, or an entry point of leafid_classifiers, found 'os.syst",
        ),
        ("sklearn.utils.shuffle", {}, "a class of scikit-learn such as"),
        ("", {}, "a class of scikit-learn such as"),
        (
            "sklearn.linear_model.Ridge",
            {},
            "expected a classifier, found sklearn.linear_model.Ridge",
        ),
        (
            "sklearn.svm.SVC",
            {"c": 1},
            "expected parameters among C, break_ties, .*, found c",
        ),
        (
            PIPELINE,
            {"steps": STEPS, "memory": "cache"},
            "expected parameters among steps, .*, found memory",
        ),
        (
            "sklearn.svm.SVC",
            {"C": -1},
            "sklearn.svm.SVC: The 'C' parameter of SVC must be a float in the range",
        ),
        (
            "sklearn.svm.SVC",
            {"kernel": "rfb"},
            "sklearn.svm.SVC: The 'kernel' parameter of SVC must be a str among",
        ),
        (
            "sklearn.svm.SVC",
            {"decision_function_shape": "ovo"},
            "expected decision_function_shape = 'ovr'",
        ),
        (
            "sklearn.multiclass.OneVsRestClassifier",
            {},
            "missing 1 required positional argument: 'estimator'",
        ),
        (PIPELINE, {}, "expected steps = .*StandardScaler.*, found steps = None"),
        (
            PIPELINE,
            {"steps": [["svc", "sklearn.svm.SVC"]]},
            "expected steps = .*found steps = .*SVC",
        ),
        (
            PIPELINE,
            {"steps": [["svc", "sklearn.svm.SVC", {"C": 0}]]},
            "sklearn.svm.SVC: The 'C' parameter",
        ),
        (
            PIPELINE,
            {"steps": STEPS[::-1]},
            "All intermediate steps should be transformers",
        ),
        (
            PIPELINE,
            {"steps": STEPS[:1]},
            "expected a classifier, found sklearn.pipeline.Pipeline",
        ),
    ],
)
def test_wrong_names_and_parameters(name, options, message):
    with pytest.raises(ValueError, match=message):
        check_estimator(name, options)


class Plugin(ClassifierMixin, BaseEstimator):
    def fit(self, X, y, sample_weight):
        self.classes_, self.means_ = (
            np.unique(y),
            np.array([X[y == label].mean(axis=0) for label in np.unique(y)]),
        )
        return self

    def predict_proba(self, X):
        return (self.means_ @ X.T).T.argmax(axis=1)[:, None] == self.classes_


def test_entry_points(monkeypatch):
    class Point:
        def load(self):
            return Plugin

    class Leaving:
        def load(self):
            raise SystemExit

    monkeypatch.setattr(
        estimators,
        "entry_points",
        lambda group, name: [Point()] if name == "plugin" else [Leaving()],
    )
    with pytest.raises(ValueError, match=r"an entry point of .*, found 'leaving'"):
        check_estimator("leaving", {})
    check_estimator("plugin", {})
    rows, labels = make_data()
    fitted = fit("plugin", rows, labels, options={})
    assert (score(fitted, rows).argmax(axis=1) == labels).all()
    with pytest.raises(
        LeafidError,
        match=r"Plugin can't be stored: expected only types of scikit-learn.*Plugin",
    ):
        estimator_bytes.dump(fitted)


@pytest.mark.parametrize("name", ALL)
def test_bytes_hold_all_of_an_estimator(name):
    rows, labels = make_data()
    fitted = fit(name, rows, labels)
    again = estimator_bytes.load(estimator_bytes.dump(fitted))
    np.testing.assert_array_equal(score(again, rows), score(fitted, rows))


def edit(data, change):
    """Make other bytes, with another schema, a string."""
    output = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as archive,
        zipfile.ZipFile(output, "w") as edited,
    ):
        for name in archive.namelist():
            content = archive.read(name)
            if name == "schema.json":
                content = change(content.decode())
            edited.writestr(name, content)
    return output.getvalue()


def run(module, function, *arguments):
    """Make the schema of an object that calls a function when it is loaded."""
    return json.dumps(
        {
            "__class__": function,
            "__module__": module,
            "__loader__": "ConstructorFromReduceNode",
            "content": {
                "__class__": "tuple",
                "__module__": "builtins",
                "__loader__": "TupleNode",
                "content": [
                    {
                        "__class__": "str",
                        "__module__": "builtins",
                        "__loader__": "JsonNode",
                        "content": json.dumps(a),
                    }
                    for a in arguments
                ],
            },
            "protocol": 2,
            "_skops_version": "0.16.0",
        }
    )


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("os", "mkdir"),
        ("sklearn.datasets._base", "Path.mkdir"),
        ("sklearn.utils._openmp_helpers", "os.mkdir"),
    ],
)
def test_nothing_is_executed(module, function, tmp_path):
    folder = tmp_path / "made"
    data = estimator_bytes.dump(fit("sklearn.svm.SVC", *make_data()))
    with pytest.raises(ValueError, match=f"found {module}.{function}"):
        estimator_bytes.load(edit(data, lambda _: run(module, function, str(folder))))
    assert not folder.exists()


def test_a_module_that_is_named_is_not_imported(tmp_path, monkeypatch):
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'made')!r}, 'w')")
    monkeypatch.syspath_prepend(tmp_path)
    data = estimator_bytes.dump(
        fit("sklearn.ensemble.HistGradientBoostingClassifier", *make_data())
    )
    changed = edit(
        data,
        lambda schema: re.sub(
            r'"__module__": "(sklearn|_loss)[^"]*"', '"__module__": "evil"', schema
        ),
    )
    with pytest.raises(ValueError, match=r"found evil\."):
        estimator_bytes.load(changed)
    assert not (tmp_path / "made").exists()


def test_what_is_no_classifier_is_refused():
    data = estimator_bytes.dump(
        fit("sklearn.linear_model.LogisticRegression", *make_data())
    )
    for wrong in (
        b"",
        b"PK",
        data[:-30],
        data[:200],
        edit(data, lambda _: "[" * 10**5),
        edit(data, lambda _: "{}"),
    ):
        with pytest.raises(
            ValueError, match="expected a classifier as skops stores it"
        ):
            estimator_bytes.load(wrong)
    with pytest.raises(ValueError, match="expected a classifier, found dict"):
        estimator_bytes.load(skops.io.dumps({"a": 1}))


def test_another_version_of_scikit_learn_is_said(caplog):
    data = estimator_bytes.dump(LogisticRegression().fit(*make_data()))
    estimator_bytes.load(
        edit(data, lambda schema: schema.replace(sklearn.__version__, "1.0.2"))
    )
    assert "may answer differently" in caplog.text
    assert "1.0.2" in caplog.text


def test_what_can_not_score_is_one_error():
    """A single row of each class leaves `NearestCentroid` nothing to divide by."""
    rows = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
    fitted = fit_estimator(
        make_estimator("sklearn.neighbors.NearestCentroid", {}),
        rows,
        np.arange(3),
        np.ones(3),
    )
    with pytest.raises(LeafidError, match="NearestCentroid gives "):
        score(fitted, rows)
