import inspect
import shutil
from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold

import leafid
from leafid.errors import InputError, LeafidError, UsageError
from leafid.scoring.metrics import DEFAULT_METRICS
from tests.drawing.collection import copy_sample
from tests.scoring.golden_files import GOOD, PARTIAL, TRUTH

METRICS = ["S", "mrr"]


@pytest.fixture
def words(light_recipe, drawn_cache):
    return {"recipe": str(light_recipe), "cache": drawn_cache, "only_type": "scan-like"}


@pytest.fixture
def crossval(cli, drawn, light_recipe, drawn_cache):
    """Run the command for the scan-likes of the drawn leaves."""

    def run(*words):
        options = ["--only-type", "scan-like", "--cache", drawn_cache, "--jobs", 1]
        outcome = cli("crossval", drawn, "--recipe", light_recipe, *options, *words)
        assert outcome.status == 0, outcome.err
        return outcome

    return run


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (["--folds", 2, "--repeats", 2], {"folds": 2, "repeats": 2}),
        (["--parts", "--repeats", 1], {"parts": True, "repeats": 1}),
        (
            ["--by", "author", "--folds", 2, "--shots", "2,1", "--repeats", 1],
            {"by": "author", "folds": 2, "shots": [2, 1], "repeats": 1},
        ),
        (
            ["--hold-out", "plant", "--sessions"],
            {"hold_out": "plant", "sessions": True},
        ),
        (
            ["--folds", 2, "--repeats", 1, "--seed", 3, "--resamples", 99],
            {
                "folds": 2,
                "repeats": 1,
                "seed": 3,
                "bootstrap": leafid.Bootstrap(99, 0.95, 3),
            },
        ),
    ],
)
def test_crossval_is_the_command(crossval, drawn, words, options, arguments):
    printed = crossval(*options, "--metrics", ",".join(METRICS), "--format", "csv")
    records = leafid.crossval(
        drawn, metrics=METRICS, intervals="bounds", **arguments, **words
    )
    assert records.render("csv") == printed.out


def test_held_out_answers_folds_and_models(crossval, drawn, words, tmp_path):
    crossval("--folds", 3, "--repeats", 2, "--output", tmp_path / "command")
    study = leafid.crossval(
        drawn, folds=3, repeats=2, output=tmp_path / "python", **words
    )
    for name in ("folds.csv", "seed-0.txt", "seed-1.txt"):
        texts = [
            (tmp_path / folder / name).read_text() for folder in ("command", "python")
        ]
        assert texts[0] == texts[1]
    # The scores are those of the runs, and the answers those of the folds.
    truth = [p for p in study.folds.pictures if p.type == "scan-like"]
    runs = leafid.evaluate(truth, study.runs)
    for name in DEFAULT_METRICS:
        assert study[0][name] == pytest.approx(np.mean([row[name] for row in runs]))
    assert len(study.answers) == len(study.folds) == 6
    for fold, (training, test) in zip(study.answers, study.folds, strict=True):
        pictures = [study.folds.pictures[index] for index in test]
        assert fold.held_out.pictures == [p for p in pictures if p.type == "scan-like"]
        shape = (len(fold.held_out.pictures), len(fold.held_out.species))
        assert fold.held_out.probabilities.shape == shape
        assert not {*training} & {*test}
        assert fold.model is None
    again = leafid.crossval(study.folds.pictures, folds=study.folds, **words)
    assert again == study
    assert leafid.crossval(drawn, folds=tmp_path / "python/folds.csv", **words) == study


def test_the_loop_of_a_study_gives_the_numbers_of_an_experiment(
    drawn, light_recipe, drawn_cache, tmp_path
):
    folds = leafid.make_folds(drawn, 3)
    run = {}
    for train, test in folds:
        model = leafid.train(
            [folds.pictures[index] for index in train],
            light_recipe,
            cache=drawn_cache,
            thumbnails=False,
        )
        for answer in model.identify([folds.pictures[index] for index in test]):
            run[answer.picture.name] = dict(answer.ranking)
    plan = {"recipes": [str(light_recipe)], "seeds": [0], "folds": 3}
    study = leafid.experiment(
        plan, drawn, metrics=["S", "top-1", "mrr"], models=True, cache=drawn_cache
    )
    loop = leafid.evaluate(folds.pictures, {"loop": run}, ["S", "top-1", "mrr"])
    assert [row["type"] for row in study] == ["scan", "scan-like", "photo"]
    for of_study, of_loop in zip(study, loop, strict=False):
        for name in ("S", "top-1", "mrr"):
            assert of_study[name] == pytest.approx(of_loop[name], abs=1e-9)
    # What it hands out has the same numbers, too: runs, answers and models.
    [handed_out] = study.runs.values()
    n_pictures = len(handed_out.pictures)
    assert f"{len(handed_out)} predictions, pictures: {n_pictures}" in repr(handed_out)
    assert leafid.evaluate(folds.pictures, handed_out, ["mrr"])[-1][
        "mrr"
    ] == pytest.approx(loop[-1]["mrr"], abs=1e-9)
    fold = study.answers[0]
    [answer] = fold.model.identify(fold.held_out.pictures[:1])
    scores = dict(
        zip(fold.held_out.species, fold.held_out.probabilities[0], strict=True)
    )
    assert dict(answer.ranking) == pytest.approx(scores, abs=1e-6)
    [of_protocol] = study.folds.values()
    for a, b in zip(of_protocol, folds, strict=True):
        assert [*map(list, a)] == [*map(list, b)]


def test_splits_of_scikit_learn(drawn, training, words, caplog):
    plants = [picture.group for picture in training]
    pairs = [*GroupKFold(3).split(training, groups=plants)]
    study = leafid.crossval(drawn, folds=GroupKFold(3), **words)
    assert study == leafid.crossval(training, folds=pairs, **words)
    assert study == leafid.crossval(training, folds=iter(pairs), **words)
    assert [fold.seed for fold in study.folds] == [0, 0, 0]
    assert "plants in several" not in caplog.text
    # KFold knows no plants, and separates their pictures of different types.
    folds = leafid.make_folds(training, RepeatedKFold(n_splits=3, n_repeats=2))
    assert [(fold.seed, fold.fold) for fold in folds] == [
        (seed, fold) for seed in (0, 1) for fold in range(3)
    ]
    assert "folds: split 1: expected all pictures of a plant in one fold" in caplog.text
    limited = leafid.make_folds(training, pairs, shots=1)
    assert {fold.setting for fold in limited} == {"1 picture"}
    assert all(len(fold.training) == 9 for fold in limited)


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ([], "folds: expected"),
        ([([0], [27])], "split 1: expected an array of indices of the 27 labelled"),
        ([([0, 1], [1])], "split 1: expected an array of indices"),
        ([([0.0], [1.0])], "split 1: expected an array of indices"),
        ([([0], [])], "split 1: expected an array of indices"),
        ([([0], [1], [2])], "folds: expected a whole number from 2, a file, pairs"),
        ([0], "folds: expected a whole number from 2, a file, pairs"),
        (KFold(100), "Cannot have number of splits n_splits=100 greater"),
        (2.5, "folds: expected a whole number from 2, a file, pairs"),
        (None, "folds: expected"),
        (object(), "folds: expected a whole number from 2, a file, pairs"),
    ],
)
def test_wrong_folds(training, words, folds, message):
    for function, more in ((leafid.make_folds, {}), (leafid.crossval, words)):
        with pytest.raises(InputError, match=message):
            function(training, folds=folds, **more)


def test_folds_of_other_pictures(training, words):
    folds = leafid.make_folds(training, 3)
    with pytest.raises(InputError, match="expected the folds of these pictures"):
        leafid.crossval(training[1:], folds=folds, **words)
    unlabelled = [replace(training[0], taxon=None), *training[1:]]
    with pytest.raises(InputError, match="found 26 labels"):
        leafid.crossval(unlabelled, folds=[([0], [1])], **words)


def test_pictures_as_columns(drawn, training, words):
    columns = {
        "file": [str(picture.file) for picture in training],
        "label": [picture.species for picture in training],
        "plant": [picture.plant for picture in training],
        "type": [str(picture.type) for picture in training],
        "author": [picture.author for picture in training],
    }
    study = leafid.crossval(columns, folds=3, repeats=1, **words)
    assert study == leafid.crossval(training, folds=3, repeats=1, **words)
    frame = pytest.importorskip("pandas").DataFrame(columns)
    assert study == leafid.crossval(frame, folds=3, repeats=1, **words)
    [scans] = leafid.experiment(
        {"recipes": [words["recipe"]], "types": ["scan"], "seeds": [0], "folds": 3},
        {
            file: picture.species
            for file, picture in zip(columns["file"], training, strict=True)
        },
        assume_type="scan",
        cache=words["cache"],
    )
    assert scans["pictures"] == 27
    with pytest.raises(InputError, match="columns of one length, found lengths 1, 27"):
        leafid.crossval({**columns, "plant": ["1"]}, **words)


def test_an_open_world(tmp_path, cli, light_recipe, drawn_cache):
    copy_sample(tmp_path / "five", n_species=5)
    words = ["--only-type", "scan-like", "--open-world", "--folds", 2, "--repeats", 1]
    words += ["--recipe", light_recipe, "--cache", drawn_cache, "--jobs", 1]
    tables = cli("crossval", tmp_path / "five", *words, "--format", "json").json
    study = leafid.crossval(
        tmp_path / "five",
        light_recipe,
        folds=2,
        repeats=1,
        only_type="scan-like",
        open_world=True,
        cache=drawn_cache,
    )
    for records, table in ((study, tables[0]), (study.tables["no leaf"], tables[1])):
        for record, row in zip(records, table["rows"], strict=True):
            # JSON has 15 digits.
            assert record == pytest.approx(row)
    assert study.runs == {}


def test_experiment_has_scores_and_differences(
    drawn, small_recipe, drawn_cache, tmp_path
):
    # Beside the plan, as its paths are relative to it.
    shutil.copytree(small_recipe, tmp_path / "own")
    recipes = '["own", { name = "shape", base = "own", only = ["shape"] }]'
    (tmp_path / "mine.toml").write_text(
        f'seeds = [0]\nfolds = 3\ntypes = ["scan-like"]\nrecipes = {recipes}'
    )
    records = leafid.experiment(
        tmp_path / "mine.toml", drawn, metrics=["top-1"], cache=drawn_cache
    )
    assert [record["run"] for record in records] == ["own", "shape"]
    [difference] = records.differences
    assert difference["A - B"] == pytest.approx(
        records[0]["top-1"] - records[1]["top-1"]
    )
    with pytest.raises(InputError, match="collections: expected at least one"):
        leafid.experiment(tmp_path / "mine.toml")
    with pytest.raises(LeafidError, match="found collection twice"):
        leafid.experiment(tmp_path / "mine.toml", drawn, drawn)
    with pytest.raises(UsageError, match="plan: recipes: expected"):
        leafid.experiment({"recipes": 5}, drawn)
    plan = {"recipes": [str(small_recipe)], "seeds": [0], "shared_codebooks": True}
    with pytest.raises(UsageError, match="expected models without shared_codebooks"):
        leafid.experiment(plan, drawn, models=True)
    photos = leafid.read_collection(drawn).select_type("photo")
    with pytest.raises(LeafidError, match="expected pictures of the types, and"):
        leafid.experiment(plan | {"types": ["scan"]}, photos, cache=drawn_cache)


@pytest.mark.parametrize("what", ["crossval", "train", "experiment"])
def test_a_recipe_of_some_types_says_what_is_left_out(
    cli, drawn, light_recipe, drawn_cache, tmp_path, what
):
    sheets = tmp_path / "sheets.toml"
    text = light_recipe.read_text()
    first, experts = text.split("\n", 1)
    assert first.startswith("types")
    sheets.write_text(f'types = ["scan", "scan-like"]\n{experts}')
    (tmp_path / "plan.toml").write_text(
        f'recipes = ["{sheets}"]\nfolds = 2\nseeds = [0]\n'
    )
    words = {
        "crossval": [drawn, "--recipe", sheets, "--folds", 2, "--repeats", 1],
        "train": [drawn, "--recipe", sheets, "--output", tmp_path / "m.leafid"],
        "experiment": [tmp_path / "plan.toml", drawn],
    }[what]
    outcome = cli(what, *words, "--cache", drawn_cache, "--jobs", 1)
    assert outcome.status == 0, outcome.err
    assert (
        f"leafid: warning: recipe {sheets} serves scan, scan-like only: 9 of 27 "
        "pictures are of type photo and are left out\n" in outcome.err
    )
    assert "scan-like" in outcome.out
    assert "photo" not in outcome.out


#: Arguments that are needed to call a function, without work before they are checked.
CALLS = {
    leafid.make_folds: {"collection": TRUTH},
    leafid.crossval: {"collection": TRUTH},
    leafid.experiment: {"plan": "recipes"},
    leafid.evaluate: {"truth": TRUTH, "runs": GOOD},
    leafid.evaluate_hierarchy: {"truth": TRUTH, "runs": GOOD},
    leafid.compare: {"truth": TRUTH, "runs": [GOOD, PARTIAL]},
    leafid.check: {"run": GOOD},
    leafid.convert: {"run": GOOD, "output": "out"},
    leafid.report: {"truth": TRUTH, "runs": GOOD, "output": "out"},
    leafid.train: {"collection": TRUTH},
}


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (function, name)
        for function in CALLS
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is not inspect.Parameter.VAR_POSITIONAL
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_wrong_argument_is_wrong_usage(function, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = CALLS[function] | {name: object()}
    if name == "validation":
        arguments["average"] = 2
    positional = []
    if function is leafid.experiment:
        positional = [arguments.pop("plan"), TRUTH]
    with pytest.raises(UsageError) as error:
        function(*positional, **arguments)
    assert "\n" not in str(error.value)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "arguments",
    [
        {"folds": 1},
        {"repeats": 0},
        {"seed": -1},
        {"shots": [0]},
        {"by": "tree"},
        {"only_type": "bark"},
        {"bootstrap": leafid.Bootstrap(0)},
        {"bootstrap": leafid.Bootstrap(10, 1.5)},
        {"metrics": ["S0"]},
        {"folds": [([0], [1])], "parts": True},
        {"hold_out": "author", "by": "place"},
        {"open_world": True, "sessions": True},
        {"open_world": True, "models": True},
        {"models": True, "shared_codebooks": True},
        {"jobs": 0},
    ],
    ids=str,
)
def test_values_out_of_range_are_wrong_usage(drawn, words, arguments):
    with pytest.raises(UsageError):
        leafid.crossval(drawn, **words | arguments)
