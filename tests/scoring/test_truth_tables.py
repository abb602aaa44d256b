"""Tables as ground truths: what is read, and how errors are named."""

import csv

import pytest

from leafid import evaluate
from leafid.pictures.reading import read_collection
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.truth_reading import read_ground_truth
from tests.scoring.golden_files import GOOD, TRUTH


def write_truth(folder):
    """Write the golden ground truth as a table of paths; return also its species.

    Labels are in small letters.
    """
    truth = read_ground_truth(TRUTH)
    columns = (
        truth.pictures,
        truth.species,
        truth.official_plant,
        truth.author,
        truth.type,
    )
    rows = [
        (f"images/{name}", kind.lower().replace(" ", "_"), *more)
        for name, kind, *more in zip(*columns, strict=True)
    ]
    with (folder / "truth.csv").open("w", encoding="utf-8") as stream:
        csv.writer(stream).writerows(
            [("picture", "species", "plant", "author", "type"), *rows]
        )
    return folder / "truth.csv", {
        kind: label for (_, label, *_), kind in zip(rows, truth.species, strict=True)
    }


def test_a_table_is_a_truth_without_pictures(cli, tmp_path):
    table, labels = write_truth(tmp_path)
    records, expected = evaluate(table, GOOD), evaluate(TRUTH, GOOD)
    assert records == expected
    # The run may use the labels of the table.
    lines = [
        f"{p.picture},{labels.get(p.species, p.species)},{p.score}"
        for p in read_run(GOOD)
    ]
    (tmp_path / "good.txt").write_text("\n".join(["picture,species,score", *lines]))
    assert evaluate(table, tmp_path / "good.txt", ["S"]) == evaluate(TRUTH, GOOD, ["S"])
    assert (
        cli("check", tmp_path / "good.txt", "--against", table).out
        == "ok: 40 pictures, 160 predictions\n"
    )
    result = cli("report", table, GOOD, "--output", tmp_path / "report", "--jobs", 1)
    assert (result.status, result.err) == (0, "")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("1.jpg,Acer campestre\n", ":1: expected a heading with the column 'file'"),
        (
            "picture,species\n1.jpg,Acer campestre\n1.jpg,Acer campestre\n",
            ":3: expected every picture once, found",
        ),
        (
            "picture,type\n1.jpg,drawing\n",
            ":2: 1.jpg: type: expected an acquisition type",
        ),
        ("picture,species\n1.jpg\n", ":2: expected 2 cells, found 1"),
        (
            "picture,author\n1.jpg,Ann\n",
            ": expected pictures with their species, found none",
        ),
        (b"picture,species\n\xff.jpg,Acer campestre\n", ":2: expected UTF-8 text"),
    ],
)
def test_what_is_wrong_with_a_table_is_named_with_its_line(
    cli, file, content, expected
):
    table = file(content, "truth.csv")
    result = cli("evaluate", table, file("1.jpg Acer campestre 1 1\n"))
    assert (result.status, result.out, result.err.count("\n")) == (1, "", 1)
    assert f"{table}{expected}" in result.err


def test_a_picture_of_a_table_is_never_outside_its_folder(file):
    table = file(
        "picture\n/etc/1.jpg\n../2.jpg\na\\3.jpg\na/../../4.jpg\n", "truth.csv"
    )
    files = [
        picture.file.relative_to(table.parent).as_posix()
        for picture in read_collection(table).pictures
    ]
    assert files == ["1.jpg", "2.jpg", "a/3.jpg", "4.jpg"]
