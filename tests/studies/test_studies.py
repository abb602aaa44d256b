import pytest

import leafid
from leafid.errors import InputError


@pytest.fixture
def words(small_recipe, drawn_cache):
    return {"recipe": str(small_recipe), "cache": drawn_cache, "only_type": "scan-like"}


def test_crossval_is_the_command(
    cli, drawn, small_recipe, drawn_cache, words, tmp_path
):
    records = leafid.crossval(
        drawn, folds=3, repeats=1, metrics=["S", "mrr"], intervals="bounds", **words
    )
    options = (
        "--only-type",
        "scan-like",
        "--cache",
        drawn_cache,
        "--jobs",
        1,
        "--format",
        "csv",
    )
    options += (
        "--metrics",
        "S,mrr",
        "--folds",
        3,
        "--repeats",
        1,
        "--output",
        tmp_path,
    )
    assert cli(
        "crossval", drawn, "--recipe", small_recipe, *options
    ).out == records.render("csv")
    again = leafid.crossval(
        drawn,
        folds=tmp_path / "folds.csv",
        metrics=["S", "mrr"],
        intervals="bounds",
        **words,
    )
    assert again == records


def test_experiment_has_scores_and_differences(
    drawn, small_recipe, drawn_cache, tmp_path
):
    recipes = (
        f'["{small_recipe}", {{ name = "shape", base = "{small_recipe}", only = '
        f'["shape"] }}]'
    )
    (tmp_path / "mine.toml").write_text(
        f'seeds = [0]\nfolds = 3\ntypes = ["scan-like"]\nrecipes = {recipes}'
    )
    records = leafid.experiment(
        tmp_path / "mine.toml", drawn, metrics=["top-1"], cache=drawn_cache
    )
    assert [record["run"] for record in records] == [str(small_recipe), "shape"]
    [difference] = records.differences
    assert difference["A - B"] == pytest.approx(
        records[0]["top-1"] - records[1]["top-1"]
    )
    with pytest.raises(InputError, match="collections: expected at least one"):
        leafid.experiment(tmp_path / "mine.toml")


@pytest.mark.parametrize(
    ("name", "value"), [("folds", 1), ("folds", 2.5), ("repeats", 0), ("repeats", "2")]
)
def test_wrong_numbers(drawn, words, name, value):
    with pytest.raises(InputError, match=f"{name}: expected a whole number"):
        leafid.crossval(drawn, **{name: value}, **words)
