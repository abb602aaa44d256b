from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import beta

from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.scoring import power
from leafid.scoring.comparison import make_type_tables
from leafid.scoring.judging import judge_run
from leafid.scoring.metrics import find_metrics
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.truth import make_ground_truth
from leafid.scoring.reading.truth_reading import read_ground_truth
from leafid.scoring.resampling import Bootstrap, randomisation_test
from leafid.scoring.score_table import (
    MEAN_OF_TYPES,
    ScoreOptions,
    make_group_table,
)
from leafid.scoring.tables import Estimate, render
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
    records = make_type_tables(truth, runs, options)[1].to_records()
    # Where there is a single type, there is no mean of types.
    return [row for row in records if row["type"] == MEAN_OF_TYPES] or records


def test_each_difference_is_tested_once(truth, runs, monkeypatch):
    calls = []

    def count_calls(*words):
        calls.append(words)
        return randomisation_test(*words)

    monkeypatch.setattr(power, "randomisation_test", count_calls)
    rows = compare(truth, runs, resamples=99)
    groups = make_group_table(truth, runs[:1], ScoreOptions(find_metrics(["S"]))).rows
    assert rows
    assert len(calls) == len(groups)


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
    table = make_group_table(
        truth, [run], ScoreOptions(find_metrics(["S"]), bootstrap=Bootstrap(20_000))
    )
    intervals = {
        row["type"]: (row["S low"], row["S high"]) for row in table.to_records()
    }
    # Of 10 plants, 5 are correct, where the types show the same plants; else 15 of 30.
    n_correct = 5 if is_shared else 15
    expected = beta.ppf(
        [0.025, 0.975], [n_correct, n_correct + 1], [n_correct + 1, n_correct]
    )
    assert intervals[MEAN_OF_TYPES] == pytest.approx(expected, abs=0.02)
    assert intervals["scan"] == pytest.approx((0.187, 0.813), abs=0.02)


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


def make_plants(sizes, photos=""):
    """Make a ground truth of plants by one author, each of another species.

    Pictures are scans, and photos of some.
    """
    return make_ground_truth(
        [
            Picture(
                Path(f"{plant}-{number}.jpg"),
                taxon=Taxon(f"Acer {plant}"),
                author="Ann",
                plant=plant,
                type=AcquisitionType("photo" if plant in photos else "scan"),
            )
            for plant, size in zip("abcdefg", sizes, strict=False)
            for number in range(size)
        ]
    )


def judge_wrong(truth, folder, wrong, name="Tilia cordata"):
    """Judge a run that takes a plant for another species."""
    answers = {
        picture: [(name if picture[0] == wrong else species, 1.0)]
        for picture, species in zip(truth.pictures, truth.species, strict=True)
    }
    write_run(folder / f"{wrong}.txt", answers)
    return judge_run(read_run(folder / f"{wrong}.txt"), truth)


@pytest.mark.parametrize("metric", ["macro-f1", "weighted-f1", "precision", "mcc"])
def test_runs_are_compared_whatever_species_they_name(tmp_path, metric):
    # No scan shows the last species, which the second run names; the third names one
    # that no picture shows.
    truth = make_plants([2] * 7, photos="g")
    runs = [
        judge_wrong(truth, tmp_path, "a", "Acer a"),
        judge_wrong(truth, tmp_path, "b", "Acer g"),
        judge_wrong(truth, tmp_path, "c", "Zelkova serrata"),
    ]
    options = ScoreOptions(find_metrics([metric]), bootstrap=Bootstrap(99))
    rows = make_type_tables(truth, runs, options)[1].to_records()
    alone = [
        row[metric]
        for run in runs
        for row in make_group_table(truth, [run], options).to_records()
        if row["type"] == "scan"
    ]
    assert alone[0] == 1 > max(alone[1:])
    for row, (a, b) in zip(rows, [(0, 1), (0, 2), (1, 2)], strict=False):
        assert (row["type"], row["run A"], row["run B"]) == ("scan", "abc"[a], "abc"[b])
        assert (row["A"], row["B"]) == pytest.approx((alone[a], alone[b]))


def test_equal_scores_are_all_the_best(tmp_path):
    # 6 of 7 plants are correct in each run: sums of their pictures in another order are
    # rounded differently.
    truth = make_plants([11, 9, 7, 6, 7, 11, 4])
    runs = [judge_wrong(truth, tmp_path, wrong) for wrong in "abcdefg"]
    options = ScoreOptions(find_metrics(["S"]), bootstrap=Bootstrap(99))
    table = make_group_table(truth, runs, options)
    scores = [row[-1] for row in table.rows]
    assert [score.value for score in scores] == pytest.approx([6 / 7] * 7)
    assert all(score.is_best and not score.better_than for score in scores)
    assert render([table], "latex").count("textbf") == 7
    rows = make_type_tables(truth, runs, options)[1].to_records()
    assert {(row["A - B"], row["p"]) for row in rows} == {(0, 1)}


def test_the_spread_of_few_plants(tmp_path):
    """A note names what has few plants.

    Also of plants that are all correct, no spread is 0.
    """
    truth = make_plants([3] * 7, photos="abc")
    run = judge_wrong(truth, tmp_path, "", "Acer a")
    options = ScoreOptions(find_metrics(["top-1", "macro-f1"]), "error")
    table = make_group_table(truth, [run], options)
    note = "fewer than 30 plants, on which only large differences show: "
    assert table.notes[-1].startswith(f"{note}scan, photo, mean of types")
    assert table.notes[0].startswith("±: standard error")
    # The standard deviations of Beta(4, 1) and of 1.
    expected = (4 / (5**2 * 6) / 2) ** 0.5
    assert table.rows[0][-2].spread["error"] == pytest.approx(expected, rel=0.05)
    assert table.rows[0][-1] == Estimate(1)
    hidden = make_group_table(truth, [run], replace(options, intervals="none"))
    assert not hidden.notes
