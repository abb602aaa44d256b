import pickle
import zipfile

import numpy as np
import pytest

from leafid.errors import LeafidError
from leafid.model.model import Model
from leafid.model.modelfile import FORMAT_VERSION
from tests.model.model_files import changed, complaint, npy


@pytest.mark.parametrize("share", [0, 0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.9999])
def test_truncated(drawn_model, tmp_path, share):
    content = drawn_model.read_bytes()
    file = tmp_path / "model.leafid"
    file.write_bytes(content[: int(len(content) * share)])
    assert "damaged" in complaint(file)


def test_damaged_anywhere(drawn_model, tmp_path):
    """A flipped byte is found, or (in a field that nothing depends on) does no harm; never anything else."""
    content = drawn_model.read_bytes()
    file = tmp_path / "model.leafid"
    random = np.random.default_rng(0)
    # The directory at the end is small, and where readers trip.
    places = [*random.integers(0, len(content), 60), *random.integers(len(content) - 1500, len(content), 60)]
    harmless = 0
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << random.integers(8)
        file.write_bytes(damaged)
        try:
            Model.read(file)
            harmless += 1
        except LeafidError:
            complaint(file)
    assert harmless < len(places) / 2


FOREIGN = {
    "empty": b"",
    "text": b"a text",
    "png": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "pickle": pickle.dumps({"format": "leafid-model"}),
    "fake zip": b"PK\x03\x04" * 50,
    "empty zip": b"PK\x05\x06" + bytes(18),
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_something_else(content, tmp_path):
    file = tmp_path / "model.leafid"
    file.write_bytes(content)
    assert "expected a leafid model" in complaint(file)


def test_a_pickle_is_not_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    file = tmp_path / "model.leafid"
    file.write_bytes(pickle.dumps(Trap()))
    complaint(file)
    assert not (tmp_path / "sprung").exists()


def test_an_array_of_objects_is_not_unpickled(drawn_model, tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    hostile = npy(np.array([Trap()], dtype=object), allow_pickle=True)
    file = changed(drawn_model, tmp_path / "m", add={"scan/expert_weights.npy": hostile})
    assert "array scan/expert_weights" in complaint(file)
    assert not (tmp_path / "sprung").exists()


def test_another_zip(tmp_path):
    file = tmp_path / "other.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("hello.txt", "hello")
    assert "another kind of ZIP archive" in complaint(file)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("manifest.json", '{"format": "web-extension"}')
    assert "another kind of ZIP archive" in complaint(file)


@pytest.mark.parametrize("version", [FORMAT_VERSION - 2, FORMAT_VERSION + 1, None, "1", []])
def test_another_format(drawn_model, tmp_path, version):
    file = changed(drawn_model, tmp_path / "m", lambda m: m.update(format_version=version, program_version="9.9"))
    message = complaint(file)
    assert f"expected model format {FORMAT_VERSION}, found {version} (written by leafid 9.9)" in message
    assert "update leafid or train the model again" in message


def test_every_missing_array_is_named(drawn_model, tmp_path):
    with zipfile.ZipFile(drawn_model) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
    assert len(names) > 30
    for name in names:
        file = changed(drawn_model, tmp_path / "m", leave_out=[name])
        assert f"the model is damaged: array {name.removesuffix('.npy')} is missing" in complaint(file)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.zeros(7), "expected shape (2,), found (7,)"),
        (np.zeros((2, 1)), "expected shape (2,), found (2, 1)"),
        (np.array([np.nan, 1]), "expected finite numbers, found NaN or infinity"),
        (np.array([np.inf, 1]), "expected finite numbers, found NaN or infinity"),
        (np.array(["a", "b"]), "expected finite numbers, found <U1"),
        (np.array([1j, 2]), "expected finite numbers, found complex128"),
    ],
)
def test_arrays_of_another_kind(drawn_model, tmp_path, array, expected):
    file = changed(drawn_model, tmp_path / "m", add={"scan/expert_weights.npy": npy(array)})
    assert f"array scan/expert_weights: {expected}" in complaint(file)


def test_every_array_has_its_shape(drawn_model, tmp_path):
    with zipfile.ZipFile(drawn_model) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
    for name in names:
        file = changed(drawn_model, tmp_path / "m", add={name: npy(np.zeros((3, 5, 7)))})
        assert f"array {name.removesuffix('.npy')}: expected shape" in complaint(file)


def header(text, version=1):
    return b"\x93NUMPY" + bytes([version, 0, 118, 0]) + text.encode().ljust(117) + b"\n"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8',",
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000000,)}"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (10000000,)}") + bytes(800),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (-5,)}"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", version=9) + bytes(16),
        header("__import__('os').system('true')"),
        header("(((("),
        b"not an array",
    ],
)
def test_arrays_that_make_no_sense(drawn_model, tmp_path, content):
    file = changed(drawn_model, tmp_path / "m", add={"scan/expert_weights.npy": content})
    assert "the model is damaged: array scan/expert_weights" in complaint(file)
