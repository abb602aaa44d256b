from pathlib import Path

import pytest

from leafid.pictures.picture import Picture, Taxon
from leafid.scoring.plant_task import judge_run
from leafid.scoring.run_reading import read_run
from leafid.scoring.truth import make_ground_truth

TAXA = {
    "1.jpg": Taxon("Quercus ilex", "Quercus", "Fagaceae"),
    "2.jpg": Taxon("Fagus sylvatica", "Fagus", "Fagaceae"),
    "3.jpg": Taxon("Ginkgo biloba", "Ginkgo", None),
}


@pytest.fixture
def judge_text(tmp_path):
    truth = make_ground_truth(Picture(Path(name), taxon=taxon) for name, taxon in TAXA.items())

    def read(text):
        (tmp_path / "run.txt").write_text(text)
        return judge_run(read_run(tmp_path / "run.txt", official=True), truth)

    return read


def test_rank_of_the_correct_species(judge_text):
    found = judge_text("1.jpg Quercus rubra 1 0.6\n1.jpg Quercus ilex 2 0.4\n2.jpg Quercus ilex 1 1\n")
    assert found.rank.tolist() == [2, 0, 0]
    assert found.size.tolist() == [2, 1, 0]
    assert found.covered.tolist() == [True, True, False]
    assert (~found.covered).sum() == 1


def test_genus_and_family_of_the_first_species(judge_text):
    # Quercus rubra has no picture: its genus is in its name, its family is that of the other oak.
    found = judge_text("1.jpg Quercus rubra 1 0.6\n2.jpg Quercus rubra 1 1\n")
    assert found.genus_correct.tolist() == [True, False, False]
    assert found.family_correct.tolist() == [True, True, False]


def test_the_genus_of_a_hybrid_genus(tmp_path):
    taxon = Taxon("x Cuprocyparis leylandii", "x Cuprocyparis", "Cupressaceae")
    truth = make_ground_truth([Picture(Path("1.jpg"), taxon=taxon), Picture(Path("2.jpg"), taxon=Taxon(taxon.species))])
    assert truth.genus == ("x Cuprocyparis", "x Cuprocyparis")
    # Unknown, but well-formed, and of another genus than the other.
    (tmp_path / "run.txt").write_text("1.jpg x Cuprocyparis notabilis 1 1\n2.jpg x Sorbaronia fallax 1 1\n")
    found = judge_run(read_run(tmp_path / "run.txt", truth.known), truth)
    assert found.genus_correct.tolist() == [True, False]


def test_an_unknown_family_is_never_correct(judge_text):
    found = judge_text("3.jpg Ginkgo biloba 1 1\n1.jpg Nothofagus alpina 1 1\n")
    assert found.rank.tolist() == [0, 0, 1]
    assert found.genus_correct.tolist() == [False, False, True]
    assert not found.family_correct.any()


def test_the_best_rank_of_a_repeated_species_counts(judge_text):
    assert judge_text("1.jpg Quercus ilex 3 0.1\n1.jpg Fagus sylvatica 1 1\n1.jpg Quercus ilex 2 0.5\n").rank[0] == 2


def test_other_pictures_are_ignored(judge_text):
    found = judge_text("9.jpg Quercus ilex 1 1\n1.jpg Quercus ilex 1 1\n")
    assert found.rank.tolist() == [1, 0, 0]
    assert found.genus_correct.tolist() == [True, False, False]
