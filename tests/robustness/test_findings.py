"""What fuzzing found, each as a test."""

import os

import pytest

from leafid.errors import MAX_LINE_LENGTH, LeafidError, to_one_line
from leafid.features.feature_cache import FeatureCache
from leafid.features.recipe import load_recipe
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.reading import read_collection
from leafid.schema import read_json
from leafid.scoring.reading.truth_reading import read_ground_truth_file
from leafid.tasks.annotation2016.files import read_list
from leafid.tasks.interpretation.coco import read_coco
from leafid.tasks.interpretation.label_masks import read_objects
from leafid.tasks.interpretation.metric import read_distances
from leafid.textfiles import read_table, read_text, read_xml

DIGITS = "9" * 5000  # Python refuses to convert more than 4,300


def recipe(file):
    return load_recipe(str(file), AcquisitionType.SCAN)


@pytest.mark.parametrize(
    "reader",
    [
        read_list,
        read_distances,
        read_objects,
        read_coco,
        read_ground_truth_file,
        recipe,
    ],
)
@pytest.mark.parametrize("content", [b"a\n\xff b", b"\xef\xbb\xbfa\n\xff b"])
def test_text_in_another_encoding(reader, content, tmp_path):
    file = tmp_path / "file.toml"
    file.write_bytes(content)
    with pytest.raises(LeafidError) as caught:
        reader(file)
    assert (
        str(caught.value)
        == f"{file}:2: expected UTF-8 text, found the invalid byte 0xff; convert the "
        "file"
    )


@pytest.mark.parametrize("reader", [read_list, read_distances, read_objects, read_coco])
def test_a_file_that_is_not_there(reader, tmp_path):
    with pytest.raises(LeafidError, match=r"nowhere: no such file$"):
        reader(tmp_path / "nowhere")
    with pytest.raises(LeafidError, match=r": expected a file, found a folder$"):
        reader(tmp_path)


@pytest.mark.parametrize(
    ("reader", "content", "expected"),
    [
        (
            read_objects,
            f"mask,label,class\na.png,{DIGITS},leaf\n",
            ":2: expected a mask, a label from 1 up",
        ),
        (
            read_coco,
            f'{{"images": [{{"id": {DIGITS}}}]}}',
            ": expected JSON, found an error: Exceeds",
        ),
        (
            recipe,
            f"jittered = {DIGITS}",
            ": expected TOML, found an error: Exceeds the limit",
        ),
        (
            read_distances,
            ",a\n" + "x" * 200_000,
            ":2: expected a table as CSV, found an error: field larger",
        ),
        (
            read_distances,
            ",a\na,1_0e-1\n",
            ":2: expected a class of the first line and 1 distances",
        ),
        (
            read_objects,
            "mask,label,class,confidence\na.png,1,leaf,0_1e-1\n",
            ":2: expected a mask, a label from 1 up",
        ),
    ],
)
def test_numbers_and_cells_without_end(reader, content, expected, tmp_path):
    file = tmp_path / "file.toml"
    file.write_text(content)
    with pytest.raises(LeafidError) as caught:
        reader(file)
    assert str(caught.value).startswith(f"{file}{expected}")


def test_a_store_whose_schema_is_no_text(tmp_path):
    store = FeatureCache(tmp_path)
    store.put([(b"key", b"value")])
    store.close()
    # SQLite says what is wrong in words that it takes from the schema.
    store.file.write_bytes(
        store.file.read_bytes().replace(b"CREATE TABLE", b"CREATE \x89\xff\x89\xffE")
    )
    with pytest.raises(
        LeafidError, match=r"the feature cache can't be used: .*remove a damaged one"
    ):
        FeatureCache(tmp_path)


def test_long_messages_lose_their_middle():
    assert to_one_line("short") == "short"
    assert to_one_line("x" * MAX_LINE_LENGTH) == "x" * MAX_LINE_LENGTH
    long = to_one_line(f"file:1: found {'x' * 10_000}; mend it")
    assert len(long) == MAX_LINE_LENGTH
    assert long.startswith("file:1: found xxx")
    assert long.endswith("xxx; mend it")
    assert " … " in long
    assert to_one_line("a\udcff\0é×\u2028b") == "a\\udcff\\x00é×\\u2028b"


def test_a_file_name_can_not_write_to_the_terminal(tmp_path, cli):
    name = tmp_path / "a\n\x1b[31mb.jpg"
    name.write_text("no picture")
    result = cli("segment", name, "--output", tmp_path / "out")
    assert result.status == 1
    assert "\x1b" not in result.err
    assert "a\\n\\x1b[31mb.jpg" in result.err


def test_a_named_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(
        LeafidError, match=r"pipe: expected a file, found a named pipe or a device$"
    ):
        read_xml(tmp_path / "pipe")
    with pytest.raises(
        LeafidError, match=r"pipe: expected a file, found a named pipe or a device$"
    ):
        read_image(tmp_path / "pipe")


@pytest.mark.parametrize(
    "name", [f"{DIGITS}.jpg", f"{'x' * 300}.jpg", f"{'é' * 150}.jpg"]
)
def test_a_file_name_that_is_too_long(name, tmp_path):
    """It leaves one picture out, and not the collection."""
    for xml, file_name in (("1.xml", "1.jpg"), ("2.xml", name)):
        (tmp_path / xml).write_text(
            f"<Image><FileName>{file_name}</FileName></Image>", encoding="utf-8"
        )
    (problem,) = read_collection(tmp_path).problems
    assert problem.startswith(
        f"{tmp_path}/2.xml: FileName: expected a file name of at most 255 bytes, found "
        "'"
    )
    assert problem.endswith(".jpg'; the picture is left out")


def test_tables_and_texts(tmp_path):
    file = tmp_path / "table.csv"
    file.write_bytes(b'\xef\xbb\xbfa,"b\nc"\r\n\r\nd\n')
    assert read_text(file).startswith("a,")
    assert list(read_table(file)) == [(1, ["a", "b\nc"]), (4, ["d"])]
    file.write_bytes(b'\xef\xbb\xbf{"a": [1,\n 2]}')
    assert read_json(file, dict) == {"a": [1, 2]}
    # A value of another type before the end of what is JSON makes no difference.
    for kind in (dict, dict[str, str], list):
        file.write_text('{"a": [1,\n 2,}')
        with pytest.raises(
            LeafidError,
            match=r"table\.csv:2: expected JSON, found an error: Expecting value",
        ):
            read_json(file, kind)


def test_a_file_too_large_for_a_picture_is_not_hashed(
    cli, drawn_model, light_recipe, tmp_path
):
    for species in ("Acer campestre", "Quercus ilex"):
        (tmp_path / species).mkdir()
        with (tmp_path / species / "leaf.jpg").open("wb") as stream:
            stream.truncate(1 << 40)
    for command, words in {
        "info": [],
        "predict": ["--model", drawn_model],
        "train": [
            "--recipe",
            light_recipe,
            "--assume-type",
            "scan",
            "--output",
            tmp_path / "model",
        ],
    }.items():
        result = cli(command, tmp_path, "--jobs", 1, *words)
        assert result.status == (command != "info")
        assert (
            "leaf.jpg: expected a picture of 1 byte to 1024 MiB, found"
            in result.out + result.err
        )
