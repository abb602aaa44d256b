from pathlib import Path

from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.pictures.summary import (
    count_by_species,
    find_risks,
    warn_of_shared_pictures,
)


def picture(name: str, species: str | None = None, **fields: object) -> Picture:
    return Picture(Path(name), taxon=Taxon(species) if species else None, **fields)


SCAN, PHOTO = AcquisitionType.SCAN, AcquisitionType.PHOTO
PICTURES = [
    picture("1", "Acer a", plant="1", author="x", type=SCAN),
    picture("2", "Acer a", plant="1", author="y", type=PHOTO),
    picture("3", "Acer b", plant="2", author="x", type=SCAN),
    picture("4", "Acer a"),
    picture("5"),
]


def test_counts_by_species():
    rare, common = count_by_species(PICTURES)
    assert rare == {
        "species": "Acer b",
        "pictures": 1,
        "plants": 1,
        "by_type": {"scan": 1},
    }
    by_type = {"photo": 1, "scan": 1, "unknown": 1}
    assert common == {
        "species": "Acer a",
        "pictures": 3,
        "plants": 2,
        "by_type": by_type,
    }


def test_risks_of_an_experiment():
    first, second = (
        picture(f"{n}.jpg", "a", part="train", plant=f"p{n}") for n in (1, 2)
    )
    third = picture("3.jpg", "b", part="test", plant="p1")
    pictures = [first, second, third]
    assert list(find_risks(pictures[:2], [])) == []
    assert [line.split(":")[0] for line in find_risks(pictures, [[second, third]])] == [
        "1 duplicate of several species, 2.jpg and 3.jpg first",
        "1 duplicate of several parts, 2.jpg and 3.jpg first",
        "1 duplicate of several plants, 2.jpg and 3.jpg first",
        "1 plant of several species, 1.jpg and 3.jpg first",
        "1 plant of several parts, 1.jpg and 3.jpg first",
    ]
    elsewhere = picture("4.jpg", "b", part="test", plant="p1", collection="c")
    [risk] = find_risks([third, elsewhere], [[third, elsewhere]], ["collection"])
    assert risk.startswith("1 duplicate of several collections, 3.jpg and 4.jpg first")
    assert list(find_risks([], [])) == []
    assert [line.split(":")[0] for line in find_risks([PICTURES[3]], [])] == [
        "the plants are unknown"
    ]


def test_only_files_of_one_content_are_shared(tmp_path, caplog):
    contents = {"train-1": b"aa", "train-2": b"ab", "test-1": b"ba", "test-2": b"ab"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    pictures = [
        picture(str(tmp_path / name), part=name.partition("-")[0])
        for name in (*contents, "train-gone", "test-gone")
    ]
    warn_of_shared_pictures(pictures)
    (line,) = caplog.messages
    assert line.startswith(
        f"1 duplicate of several parts, {tmp_path}/train-2 and {tmp_path}/test-2 first"
    )
