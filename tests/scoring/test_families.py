"""The rank, genus and family of answers whose taxa the ground truth may lack."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.pictures.names import parse_label
from leafid.pictures.picture import Picture, Taxon
from leafid.scoring.evaluation import evaluate
from leafid.scoring.judging import judge_run
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.truth import make_ground_truth
from leafid.scoring.reading.truth_reading import read_ground_truth

TAXA = {
    "1.jpg": Taxon("Quercus ilex", "Quercus", "Fagaceae"),
    "2.jpg": Taxon("Fagus sylvatica", "Fagus", "Fagaceae"),
    "3.jpg": Taxon("Davidia involucrata", "Davidia", None),
}


@pytest.fixture
def judge_text(tmp_path):
    truth = make_ground_truth(
        Picture(Path(name), taxon=taxon) for name, taxon in TAXA.items()
    )

    def read(text):
        (tmp_path / "run.txt").write_text(text)
        return judge_run(read_run(tmp_path / "run.txt", official=True), truth)

    return read


def test_genus_and_family_of_the_first_species(judge_text):
    # Quercus rubra has no picture: its genus is in its name, its family is that of the
    # other oak.
    judged = judge_text("1.jpg Quercus rubra 1 0.6\n2.jpg Quercus rubra 1 1\n")
    assert judged.genus_correct.tolist() == [True, False, False]
    assert judged.family_correct.tolist() == [True, True, False]


def test_the_genus_of_a_hybrid_genus(tmp_path):
    taxon = Taxon("x Cuprocyparis leylandii", "x Cuprocyparis", "Cupressaceae")
    truth = make_ground_truth(
        [
            Picture(Path("1.jpg"), taxon=taxon),
            Picture(Path("2.jpg"), taxon=Taxon(taxon.species)),
        ]
    )
    assert (*truth.genus,) == ("x Cuprocyparis", "x Cuprocyparis")
    # The first species are unknown, and of two genera.
    (tmp_path / "run.txt").write_text(
        "1.jpg x Cuprocyparis notabilis 1 1\n2.jpg x Sorbaronia fallax 1 1\n"
        "2.jpg x Cuprocyparis leylandii 2 0\n"
    )
    judged = judge_run(read_run(tmp_path / "run.txt", truth.known), truth)
    assert judged.genus_correct.tolist() == [True, False]


def test_an_unknown_family_is_never_correct(judge_text):
    judged = judge_text("3.jpg Davidia involucrata 1 1\n1.jpg Nothofagus alpina 1 1\n")
    assert judged.rank.tolist() == [0, 0, 1]
    assert judged.genus_correct.tolist() == [False, False, True]
    assert not judged.family_correct.any()


def test_the_best_rank_of_a_repeated_species_counts(judge_text):
    assert (
        judge_text(
            "1.jpg Quercus ilex 3 0.1\n1.jpg Fagus sylvatica 1 1\n1.jpg Quercus ilex 2 "
            "0.5\n"
        ).rank[0]
        == 2
    )


@pytest.fixture
def write_truth(add):
    """Write pictures 1.jpg, 2.jpg, … of taxa: family, genus and epithet."""

    def write(folder, *taxa):
        for number, (family, genus, epithet) in enumerate(taxa, 1):
            plant = str(number)
            add(
                folder,
                number,
                False,
                Family=family,
                Genus=genus,
                Species=epithet,
                IndividualPlantId=plant,
            )

    return write


def score_families(cli, folder, *species, words=()):
    """Score a run that names a species for each picture by family.

    Its standard error is also returned.
    """
    lines = [f"{n}.jpg {name} 1 1\n" for n, name in enumerate(species, 1)]
    # A run that names no species of the ground truth is refused.
    known = read_ground_truth(folder / "truth").species[0]
    (folder / "run.txt").write_text("".join([*lines, f"1.jpg {known} 2 0\n"]))
    run = folder / "run.txt"
    words = (
        "--by",
        "family",
        "--metrics",
        "S-family",
        "--official",
        "--output",
        folder / "out",
        *words,
    )
    outcome = cli("evaluate", folder / "truth", run, "--format", "json", *words)
    assert outcome.status == 0, outcome.err
    lines = (folder / "out" / "runScoresByFamily.csv").read_text().splitlines()
    scores = {row["family"]: row["S-family"] for row in outcome.json[1]["rows"]}
    # The official scorer's file says the same.
    written = {line.split(";")[1]: float(line.split(";")[2]) for line in lines if line}
    assert written == pytest.approx(scores)
    return scores, outcome.err


def test_the_ground_truth_may_lack_the_genus_that_is_predicted(
    cli, tmp_path, write_truth
):
    write_truth(
        tmp_path / "truth",
        ("Betulaceae", "Alnus", "incana"),
        ("Rosaceae", "Pyrus", "pyraster"),
        *TREES,
    )
    scores, _ = score_families(
        cli,
        tmp_path,
        "Carpinus betulus",
        "Betula pendula",
        "Populus nigra",
        "Salix alba",
        "Fraxinus ornus",
    )
    assert scores == {"Betulaceae": 1, "Rosaceae": 0, "Salicaceae": 1, "Aceraceae": 0}


TREES = (
    ("Salicaceae", "Salix", "caprea"),
    ("Salicaceae", "Populus", "alba"),
    ("Aceraceae", "Acer", "opalus"),
)


def test_the_families_of_the_ground_truth_count_before_the_list(
    cli, tmp_path, write_truth
):
    # It calls the maples Aceraceae, also one that it gives no family; Aesculus stays
    # Sapindaceae.
    write_truth(
        tmp_path / "truth",
        ("Aceraceae", "Acer", "opalus"),
        (None, "Acer", "rubrum"),
        *TREES[2:],
    )
    scores, _ = score_families(
        cli, tmp_path, "Acer campestre", "Acer campestre", "Aesculus hippocastanum"
    )
    assert scores == {"Aceraceae": pytest.approx(2 / 3)}


def test_the_correct_species_is_of_the_correct_family_where_the_ground_truth_has_two(
    cli, tmp_path, write_truth
):
    write_truth(
        tmp_path / "truth",
        ("Aceraceae", "Acer", "opalus"),
        ("Sapindaceae", "Acer", "rubrum"),
    )
    scores, _ = score_families(cli, tmp_path, "Acer opalus", "Acer rubrum")
    assert scores == {"Aceraceae": 1, "Sapindaceae": 1}


def test_a_genus_of_unknown_family_is_warned_of(cli, tmp_path, write_truth):
    write_truth(
        tmp_path / "truth",
        ("Nyssaceae", "Nyssa", "sylvatica"),
        (None, "Davidia", "vilmoriniana"),
        *TREES,
    )
    run = (
        "Camptotheca acuminata",
        "Hovenia dulcis",
        "Idesia polycarpa",
        "Unknown species",
        "Camptotheca acuminata",
    )
    scores, err = score_families(cli, tmp_path, *run)
    assert scores == {"Nyssaceae": 0, "unknown": 0, "Salicaceae": 0, "Aceraceae": 0}
    # Hovenia stands where no family could be correct, and no family of unknown species
    # is expected.
    expected = (
        "run.txt: expected genera of known families, found Camptotheca, Idesia, which "
        "count as wrong"
    )
    assert err.count(expected) == err.count("genera of known families") == 1
    write_truth(
        tmp_path / "more",
        ("Nyssaceae", "Camptotheca", "acuminata"),
        ("Salicaceae", "Idesia", "polycarpa"),
        ("Nyssaceae", "Davidia", "involucrata"),
        ("Sapindaceae", "Acer", "opalus"),
    )
    scores, err = score_families(
        cli, tmp_path, *run, words=("--taxonomy", tmp_path / "more")
    )
    assert scores == {"Nyssaceae": 0.5, "Salicaceae": 0.5, "Aceraceae": 0}
    assert "found Hovenia, which" in err
    assert (
        "families" not in cli("evaluate", tmp_path / "truth", tmp_path / "run.txt").err
    )


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_families_do_not_depend_on_which_pictures_are_scored(seed):
    rng = random.Random(seed)
    genera = [
        "Acer",
        "Aesculus",
        "Alnus",
        "Betula",
        "Castanea",
        "Cotinus",
        "Platanus",
        "Quercus",
        "Rhus",
        "Zelkova",
    ]
    pictures = [
        Picture(Path(f"{genus}.jpg"), taxon=parse_label(f"{genus} alba"))
        for genus in genera
    ]
    run = {
        picture.name: [f"{rng.choice(genera)} nigra", picture.species]
        for picture in pictures
    }
    complete = {
        row["family"]: row for row in evaluate(pictures, run, ["S-family"], by="family")
    }
    family = rng.choice([*complete])
    some = [picture for picture in pictures if picture.taxon.family == family]
    chosen = {picture.name: run[picture.name] for picture in some}
    assert evaluate(some, chosen, ["S-family"], by="family") == [complete[family]]
