"""Experiments: the grid, its cells on disk, and the table."""

import json

import numpy as np
import pytest

from leafid.collection import AcquisitionType
from leafid.descriptors.registry import FAMILIES
from leafid.errors import LeafidError
from leafid.evaluation.experiment import Cell, list_experiments, read_experiment
from leafid.evaluation.resampling import Bootstrap, randomisation_test
from leafid.report.experiment import make_experiment_table

EXPERIMENT = """
baseline = "all"
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
        options = ("--output", tmp_path / "cells", "--cache", drawn_cache, "--jobs", 1)
        return cli("experiment", tmp_path / "mine.toml", drawn, *options, *words)

    return run


def test_an_experiment_is_resumed_and_gives_one_table(experiment, tmp_path):
    found = experiment("--format", "json")
    assert found.status == 0, found.err
    (table,) = json.loads(found.out)
    assert [(row["protocol"], row["recipe"]) for row in table["rows"]] == [
        (f"3 folds, {setting}", recipe) for setting in ("1 plant", "2 plants") for recipe in ("all", "shape")
    ]
    for row in table["rows"]:
        assert row["pictures"] == 9
        assert 0 <= row["top-1 low"] <= row["top-1"] <= row["top-1 high"] <= 1
        assert (row["difference"] is None) == (row["p (Holm)"] is None) == (row["recipe"] == "all")
        assert row["ms a picture"] > 0
    assert len(list((tmp_path / "cells").iterdir())) == 4
    # Nothing is computed again, and the table is the same.
    again = experiment("--format", "json")
    assert (again.out, ": 3 folds" in again.err) == (found.out, False)
    assert "\\toprule" in experiment("--format", "latex").out
    more = experiment("--repeats", 3)
    assert more.err.count("seed 2") == 2
    assert "means over 3 seeds" in more.out


@pytest.mark.parametrize("name", list_experiments())
def test_shipped_experiments_make_their_recipes(name):
    experiment = read_experiment(name)
    for type_ in experiment.types or AcquisitionType:
        assert experiment.baseline in experiment.make_recipes(type_)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('baseline = "all"', 'baseline = "none"', "baseline: expected a recipe of the experiment, found 'none'"),
        ("folds = 3", "fold = 3", "expected keys baseline, collections, folds"),
        ('only = ["shape"]', 'only = ["colour"]', "expected experts points, shape of type scan-like, found colour"),
        ('name = "3 folds"', 'name = "3 folds", kind = "bootstrap"', "expected kind folds, leave-one-out, parts"),
        ("seeds = [0, 1]", 'seeds = ["x"]', "expected the values of docs/formats.md"),
        ("seeds = [0, 1]", "seeds = [", "not valid TOML"),
    ],
)
def test_broken_experiments(experiment, old, new, message):
    found = experiment(text=EXPERIMENT.replace(old, new))
    assert (found.status, message in found.err) == (1, True), found.err


def test_differences_are_tested_by_plant():
    rng = np.random.default_rng(0)
    plants = [f"p{n // 3}" for n in range(60)]
    ranks = {name: rng.integers(0, 3, 60) for name in ("base", "b", "c")}
    cells = [
        Cell(
            "x",
            "scan",
            name,
            "folds",
            0,
            {"": [(f"{n:02}", p, "", int(r)) for n, (p, r) in enumerate(zip(plants, own, strict=True))]},
        )
        for name, own in ranks.items()
    ]
    table = make_experiment_table(cells, "base", Bootstrap(200))
    rows = {row[3]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    p = []
    for name in ("b", "c"):
        difference = (ranks[name] == 1) * 1.0 - (ranks["base"] == 1)
        assert rows[name]["difference"] == pytest.approx(difference.mean())
        p.append(randomisation_test(difference / 60, np.zeros(60, int), plants))
    # Holm's correction of two.
    low, high = sorted(p)
    expected = {low: min(2 * low, 1), high: max(min(2 * low, 1), high)}
    assert [rows[name]["p (Holm)"] for name in ("b", "c")] == pytest.approx([expected[value] for value in p])


def test_unknown_experiment():
    with pytest.raises(LeafidError, match="no such experiment; expected a file, or one of ablation"):
        read_experiment("nothing")


def test_parts_are_chosen_by_patterns(tmp_path):
    file = tmp_path / "parts.toml"
    file.write_text('recipes = ["default", { vary = "parts", matching = ["only shape", "without *"] }]')
    names = list(read_experiment(str(file)).make_recipes(AcquisitionType.SCAN))
    assert names[:2] == ["default", "only shape"]
    assert {"without local", "without teeth"} <= set(names)
    assert all(name.startswith("without ") for name in names[2:])


def test_families_are_tried_with_each_classifier(tmp_path):
    file = tmp_path / "families.toml"
    file.write_text('baseline = "hu, lda"\nrecipes = [{ vary = "families", classifiers = ["ridge", "lda"] }]')
    recipes = read_experiment(str(file)).make_recipes(AcquisitionType.PHOTO)
    assert len(recipes) == 2 * len(FAMILIES)
    (expert,) = recipes["hu, lda"].experts.values()
    assert (expert.families, expert.classifier.kind) == (("hu",), "lda")
