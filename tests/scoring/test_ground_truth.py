import json
import shutil
from pathlib import Path

import pytest

from leafid.errors import LeafidError, ProblemsError
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.scoring.evaluation import evaluate
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.truth import UNKNOWN, make_ground_truth
from leafid.scoring.reading.truth_reading import (
    read_ground_truth,
    read_ground_truth_file,
    read_known_names,
)
from tests.scoring.golden_files import TRUTH
from tests.scoring.run_files import write_run


@pytest.fixture
def package(tmp_path):
    """The golden ground truth as a package: Train/ beside trainGroundTruth.txt."""
    shutil.copytree(TRUTH, tmp_path / "Train")
    truth = read_ground_truth(TRUTH)
    species = sorted(set(truth.species))
    lines = [
        " ".join(
            [
                name,
                *(
                    p
                    for p, s in zip(truth.pictures, truth.species, strict=True)
                    if s == name
                ),
            ]
        )
        + " \n"
        for name in species
    ]
    (tmp_path / "trainGroundTruth.txt").write_text("".join(lines) + "Sorbus aria \n")
    return tmp_path


def picture(name, **fields):
    return Picture(
        Path(name), taxon=Taxon("Quercus ilex", "Quercus", "Fagaceae"), **fields
    )


def test_a_text_file_and_its_xml_give_what_the_xml_gives(package):
    from_text, from_folder = (
        read_ground_truth(package / "trainGroundTruth.txt"),
        read_ground_truth(package / "Train"),
    )
    for column in ("pictures", "species", "official_plant"):
        assert [*getattr(from_text, column)] == [*getattr(from_folder, column)]
    assert "Sorbus aria" in from_text.known.species


def test_text_file_and_xml_must_agree(package):
    (package / "wrong.txt").write_text("Sorbus aria 1.jpg 2.jpg 999.jpg\n")
    with pytest.raises(ProblemsError) as error:
        read_ground_truth(package / "wrong.txt")
    assert len(error.value.problems) == 3
    assert "'1.jpg' is 'Sorbus aria' here" in error.value.problems[0]
    assert "expected the XML of '999.jpg'" in error.value.problems[2]


def test_a_truth_that_lacks_a_picture_is_refused(cli, package):
    """Its means would be over fewer pictures than there are."""
    run = package / "run.txt"
    truth = read_ground_truth(package / "Train")
    write_run(run, {picture: [("Quercus ilex", 1.0)] for picture in truth.pictures})
    assert cli("evaluate", package / "Train", run).status == 0
    first, second = sorted((package / "Train").glob("*.xml"))[:2]
    second.write_text(first.read_text())
    result = cli("evaluate", package / "Train", run)
    assert (result.status, result.out) == (1, "")
    assert (
        "expected a ground truth whose XML can all be used, found 1 left out"
        in result.err
    )


def test_bad_text_files(tmp_path):
    file = tmp_path / "GroundTruth.txt"
    file.write_text(
        "1.jpg 2.jpg\nSorbus aria 3.jpg oak 1.jpg\nSorbus aria 4.jpg 1.jpg 1.jpg\n"
    )
    with pytest.raises(ProblemsError) as error:
        read_ground_truth_file(file)
    expected = (
        "expected a ground truth (named before the runs) of lines '<Genus species> "
        "<picture> …', found "
    )
    assert [problem.removeprefix(str(file)) for problem in error.value.problems] == [
        f":1: {expected}'1.jpg 2.jpg'",
        f":2: {expected}'Sorbus aria 3.jpg oak 1.jpg'",
        ":3: expected every picture once, found '1.jpg', as in line 3",
    ]
    for content in (b"", b"Sorbus aria\n", b"\xff\xfe\xff 1.jpg"):
        file.write_bytes(content)
        with pytest.raises(LeafidError, match="expected"):
            read_ground_truth_file(file)


def test_the_species_list_makes_the_known_species_complete(package):
    (package / "SpeciesIDList").write_text("Sorbus aria\nAcer campestre\n")
    shutil.move(package / "Train", package / "TestXmlWithGroundTruth")
    known = read_ground_truth(package / "TestXmlWithGroundTruth").known
    assert "Sorbus aria" in known.species
    assert read_known_names(package / "TestXmlWithGroundTruth") == known


def test_pictures_without_plant_are_one_plant_for_s_and_drawn_one_by_one():
    truth = make_ground_truth(
        [picture("b.jpg"), picture("a.jpg", type=AcquisitionType.SCAN, plant="7")]
    )
    assert (*truth.pictures,) == ("a.jpg", "b.jpg")
    assert (*truth.official_plant,) == ("7", UNKNOWN)
    assert (*truth.plant,) == ("plant 7", "picture b.jpg")
    assert (*truth.type,) == ("scan", UNKNOWN)
    assert (*truth.author,) == (UNKNOWN, UNKNOWN)


def test_pictures_without_type_or_author_are_reported_with_the_consequence(caplog):
    known = {"type": AcquisitionType.SCAN, "author": "Ann"}
    make_ground_truth(
        [
            picture("a.jpg", **known),
            picture("b.jpg", type=AcquisitionType.SCAN),
            picture("c.jpg"),
        ]
    )
    by_type, by_author = (record.getMessage() for record in caplog.records)
    assert by_type.startswith(
        "c.jpg: expected the type of every picture, found none for 1 of 3, this one "
        "first; they"
    )
    assert by_author.startswith(
        "b.jpg: expected the author of every picture, found none for 2 of 3, this one "
        "first; they"
    )
    caplog.clear()
    # Where no picture has either, no score depends on them.
    make_ground_truth([picture("a.jpg"), picture("b.jpg")])
    assert not caplog.records


def test_two_pictures_of_one_name_are_refused():
    with pytest.raises(
        ProblemsError,
        match=r"Train.1\.jpg and .*Test.1\.jpg|Test.1\.jpg and .*Train.1\.jpg",
    ):
        make_ground_truth([picture("Train/1.jpg"), picture("Test/1.jpg")])


def test_pictures_without_species_are_reported_and_may_be_in_a_run(caplog):
    truth = make_ground_truth(
        [picture("a.jpg"), Picture(Path("b.jpg")), Picture(Path("a.jpg"))]
    )
    assert [record.getMessage() for record in caplog.records] == [
        "b.jpg: expected the species of every picture, found none for 1 of 2, this one "
        "first; they are not scored"
    ]
    assert [*truth.pictures] == ["a.jpg"]
    assert truth.known.pictures == {"a.jpg", "b.jpg"}


@pytest.fixture
def plantnet(tmp_path):
    """Two species of one name with 8 pictures and 1, and a third with 1.

    A run that always names the first.
    """
    names = {
        "1355868": "Lactuca virosa L.",
        "1432783": "Lactuca virosa Habl.",
        "7": "Acer opalus Mill.",
    }
    (tmp_path / "plantnet300K_species_id_2_name.json").write_text(json.dumps(names))
    (tmp_path / "plantnet300K_metadata.json").write_text("{}")
    pictures = {}
    for identifier, count in (("1355868", 8), ("1432783", 1), ("7", 1)):
        folder = tmp_path / "images" / "test" / identifier
        folder.mkdir(parents=True)
        for number in range(count):
            (folder / f"{identifier}-{number}.jpg").touch()
            pictures[f"{identifier}-{number}.jpg"] = (
                "7" if identifier == "7" else "1355868"
            )
    return tmp_path, pictures


def test_macro_averages_are_over_identifiers_and_runs_may_use_them(plantnet):
    folder, pictures = plantnet
    truth = read_ground_truth(folder)
    for labels in ({}, {"1355868": "Lactuca virosa 1355868", "7": "Acer opalus"}):
        write_run(
            folder / "run.txt",
            {
                name: [(labels.get(label, label), 1.0)]
                for name, label in pictures.items()
            },
        )
        # The reference code averages by identifier: (1 + 0 + 1) / 3.
        assert evaluate(folder, folder / "run.txt", ["macro-top-1"])[-1][
            "macro-top-1"
        ] == pytest.approx(2 / 3)
    assert read_known_names(folder) == truth.known


def test_a_name_of_several_species_is_refused(plantnet):
    folder, pictures = plantnet
    write_run(
        folder / "run.txt", {name: [("Lactuca virosa", 1.0)] for name in pictures}
    )
    with pytest.raises(ProblemsError) as error:
        read_run(folder / "run.txt", read_ground_truth(folder).known)
    assert error.value.problems[0].endswith(
        "['Lactuca virosa'] (the nearest known names are {'Lactuca virosa': 'Lactuca "
        "virosa 1432783'})"
    )
