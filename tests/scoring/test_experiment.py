"""Experiments: the grid, the recipes, and the table."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from msgspec import to_builtins

from leafid.descriptors.registry import FAMILIES
from leafid.features.recipe_reader import load_recipe, parse_recipe
from leafid.pages.experiment_page import make_experiment_page
from leafid.pictures import AcquisitionType
from leafid.scoring.crossvalidation import make_experiment_table, summarise_experiment
from leafid.scoring.experiment import Cell, list_experiments, read_experiment, vary_recipe
from leafid.scoring.resampling import Bootstrap, randomisation_test

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


def test_an_experiment_gives_one_table(experiment, tmp_path):
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
    page = (tmp_path / "cells" / "report.html").read_text(encoding="utf-8")
    assert page.count('<svg class="plot"') == 1
    assert "collection, scan-like, 3 folds: top-1 over training plants of each species, of all, shape" in page
    assert "\\toprule" in experiment("--format", "latex").out
    more = experiment("--repeats", 3)
    assert "scores: means over 3 seeds; low" in more.out


@pytest.mark.parametrize("name", list_experiments())
def test_shipped_experiments_make_their_recipes(name):
    experiment = read_experiment(name)
    for type_ in experiment.types or AcquisitionType:
        assert experiment.make_recipes(type_)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('baseline = "all"', 'baseline = "none"', "baseline: expected a recipe or protocol"),
        ('only = ["shape"]', 'only = ["colour"]', "expected experts points, shape of type scan-like, found colour"),
        ("folds = 3", "fold = 3", "unknown key 'fold'; did you mean 'folds'?"),
        ("folds = 3", "folds = 1", "folds: expected a whole number"),
        ("seeds = [0, 1]", 'seeds = ["x"]', "seeds[0]: expected a whole number"),
        ("seeds = [0, 1]", "seeds = [", "expected TOML"),
        ('types = ["scan-like"]', 'types = ["herbarium"]', "types[0]: expected one of scan, scan-like, photo"),
        ('name = "3 folds"', 'name = "3 folds", kind = "x"', "protocols[0].kind: expected one of folds, leave-one-out"),
        ("shots = [1, 2]", "shots = [0]", "protocols[0].shots[0]: expected a whole number"),
        ('name = "shape", ', "", "recipes[1]: expected a name or 'vary', found neither"),
        ('name = "shape"', 'name = "all"', "recipes: expected names that differ, found 'all' twice"),
        ('name = "shape"', 'vary = "experts"', "recipes[1].vary: expected"),
        ('only = ["shape"]', 'keys = { jittered = "x" }', "jittered: expected a whole number"),
    ],
)
def test_broken_experiments_give_one_line(experiment, old, new, message):
    assert old in EXPERIMENT
    found = experiment(text=EXPERIMENT.replace(old, new))
    assert (found.status, found.err.count("\n"), found.out) == (1, 1, ""), found.err
    assert message in found.err


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
    rows = {row.recipe: row for row in summarise_experiment(cells, "base", Bootstrap(200))}
    # A species that only some recipes know is an error of the others.
    is_known = sum(ranks.values()) > 0
    p = []
    for name in ("b", "c"):
        difference = (ranks[name] == 1) * 1.0 - (ranks["base"] == 1)
        difference = difference[is_known]
        assert rows[name].difference == pytest.approx(difference.mean())
        assert (rows[name].pictures, rows[name].left_out) == (is_known.sum(), 60 - is_known.sum())
        known_plants = [plant for plant, known in zip(plants, is_known, strict=True) if known]
        p.append(randomisation_test(difference / len(difference), known_plants))
    # Holm's correction of two.
    low, high = sorted(p)
    expected = {low: min(2 * low, 1), high: max(min(2 * low, 1), high)}
    assert [rows[name].p for name in ("b", "c")] == pytest.approx([expected[value] for value in p])


def test_protocols_are_compared_on_pictures_that_all_know(tmp_path):
    ranks = {"plants": [1, 1, 2, 0], "authors": [2, 1, 0, 1]}
    cells = [
        Cell("x", "scan", "default", name, 0, {"": [(str(n), f"p{n}", "", rank) for n, rank in enumerate(own)]})
        for name, own in ranks.items()
    ]
    plants, authors = summarise_experiment(cells, "plants", Bootstrap(200))
    # Plots of two types are of the same shape.
    likes = [replace(plants, type="scan-like"), replace(authors, type="scan-like")]
    assert (plants.top1, authors.top1, authors.difference) == (1.0, 0.5, -0.5)
    assert (plants.pictures, plants.left_out, plants.p, authors.p) == (2, 2, None, 1.0)
    table = make_experiment_table([plants, authors], "plants", Bootstrap(200), is_complete=False)
    assert (table.title, table.columns[:2]) == ("Experiment: x, scan, default", ["protocol", "pictures"])
    file = tmp_path / "page.html"
    file.write_text(
        make_experiment_page("held-apart", "What is learned", [plants, authors, *likes], table), encoding="utf-8"
    )
    page = file.read_text(encoding="utf-8")
    assert '<svg class="plot" role="img" aria-label="x, scan: top-1 of plants, authors"' in page
    assert "<td>authors</td>" in page
    ids = re.findall(' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_parts_are_chosen_by_patterns(tmp_path):
    file = tmp_path / "parts.toml"
    file.write_text('recipes = ["default", { vary = "parts", matching = ["only shape", "without *"] }]')
    names = list(read_experiment(str(file)).make_recipes(AcquisitionType.SCAN))
    assert names[:2] == ["default", "only shape"]
    assert {"without edges", "without teeth"} <= set(names)
    assert all(name.startswith("without ") for name in names[2:])


@pytest.mark.parametrize("type_", list(AcquisitionType))
@pytest.mark.parametrize("name", ["default", "fast", "baseline-bow"])
def test_every_row_is_of_another_recipe_that_a_recipe_file_may_hold(name, type_):
    base = load_recipe(name, type_)
    rows = list(vary_recipe(base))
    assert len({what for what, _ in rows}) == len(rows)
    for what, recipe in rows:
        assert recipe != base, what
        assert parse_recipe(to_builtins(recipe), what) == recipe


def test_every_family_is_taken_away_or_added():
    rows = [what for what, _ in vary_recipe(load_recipe("default", AcquisitionType.SCAN))]
    assert all((f"with {family}" in rows) != (f"without {family}" in rows) for family in FAMILIES)
