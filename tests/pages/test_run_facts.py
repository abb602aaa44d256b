import pytest

from leafid.pages.report_page import (
    count_answers,
    select_most_confused,
)
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.scoring.answers import Confusion, find_confusions
from leafid.scoring.judging import judge_run
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.truth import make_ground_truth

SPECIES = {
    "1": "Acer opalus",
    "2": "Acer opalus",
    "3": "Quercus ilex",
    "4": "Ilex aquifolium",
    "5": "Ilex aquifolium",
}


@pytest.fixture
def truth(tmp_path):
    return make_ground_truth(
        Picture(tmp_path / f"{name}.jpg", AcquisitionType.SCAN, taxon=Taxon(species))
        for name, species in SPECIES.items()
    )


@pytest.fixture
def run(tmp_path):
    file = tmp_path / "run.txt"
    file.write_text(
        "4.jpg Quercus ilex 1 0.6\n4.jpg Ilex aquifolium 2 0.4\n"
        "1.jpg Acer opalus 1 0.9\n"
        "5.jpg Quercus ilex 1 0.8\n"
        "2.jpg Quercus ilex 1 0.5\n"
    )
    return read_run(file)


def test_confusions_are_sorted_by_pictures_and_their_pictures_by_confidence(run, truth):
    most, least = find_confusions(judge_run(run, truth), truth)
    assert most == Confusion("Ilex aquifolium", "Quercus ilex", ("5.jpg", "4.jpg"), 1.0)
    assert least == Confusion("Acer opalus", "Quercus ilex", ("2.jpg",), 0.5)


def test_the_confusion_matrix_counts_every_answer(run, truth):
    names, counts = count_answers(judge_run(run, truth), truth)
    # The picture that the run lacks is nowhere.
    assert names == ["Acer opalus", "Ilex aquifolium", "Quercus ilex"]
    assert counts.tolist() == [[1, 0, 1, 0], [0, 0, 2, 0], [0, 0, 0, 0]]
    species, reduced = select_most_confused(names, counts, 2)
    assert species == ["Ilex aquifolium", "Quercus ilex"]
    assert reduced.tolist() == [[0, 2, 0], [0, 0, 0]]
    species, reduced = select_most_confused(names, counts, 1)
    assert (species, reduced.tolist()) == (["Quercus ilex"], [[0, 0]])
