import json
import shutil

import pytest


@pytest.fixture
def collection(tmp_path, make_picture):
    """Two species, a truncated picture, a picture that is text, duplicates, a missing one, and a bad XML."""
    folder = tmp_path / "leaves"
    make_picture(folder, 1, "campestre", plant="1")
    make_picture(folder, 2, "campestre", plant="2")
    make_picture(folder, 3, "opalus", plant="3")
    make_picture(folder, 4, "opalus", plant="3")
    make_picture(folder, 5, "opalus", plant="3")
    make_picture(folder, 6, "opalus", plant="3", type_="photograph")
    (folder / "3.jpg").write_bytes((folder / "2.jpg").read_bytes())
    cut = (folder / "4.jpg").read_bytes()
    (folder / "4.jpg").write_bytes(cut[:-4])
    (folder / "5.jpg").write_text("Not a picture at all")
    (folder / "6.jpg").unlink()
    (folder / "7.xml").write_text("<!DOCTYPE Image><Image/>")
    return folder


@pytest.fixture
def make_picture():
    import cv2
    import numpy as np

    def write(folder, number, epithet, plant, type_="Scan"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.xml").write_text(
            f"<Image><FileName>{number}.jpg</FileName><Type>{type_}</Type><Author>Jane</Author>"
            f"<IndividualPlantId>{plant}</IndividualPlantId><Content>Leaf</Content><Date>2010/0{number}</Date>"
            f"<Taxon><Genus>Acer</Genus><Species>{epithet}</Species></Taxon></Image>"
        )
        cv2.imwrite(str(folder / f"{number}.jpg"), np.full((30, 40, 3), number * 9, np.uint8))

    return write


def test_text(cli, collection):
    outcome = cli("info", collection, "--jobs", 1)
    assert (outcome.status, outcome.err) == (0, "")
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert lines[0] == f"{collection} (layout: imageclef)"
    assert "scan 5 2 3 1" in lines
    assert "photo 1 1 1 1" in lines
    assert "all 6 2 3 1" in lines
    assert "Acer campestre 2 2 2 0" in lines
    assert "Acer opalus 4 1 3 1" in lines
    assert "unreadable 2" in lines
    assert any("4.jpg" in line and "truncated JPEG" in line for line in lines)
    assert any("5.jpg" in line and "found something else" in line for line in lines)
    assert "missing 1" in lines
    assert any("2.jpg" in line and "3.jpg" in line for line in lines)
    assert any("7.xml:1: expected XML without a DOCTYPE" in line for line in lines)


def test_json(cli, collection):
    outcome = cli("info", collection, "--format", "json", "--jobs", 1)
    assert outcome.status == 0
    summary = json.loads(outcome.out)
    assert summary["total"] == {"pictures": 6, "species": 2, "plants": 3, "authors": 1}
    assert summary["types"]["scan"]["pictures"] == 5
    assert summary["species"][0] == {"species": "Acer campestre", "pictures": 2, "plants": 2, "by_type": {"scan": 2}}
    assert len(summary["unreadable"]) == 2
    assert summary["missing"] == [str(collection / "6.jpg")]
    assert summary["duplicates"] == [[str(collection / "2.jpg"), str(collection / "3.jpg")]]
    assert len(summary["problems"]) == 1


def test_similar_pictures_become_one_plant(cli, drawn, tmp_path):
    collection = tmp_path / "leaves"
    for part, name in (("Species 1", "1"), ("Species2", "2")):
        (collection / part).mkdir(parents=True)
        files = sorted((drawn / "Train").glob("*.jpg"))
        shutil.copy(files[int(name)], collection / part / f"{name}.jpg")
    shutil.copy(collection / "Species2" / "2.jpg", collection / "Species2" / "again.jpg")
    table = tmp_path / "plants.csv"
    outcome = cli("info", collection, "--similar", table, "--jobs", 1)
    assert (outcome.status, "one leaf: 2.jpg, again.jpg" in outcome.err) == (0, True)
    heading, *rows = table.read_text().splitlines()
    assert [heading, *sorted(rows)] == [
        "file,label,plant",
        "Species 1/1.jpg,Species 1,1.jpg",
        "Species2/2.jpg,Species2,2.jpg",
        "Species2/again.jpg,Species2,2.jpg",
    ]
