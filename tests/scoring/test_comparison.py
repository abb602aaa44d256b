from pathlib import Path

import pytest

from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.scoring.judging import judge_run
from leafid.scoring.metrics import find_metrics
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.truth import make_ground_truth, read_ground_truth
from leafid.scoring.resampling import Bootstrap
from leafid.scoring.score_table import (
    MEAN_OF_TYPES,
    ScoreOptions,
    make_comparison_table,
    make_groups,
    score_by_group,
)
from tests.scoring.golden_files import GOOD, PARTIAL, TRUTH
from tests.scoring.run_files import write_run


@pytest.fixture(scope="module")
def truth():
    return read_ground_truth(TRUTH)


@pytest.fixture(scope="module")
def runs(truth):
    return [judge_run(read_run(file, truth.known), truth) for file in (GOOD, PARTIAL)]


@pytest.fixture
def perfect(truth, tmp_path):
    write_run(
        tmp_path / "best.txt",
        {p: [(s, 1.0)] for p, s in zip(truth.pictures, truth.species, strict=True)},
    )
    return judge_run(read_run(tmp_path / "best.txt", truth.known), truth)


def compare(truth, runs, resamples=10_000):
    options = ScoreOptions(find_metrics(["S"]), bootstrap=Bootstrap(resamples))
    records = make_comparison_table(
        "type", make_groups(truth, [[run] for run in runs]), options
    ).to_records()
    # Where there is a single type, there is no mean of types.
    return [row for row in records if row["type"] == MEAN_OF_TYPES] or records


def test_every_two_runs_are_compared(truth, runs, perfect):
    first, second, third = compare(truth, [perfect, perfect, runs[1]], resamples=999)
    assert (first["A - B"], first["p"]) == (0, 1)
    assert second == third
    assert second["p (Holm)"] == pytest.approx(3 * second["p"])


@pytest.mark.parametrize("is_shared", [True, False])
def test_plants_are_drawn_together_for_the_mean_of_types(tmp_path, is_shared):
    pictures, lines = [], []
    for type_ in AcquisitionType:
        for number in range(10):
            name = f"{type_}{number}.jpg"
            plant = str(number) if is_shared else name
            pictures.append(
                Picture(
                    Path(name),
                    type=type_,
                    taxon=Taxon("Acer opalus"),
                    author="Ann",
                    plant=plant,
                )
            )
            lines.append(
                f"{name} {'Acer opalus' if number < 5 else 'Acer campestre'} 1 1\n"
            )
    truth = make_ground_truth(pictures)
    (tmp_path / "run.txt").write_text("".join(lines))
    run = judge_run(read_run(tmp_path / "run.txt"), truth)
    table = score_by_group(
        truth, [run], ScoreOptions(find_metrics(["S"]), bootstrap=Bootstrap(20_000))
    )
    intervals = {
        row["type"]: (row["S low"], row["S high"]) for row in table.to_records()
    }
    # The mean of 10 draws of 0 or 1 where the types show the same plants, else about that of 30.
    expected = (0.2, 0.8) if is_shared else (1 / 3, 2 / 3)
    assert intervals[MEAN_OF_TYPES] == pytest.approx(expected, abs=0.03)
    assert intervals["scan"] == pytest.approx((0.2, 0.8))


def test_plants_are_swapped_whoever_photographed_them(tmp_path):
    pictures = [
        Picture(
            Path(f"{author}{plant}.jpg"),
            taxon=Taxon("Acer opalus"),
            author=author,
            plant=plant,
        )
        for author in ("Ann", "Bob", "Eve")
        for plant in "1234"
    ]
    truth = make_ground_truth(pictures)
    runs = []
    for name, species in (("a.txt", "Acer opalus"), ("b.txt", "Acer campestre")):
        write_run(
            tmp_path / name, {picture: [(species, 1.0)] for picture in truth.pictures}
        )
        runs.append(judge_run(read_run(tmp_path / name), truth))
    (pair,) = compare(truth, runs, resamples=20_000)
    # 2 of the 16 ways to swap four plants are as extreme.
    assert pair["p"] == pytest.approx(0.125, abs=0.01)
