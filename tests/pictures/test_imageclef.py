import shutil
from pathlib import Path

import pytest

from leafid.pictures.picture import AcquisitionType, Taxon
from leafid.pictures.reading import read_collection

GOLDEN = Path(__file__).parents[1] / "golden" / "imageclef_xml"


def test_2011(tmp_path, add):
    add(tmp_path / "Train", 1)
    (picture,) = read_collection(tmp_path).pictures
    assert picture.file == tmp_path / "Train" / "1.jpg"
    assert picture.type is AcquisitionType.SCAN
    assert picture.taxon == Taxon(
        "Celtis australis", "Celtis", "Cannabaceae", "Rosales"
    )
    assert (picture.plant, picture.author) == ("113", "Doe Jane")
    assert picture.date == "2010-07-06"
    assert picture.coordinates == (43.5, 3.25)
    assert picture.vernacular_names == ("European Nettle Tree",)
    assert picture.part == "train"


@pytest.mark.parametrize("class_id", [True, False])
def test_2012(tmp_path, draw, class_id):
    text = (GOLDEN / "2012.xml").read_text(encoding="utf-8")
    label = "<ClassId>Quercus coccifera</ClassId>"
    (tmp_path / "12.xml").write_text(
        text if class_id else text.replace(label, ""), encoding="utf-8"
    )
    draw(tmp_path / "12.jpg")
    collection = read_collection(tmp_path)
    (picture,) = collection.pictures
    assert picture.taxon == Taxon("Quercus coccifera", "Quercus", "Fagaceae", "Fagales")
    assert picture.vernacular_names == ("Kermes oak", "Chêne kermès")
    assert picture.coordinates == (43.6, 3.9)
    assert picture.part is None
    assert collection.problems == ()


def test_2013(tmp_path, draw):
    (tmp_path / "train").mkdir()
    shutil.copy(GOLDEN / "2013.xml", tmp_path / "train" / "13.xml")
    draw(tmp_path / "train" / "13.jpg")
    (picture,) = read_collection(tmp_path).pictures
    assert picture.taxon == Taxon("Acer campestre", "Acer", "Sapindaceae", None)
    assert picture.type == AcquisitionType.PHOTO
    assert (picture.plant, picture.date, picture.part) == ("77", "2012-05-20", "train")
    assert picture.coordinates == (43.6, 3.9)


HIDDEN = dict.fromkeys(
    ("IndividualPlantId", "Genus", "Species", "Family", "Order", "VernacularNames")
)


def package(root, add):
    add(root / "Train", 10)
    add(root / "Train", 9, Genus="Acer", Species="campestre")
    add(root / "Test", 20, **HIDDEN)
    add(root / "Test", 21, **HIDDEN)
    return root


@pytest.mark.parametrize("below", ["", "data"])
def test_package(tmp_path, add, below):
    package(tmp_path / below, add)
    collection = read_collection(tmp_path)
    assert collection.layout == "imageclef"
    assert [(p.name, p.part) for p in collection.pictures] == [
        ("9.jpg", "train"),
        ("10.jpg", "train"),
        ("20.jpg", "test"),
        ("21.jpg", "test"),
    ]
    assert len(collection.part("test").select_labelled()) == 0
    assert len(collection.part("train").select_labelled()) == 2
    assert collection.problems == ()


def test_package_with_ground_truth(tmp_path, add):
    package(tmp_path, add)
    add(tmp_path / "TestXmlWithGroundTruth", 20, picture=False)
    collection = read_collection(tmp_path)
    known, unknown = collection.part("test").pictures
    assert (known.species, known.plant, known.file) == (
        "Celtis australis",
        "113",
        tmp_path / "Test" / "20.jpg",
    )
    assert (unknown.name, unknown.species) == ("21.jpg", None)
    assert collection.find_missing() == ()
    for folder, number in (("Train", 2), ("Test", 2), ("TestXmlWithGroundTruth", 1)):
        part = read_collection(tmp_path / folder)
        assert {p.part for p in part.pictures} == {
            "train" if folder == "Train" else "test"
        }
        assert (len(part), part.find_missing()) == (number, ())


def test_pictures_without_xml_have_no_label(tmp_path, add, draw):
    add(tmp_path / "Train", 1)
    draw(tmp_path / "Train" / "3.jpg")
    collection = read_collection(tmp_path)
    assert [(p.name, p.species) for p in collection.pictures] == [
        ("1.jpg", "Celtis australis"),
        ("3.jpg", None),
    ]
    assert collection.problems == ()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"FileName": None}, "FileName: expected a plain file name, found ''"),
        (
            {"FileName": "../../etc/passwd"},
            "FileName: expected a plain file name, found '../../etc/passwd'",
        ),
        (
            {"FileName": "1.jpg"},
            "FileName: expected another one than in 1.xml, found 1.jpg",
        ),
        ({"Type": "drawing"}, "type: expected an acquisition type"),
        (
            {"Genus": None},
            "Taxon: expected a Genus and a Species, found only one of them",
        ),
        (
            {"ClassId": "Celtis"},
            "Species: expected a species name of two or three words, found 'Celtis'",
        ),
    ],
)
def test_invalid_required_field_leaves_the_picture_out(tmp_path, add, changes, says):
    folder = tmp_path / "Train"
    add(folder, 1)
    bad = add(folder, 2, **changes)
    collection = read_collection(folder)
    assert [p.name for p in collection.pictures] == ["1.jpg"]
    (problem,) = collection.problems
    assert problem.startswith(f"{bad}: {says}")


@pytest.mark.parametrize(
    ("changes", "attribute"),
    [
        ({"Date": "some day"}, "date"),
        ({"Latitude": "143.5"}, "coordinates"),
    ],
)
def test_invalid_optional_field_is_ignored(tmp_path, add, changes, attribute):
    bad = add(tmp_path, 1, **changes)
    collection = read_collection(tmp_path)
    (picture,) = collection.pictures
    assert getattr(picture, attribute) is None
    (problem,) = collection.problems
    assert problem.startswith(f"{bad}: {next(iter(changes)).lower()}: ")
    assert problem.endswith("it is ignored")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<Image>\n<FileName>", ":2: expected well-formed XML"),
        (b"<Leaf/>", "expected the root element <Image>, found <Leaf>"),
    ],
)
def test_invalid_xml_leaves_the_picture_out(tmp_path, add, draw, content, says):
    add(tmp_path, 1)
    (tmp_path / "2.xml").write_bytes(content)
    draw(tmp_path / "2.jpg")
    collection = read_collection(tmp_path)
    assert [p.name for p in collection.pictures] == ["1.jpg"]
    (problem,) = collection.problems
    assert problem.startswith(str(tmp_path / "2.xml"))
    assert says in problem


@pytest.mark.slow
def test_real_training_set(real_data):
    collection = read_collection(real_data / "imageclef2011")
    assert collection.layout == "imageclef"
    assert len(collection) == 3254
    assert {str(t): len(collection.select_type(t)) for t in collection.types} == {
        "scan": 1811,
        "scan-like": 615,
        "photo": 828,
    }
    assert len(collection.species) == 71
    assert "Platanus x hispanica" in collection.species
    assert len({p.plant for p in collection.pictures}) == 269
    assert len({p.author for p in collection.pictures}) == 17
    assert sum(not p.vernacular_names for p in collection.pictures) == 67
    assert all(
        p.date and p.coordinates and p.taxon.family and p.taxon.order
        for p in collection.pictures
    )
    assert {p.part for p in collection.pictures} == {"train"}
    assert collection.problems == ()
    assert collection.find_missing() == ()
