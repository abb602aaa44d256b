import ast
import io
import json
import runpy
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

import leafid
from leafid.sklearn import LeafDescriptor

REPOSITORY = Path(__file__).parents[2]
PROBE = """
import sys
import leafid
loaded = {name.partition(".")[0] for name in sys.modules}
print(sorted(loaded & {"numpy", "cv2", "sklearn", "scipy", "skimage", "joblib", "PIL"}))
"""


@pytest.fixture(scope="module")
def model(drawn_model):
    return leafid.load_model(drawn_model)


@pytest.fixture(scope="module")
def test_pictures(drawn):
    return leafid.read_collection(drawn).part("test")


def test_the_page_has_the_functions_of_commands():
    script = runpy.run_path(str(REPOSITORY / "docs" / "python_functions.py"))
    page = (REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")
    assert page == script["insert_table"](page), (
        "run: python docs/python_functions.py docs/api.md"
    )


def test_import_loads_nothing_heavy():
    done = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_type_checkers_see_every_public_name():
    stub = ast.parse((REPOSITORY / "leafid" / "__init__.pyi").read_text())
    named = {
        alias.name
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert named == set(leafid.__all__) - {"__version__"}


def test_every_public_name_is_there_and_documented():
    for name in leafid.__all__:
        value = getattr(leafid, name)
        assert name in dir(leafid)
        assert name == "__version__" or value.__doc__
    with pytest.raises(AttributeError, match="attribute nonsense"):
        leafid.nonsense  # noqa: B018


def test_identify_takes_paths_pictures_and_collections(model, test_pictures, drawn):
    file = test_pictures.pictures[0].file
    (first,) = model.identify(str(file))
    assert first.picture.name == file.name
    assert sum(probability for _, probability in first.ranking) == pytest.approx(
        1, abs=1e-6
    )
    assert first.ranking == sorted(
        first.ranking, key=lambda entry: (-entry[1], entry[0])
    )
    for source in (file, [file], test_pictures.pictures[0]):
        (answer,) = model.identify(source, assume_type=first.type)
        assert answer.ranking == first.ranking
    assert (
        len(list(model.identify(test_pictures)))
        == len(list(model.identify(drawn / "Test")))
        == len(test_pictures)
    )


def make_sources(file):
    image = leafid.read_image(file)
    return [
        file,
        file.read_bytes(),
        io.BytesIO(file.read_bytes()),
        Image.open(file),
        image,
        str(file),
    ]


def test_each_input_is_answered_in_order(model, test_pictures):
    file = test_pictures.pictures[0].file
    (expected,) = model.identify(file)
    for source in make_sources(file):
        (answer,) = model.identify([source])
        assert dict(answer.ranking) == pytest.approx(dict(expected.ranking), abs=1e-6)
    answers = list(model.identify([*make_sources(file), file]))
    assert [a.picture.name for a in answers] == [
        file.name, *(f"pictures[{n}]" for n in range(1, 5)), file.name, file.name
    ]  # fmt: skip
    assert [a.ranking[0][0] for a in answers] == [expected.ranking[0][0]] * 7
    plant = model.identify_plant(make_sources(file)[:3])
    assert len(plant.parts) == 3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (None, r"found NoneType"),
        (np.zeros((3, 40, 50), np.uint8), r"\(3, 40, 50\); numpy.moveaxis"),
        (np.full((40, 50), 1.5), "from 0 to 1, found values from 1.5"),
        (np.zeros((40, 50), bool), "found bool"),
        (io.StringIO("text"), "binary mode"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_no_picture_is_refused_by_its_position(
    model, test_pictures, wrong, message
):
    with pytest.raises(
        leafid.LeafidError, match=rf"^pictures\[1\]: expected .*{message}"
    ):
        list(model.identify([test_pictures.pictures[0], wrong]))
    with pytest.raises(leafid.LeafidError, match=rf"^image: expected .*{message}"):
        leafid.segment(wrong, "scan")
    with pytest.raises(ValueError, match=rf"^X\[0\]: expected .*{message}"):
        LeafDescriptor(["hu"]).fit([wrong])


def test_arrays_of_all_shapes_are_the_same_picture(test_pictures):
    grey = leafid.read_image(test_pictures.pictures[0].file)[:, :, 1]
    expected = leafid.segment(np.dstack([grey] * 3), "scan")
    opaque = np.dstack([grey] * 3 + [np.full_like(grey, 255)])
    for image in (
        grey,
        grey[:, :, None],
        opaque,
        grey / 255,
        np.float32(grey) / 255,
        Image.fromarray(grey),
    ):
        np.testing.assert_array_equal(leafid.segment(image, "scan").mask, expected.mask)
    clear = np.dstack([grey] * 3 + [np.zeros_like(grey)])
    assert leafid.segment(clear, "scan").confidence == 0


def test_train_says_what_is_missing():
    for wrong, message in (
        ([1], "found 1"),
        (None, "found None"),
    ):
        with pytest.raises(leafid.LeafidError, match=f"expected .*pictures.*{message}"):
            leafid.train(wrong)


def test_segment_and_measure(test_pictures):
    picture = next(p for p in test_pictures.pictures if p.type == "scan")
    image = leafid.read_image(picture.file)
    leaf = leafid.segment(image, "scan")
    assert leaf.mask.shape == image.shape[:2]
    assert not (leaf.petiole & leaf.blade).any()
    assert 0 < leaf.confidence <= 1
    np.testing.assert_array_equal(leafid.segment(picture.file, "scan").mask, leaf.mask)
    values = leafid.describe(image, leaf, ["geometry", "teeth"])
    assert all(name.startswith(("geometry.", "teeth.")) for name in values)
    assert all(isinstance(value, float) for value in values.values())
    assert leafid.describe(picture.file, leaf, ["geometry"]).items() <= values.items()
    assert values.items() <= leafid.describe(image, leaf).items()
    assert leafid.describe(image, leaf, "geometry") == leafid.describe(
        image, leaf, ["geometry"]
    )
    with pytest.warns(DeprecationWarning, match="call leafid.describe"):
        assert leafid.measure(image, leaf, ["geometry", "teeth"]) == values
    with pytest.raises(
        leafid.LeafidError, match="leaf: expected a mask of an image of"
    ):
        leafid.describe(image[:100], leaf, "geometry")
    with pytest.raises(leafid.LeafidError, match="unknown descriptor family"):
        leafid.describe(image, leaf, ["geometrie"])


@pytest.mark.parametrize(
    "jobs",
    ["2", True, 1.5, 0, 10**18, None, io.BytesIO()],
    ids=lambda jobs: type(jobs).__name__,
)
def test_jobs_are_a_whole_number(jobs, model, test_pictures, drawn):
    file = test_pictures.pictures[0].file
    calls = [
        lambda: list(model.identify(file, jobs=jobs)),
        lambda: model.identify_plant([file], jobs=jobs),
        lambda: leafid.train(drawn, jobs=jobs),
        lambda: leafid.extend(model, drawn, jobs=jobs),
        lambda: LeafDescriptor(["hu"], jobs=jobs).fit_transform([file]),
    ]
    for call in calls:
        with pytest.raises(
            ValueError, match=r"^jobs: expected a whole number"
        ) as caught:
            call()
        assert isinstance(caught.value, leafid.LeafidError)
        assert " at 0x" not in str(caught.value)
    for number in (np.int64(1), -1, -5):
        assert len(list(model.identify(file, jobs=number))) == 1


def test_an_empty_path_is_not_the_current_folder(model, drawn, tmp_path, monkeypatch):
    monkeypatch.chdir(drawn)
    calls = [
        lambda: list(model.identify("")),
        lambda: list(model.identify([""])),
        lambda: model.identify_plant(""),
        lambda: leafid.read_collection(""),
        lambda: leafid.read_collection(["", drawn]),
        lambda: leafid.segment("", "scan"),
        lambda: leafid.train(""),
        lambda: leafid.train(drawn, cache=""),
        lambda: leafid.train(drawn, recipe=""),
        lambda: leafid.load_model(""),
        lambda: LeafDescriptor(["hu"]).fit_transform([""]),
    ]
    (drawn / "recipe.toml").write_text("")
    for call in calls:
        with pytest.raises(leafid.LeafidError, match=r"empty|found ''|no such recipe"):
            call()
    (drawn / "recipe.toml").unlink()


def test_messages_name_no_addresses(model, drawn):
    """Pillow names the object in memory that it reads a file from."""
    damaged = (
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
        + bytes(17)
        + b"\x00\x00\x00\x00IEND\xaeB`\x82"
    )
    (answer,) = model.identify(io.BytesIO(damaged))
    assert answer.problem.startswith("picture: expected ")
    messages = [answer.problem]
    for call in (
        lambda: leafid.segment(damaged, "scan"),
        lambda: leafid.train(io.BytesIO()),
        lambda: leafid.segment(drawn, io.BytesIO()),
    ):
        with pytest.raises(leafid.LeafidError) as caught:
            call()
        messages.append(str(caught.value))
    assert not [
        message
        for message in messages
        if " at 0x" in message or "BytesIO object" in message
    ]


def test_arrays_say_their_order_of_channels(model, test_pictures):
    image = leafid.read_image(
        next(p.file for p in test_pictures.pictures if p.type == "scan")
    )
    image[:, :, 0] //= 2  # so that the order matters
    rgb = image[:, :, ::-1]
    opaque = np.dstack([rgb, np.full(rgb.shape[:2], 255, np.uint8)])
    leaf = leafid.segment(image, "scan")
    values = leafid.describe(image, leaf, "interior")
    (expected,) = model.identify(image, assume_type="scan")
    table = LeafDescriptor(["interior"], "scan").fit_transform([image])
    assert values != leafid.describe(rgb, leaf, "interior")
    for array in (rgb, opaque, rgb / 255):
        np.testing.assert_array_equal(
            leafid.segment(array, "scan", color="rgb").mask, leaf.mask
        )
        assert leafid.describe(array, leaf, "interior", color="rgb") == values
        for answer in (
            *model.identify([array], assume_type="scan", color="rgb"),
            model.identify_plant([array], assume_type="scan", color="rgb"),
        ):
            assert answer.ranking == expected.ranking
        vectors = [
            model.embed([x], assume_type="scan", color=c)
            for x, c in ((array, "rgb"), (image, "bgr"))
        ]
        np.testing.assert_array_equal(*vectors)
        np.testing.assert_array_equal(
            LeafDescriptor(["interior"], "scan", color="rgb").fit_transform([array]),
            table,
        )
    for call in (
        lambda: leafid.segment(rgb, "scan", color="RGB"),
        lambda: leafid.describe(rgb, leaf, "hu", color="RGB"),
        lambda: list(model.identify(rgb, color="RGB")),
        lambda: model.embed(test_pictures.pictures[0].file, color="RGB"),
        lambda: LeafDescriptor(["hu"], color="RGB").fit([rgb]),
    ):
        with pytest.raises(
            ValueError, match=r"color: expected 'bgr' or 'rgb', .*found 'RGB'"
        ):
            call()


def test_segment_recognises_the_type(test_pictures):
    for picture in test_pictures.pictures[:3]:
        told = leafid.segment(picture.file, picture.type)
        np.testing.assert_array_equal(leafid.segment(picture).mask, told.mask)
    # Segmented as a photo, it would have less confidence.
    for file in ("fig", "hazel"):
        image = leafid.read_image(REPOSITORY / "examples" / "leaves" / f"{file}.jpg")
        expected = leafid.segment(image, {"fig": "scan", "hazel": "photo"}[file])
        np.testing.assert_array_equal(leafid.segment(image).mask, expected.mask)


def test_a_mask_from_elsewhere_is_measured(test_pictures):
    picture = next(p for p in test_pictures.pictures if p.type == "scan")
    leaf = leafid.segment(picture)
    values = leafid.describe(picture, leaf, ["geometry", "teeth"])
    for mask in (
        leaf.mask,
        leaf.mask.astype(int),
        leaf.mask * np.uint8(255),
        leaf.mask.tolist(),
        leaf.mask / 2,
    ):
        same = leafid.Segmentation.from_mask(mask)
        np.testing.assert_array_equal(same.blade, leaf.blade)
        assert leafid.describe(picture, same, ["geometry", "teeth"]) == values
    shapeless = (
        np.zeros((50, 60, 3), np.uint8),
        np.ones(3),
        [["leaf"]],
        np.zeros((0, 4)),
        None,
    )
    without_leaf = (
        np.zeros((50, 60)),
        -np.ones((2, 2)),
        np.array([[1, np.nan]]),
        np.array([[1, np.inf]]),
    )
    for wrong in shapeless + without_leaf:
        with pytest.raises(
            ValueError,
            match=r"^mask: expected (numbers of shape \(H, W\)|finite numbers above 0)",
        ):
            leafid.Segmentation.from_mask(wrong)


def test_all_of_two_labels_is_leaf_and_more_are_refused():
    blade = np.zeros((200, 200), np.uint8)
    blade[40:120, 50:150] = 1
    with_petiole = blade.copy()
    with_petiole[120:170, 97:103] = 2
    for scale in (1, 60):
        leaf = leafid.Segmentation.from_mask(with_petiole * np.uint8(scale))
        assert np.array_equal(leaf.mask, with_petiole > 0)
    # The soft edge of one label is no label.
    soft = cv2.GaussianBlur(blade * np.uint8(255), (0, 0), 5)
    leaf = leafid.Segmentation.from_mask(soft)
    assert np.count_nonzero(leaf.mask != (blade > 0)) < 100
    with_petiole[40:60, 50:150] = 3
    problem = "^mask: expected one leaf, found 3 labels; make a mask of those"
    with pytest.raises(ValueError, match=problem):
        leafid.Segmentation.from_mask(with_petiole)


def test_features_of_a_model_are_a_matrix(model, test_pictures, tmp_path):
    scans = test_pictures.select_type("scan")
    matrix = model.embed(scans, cache=tmp_path)
    assert (matrix.dtype, len(matrix)) == (np.float32, len(scans))
    assert np.isfinite(matrix).all()
    assert len(np.unique(matrix, axis=0)) == len(scans)
    np.testing.assert_array_equal(matrix, model.embed(scans, cache=tmp_path))
    np.testing.assert_array_equal(
        matrix[1:2], model.embed(scans.pictures[1], cache=False)
    )
    measures = leafid.describe(
        scans.pictures[0].file, leafid.segment(scans.pictures[0]), ["geometry", "hu"]
    )
    # The shape is the last expert of the recipe; vectors are kept in half precision.
    np.testing.assert_allclose(
        matrix[0, -len(measures) :], list(measures.values()), rtol=1e-3, atol=1e-3
    )
    for wrong, message in (
        ([], "found no picture"),
        (test_pictures, "found photo, scan, scan-like; say assume_type"),
        ([*scans.pictures, "nowhere.jpg"], "nowhere.jpg: no such file"),
    ):
        with pytest.raises(leafid.LeafidError, match=message):
            model.embed(wrong)
    with pytest.raises(leafid.LeafidError, match=r"nowhere\.jpg: no such file"):
        model.embed(["nowhere.jpg"], assume_type="scan")


def test_explain_explains_one_picture(model, test_pictures):
    picture = next(p for p in test_pictures.pictures if p.type == "scan")
    explanation = leafid.explain(picture, model)
    (answer,) = model.identify(picture)
    assert explanation.answer == answer
    image = leafid.read_image(picture.file)
    in_memory = leafid.explain(
        image[:, :, ::-1], model, assume_type="scan", color="rgb"
    )
    assert (in_memory.traits, in_memory.outlines) == (
        explanation.traits,
        explanation.outlines,
    )
    record = explanation.to_dict()
    assert json.loads(json.dumps(record))["traits"] == explanation.traits
    assert record["answer"] == answer.to_dict()
    assert [species["name"] for species in record["species"]] == [
        name for name, _ in answer.ranking
    ]
    assert {"outlines", "traits", "opinions", "differences"} <= record.keys()
    assert "image" not in record
    for wrong, message in (
        ("nowhere.jpg", "nowhere.jpg: no such file"),
        (test_pictures, "expected one, found 9"),
    ):
        with pytest.raises(leafid.LeafidError, match=message):
            leafid.explain(wrong, model)
