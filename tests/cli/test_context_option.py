import json

import pytest

from leafid.learning.context import Bandwidths, Context
from leafid.model.modelfile import read_model, write_model
from leafid.pictures.picture import AcquisitionType


def weighed(model_file, weight, file):
    """Write a copy of the model with a context weight above 0, which so few places would not give it."""
    model = read_model(model_file)
    for type_, context in model.contexts.items():
        model.contexts[type_] = Context(context.sightings, Bandwidths(50.0, 40.0), 1.0, weight, context.n_species)
    write_model(model, file)
    return file


@pytest.fixture(scope="module")
def informed_model(drawn_model, tmp_path_factory):
    return weighed(drawn_model, 1.0, tmp_path_factory.mktemp("informed") / "informed.leafid")


@pytest.fixture
def predict(cli, drawn_cache):
    def run(model, *words):
        return cli("predict", *words, "--model", model, "--cache", drawn_cache, "--jobs", 1)

    return run


def test_context_is_used_only_with_the_option(predict, informed_model, drawn_model, drawn, tmp_path):
    runs = {}
    for name, words in {"looks": [], "context": ["--context"]}.items():
        found = predict(informed_model, drawn, "--output", tmp_path / name, *words)
        assert found.status == 0, found.err
        runs[name] = (tmp_path / name).read_text()
    assert runs["looks"] != runs["context"]
    assert len(runs["looks"].splitlines()) == len(runs["context"].splitlines()) == 27
    assert found.err.splitlines() == [
        "context: place or day is known for 9 of 9 pictures; the others are identified without",
        "context: scan: weight 1, 50 km, 40 days",
        "context: scan-like: weight 1, 50 km, 40 days",
        "context: photo: weight 1, 50 km, 40 days",
        f"{tmp_path / 'context'}: 27 predictions for 9 pictures",
    ]
    predict(drawn_model, drawn, "--output", tmp_path / "plain")
    assert (tmp_path / "plain").read_text() == runs["looks"]


def test_a_weight_of_0_changes_nothing(predict, drawn_model, drawn, tmp_path):
    model = weighed(drawn_model, 0.0, tmp_path / "zero.leafid")
    found = predict(model, drawn, "--output", tmp_path / "context", "--context")
    assert found.status == 0, found.err
    assert "context: scan: weight 0 (it does not help at other places)" in found.err
    predict(model, drawn, "--output", tmp_path / "looks")
    assert (tmp_path / "context").read_bytes() == (tmp_path / "looks").read_bytes()


def test_pictures_without_metadata_are_identified_without_context(predict, informed_model, loose):
    found = predict(informed_model, loose, "--context")
    assert found.status == 0
    assert found.err.startswith(
        "context: place or day is known for 0 of 3 pictures; the others are identified without\n"
    )
    assert found.out == predict(informed_model, loose).out


@pytest.mark.parametrize("words", [["--set", "average-2"], ["--set", "coverage-0.9"], ["--back-off"]])
def test_thresholds_learned_without_context_are_refused(predict, informed_model, loose, words):
    found = predict(informed_model, loose, "--context", *words)
    assert found.status == 2
    assert "expected --context without --back-off and with top-K sets only" in found.err
    assert found.out == ""


def test_top_sets_are_allowed_with_context(predict, informed_model, drawn, tmp_path):
    assert predict(informed_model, drawn, "--context", "--set", "top-1", "--output", tmp_path / "run").status == 0
    assert len((tmp_path / "run").read_text().splitlines()) == 9


@pytest.fixture
def crossval(cli, small_recipe, drawn, drawn_cache):
    def run(*words):
        always = (
            "--recipe",
            small_recipe,
            "--cache",
            drawn_cache,
            "--jobs",
            1,
            "--only-type",
            "scan-like",
            "--repeats",
            1,
        )
        return cli("crossval", drawn, *always, *words)

    return run


@pytest.mark.slow
@pytest.mark.parametrize("folds", [[], ["--by", "place"]])
def test_cross_validation_scores_answers_with_and_without_context(crossval, folds):
    found = crossval("--folds", 2, "--context", *folds)
    assert found.status == 0, found.err
    _, looks, both = found.out.splitlines()
    assert looks.startswith("scan-like            ")
    assert both.startswith("scan-like + context  ")
    notes = found.err.splitlines()
    assert [note.split(";")[0] for note in notes] == [f"seed 0, fold {fold}: scan-like done" for fold in (1, 2)]
    assert all("; context: weight " in note for note in notes)
    (plain,) = json.loads(crossval("--folds", 2, "--format", "json", *folds).out)
    (scores,) = json.loads(crossval("--folds", 2, "--context", "--format", "json", *folds).out)
    assert [row["type"] for row in scores["rows"]] == ["scan-like", "scan-like + context"]
    assert plain["rows"] == scores["rows"][:1]


def test_too_few_places(crossval):
    found = crossval("--folds", 9, "--by", "place")
    assert found.status == 1
    assert "expected at least 9 places, 5 km apart, for 9 folds" in found.err
    assert found.out == ""


def test_types_of_context(informed_model):
    assert set(read_model(informed_model).contexts) == set(AcquisitionType)
