import shutil

import pytest


@pytest.fixture
def collection(tmp_path, add):
    """Two species, and broken, missing and duplicate pictures, and a bad XML."""
    folder = tmp_path / "leaves"
    for number, (epithet, plant) in enumerate(
        [("campestre", "1"), ("campestre", "2"), *[("opalus", "3")] * 4], 1
    ):
        type_ = "photograph" if number == 6 else "Scan"
        add(
            folder,
            number,
            Genus="Acer",
            Species=epithet,
            IndividualPlantId=plant,
            Type=type_,
        )
    (folder / "3.jpg").write_bytes((folder / "2.jpg").read_bytes())
    cut = (folder / "4.jpg").read_bytes()
    (folder / "4.jpg").write_bytes(cut[:-4])
    (folder / "5.jpg").write_text("Not a picture at all")
    (folder / "6.jpg").unlink()
    (folder / "7.xml").write_text("<!DOCTYPE Image><Image/>")
    return folder


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
    summary = outcome.json
    assert summary["total"] == {"pictures": 6, "species": 2, "plants": 3, "authors": 1}
    assert summary["types"]["scan"]["pictures"] == 5
    assert summary["species"][0] == {
        "species": "Acer campestre",
        "pictures": 2,
        "plants": 2,
        "by_type": {"scan": 2},
    }
    assert len(summary["unreadable"]) == 2
    assert summary["missing"] == [str(collection / "6.jpg")]
    assert summary["duplicates"] == [
        [str(collection / "2.jpg"), str(collection / "3.jpg")]
    ]
    assert len(summary["problems"]) == 1


def test_similar_pictures_become_one_plant(cli, drawn, tmp_path):
    collection = tmp_path / "leaves"
    for part, name in (("Species 1", "1"), ("Species2", "2")):
        (collection / part).mkdir(parents=True)
        files = sorted((drawn / "Train").glob("*.jpg"))
        shutil.copy(files[int(name)], collection / part / f"{name}.jpg")
    shutil.copy(
        collection / "Species2" / "2.jpg", collection / "Species2" / "again.jpg"
    )
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
