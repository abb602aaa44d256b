"""What tables, lists of parts, COCO files and patterns say about pictures."""

import shutil
import unicodedata

import pytest

from leafid.errors import LeafidError, UsageError
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.reading import read_collection
from leafid.scoring.tables import format_csv


@pytest.fixture
def flat(tmp_path, draw):
    """A folder of four pictures whose names tell species and plant."""
    for number, name in enumerate(
        ("maple_1a.jpg", "maple_2.jpg", "oak_1.jpg", "sub/oak_7.jpg")
    ):
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
        "maple_1a.jpg,m/1.png,Acer "
        "campestre,p1,scan,Jane,2010-07-06,43.5,3.25,train,fine",
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
    assert (first.plant, first.type, first.author, first.date) == (
        "p1",
        AcquisitionType.SCAN,
        "Jane",
        "2010-07-06",
    )
    assert first.coordinates == (43.5, 3.25)
    assert [picture.part for picture in collection.pictures] == [
        "train",
        "test",
        None,
        "val",
    ]
    unused, problem = collection.problems
    assert unused == f"{flat / 'labels.csv'}: columns that are not used: mask, remark"
    assert problem.startswith(
        f"{flat / 'labels.csv'}: 1 picture in folders that it lacks are left out, "
    )


def test_table_adds_to_folders(tmp_path, draw):
    for name in ("Species1/1.jpg", "Species2/1.jpg"):
        draw(tmp_path / "leaves" / name)
    table = write_table(
        tmp_path, "file,plant", "Species1/1.jpg,p", "Species2/1,q", name="plants.csv"
    )
    pictures = read_collection(tmp_path / "leaves", metadata=table).pictures
    assert [(p.species, p.plant) for p in pictures] == [
        ("Species1", "p"),
        ("Species2", "q"),
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["name,label", "a,b"], "expected a heading with the column 'file'"),
        (["file,label", "maple_2,a,b"], ":2: expected 2 cells, found 3"),
        # Its plant would be unknown in silence.
        (["file,label,plant", "maple_2,a"], ":2: expected 3 cells, found 2"),
        (
            ["file,label", ",a"],
            ":2: expected the name of a picture, found an empty cell",
        ),
        (
            ["file,label", "oak_1,a", "maple_2,a", "oak_1.jpg,b"],
            "oak_1.jpg', as in line 2",
        ),
        (
            ["file,label", "oak_1.jpg,a", "./oak_1.jpg,b"],
            ":3: expected every picture once, found '",
        ),
        # A quote that isn't closed: to the end, to that of a later cell, to the next
        # stray one, in a column of notes.
        (
            ["file,label", "", 'oak_1,"ash', "maple_2,elm"],
            ":3: expected a table as CSV, found an error: unexpected end",
        ),
        (
            ["file,label", "maple_1a,a", 'oak_1,"ash', 'maple_2,"elm"'],
            ":3: expected a table as CSV",
        ),
        (
            ["file,label", "maple_1a,a", 'oak_1,"ash', 'maple_2,elm"'],
            ":3: expected a quote at the end of the cell",
        ),
        (
            ["file,note,label", 'oak_1.jpg,"tall,ash', 'maple_2.jpg,12",elm'],
            ":2: expected a quote at the end of the",
        ),
        # No separator of tables.
        (["file:label", "oak_1:ash"], ":1: expected a heading with the column 'file'"),
        # A title is no heading.
        (["Leaves, 2024", "file,label", "oak_1,ash"], "found ['Leaves', '2024']"),
        (
            ["file,type", "oak_1,drawing"],
            ":2: oak_1: type: expected an acquisition type",
        ),
        (
            ["file,split", "oak_1,dev"],
            ":2: oak_1: split: expected train, val or test, found 'dev'",
        ),
    ],
)
def test_broken_tables(flat, lines, message):
    table = write_table(flat, *lines, name="any.csv")
    with pytest.raises(LeafidError) as caught:
        read_collection(flat, metadata=table)
    assert message in str(caught.value)


@pytest.mark.parametrize("heading", ["file,plant,tree", "file,tree,plant"])
def test_a_column_of_the_name_itself_counts_first(flat, heading):
    values = {"file": "oak_1.jpg", "plant": "p", "tree": "t"}
    table = write_table(
        flat,
        heading,
        ",".join(values[word] for word in heading.split(",")),
        name="any.csv",
    )
    collection = read_collection(flat, metadata=table)
    assert [
        picture.plant for picture in collection.pictures if picture.name == "oak_1.jpg"
    ] == ["p"]
    assert f"{table}: columns that are not used: tree" in collection.problems


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators(flat, separator):
    rows = (
        ["Image", "Species", "remark"],
        ["oak_1.jpg", "Quercus ilex", '"in a cell, two; of\tall|marks\nand lines"'],
    )
    write_table(flat, *(separator.join(row) for row in rows))
    assert labels(read_collection(flat))["oak_1.jpg"] == "Quercus ilex"


@pytest.mark.parametrize(
    ("column", "attribute", "word", "value"),
    [
        *(
            (name, "plant", "p1", "p1")
            for name in (
                "tree_id",
                "observation_id",
                "plantID",
                "individualID",
                "Tree ID",
            )
        ),
        ("recordedBy", "author", "Jane", "Jane"),
        ("eventDate", "date", "2019-05-03T10:20:00Z", "2019-05-03"),
        ("scientificName", "species", "Quercus ilex L.", "Quercus ilex"),
        ("decimal-Latitude,decimalLongitude", "coordinates", "43.5,3.25", (43.5, 3.25)),
    ],
)
def test_names_of_columns(flat, column, attribute, word, value):
    table = write_table(flat, f"file,{column}", f"oak_1,{word}", name="any.csv")
    collection = read_collection(flat, metadata=table)
    (oak,) = (picture for picture in collection.pictures if picture.name == "oak_1.jpg")
    assert getattr(oak, attribute) == value
    assert "not used" not in "".join(collection.problems)


@pytest.mark.parametrize(
    ("columns", "unused"),
    [
        ("TreeNo,notes", "TreeNo, notes"),
        ("plant,TreeNo", "TreeNo"),
        ("label,species", "species"),
    ],
)
def test_columns_that_are_not_used(flat, columns, unused):
    table = write_table(
        flat, f"file,{columns}", f"oak_1{columns.count(',') * ',a'},a", name="any.csv"
    )
    problems = [
        line
        for line in read_collection(flat, metadata=table).problems
        if "folders" not in line
    ]
    assert problems == [f"{table}: columns that are not used: {unused}"]


@pytest.mark.parametrize("word", ["NA", "nan", "None", "NULL", "n/a", "-", "#DIV/0!"])
def test_words_for_empty_cells(flat, word):
    write_table(
        flat,
        "file,label,plant",
        f"oak_1,{word},{word}",
        "maple_1a,Acer opalus,p",
        "maple_2,,q",
    )
    collection = read_collection(flat)
    assert collection.species == ("Acer opalus",)
    assert collection.pictures[2].plant is None
    assert collection.problems[:2] == (
        f"{flat}/labels.csv: 2 of 3 rows have no label ({word!r} in line 2, for "
        "example)",
        f"{flat}/labels.csv: 1 of 3 rows have no plant ({word!r} in line 2, for "
        "example)",
    )


def test_dates_and_coordinates_that_can_not_be_read_are_unknown(flat):
    table = write_table(
        *(flat, "file;date;lat;lon", "maple_1a;2024:05:01 10:00:00;48,8;2,3"),
        *("maple_2;5/13/2024;48,8;181", "oak_1;NA;91;2", "oak_7;45413;;"),
        name="any.csv",
    )
    collection = read_collection(flat, metadata=table)
    assert [(p.date, p.coordinates) for p in collection.pictures] == [
        ("2024-05-01", (48.8, 2.3)),
        *[(None, None)] * 3,
    ]
    date, latitude, longitude = collection.problems
    assert date == (
        f"{table}: 3 of 4 rows have no date (expected a date like 2010-07-06, 06/07/10 "
        "(day first) or 2010, found '5/13/2024' in line 3, for example)"
    )
    assert "2 of 4 rows have no latitude (expected a latitude from -90 to " in latitude
    assert "2 of 4 rows have no longitude (expected a longitude from -180" in longitude


@pytest.mark.parametrize(
    "lines",
    [
        ["sep=;", "file;label", "oak_1;a, b"],
        ['"SEP=\t"', "file\tlabel", "oak_1\ta, b"],
        [";;", "file;label;", ";;", "oak_1;a, b;", "", ";;"],
        ["\xa0; ", "file;label", "\xa0;", "oak_1;a, b; ", "\xa0;\xa0; "],
    ],
)
def test_tables_of_spreadsheets(flat, lines):
    collection = read_collection(flat, metadata=write_table(flat, *lines))
    assert labels(collection)["oak_1.jpg"] == "a, b"
    assert len(collection.problems) == 1  # a folder is left out


def test_formulas_are_read_as_they_were(flat):
    names = ["=SUM(A1)", "'=1", "+a", "@b", "'tis", "-"]
    rows = [["file", "label"], *([f"{name}.jpg", name] for name in names[:-1])]
    (flat / "any.csv").write_text(format_csv(rows), encoding="utf-8")
    assert "'=SUM" in (flat / "any.csv").read_text(encoding="utf-8")
    pictures = read_collection(flat / "any.csv").pictures
    assert [[p.file.name, p.species] for p in pictures] == rows[1:]


@pytest.mark.parametrize("name", ["labels.csv", "leaves.csv", "train.csv"])
def test_a_table_without_the_columns_or_a_name_is_ignored(flat, name):
    heading = "file,label" if name == "leaves.csv" else "Bild;Art"
    table = write_table(flat, heading, "oak_1,Quercus ilex", name=name)
    collection = read_collection(flat)
    assert collection.species == ()
    assert collection.problems == (
        f"{table}: expected annotations.csv, labels.csv, metadata.csv, or a name as "
        "train.csv, and the columns 'file' and 'label'; it is ignored, unless "
        "--metadata names it",
    )


@pytest.mark.parametrize("place", ["", "archive"])
def test_tables_of_parts_beside_a_folder(tmp_path, draw, place):
    """As data sets of competitions come, with or without a folder around them."""
    for number, name in enumerate("abcd"):
        draw(tmp_path / place / "images" / f"{name}.jpg", number)
    folder = tmp_path / place
    write_table(folder, "image_id,species", "a,oak", "b,maple", name="train.csv")
    write_table(folder, "image_id", "c", name="test.csv")
    dummy = write_table(folder, "image_id,species", "c,oak", name="submission.csv")
    collection = read_collection(tmp_path)
    assert [(p.file.stem, p.species, p.part) for p in collection.pictures] == [
        ("a", "oak", "train"),
        ("b", "maple", "train"),
        ("c", None, "test"),
        ("d", None, None),
    ]
    (ignored,) = collection.problems
    assert ignored.startswith(f"{dummy}: expected annotations.csv, labels.csv, ")
    write_table(folder, "image_id,split", "a,train", name="valid.csv")
    with pytest.raises(
        LeafidError, match=r"\.csv:2: a: expected a picture of one part"
    ):
        read_collection(tmp_path)


def test_labels_of_several_parts_in_tables(tmp_path, draw):
    for number, name in enumerate(("train_images/a", "images/b", "images/c")):
        draw(tmp_path / f"{name}.jpg", number)
    for name, row in {"train": "a.jpg,x", "val": "b.jpg,y", "test": "c.jpg,x"}.items():
        write_table(tmp_path, "filename,class", row, name=f"{name}.csv")
    pictures = read_collection(tmp_path).pictures
    assert {p.file.stem: (p.species, p.part) for p in pictures} == {
        "a": ("x", "train"),
        "b": ("y", "val"),
        "c": ("x", "test"),
    }


def test_a_table_of_a_part_is_in_its_folder(tmp_path, draw):
    draw(tmp_path / "train" / "images" / "a.jpg")
    write_table(tmp_path / "train", "file,label", "a,oak")
    assert read_collection(tmp_path).species == ("oak",)


def test_a_table_that_can_not_be_read_counts_only_if_it_has_a_name(flat):
    broken = write_table(flat, 'file,"label', "oak_1,oak", name="old.csv")
    (problem,) = read_collection(flat).problems
    assert problem.startswith(f"{broken}: expected annotations.csv, ")
    named = broken.rename(flat / "labels.csv")
    with pytest.raises(LeafidError, match=f"{named}:1: expected a table as CSV"):
        read_collection(flat)


def test_only_the_pictures_that_a_table_names(flat):
    table = write_table(flat, "file", "oak_1", "oak_7.jpg", name="mine.csv")
    for paths in (flat, sorted(flat.rglob("*.jpg"))):
        collection = read_collection(paths, metadata=table, only_named=True)
        assert sorted(p.file.name for p in collection.pictures) == [
            "oak_1.jpg",
            "oak_7.jpg",
        ]
        (problem,) = collection.problems
        assert problem.startswith(f"{table}: 2 pictures that it lacks are left out, ")
        assert not collection.is_incomplete
    with pytest.raises(
        LeafidError, match=r"expected rows of pictures of .*, found none"
    ):
        read_collection(flat / "maple_2.jpg", metadata=table, only_named=True)


def test_two_lists_of_one_picture(flat):
    (flat / "train.txt").write_text("oak_1.jpg\noak_1.jpg\n")
    assert read_collection(flat).problems == ()
    (flat / "test.txt").write_text("maple_2\n./oak_1.jpg\n")
    with pytest.raises(
        LeafidError,
        match=(
            r"train\.txt:1: oak_1\.jpg: expected a picture of one part, found it in "
            r"part"
        ),
    ):
        read_collection(flat)


@pytest.mark.parametrize(("on_disk", "written"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_accents_in_either_form(tmp_path, draw, on_disk, written):
    """File systems and editors differ in whether an accent is a part of its letter."""
    folder, picture, table = (
        unicodedata.normalize(on_disk, name)
        for name in ("érables", "é 1.jpg", "données.csv")
    )
    draw(tmp_path / folder / picture)
    row = unicodedata.normalize(written, "érables/é 1.jpg,Érable,né")
    collection = read_collection(
        tmp_path, metadata=write_table(tmp_path, "file,label,plant", row, name=table)
    )
    (picture,) = collection.pictures
    nfc = unicodedata.normalize("NFC", "Érable"), unicodedata.normalize("NFC", "né")
    assert (picture.species, picture.plant, picture.name) == (
        *nfc,
        unicodedata.normalize("NFC", "é_1.jpg"),
    )
    (tmp_path / "test.txt").write_text(
        unicodedata.normalize(written, "érables/é 1.jpg\n"), encoding="utf-8"
    )
    assert read_collection(tmp_path).pictures[0].part == "test"
    pattern = unicodedata.normalize("NFC", "(é) 1")
    assert read_collection(tmp_path, plants_from=pattern).pictures[
        0
    ].plant == unicodedata.normalize("NFC", "é")


def test_rows_without_a_picture_are_counted(flat):
    table = write_table(
        flat,
        "file,label",
        "oak_1,a",
        *(f"../{n}.jpg,b" for n in range(1000)),
        name="any.csv",
    )
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
    pictures = read_collection(
        flat, label_from="^(?:sub/)?([a-z]+)_", plants_from=r"\d+"
    ).pictures
    assert [(p.species, p.plant) for p in pictures] == [
        ("maple", "1"),
        ("maple", "2"),
        ("oak", "1"),
        ("oak", "7"),
    ]
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
    # A part has the same names by itself.
    assert [p.name for p in read_collection(tmp_path / "test").pictures] == [
        p.name for p in pictures[1:]
    ]
