from pathlib import Path

import pytest

from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.scoring.comparison import make_comparison_table, weigh_pictures
from leafid.scoring.plant_task import MEAN_OF_TYPES, ScoreOptions, judge_run, list_plant_metrics, make_score_table
from leafid.scoring.resampling import Bootstrap
from leafid.scoring.run_reading import read_run
from leafid.scoring.runs import write_run
from leafid.scoring.truth import make_ground_truth, read_ground_truth

GOLDEN = Path(__file__).parents[1] / "golden" / "plant_task"


@pytest.fixture(scope="module")
def truth():
    return read_ground_truth(GOLDEN / "truth")


@pytest.fixture(scope="module")
def runs(truth):
    return [judge_run(read_run(GOLDEN / "runs" / name, truth.known), truth) for name in ("good.txt", "partial.txt")]


@pytest.fixture
def perfect(truth, tmp_path):
    write_run(tmp_path / "best.txt", {p: [(s, 1.0)] for p, s in zip(truth.pictures, truth.species, strict=True)})
    return judge_run(read_run(tmp_path / "best.txt", truth.known), truth)


@pytest.mark.parametrize("metric", list_plant_metrics(), ids=lambda metric: metric.name)
def test_weights_give_the_mean_of_the_types(truth, runs, metric):
    table = make_score_table(truth, runs[:1], ScoreOptions([metric], intervals="none"))
    parts = {row[1]: row[-1] for row in table.rows}
    values = runs[0].score_pictures(metric)
    assert weigh_pictures(truth, metric) @ values == pytest.approx(parts[MEAN_OF_TYPES])
    assert weigh_pictures(truth, metric, "photo") @ values == pytest.approx(parts["photo"])


def compare(truth, runs, **options):
    table = make_comparison_table(truth, runs, list_plant_metrics()[0], **options)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_a_better_run_wins(truth, runs, perfect):
    (pair,) = compare(truth, [perfect, runs[1]], resamples=999)
    assert (pair["S of A"], pair["run A"], pair["run B"]) == (pytest.approx(1), "best.txt", "partial.txt")
    assert pair["p"] == pair["p (Holm)"] < 0.01


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
            pictures.append(Picture(Path(name), type=type_, taxon=Taxon("Acer opalus"), author="Ann", plant=plant))
            lines.append(f"{name} {'Acer opalus' if number < 5 else 'Acer campestre'} 1 1\n")
    truth = make_ground_truth(pictures)
    (tmp_path / "run.txt").write_text("".join(lines))
    run = judge_run(read_run(tmp_path / "run.txt"), truth)
    table = make_score_table(truth, [run], ScoreOptions(list_plant_metrics(())[:1], bootstrap=Bootstrap(20_000)))
    intervals = {row[1]: row[-2:] for row in table.rows}
    # The mean of 10 draws of 0 or 1 where the types show the same plants, else about that of 30.
    expected = (0.2, 0.8) if is_shared else (1 / 3, 2 / 3)
    assert intervals[MEAN_OF_TYPES] == pytest.approx(expected, abs=0.03)
    assert intervals["scan"] == pytest.approx((0.2, 0.8))


def test_plants_are_swapped_whoever_photographed_them(tmp_path):
    pictures = [
        Picture(Path(f"{author}{plant}.jpg"), taxon=Taxon("Acer opalus"), author=author, plant=plant)
        for author in ("Ann", "Bob", "Eve")
        for plant in "1234"
    ]
    truth = make_ground_truth(pictures)
    runs = []
    for name, species in (("a.txt", "Acer opalus"), ("b.txt", "Acer campestre")):
        write_run(tmp_path / name, {picture: [(species, 1.0)] for picture in truth.pictures})
        runs.append(judge_run(read_run(tmp_path / name), truth))
    (pair,) = compare(truth, runs, resamples=20_000)
    # 2 of the 16 ways to swap four plants are as extreme.
    assert pair["p"] == pytest.approx(0.125, abs=0.01)
