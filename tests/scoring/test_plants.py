import re
from pathlib import Path

import numpy as np
import pytest

from leafid.pictures.picture import Picture, Taxon
from leafid.scoring.plants import PlantPictures, collect_plants, score_plants
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.truth import make_ground_truth
from tests.scoring.golden_files import GOOD, TRUTH

MAPLE, OAK = [0.9, 0.1], [0.2, 0.8]


def make_plant(rows, label, author="a"):
    return PlantPictures(np.array(rows), label, list(author))


def test_by_hand():
    # Two of three pictures are correct, and outweigh the third; the other plant is
    # correct by its only picture.
    plants = [
        make_plant([MAPLE, MAPLE, OAK], 0),
        make_plant([OAK], 1, "b"),
        make_plant([OAK, OAK], 0, "b"),
    ]
    n_plants, single, top1, _ = score_plants(plants, 1)
    assert (n_plants, single) == (3, pytest.approx((2 / 3 + 1 + 0) / 3))
    assert top1 == pytest.approx(single)
    assert score_plants(plants, 3)[:3] == (1, pytest.approx(2 / 3), 1)
    assert score_plants(plants) == (
        3,
        pytest.approx(single),
        pytest.approx(2 / 3),
        pytest.approx((1 + 0.5) / 2),
    )


def test_a_plant_of_several_authors_counts_for_each(cli, tmp_path, draw):
    # Plant 1, by Ann, Bob and Cem, is named correctly, plant 2, by Bob and Ann, is not:
    # S = (1/2 + 1/2 + 1) / 3.
    rows = ["file,label,plant,author"]
    rows += [
        f"{number}.jpg,Acer opalus,1,{author}"
        for number, author in enumerate(["Ann", "Bob", "Cem"], 1)
    ]
    rows += [
        f"{number}.jpg,Tilia cordata,2,{author}"
        for number, author in enumerate(["Bob", "Ann"], 4)
    ]
    (tmp_path / "metadata.csv").write_text("\n".join(rows))
    for number in range(1, 6):
        draw(tmp_path / f"{number}.jpg")
    lines = [
        f"{number}.jpg Acer opalus 1 .9\n{number}.jpg Tilia cordata 2 .1\n"
        for number in range(1, 6)
    ]
    (tmp_path / "run.txt").write_text("".join(lines))
    result = cli(
        "evaluate", tmp_path, tmp_path / "run.txt", "--plants", "--format", "json"
    )
    assert result.status == 0, result.err
    _, plants = result.json
    scores = {
        row["pictures"]: (row["plants"], row["top-1"], row["S"])
        for row in plants["rows"]
    }
    assert {(row["type"], row["run"]) for row in plants["rows"]} == {("unknown", "run")}
    expected = (2, 0.5, pytest.approx(2 / 3))
    assert scores == {1: expected, 2: expected, 3: (1, 1, 1), "all": expected}


def test_plants_need_probabilities(cli, tmp_path):
    (tmp_path / "run.txt").write_text(
        re.sub(r" 4 \S+$", " 4 -3", GOOD.read_text(), flags=re.MULTILINE)
    )
    result = cli("evaluate", TRUTH, tmp_path / "run.txt", "--plants")
    assert (result.status, result.err.count("\n")) == (1, 1)
    assert "expected a probability from 0 to 1 as score, found -3" in result.err


def make_small_run(folder, *lines):
    pictures = [
        Picture(Path("1.jpg"), taxon=Taxon("Acer opalus"), author="a", plant="1"),
        Picture(Path("2.jpg"), taxon=Taxon("Tilia cordata"), author="a", plant="2"),
    ]
    (folder / "run.txt").write_text("".join(f"{line}\n" for line in lines))
    truth = make_ground_truth(pictures)
    return collect_plants(read_run(folder / "run.txt", truth.known), truth)["unknown"]


def test_a_plant_that_the_run_lacks_is_wrong(tmp_path):
    plants = make_small_run(
        tmp_path, "2.jpg Acer opalus 1 .9", "2.jpg Tilia cordata 2 .1"
    )
    assert score_plants(plants, 1) == score_plants(plants) == (2, 0, 0, 0)


def test_the_better_rank_wins_between_equal_scores(tmp_path):
    lines = [
        "1.jpg Acer opalus 1 0.5",
        "1.jpg Abies alba 2 0.5",
        "2.jpg Tilia cordata 1 0",
        "2.jpg Abies alba 2 0",
    ]
    plants = make_small_run(tmp_path, *lines)
    assert score_plants(plants, 1) == score_plants(plants) == (2, 1, 1, 1)


@pytest.mark.parametrize("option", [["--plants"], ["--metrics", "ece"]])
def test_scores_that_contradict_the_ranks_are_refused(cli, tmp_path, option):
    names = {path.stem for path in TRUTH.glob("*.xml")}
    lines = (
        f"{name}.jpg Acer campestre 1 .2\n{name}.jpg Quercus robur 2 .8\n"
        for name in sorted(names)
    )
    (tmp_path / "run.txt").write_text("".join(lines))
    assert cli("evaluate", TRUTH, tmp_path / "run.txt", "--official").status == 0
    words = ("evaluate", TRUTH, tmp_path / "run.txt")
    for outcome in (cli(*words), cli(*words, "--official", *option)):
        assert (outcome.status, outcome.out) == (1, "")
        assert (
            "run.txt:2: expected a score that falls with the rank, found 0.8 after 0.2"
            in outcome.err
        )
    checked = cli("check", tmp_path / "run.txt")
    assert (
        checked.status,
        checked.out.count("expected a score that falls with the rank"),
    ) == (1, 1)
