"""Experiments: the grid, the recipes, and the table."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from leafid.features.recipe import load_recipe
from leafid.model.held_out import HeldOutAnswers
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.pictures.reading import read_collection
from leafid.scoring.metrics import find_metrics
from leafid.scoring.score_table import ScoreOptions
from leafid.studies.cross_validation import FoldAnswers
from leafid.studies.experiment import make_experiment_tables
from leafid.studies.plan import list_experiments, read_experiment

EXPERIMENT = """
seeds = [0, 1]
folds = 3
types = ["scan-like"]
recipes = [
    { name = "all", base = "RECIPE" },
    { name = "shape", base = "RECIPE", only = ["shape"] },
]
protocols = [{ name = "3 folds", shots = [1, 2], shots_of = "plants" }]
"""


@pytest.fixture
def experiment(cli, tmp_path, drawn, small_recipe, drawn_cache):
    def run(*words, text=EXPERIMENT):
        (tmp_path / "mine.toml").write_text(text.replace("RECIPE", str(small_recipe)))
        return cli(
            "experiment",
            tmp_path / "mine.toml",
            drawn,
            "--cache",
            drawn_cache,
            "--jobs",
            1,
            *words,
        )

    return run


def test_an_experiment_gives_one_table(experiment, tmp_path):
    result = experiment("--format", "json", "--output", tmp_path / "out")
    assert result.status == 0, result.err
    table, differences = result.json
    assert table["title"] == "Experiment: collection, scan-like"
    assert table["notes"][-2:] == [
        "means over 2 seeds; left out: no training picture of the species",
        "intervals and tests are of these trained models on these folds",
    ]
    assert [(row["protocol"], row["run"]) for row in table["rows"]] == [
        (f"3 folds, {setting}", recipe)
        for setting in ("1 plant", "2 plants")
        for recipe in ("all", "shape")
    ]
    for row in table["rows"]:
        assert row["pictures"] == 9
        assert 0 <= row["top-1 low"] <= row["top-1"] <= row["top-1 high"] <= 1
    assert [(row["run A"], row["run B"]) for row in differences["rows"]] == [
        ("all", "shape")
    ] * 6
    assert "\\toprule" in (tmp_path / "out" / "mine.tex").read_text()
    assert (tmp_path / "out" / "mine.csv").read_text().count("\n") == 5
    assert (tmp_path / "out" / "mine-differences.csv").read_text().count("\n") == 7


COLLECTIONS = """
seeds = [0, 1]
folds = 2
types = ["scan", "scan-like"]
recipes = ["RECIPE", { name = "shape", base = "RECIPE", keys = { jittered = 0 } }]
protocols = [
    { name = "plants" },
    { name = "collections", kind = "leave-one-out", by = "collection" },
]
"""


def test_several_collections(
    cli, drawn, light_recipe, drawn_cache, tmp_path, monkeypatch
):
    """The last ones are as the first, but one of them has half of its pictures."""
    for name in ("second", "third"):
        shutil.copytree(drawn / "Train", tmp_path / name)
    for file in sorted((tmp_path / "third").glob("*.xml"))[::2]:
        file.unlink()
    plan = tmp_path / "plan.toml"
    plan.write_text(COLLECTIONS.replace("RECIPE", str(light_recipe)))
    words = ["experiment", plan, drawn, tmp_path / "second", tmp_path / "third"]
    words += ["--cache", drawn_cache, "--jobs", 1, "--format", "json"]
    words += ["--metrics", "top-1,ece", "--resamples", 10]
    result = cli(*words, "--output", tmp_path / "out")
    assert result.status == 0, result.err
    titles = [table["title"] for table in result.json]
    assert titles == [
        "Experiment",
        "Differences",
        "Scores by collection",
        "Tests of the mean ranks A and B over collections",
    ]
    scores, _, by_collection, ranks = [table["rows"] for table in result.json]
    names = ["collection", "second", "third"]
    # Each collection with folds of its own, and with a model of the others.
    assert {row["collection, type, protocol"] for row in scores} == {
        f"{name}, {type_}, {protocol}"
        for name in names
        for type_ in ("scan", "scan-like")
        for protocol in ("plants", "collections")
    }
    for row in by_collection:
        for name in names:
            of_types = []
            for score in scores:
                collection, _, protocol = score["collection, type, protocol"].split(
                    ", "
                )
                keys = (collection, protocol, score["run"])
                if keys == (name, row["protocol"], row["run"]):
                    of_types.append(score[row["metric"]])
            assert len(of_types) == 2
            assert row[name] == pytest.approx(sum(of_types) / 2)
    # Pictures of the second are copies of those that its model learned from.
    pictures = [
        (row["pictures"], row["left out"])
        for row in scores
        if row["collection, type, protocol"] == "second, scan, collections"
    ]
    assert pictures == [(9, 0), (9, 0)]
    assert {row["test"] for row in ranks} == {"Wilcoxon", "Nemenyi"}
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert files == {
        *(
            f"plan{name}.{end}"
            for name in ("", "-differences", "-collections", "-ranks")
            for end in ("csv", "tex")
        ),
        *(
            f"plan-ranks-{protocol}-{metric}.svg"
            for protocol in ("plants", "collections")
            for metric in ("top-1", "ece")
        ),
    }
    monkeypatch.setattr("leafid.studies.ranks.find_spec", lambda name: None)
    result = cli(*words)
    assert len(result.json) == 2
    assert (
        "scikit-posthocs isn't installed; pip install 'leafid[compare]'" in result.err
    )
    alone = cli(*words[:3], *words[5:])
    assert (alone.status, alone.out) == (1, "")
    assert "expected at least 2 collections" in alone.err


def test_runs_of_another_system_on_the_same_folds(
    experiment, cli, drawn, small_recipe, drawn_cache, tmp_path
):
    words = (
        "--only-type",
        "scan-like",
        "--folds",
        2,
        "--repeats",
        2,
        "--cache",
        drawn_cache,
        "--jobs",
        1,
    )
    assert (
        cli(
            "crossval",
            drawn,
            "--recipe",
            small_recipe,
            *words,
            "--output",
            tmp_path / "runs",
        ).status
        == 0
    )
    text = EXPERIMENT.split("protocols")[0].replace(
        "folds = 3", 'folds = "runs/folds.csv"'
    )
    text += 'runs = [{ name = "HOG", files = ["runs/seed-0.txt", "runs/seed-1.txt"] }]'
    # A system may answer the pictures of all types.
    pictures = read_collection(drawn / "Train").pictures
    scan = next(picture for picture in pictures if picture.type == "scan")
    with (tmp_path / "runs" / "seed-0.txt").open("a") as run:
        run.write(f"{scan.name} {scan.species} 1 1\n")
    result = experiment("--format", "json", text=text)
    assert result.status == 0, result.err
    table, differences = result.json
    rows = {row["run"]: row for row in table["rows"]}
    assert [*rows] == ["all", "shape", "HOG"]
    # The runs are those of the recipe "all".
    assert [rows["HOG"][name] for name in ("pictures", "S", "S low", "top-1")] == [
        rows["all"][name] for name in ("pictures", "S", "S low", "top-1")
    ]
    assert {row["run B"]: row["p"] for row in differences["rows"]}["HOG"] == 1
    result = experiment(text=text.replace(', "runs/seed-1.txt"', ""))
    assert (result.status, result.out) == (1, "")
    assert (
        "runs: expected 2 files, one for each repeat of the folds, found 1 of HOG"
        in result.err
    )
    assert "fold" not in result.err.replace("of the folds", "")  # before any training
    result = experiment(text=text.replace('name = "HOG"', 'name = "shape"'))
    assert (result.status, result.out) == (1, "")
    assert (
        "runs: expected names that differ, also from the recipes', found 'shape'"
        in result.err
    )
    # Half of the pictures, by other names of the file.
    half = (tmp_path / "runs" / "seed-0.txt").read_text().splitlines()[:9]
    rows = [
        f"here/{line.split()[0]};{' '.join(line.split()[1:-2])};{line.split()[-1]}"
        for line in half
    ]
    (tmp_path / "runs" / "seed-0.txt").write_text(
        "\n".join(["picture;species;score", *rows])
    )
    result = experiment(text=text)
    assert result.status == 0, result.err
    assert "seed-0.txt: 6 of 9 pictures are missing and count 0" in result.err
    result = experiment(text=text.replace('"runs/folds.csv"', "3"))
    assert (result.status, result.out) == (1, "")
    assert "expected a file as 'folds' and no 'protocols' with 'runs'" in result.err


@pytest.mark.parametrize("name", list_experiments())
def test_shipped_experiments_make_their_recipes(name):
    experiment = read_experiment(name)
    for type_ in experiment.types or AcquisitionType:
        assert experiment.make_recipes(type_)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'only = ["shape"]',
            'only = ["colour"]',
            "expected experts points, shape of type scan-like, found colour",
        ),
        ("folds = 3", "fold = 3", "key: expected folds, protocols, "),
        ("folds = 3", "folds = 1", "folds: expected a whole number"),
        (
            'name = "shape"',
            'name = "all"',
            "recipes: expected names that differ, found 'all' twice",
        ),
        ('name = "shape"', 'vary = "parts"', "recipes[1].vary: expected"),
        (
            'only = ["shape"]',
            'keys = { jittered = "x" }',
            "jittered: expected a whole number",
        ),
    ],
)
def test_broken_experiments_give_one_line(experiment, old, new, message):
    assert old in EXPERIMENT
    result = experiment(text=EXPERIMENT.replace(old, new))
    assert (result.status, result.err.count("\n"), result.out) == (1, 1, ""), result.err
    assert message in result.err


def test_what_no_recipe_knows_is_left_out():
    """A species that only some recipes know is an error of the others."""
    species = ("Acer opalus", "Quercus ilex", "Ulmus minor")
    pictures = [
        Picture(Path(f"{name}.jpg"), taxon=Taxon(name), plant=name) for name in species
    ]

    def answer(probabilities, is_known):
        held_out = HeldOutAnswers(
            pictures, np.array(probabilities), species[:2], np.array(is_known)
        )
        return FoldAnswers(AcquisitionType.SCAN, 0, 0, held_out)

    right = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    cells = {
        ("x", "scan", "folds", "a"): [answer(right, [True, True, False])],
        ("x", "scan", "folds", "b"): [answer([[1.0, 0.0]] * 3, [True, False, False])],
    }
    tables, _ = make_experiment_tables(cells, ScoreOptions(find_metrics(["top-1"])))
    table, differences = tables.values()
    assert table.title == "Experiment: x, folds"
    rows = {row["run"]: row for row in table.to_records()}
    assert [
        (row["pictures"], row["left out"], row["top-1"]) for row in rows.values()
    ] == [(2, 1, 1), (2, 1, 0.5)]
    assert [row["A - B"] for row in differences.to_records()] == [0.5]


def test_each_expert_is_alone_and_left_out(tmp_path):
    file = tmp_path / "parts.toml"
    file.write_text('recipes = ["default", { vary = "experts" }]')
    recipes = read_experiment(str(file)).make_recipes(AcquisitionType.SCAN)
    experts = load_recipe("default", AcquisitionType.SCAN).experts
    assert [*recipes] == [
        "default",
        *(f"{word} {name}" for word in ("only", "without") for name in experts),
    ]
    assert [*recipes["only edges"].experts] == ["edges"]
    assert recipes["without edges"].experts.keys() == experts.keys() - {"edges"}
