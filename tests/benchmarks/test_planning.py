"""The projection to large collections: the documented formulas, by hand."""

from dataclasses import replace

import pytest

from benchmarks.planning import COLLECTIONS, CORES, Costs, plan_table, project_training
from leafid.errors import LeafidError
from leafid.model.bundled import find_bundled_model
from leafid.model.modelfile import read_model
from leafid.pictures import AcquisitionType

SMALL = Costs(
    describe=0.5,
    columns=(1000, 200),
    vector=2_400,
    store_rate=1e6,
    read_rate=2e6,
    passes=1e-6,
    listing=1_000,
    flops=1e9,
    learning_cores=4,
    core_hour=0.1,
    gigabyte_month=1.0,
)


def test_costs_are_of_the_recipe_that_comes_along():
    try:
        photos = read_model(find_bundled_model()).identifiers[AcquisitionType.PHOTO]
    except LeafidError as error:
        pytest.skip(str(error))
    assert Costs().columns == tuple(len(scorer.coefficients) for scorer in photos.scorers.values())
    # With the χ² map a classifier has three columns for a number of the vector; a number is of two bytes in the store.
    numbers = sum(len(scorer.coefficients) // (3 if scorer.map == "chi2" else 1) for scorer in photos.scorers.values())
    assert Costs().vector == pytest.approx(2 * 1.04 * numbers, rel=0.01)


def test_by_hand():
    made = project_training(36_000, 10, 10, SMALL)
    assert made.describe == pytest.approx(0.5)  # 36,000 · 0.5 s / 10 cores
    assert made.write == pytest.approx(86.4 / 3600)  # 86.4 MB at 1 MB/s
    assert made.read == pytest.approx(43.2 / 3600)
    assert made.passes == pytest.approx(43.2 / 3600)  # 36,000 · 1,200 numbers, 1 µs each
    assert made.sums == pytest.approx(36_000 * (1000**2 + 200**2) / 4e9 / 3600)
    assert made.solve == pytest.approx(6 * (1e9 / 3 + 2e7 + 8e6 / 3 + 8e5) / 4e9 / 3600)
    arrays = 8e6 + 16 * 10 * 1000 + 4 * 10 * 1200
    assert made.memory == pytest.approx((36e6 + arrays + 8 * 20_000 * 10 * 4) / 1e9)
    assert made.disk == pytest.approx((2 * 86.4e6 + 40 * (1e6 + 1e4)) / 1e9)
    assert made.model == pytest.approx(24e-6)
    assert made.hours == pytest.approx(0.5 + made.read + made.passes + made.sums + made.solve)
    learning = made.read + made.passes + made.sums + made.solve
    assert made.dollars == pytest.approx(0.1 * (5 + 4 * learning) + made.disk)
    assert made.longest == "describe"


def test_what_breaks_first_changes_with_the_cores():
    assert project_training(36_000, 10, 1, SMALL).longest == "describe"
    assert project_training(36_000, 10, 10_000, SMALL).longest == "write"
    # More cores than one machine has help with describing only.
    assert project_training(36_000, 10, 100, SMALL).sums == project_training(36_000, 10, 4, SMALL).sums


def test_twice_as_many_pictures_take_twice_as_long_but_to_solve():
    once, twice = project_training(50_000, 100, 8, SMALL), project_training(100_000, 100, 8, SMALL)
    for stage in ("describe", "write", "read", "passes", "sums"):
        assert getattr(twice, stage) == pytest.approx(2 * getattr(once, stage))
    assert twice.solve == once.solve
    # Of memory only what is known of each picture grows.
    assert twice.memory - once.memory == pytest.approx(50_000 * 1_000 / 1e9)


def test_prices_are_only_prices():
    dear = replace(SMALL, core_hour=0.2, gigabyte_month=2.0)
    assert project_training(1000, 10, 2, dear).dollars == pytest.approx(
        2 * project_training(1000, 10, 2, SMALL).dollars
    )


def test_the_docs_show_what_the_formulas_give():
    from pathlib import Path

    lines = plan_table().splitlines()
    assert len(lines) == 2 + len(COLLECTIONS) * len(CORES)
    page = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text(encoding="utf-8")
    assert plan_table() in page, "docs/scaling.md: put in what `python -m benchmarks.scaling plan` prints"
