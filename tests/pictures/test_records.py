"""What tables, lists of parts, COCO files and patterns say about pictures."""

import shutil

import pytest

from leafid.errors import LeafidError, UsageError
from leafid.pictures import AcquisitionType, find_name_clashes, read_collection


@pytest.fixture
def flat(tmp_path, draw):
    """A folder of four pictures whose names tell species and plant."""
    for number, name in enumerate(("maple_1a.jpg", "maple_2.jpg", "oak_1.jpg", "sub/oak_7.jpg")):
        draw(tmp_path / name, number)
    return tmp_path


def write_table(folder, *lines, name="labels.csv"):
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / name


def labels(collection):
    return {picture.file.name: picture.species for picture in collection.pictures}


def test_table_in_the_folder(flat):
    write_table(
        *(flat, "Image,mask,Species,plant,type,author,date,Latitude,lon,split,remark"),
        "maple_1a.jpg,m/1.png,Acer campestre,p1,scan,Jane,2010-07-06,43.5,3.25,train,fine",
        "maple_2,,Acer campestre,p2,photo,,,,,test,",
        "sub/oak_7.jpg,,healthy,,,,,,,val,",
    )
    (flat / "masks").mkdir()
    shutil.copy(flat / "oak_1.jpg", flat / "masks")
    collection = read_collection(flat)
    assert labels(collection) == {
        "maple_1a.jpg": "Acer campestre",
        "maple_2.jpg": "Acer campestre",
        "oak_1.jpg": None,
        "oak_7.jpg": "healthy",
    }
    first = collection.pictures[0]
    assert (first.plant, first.type, first.author, first.date) == ("p1", AcquisitionType.SCAN, "Jane", "2010-07-06")
    assert first.coordinates == (43.5, 3.25)
    assert [picture.part for picture in collection.pictures] == ["train", "test", None, "val"]
    (problem,) = collection.problems
    assert problem.startswith(f"{flat / 'labels.csv'}: 1 picture in folders that it lacks are left out, ")


def test_table_adds_to_folders(tmp_path, draw):
    for name in ("Species1/1.jpg", "Species2/1.jpg"):
        draw(tmp_path / "leaves" / name)
    table = write_table(tmp_path, "file,plant", "Species1/1.jpg,p", "Species2/1,q", name="plants.csv")
    pictures = read_collection(tmp_path / "leaves", metadata=table).pictures
    assert [(p.species, p.plant) for p in pictures] == [("Species1", "p"), ("Species2", "q")]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["name,label", "a,b"], "expected a heading with the column 'file'"),
        (["file,label", "maple_2,a,b"], ":2: expected 2 cells, found 3"),
        (["file,label", ",a"], ":2: expected the name of a picture, found an empty cell"),
        (["file,label", "oak_1,a", "oak_1,a"], ":3: expected every picture once, found 'oak_1', as in line 2"),
        (["file,type", "oak_1,drawing"], ":2: oak_1: type: expected an acquisition type"),
        (["file,latitude,longitude", "oak_1,91,3"], ":2: oak_1: longitude: expected a number from -90 to 90"),
        (["file,split", "oak_1,dev"], ":2: oak_1: split: expected train, val or test, found 'dev'"),
    ],
)
def test_broken_tables(flat, lines, message):
    table = write_table(flat, *lines, name="any.csv")
    with pytest.raises(LeafidError) as caught:
        read_collection(flat, metadata=table)
    assert message in str(caught.value)


def test_rows_without_a_picture_are_counted(flat):
    table = write_table(flat, "file,label", "oak_1,a", *(f"../{n}.jpg,b" for n in range(1000)), name="any.csv")
    problem = read_collection(flat, metadata=table).problems[0]
    assert "found none for 1000 of 1001 ('../0.jpg', first)" in problem
    assert len(problem) < 300 + len(str(flat)) * 2


def test_lists_of_parts(tmp_path, draw):
    for name in ("Species1/1.jpg", "Species1/2.jpg", "two words/3.jpg"):
        draw(tmp_path / name)
    (tmp_path / "train.txt").write_text("Species1/1.jpg 0\ntwo words/3.jpg\n")
    (tmp_path / "test.txt").write_text("2\n")
    collection = read_collection(tmp_path)
    assert collection.problems == ()
    assert [(p.species, p.part) for p in collection.pictures] == [
        ("Species1", "train"),
        ("Species1", "test"),
        ("two words", "train"),
    ]


def test_labels_and_plants_by_patterns(flat):
    pictures = read_collection(flat, label_from="^(?:sub/)?([a-z]+)_", plants_from=r"\d+").pictures
    assert [(p.species, p.plant) for p in pictures] == [("maple", "1"), ("maple", "2"), ("oak", "1"), ("oak", "7")]
    collection = read_collection(flat, label_from="maple")
    assert [p.species for p in collection.pictures] == ["maple", "maple", None, None]
    assert "found it in 2 of 4" in collection.problems[0]


@pytest.mark.parametrize("pattern", ["(", "(.)(.)"])
def test_broken_patterns(flat, pattern):
    with pytest.raises(UsageError, match="for the label, "):
        read_collection(flat, label_from=pattern)


def test_repeated_file_names_are_told_apart_in_runs(tmp_path, draw):
    for name in ("train/A b/1.jpg", "test/A b/1.jpg", "test/B/1.jpg", "test/B/2.jpg"):
        draw(tmp_path / name)
    pictures = read_collection(tmp_path).pictures
    assert [(p.part, p.name) for p in pictures] == [
        ("train", "1.jpg"),
        ("test", "A_b/1.jpg"),
        ("test", "B/1.jpg"),
        ("test", "B/2.jpg"),
    ]
    assert find_name_clashes(pictures) == {}
    # A part has the same names by itself.
    assert [p.name for p in read_collection(tmp_path / "test").pictures] == [p.name for p in pictures[1:]]
