"""Experiments: the grid, the recipes, and the table."""

import json
from pathlib import Path

import numpy as np
import pytest

from leafid.features.recipe import load_recipe
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.scoring.experiment import GridCell, list_experiments, make_experiment_table, read_experiment
from leafid.scoring.resampling import Bootstrap, randomisation_test

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
        return cli("experiment", tmp_path / "mine.toml", drawn, "--cache", drawn_cache, "--jobs", 1, *words)

    return run


def test_an_experiment_gives_one_table(experiment, tmp_path):
    result = experiment("--format", "json", "--output", tmp_path / "out")
    assert result.status == 0, result.err
    (table,) = json.loads(result.out)
    assert table["title"] == "Experiment: collection, scan-like"
    assert "scores: means over 2 seeds; low" in table["notes"][0]
    assert [(row["protocol"], row["recipe"]) for row in table["rows"]] == [
        (f"3 folds, {setting}", recipe) for setting in ("1 plant", "2 plants") for recipe in ("all", "shape")
    ]
    for row in table["rows"]:
        assert row["pictures"] == 9
        assert 0 <= row["top-1 low"] <= row["top-1"] <= row["top-1 high"] <= 1
        assert (row["difference"] is None) == (row["p (Holm)"] is None) == (row["recipe"] == "all")
    assert "\\toprule" in (tmp_path / "out" / "mine.tex").read_text()
    assert (tmp_path / "out" / "mine.csv").read_text().count("\n") == 5


@pytest.mark.parametrize("name", list_experiments())
def test_shipped_experiments_make_their_recipes(name):
    experiment = read_experiment(name)
    for type_ in experiment.types or AcquisitionType:
        assert experiment.make_recipes(type_)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('only = ["shape"]', 'only = ["colour"]', "expected experts points, shape of type scan-like, found colour"),
        ("folds = 3", "fold = 3", "unknown key 'fold'"),
        ("folds = 3", "folds = 1", "folds: expected a whole number"),
        ('name = "shape"', 'name = "all"', "recipes: expected names that differ, found 'all' twice"),
        ('name = "shape"', 'vary = "parts"', "recipes[1].vary: expected"),
        ('only = ["shape"]', 'keys = { jittered = "x" }', "jittered: expected a whole number"),
    ],
)
def test_broken_experiments_give_one_line(experiment, old, new, message):
    assert old in EXPERIMENT
    result = experiment(text=EXPERIMENT.replace(old, new))
    assert (result.status, result.err.count("\n"), result.out) == (1, 1, ""), result.err
    assert message in result.err


def test_differences_are_tested_by_plant():
    rng = np.random.default_rng(0)
    plants = [f"p{n // 3}" for n in range(60)]
    ranks = {name: rng.integers(0, 3, 60) for name in ("base", "b", "c")}
    pictures = {Path(f"{n:02}"): Picture(Path(f"{n:02}"), plant=plant) for n, plant in enumerate(plants)}
    cells = [
        GridCell(
            "x", "scan", "folds", name, pictures, dict(zip(((0, file) for file in pictures), of_recipe, strict=True))
        )
        for name, of_recipe in ranks.items()
    ]
    table = make_experiment_table(cells, Bootstrap(200))
    assert (table.title, table.columns[:2]) == ("Experiment: x, scan, folds", ["recipe", "pictures"])
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    # A species that only some recipes know is an error of the others.
    is_known = sum(ranks.values()) > 0
    p = []
    for name in ("b", "c"):
        difference = (ranks[name] == 1) * 1.0 - (ranks["base"] == 1)
        difference = difference[is_known]
        assert rows[name]["difference"] == pytest.approx(difference.mean())
        assert (rows[name]["pictures"], rows[name]["left out"]) == (is_known.sum(), 60 - is_known.sum())
        known_plants = [plant for plant, known in zip(plants, is_known, strict=True) if known]
        p.append(randomisation_test(difference / len(difference), known_plants))
    # Holm's correction of two.
    low, high = sorted(p)
    expected = {low: min(2 * low, 1), high: max(min(2 * low, 1), high)}
    assert [rows[name]["p (Holm)"] for name in ("b", "c")] == pytest.approx([expected[value] for value in p])


def test_each_expert_is_alone_and_left_out(tmp_path):
    file = tmp_path / "parts.toml"
    file.write_text('recipes = ["default", { vary = "experts" }]')
    recipes = read_experiment(str(file)).make_recipes(AcquisitionType.SCAN)
    experts = load_recipe("default", AcquisitionType.SCAN).experts
    assert [*recipes] == ["default", *(f"{word} {name}" for word in ("only", "without") for name in experts)]
    assert [*recipes["only edges"].experts] == ["edges"]
    assert recipes["without edges"].experts.keys() == experts.keys() - {"edges"}
