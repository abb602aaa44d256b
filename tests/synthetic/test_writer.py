import json
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

import cv2
import numpy as np
import pytest

from leafid.errors import LeafidError, UsageError
from leafid.pictures import AcquisitionType, Content, read_collection
from leafid.synthetic.plan import AUTHORS, Settings, plan_collection
from leafid.synthetic.species import SPECIES
from leafid.synthetic.writer import MARK, draw_planned_picture, write_collection

SETTINGS = Settings(
    n_species=5, plants_per_species=3, test_plants=1, pictures_per_plant_and_type=1, max_side=48, seed=11
)
NAMES = [species.name for species in SPECIES[:5]]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written") / "leaves"
    return write_collection(folder, SETTINGS)


def contents(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def elements(file):
    return {element.tag: (element.text or "").strip() for element in ET.parse(file).getroot().iter()}


def test_layout_equals_that_of_the_package(written):
    folder = written.folder
    assert sorted(entry.name for entry in folder.iterdir()) == sorted(
        [
            "Detail.txt",
            MARK,
            "SpeciesIDList",
            "Test",
            "TestXmlWithGroundTruth",
            "Train",
            "allGroundTruth.txt",
            "testGroundTruth.txt",
            "trainGroundTruth.txt",
        ]
    )
    train = {file.stem for file in (folder / "Train").glob("*.jpg")}
    test = {file.stem for file in (folder / "Test").glob("*.jpg")}
    assert len(train) == 30
    assert len(test) == 15
    assert {int(stem) for stem in train | test} == set(range(1, 46))
    assert {file.stem for file in (folder / "Train").glob("*.xml")} == train
    assert {file.stem for file in (folder / "Test").glob("*.xml")} == test
    assert {file.name for file in (folder / "TestXmlWithGroundTruth").iterdir()} == {f"{stem}.xml" for stem in test}
    assert (folder / "SpeciesIDList").read_text().splitlines() == NAMES


def test_training_metadata_has_the_fields_of_the_package(written):
    file = next((written.folder / "Train").glob("*.xml"))
    root = ET.parse(file).getroot()
    assert root.tag == "Image"
    assert [child.tag for child in root] == [
        "FileName",
        "Date",
        "Type",
        "Organization",
        "Author",
        "IndividualPlantId",
        "Taxon",
        "VernacularNames",
        "Locality",
        "Content",
        "GPSLocality",
    ]
    assert [child.tag for child in root.find("Taxon")] == [
        "Clade3",
        "Clade2",
        "Clade1",
        "Regnum",
        "Order",
        "Family",
        "Species",
        "Genus",
    ]
    assert [child.tag for child in root.find("GPSLocality")] == ["Longitude", "Latitude", "Altitude"]
    assert root.findtext("Type") in {"Scan", "pseudoscan", "photograph"}


def test_metadata_of_test_pictures_hide_the_label(written):
    for file in (written.folder / "Test").glob("*.xml"):
        partial = elements(file)
        whole = elements(written.folder / "TestXmlWithGroundTruth" / file.name)
        assert not {"IndividualPlantId", "Taxon", "VernacularNames", "Genus"} & set(partial)
        assert {tag: text for tag, text in whole.items() if tag in partial and tag != "Image"} == {
            tag: text for tag, text in partial.items() if tag != "Image"
        }
        assert whole["IndividualPlantId"]


def test_ground_truth_agrees_with_the_metadata(written):
    listed = {}
    for part in ("train", "test", "all"):
        listed[part] = {}
        for line in (written.folder / f"{part}GroundTruth.txt").read_text().splitlines():
            assert line.endswith(" ")
            words = line.split()
            species = " ".join(word for word in words if not word.endswith(".jpg"))
            listed[part].update({word: species for word in words if word.endswith(".jpg")})
    assert listed["all"] == listed["train"] | listed["test"]
    for part, folder in (("train", "Train"), ("test", "TestXmlWithGroundTruth")):
        for file in (written.folder / folder).glob("*.xml"):
            known = elements(file)
            assert listed[part][f"{file.stem}.jpg"] == f"{known['Genus']} {known['Species']}"


def test_detail_counts_plants(written):
    lines = (written.folder / "Detail.txt").read_text().splitlines()
    assert lines[1:] == [f"{name}    2 1  3" for name in NAMES]


def test_reads_back_as_a_collection(written):
    pictures = read_collection(written.folder).pictures
    assert len(pictures) == 45
    planned = {f"{picture.number}.jpg": picture for picture in written.pictures}
    for picture in pictures:
        plan = planned[picture.name]
        assert picture.part == plan.part
        assert picture.type is plan.type
        assert picture.species == NAMES[plan.species]
        assert picture.plant == str(plan.plant)
        assert picture.author == AUTHORS[plan.author].name
        assert picture.place.latitude == plan.latitude
        assert picture.date.startswith(plan.taken.strftime("%Y-%m-%d"))
        assert picture.content in set(Content)
        image = cv2.imread(str(picture.file))
        assert max(image.shape[:2]) == 48
    assert {picture.type for picture in pictures} == set(AcquisitionType)


def test_reads_back_by_a_relative_path(written, monkeypatch):
    monkeypatch.chdir(written.folder.parent)
    assert len(read_collection("leaves").pictures) == 45
    monkeypatch.chdir(written.folder)
    assert len(read_collection(".").pictures) == 45


def test_plants_keep_to_one_part_species_and_author(written):
    of_plant = defaultdict(set)
    for picture in written.pictures:
        of_plant[picture.plant].add((picture.part, picture.species, picture.author))
    assert len(of_plant) == 15
    assert all(len(seen) == 1 for seen in of_plant.values())


def test_species_have_several_authors():
    authors = defaultdict(set)
    for picture in plan_collection(Settings(plants_per_species=5, seed=3)):
        authors[picture.species].add(picture.author)
    assert min(map(len, authors.values())) >= 3


def test_same_seed_same_bytes_whatever_the_jobs(written, tmp_path):
    write_collection(tmp_path / "again", SETTINGS, jobs=2)
    assert contents(tmp_path / "again") == contents(written.folder)


def test_force_replaces_the_whole_of_a_drawn_collection(tmp_path):
    folder = tmp_path / "leaves"
    large = Settings(n_species=2, plants_per_species=2, pictures_per_plant_and_type=1, max_side=32)
    small = Settings(n_species=1, plants_per_species=1, test_plants=0, pictures_per_plant_and_type=1, max_side=32)
    write_collection(folder, large)
    with pytest.raises(LeafidError, match="--force"):
        write_collection(folder, small)
    write_collection(folder, small, force=True)
    write_collection(tmp_path / "fresh", small)
    left = {name for name, _ in contents(folder).items()}
    assert left == set(contents(tmp_path / "fresh"))


@pytest.mark.parametrize("folder", ["Train", "Olea europaea", "."])
def test_force_never_touches_a_real_collection(tmp_path, folder):
    picture = tmp_path / folder / "1.jpg"
    picture.parent.mkdir(exist_ok=True)
    picture.write_bytes(b"precious")
    with pytest.raises(LeafidError, match="not drawn by leafid"):
        write_collection(tmp_path, SETTINGS, force=True)
    assert [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()] == [b"precious"]


@pytest.mark.parametrize("linked", ["Train", "Detail.txt", "Test/9.jpg"])
def test_force_follows_no_link(tmp_path, linked):
    folder, target = tmp_path / "leaves", tmp_path / "precious"
    settings = Settings(n_species=1, plants_per_species=2, test_plants=1, max_side=32)
    write_collection(folder, settings)
    if (folder / linked).is_dir():
        (folder / linked).rename(target)
    else:
        (folder / linked).unlink(missing_ok=True)
        target.write_text("precious")
    (folder / linked).symlink_to(target)
    before = contents(target) if target.is_dir() else target.read_text()
    with pytest.raises(LeafidError, match=f"{linked}: expected a drawn file or folder, found a link"):
        write_collection(folder, settings, force=True)
    assert before == (contents(target) if target.is_dir() else target.read_text())


def test_a_file_is_refused_as_folder(tmp_path):
    file = tmp_path / "leaves"
    file.write_text("")
    with pytest.raises(LeafidError, match="expected a folder, found a file"):
        write_collection(file, SETTINGS)


def test_mark_holds_the_settings_of_the_collection(written):
    mark = json.loads((written.folder / MARK).read_text())
    assert mark["settings"]["seed"] == 11
    assert mark["settings"]["types"] == ["scan", "scan-like", "photo"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_species": 29}, "species: expected a number from 1 to 28, found 29"),
        ({"n_species": 0}, "species: expected"),
        ({"plants_per_species": 0}, "plants: expected"),
        ({"test_plants": 6}, "test plants: expected a number from 0 to 5, found 6"),
        ({"pictures_per_plant_and_type": 0}, "pictures: expected"),
        ({"max_side": 31}, "size: expected a number from 32"),
        ({"max_side": 100_000}, "size: expected"),
        ({"seed": -1}, "seed: expected"),
        ({"types": ()}, "types: expected at least one"),
    ],
)
def test_wrong_settings_are_refused(changed, message):
    with pytest.raises(UsageError, match=message):
        Settings(**changed)


@pytest.mark.parametrize("kind", AcquisitionType)
def test_the_shipped_sample_is_what_is_drawn_today(kind):
    """Otherwise scripts/make-sample draws it again; processors may round differently."""
    sample = Path(__file__).parents[2] / "data" / "sample"
    values = json.loads((sample / MARK).read_text())["settings"]
    settings = Settings(**{**values, "types": tuple(map(AcquisitionType, values["types"]))})
    plan = plan_collection(settings)
    picture = next(picture for picture in plan if picture.type is kind and picture.part == "train")
    shipped = cv2.imread(str(sample / "Train" / f"{picture.number}.jpg")).astype(int)
    drawn = draw_planned_picture(picture, settings).image
    assert shipped.shape == drawn.shape
    # JPEG changes single values, not their means over blocks.
    assert np.abs(cv2.blur((shipped - drawn).astype(np.float32), (8, 8))).mean() < 1.5
