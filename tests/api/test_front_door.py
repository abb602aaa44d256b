import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import leafid

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


def test_import_loads_nothing_heavy():
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_public_name_is_there_and_documented():
    for name in leafid.__all__:
        value = getattr(leafid, name)
        assert name in dir(leafid)
        assert name == "__version__" or value.__doc__
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        leafid.nonsense  # noqa: B018


def test_identify_takes_whatever_a_user_has(model, test_pictures, drawn):
    pictures = test_pictures.pictures
    file = pictures[0].file
    image = leafid.read_image(file)
    by_path = list(model.identify(str(file)))
    assert [answer.picture.name for answer in by_path] == [file.name]
    (first,) = by_path
    assert sum(probability for _, probability in first.ranking) == pytest.approx(1, abs=1e-6)
    assert first.ranking == sorted(first.ranking, key=lambda entry: (-entry[1], entry[0]))
    for source in (file, [file], image, [image], pictures[0]):
        (answer,) = model.identify(source, assume_type=first.type)
        assert answer.type == first.type
        assert [name for name, _ in answer.ranking] == [name for name, _ in first.ranking]
    assert len(list(model.identify(test_pictures))) == len(pictures)
    assert len(list(model.identify(drawn / "Test"))) == len(pictures)
    mixed = list(model.identify([file, image, str(pictures[1].file)]))
    assert [answer.picture.name for answer in mixed] == [file.name, "image 1", pictures[1].name]
    assert [answer.ranking for answer in mixed[::2]] == [
        answer.ranking for path in (file, pictures[1].file) for answer in model.identify(path)
    ]


def test_an_unreadable_picture_is_answered_with_its_problem(model, test_pictures, tmp_path):
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"no picture")
    good = test_pictures.pictures[0].file
    answers = list(model.identify([good, broken, good.with_name("not-there.jpg")]))
    assert [bool(answer.problem) for answer in answers] == [False, True, True]
    assert answers[1].ranking == []
    assert "broken.jpg" in answers[1].problem


def test_a_model_has_to_know_the_type(model, test_pictures):
    expected = "expected an acquisition type .*, found 'drawing'"
    with pytest.raises(leafid.LeafidError, match=expected):
        list(model.identify(test_pictures, assume_type="drawing"))
    with pytest.raises(leafid.LeafidError, match=expected):
        leafid.train(test_pictures, only_type="drawing")
    with pytest.raises(leafid.LeafidError, match=expected):
        leafid.segment(np.zeros((9, 9, 3), np.uint8), "drawing")


@pytest.mark.slow
def test_train_save_and_load(drawn, small_recipe, drawn_model, tmp_path):
    collection = leafid.read_collection(drawn)
    trained = leafid.train(collection.part("train"), recipe=str(small_recipe), cache=tmp_path / "cache")
    trained.save(tmp_path / "own.leafid")
    assert (tmp_path / "own.leafid").read_bytes() == Path(drawn_model).read_bytes()
    # Whole as it is: it can back off and answer with sets without another step.
    assert set(trained.thresholds) == set(trained.identifiers)
    again = leafid.load_model(tmp_path / "own.leafid")
    picture = collection.part("test").pictures[0].file
    (fresh,), (read,) = trained.identify(picture), again.identify(picture)
    # The file holds coefficients in half precision.
    assert {type(name) for name, _ in fresh.ranking} == {str}
    assert dict(fresh.ranking) == pytest.approx(dict(read.ranking), abs=1e-3)


def test_train_takes_paths_and_pictures(drawn, small_recipe, drawn_cache, drawn_model):
    pictures = leafid.read_collection(drawn).part("train").pictures
    one_type = {"recipe": str(small_recipe), "only_type": "scan", "cache": drawn_cache}
    by_path = leafid.train(drawn, **one_type)
    by_pictures = leafid.train(pictures, **one_type)
    assert list(by_path.identifiers) == list(by_pictures.identifiers) == [leafid.AcquisitionType.SCAN]
    assert by_path.fingerprint == by_pictures.fingerprint


def test_train_says_what_is_missing(drawn):
    with pytest.raises(leafid.LeafidError, match="expected labelled pictures, found 0 without"):
        leafid.train([])
    with pytest.raises(leafid.LeafidError, match="no such recipe"):
        leafid.train(drawn, recipe="nonsense")


def test_segment_and_measure(test_pictures):
    picture = next(p for p in test_pictures.pictures if p.type == "scan")
    image = leafid.read_image(picture.file)
    leaf = leafid.segment(image, "scan")
    assert leaf.mask.shape == image.shape[:2]
    assert not (leaf.petiole & leaf.blade).any()
    assert 0 < leaf.confidence <= 1
    np.testing.assert_array_equal(leafid.segment(picture.file, "scan").mask, leaf.mask)
    values = leafid.measure(image, leaf, ["geometry", "teeth"])
    assert all(name.startswith(("geometry.", "teeth.")) for name in values)
    assert all(isinstance(value, float) for value in values.values())
    assert leafid.measure(picture.file, leaf, ["geometry"]).items() <= values.items()
    assert values.items() <= leafid.measure(image, leaf).items()
    with pytest.raises(leafid.LeafidError, match="did you mean 'geometry'"):
        leafid.measure(image, leaf, ["geometrie"])
