"""Folders named after species, and stray pictures beside and below them."""

import pytest

from leafid.pictures.reading import read_collection
from leafid.pictures.splitting.selection import select_training_pictures


def test_species_folders_below_parts(tmp_path, species_folders):
    for part in ("test", "Train", "val"):
        species_folders(tmp_path / part)
    collection = read_collection(tmp_path)
    assert collection.layout == "species-folders"
    assert [p.part for p in collection.pictures] == ["train"] * 3 + ["val"] * 3 + [
        "test"
    ] * 3
    assert {p.part for p in read_collection(tmp_path / "Train").pictures} == {"train"}


def test_species_folders_beside_parts(tmp_path, species_folders):
    species_folders(tmp_path)
    species_folders(tmp_path / "train")
    (tmp_path / "notes").mkdir()
    collection = read_collection(tmp_path)
    assert [p.part for p in collection.pictures] == ["train"] * 3
    (problem,) = collection.problems
    assert "3 files left out" in problem
    assert collection.is_incomplete


def test_other_pictures_have_no_label(tmp_path, draw, species_folders, caplog):
    species_folders(tmp_path)
    for loose in (
        "1.jpg",
        "Acer_campestre/tree 1/3.jpg",
        "deep/Oak/1.jpg",
        ".hidden/1.jpg",
        "Quercus */1.jpg",
    ):
        draw(tmp_path / loose)
    collection = read_collection(tmp_path)
    assert collection.layout == "species-folders"
    (hidden,) = collection.problems
    assert "1 file left out" in hidden
    assert [
        (p.file.relative_to(tmp_path).as_posix(), p.species)
        for p in collection.pictures
    ] == [
        ("1.jpg", None),
        ("Acer_campestre/1.jpg", "Acer campestre"),
        ("Acer_campestre/2.PNG", "Acer campestre"),
        # A folder below that of a label is part of it.
        ("Acer_campestre/tree 1/3.jpg", "Acer campestre"),
        ("Platanus x hispanica/1.jpg", "Platanus x hispanica"),
        # No run may hold this label.
        ("Quercus */1.jpg", None),
        # ImageFolder also takes the folder of the first level for the label.
        ("deep/Oak/1.jpg", "deep"),
    ]
    assert len(select_training_pictures(collection.pictures)) == 5
    assert "2 of 7 pictures have no label and are left out" in caplog.text


@pytest.mark.parametrize(
    "name",
    [
        "Species1",
        "001.Acer",
        "n01234567",
        "healthy",
        "槭 树",
        "Apple___Black_rot",
        "two words",
    ],
)
def test_any_folder_name_is_a_label(tmp_path, draw, name):
    draw(tmp_path / name / "1.jpg")
    draw(tmp_path / "Acer_campestre" / "2.jpg")
    collection = read_collection(tmp_path)
    assert (collection.layout, collection.problems) == ("species-folders", ())
    taxa = {picture.file.parent.name: picture.taxon for picture in collection.pictures}
    assert (taxa[name].species, taxa[name].genus, taxa[name].family) == (
        name,
        None,
        None,
    )
    assert (taxa["Acer_campestre"].genus, taxa["Acer_campestre"].family) == (
        "Acer",
        "Sapindaceae",
    )


def read_labels(root):
    """Return label, plant and part of each picture by its path, and the problems."""
    collection = read_collection(root)
    read = {
        picture.file.relative_to(root).as_posix(): (
            picture.species,
            picture.plant,
            picture.part,
        )
        for picture in collection.pictures
    }
    return read, collection.problems


@pytest.mark.parametrize(
    "expected",
    [
        # Folders of plants below those of labels, in some or all of them, or one in
        # each.
        {
            "A/plant1/1.jpg": ("A", "A/plant1", None),
            "A/plant1/side/2.jpg": ("A", "A/plant1", None),
            "B/Tree_2/1.jpg": ("B", "B/Tree_2", None),
            "B/3.jpg": ("B", None, None),
            "B/whole tree/4.jpg": ("B", None, None),
        },
        {
            "Quercus robur/specimen 7b/1.jpg": (
                *("Quercus robur", "Quercus robur/specimen 7b", None),
            ),
            "Quercus robur/specimen 8/1.jpg": (
                *("Quercus robur", "Quercus robur/specimen 8", None),
            ),
        },
        # Folders that hold all others, above and below parts.
        {
            "archive/leaves/A/1.jpg": ("A", None, None),
            "archive/leaves/B/more/1.jpg": ("B", None, None),
        },
        {
            "data/Train_Data/images/A/1.jpg": ("A", None, "train"),
            "data/Train_Data/images/B/1.jpg": ("B", None, "train"),
            "data/Testing/pictures/A/plant 3/1.jpg": (
                "A",
                "pictures/A/plant 3",
                "test",
            ),
            "data/Testing/pictures/unsorted.jpg": (None, None, "test"),
        },
        # Parts below labels.
        {
            "A/test/1.jpg": ("A", None, "test"),
            "A/train/1.jpg": ("A", None, "train"),
            "B/train/1.jpg": ("B", None, "train"),
        },
        # Several folders above those of species.
        {
            "photos/Acer campestre/1.jpg": ("Acer campestre", None, None),
            "scans/Acer campestre/1.jpg": ("Acer campestre", None, None),
            "scans/Quercus robur/tree 1/1.jpg": (
                *("Quercus robur", "scans/Quercus robur/tree 1", None),
            ),
        },
    ],
)
def test_nested_folders(tmp_path, draw, expected):
    for number, name in enumerate(expected):
        draw(tmp_path / name, number)
    assert read_labels(tmp_path) == (expected, ())


@pytest.mark.parametrize(
    ("part", "names"),
    {
        "train": ["Training", "train_set", "Trainingset", "Train-Data", "train2017"],
        "val": ["validation", "Valid", "val_images", "ValidationSet"],
        "test": ["Testing", "test_set", "images_test", "TESTDATA", "test split"],
        None: ["tests of soil", "contest", "trainer", "trainval", "Valerian"],
    }.items(),
)
def test_words_for_parts(tmp_path, draw, part, names):
    draw(tmp_path / "1.jpg")
    for name in names:
        draw(tmp_path / name / "A" / "1.jpg", 1)
        folder = tmp_path / name
        assert {picture.part for picture in read_collection(folder).pictures} == {part}
        (tmp_path / "t.csv").write_text(f"file,split\n1,{name}\n")
        (tmp_path / f"{name}.txt").write_text("1.jpg\n")
        if part:
            (picture,) = read_collection(tmp_path / "t.csv").pictures
            assert picture.part == part
            assert read_collection(tmp_path).pictures[0].part == part
        (tmp_path / f"{name}.txt").unlink()


def test_files_of_systems_are_left_out_and_counted(tmp_path, draw, species_folders):
    species_folders(tmp_path / "leaves")
    for name in (
        "@eaDir/1.jpg/SYNOPHOTO_THUMB_M.jpg",
        "__MACOSX/leaves/Acer_campestre/._1.jpg",
        "$Recycle.Bin/S-1-5/1.jpg",
        "System Volume Information/1.jpg",
        "lost+found/1.jpg",
        "leaves/.thumbnails/1.jpg",
        "leaves/.ipynb_checkpoints/1-checkpoint.jpg",
        "leaves/Acer_campestre/@eaDir/1.jpg",
        "leaves/Acer_campestre/._1.jpg",
        "leaves/#recycle/Acer/1.jpg",
        "leaves/LOST.DIR/1.jpg",
        "~snapshot/leaves/Acer_campestre/1.jpg",
    ):
        draw(tmp_path / name)
    (tmp_path / "leaves" / "Acer_campestre" / "Thumbs.db").touch()
    for root in (tmp_path, tmp_path / "leaves"):
        collection = read_collection(root)
        assert [picture.species for picture in collection.pictures] == [
            "Acer campestre",
            "Acer campestre",
            "Platanus x hispanica",
        ]
        count = 12 if root == tmp_path else 6
        (problem,) = (line for line in collection.problems if "left out" in line)
        assert f"{root}: {count} files left out ({root}/" in problem
        assert not collection.is_incomplete


def test_links_to_folders_of_labels(tmp_path, draw):
    for name in ("A/1.jpg", "B/1.jpg", "B/2.jpg"):
        draw(tmp_path / "all" / name)
    for link in ("train/A", "train/B", "test/A"):
        (tmp_path / "split" / link).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "split" / link).symlink_to(tmp_path / "all" / link[-1])
    read, problems = read_labels(tmp_path / "split")
    assert read == {
        "train/A/1.jpg": ("A", None, "train"),
        "train/B/1.jpg": ("B", None, "train"),
        "train/B/2.jpg": ("B", None, "train"),
        "test/A/1.jpg": ("A", None, "test"),
    }
    assert not problems
    # A second name for a folder is no second class.
    (tmp_path / "all" / "a link").symlink_to(tmp_path / "all" / "A")
    _, (problem,) = read_labels(tmp_path / "all")
    assert "found no file with the ending of a picture, but for links" in problem


def test_folders_of_plain_names_beside_loose_pictures_are_no_labels(tmp_path, draw):
    for name in ("1.jpg", "edited/1.jpg"):
        draw(tmp_path / name)
    collection = read_collection(tmp_path)
    assert (
        collection.layout,
        collection.species,
        [p.name for p in collection.pictures],
    ) == (
        *("pictures", ()),
        ["1.jpg", "edited/1.jpg"],
    )


@pytest.mark.parametrize(
    ("place", "is_outside"),
    [("", False), ("leaves", False), ("archive/leaves", False), ("data/train", True)],
)
def test_a_few_pictures_beside_folders_of_labels(tmp_path, draw, place, is_outside):
    draw(tmp_path / "README.png")
    for name in ("A/1.jpg", "A/plant 1/2.jpg", "B/3.jpg"):
        draw(tmp_path / place / name)
    collection = read_collection(tmp_path)
    assert collection.layout == "species-folders"
    labels = {p.name: p.species for p in collection.pictures}
    outside = {} if is_outside else {"README.png": None}
    assert labels == {**outside, "1.jpg": "A", "2.jpg": "A", "3.jpg": "B"}
    assert is_outside == any("README.png first" in line for line in collection.problems)
