import json

import pytest

from leafid.features.non_leaves import ALL_KINDS, TEST_KINDS
from tests.drawing.collection import copy_sample


@pytest.fixture(scope="module")
def five_species(tmp_path_factory):
    folder = tmp_path_factory.mktemp("five") / "collection"
    copy_sample(folder, n_species=5)
    return folder


@pytest.fixture
def crossval(cli, light_recipe, drawn_cache):
    words = ("--recipe", light_recipe, "--cache", drawn_cache, "--jobs", 1, "--only-type", "scan-like", "--open-world")
    return lambda folder, *more: cli("crossval", folder, *words, "--folds", 2, "--repeats", 1, *more)


def test_tables_of_rejection(crossval, five_species):
    outcome = crossval(five_species, "--format", "json")
    assert outcome.status == 0, outcome.err
    species, kinds = json.loads(outcome.out)
    (row,) = species["rows"]
    # One of five species is held out of each fold, with all of its plants.
    assert (row["type"], row["unknown"]) == ("scan-like", 3)
    for name in ("AUROC", "OSCR", "FPR-95", "unknown rejected", "known rejected"):
        assert 0 <= row[name] <= 1
    assert 0 <= row["unknown ≥ 0.9"] <= 1 - row["unknown rejected"]
    assert row["OSCR"] <= row["AUROC"]
    assert {row["kind"] for row in kinds["rows"]} <= set(ALL_KINDS)
    for row in kinds["rows"]:
        assert row["pictures"] == row["no leaf"] + row["unclear"] + row["unknown"] + row["named"]
        assert row["learned"] == ("no" if row["kind"] in TEST_KINDS else "yes")
