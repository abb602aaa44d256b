import io
import json
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest

from leafid.errors import LeafidError
from leafid.identification import archive as archive_module
from leafid.identification.modelfile import FORMAT_VERSION, read_model, read_type_recognition, write_model
from leafid.identification.prediction import predict


def answers(model, pictures, loader):
    return [(answer.picture.name, answer.ranking) for answer in predict(model, pictures, loader)]


def complaint(file):
    with pytest.raises(LeafidError) as caught:
        read_model(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert "\n" not in message
    assert len(message) < 600
    return message


def changed(source, target, change=None, leave_out=(), add=None):
    """Copy a model with another manifest, or other members."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "manifest.json" and change:
                manifest = json.loads(content)
                content = json.dumps(change(manifest) or manifest)
            if name not in leave_out and name not in (add or {}):
                new.writestr(name, content)
        for name, content in (add or {}).items():
            new.writestr(name, content)
    return target


def npy(array, allow_pickle=False):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def test_round_trip(trained, queries, loader, tmp_path):
    file = tmp_path / "model.leafid"
    write_model(trained, file)
    first, second = read_model(file), read_model(file)
    said = answers(first, queries, loader)
    assert len(said) == 9
    assert said == answers(second, queries, loader)
    for (name, before), (again, after) in zip(answers(trained, queries, loader), said, strict=True):
        assert name == again
        # Coefficients are kept in half precision: 11 bits of scores of about 1, times weights of about 10.
        before, after = dict(before), dict(after)
        assert max(abs(before[species] - after[species]) for species in before) < 0.02
    assert first.species == trained.species
    assert first.fingerprint == trained.fingerprint
    assert first.scores == trained.scores
    assert first.type_recognition == trained.type_recognition
    for type_, identifier in trained.identifiers.items():
        assert first.identifiers[type_].recipe == identifier.recipe
        assert first.identifiers[type_].species == identifier.species
        assert first.identifiers[type_].n_pictures == identifier.n_pictures
        assert first.identifiers[type_].n_plants == identifier.n_plants
        for name in identifier.recipe.experts:
            key = identifier.extractor.make_feature_key(name)
            assert first.identifiers[type_].extractor.make_feature_key(name) == key


def test_the_same_model_gives_the_same_bytes(trained, tmp_path, monkeypatch):
    write_model(trained, tmp_path / "a")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    write_model(trained, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_what_it_says_of_itself(drawn_model):
    with zipfile.ZipFile(drawn_model) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert manifest["format_version"] == FORMAT_VERSION
    assert manifest["identifiers"]["scan"]["recipe"]["experts"]["shape"]["families"] == ["geometry", "hu"]
    assert len(manifest["training_fingerprint"]) == 64
    assert {"scores", "thresholds", "context"} < set(manifest["identifiers"]["scan"])
    assert set(manifest["type_recogniser"]) == {"types", "accuracy"}


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
            read_model(file)
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


@pytest.mark.parametrize("version", [FORMAT_VERSION + 1, None, "1", []])
def test_another_format(drawn_model, tmp_path, version):
    file = changed(drawn_model, tmp_path / "m", lambda m: m.update(format_version=version, program_version="9.9"))
    message = complaint(file)
    assert f"expected model format {FORMAT_VERSION}, found {version} (written by leafid 9.9)" in message
    assert "update leafid or train the model again" in message


def test_an_older_format_says_what_changed_and_what_to_do(drawn_model, tmp_path):
    file = changed(drawn_model, tmp_path / "m", lambda m: m.update(format_version=2, program_version="0.1.0"))
    assert complaint(file) == (
        f"{file}: expected model format {FORMAT_VERSION}, found 2 (written by leafid 0.1.0); "
        "recipe keys and entries have new names since: train the model again, or use the bundled model"
    )


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


def _first_species(manifest):
    return manifest["identifiers"]["scan"]["species"][0]


def _first_entry(manifest):
    return manifest["species"][_first_species(manifest)]


CHANGES = {
    "no identifiers": lambda m: m.pop("identifiers"),
    "identifiers are a list": lambda m: m.update(identifiers=[1]),
    "identifiers are empty": lambda m: m.update(identifiers={}),
    "an unknown type": lambda m: m["identifiers"].update(xray=m["identifiers"]["scan"]),
    "no recipe": lambda m: m["identifiers"]["scan"].pop("recipe"),
    "a wrong recipe": lambda m: m["identifiers"]["scan"]["recipe"]["experts"]["local"].update(modes="many"),
    "a recipe that is a text": lambda m: m["identifiers"]["scan"].update(recipe="default"),
    "no species": lambda m: m["identifiers"]["scan"].pop("species"),
    "species are a number": lambda m: m["identifiers"]["scan"].update(species=3),
    "species are empty": lambda m: m["identifiers"]["scan"].update(species=[]),
    "too many species": lambda m: m["identifiers"]["scan"]["species"].append("Zelkova abelicea"),
    "a species is a number": lambda m: m["identifiers"]["scan"].update(species=[1, 2, 3]),
    "no seed": lambda m: m["identifiers"]["scan"].pop("seed"),
    "the seed is a text": lambda m: m["identifiers"]["scan"].update(seed="x"),
    "no number of plants": lambda m: m["identifiers"]["scan"].pop("n_plants"),
    "an identifier is nothing": lambda m: m["identifiers"].update(scan=None),
    "the recogniser is a number": lambda m: m.update(type_recogniser=3),
    "the recogniser lacks a type": lambda m: m["type_recogniser"].update(types=["scan"]),
    "the recogniser knows another type": lambda m: m["type_recogniser"].update(types=["scan", "photo", "xray"]),
    "no common names": lambda m: m["species"].update({"Acer platanoides": {}}),
    "species of the manifest are a list": lambda m: m.update(species=["a"]),
    "no training data": lambda m: m.pop("training_fingerprint"),
    "scores are a number": lambda m: m["identifiers"]["scan"].update(scores=1),
    "a species without an entry": lambda m: m["species"].pop(_first_species(m)),
    "a species listed twice": lambda m: m["identifiers"]["scan"]["species"].__setitem__(1, _first_species(m)),
    "common names are lists": lambda m: _first_entry(m).update(vernacular_names=[[[]]]),
    "a genus is a list": lambda m: _first_entry(m).update(genus=[]),
    "the number of pictures is a text": lambda m: _first_entry(m).update(n_pictures="x"),
    "a recipe with an old key": lambda m: m["identifiers"]["scan"]["recipe"].update(variants=1),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_manifest_that_makes_no_sense(drawn_model, tmp_path, name):
    def change(manifest):
        CHANGES[name](manifest)

    complaint(changed(drawn_model, tmp_path / "m", change))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b'"x"', b"null", b"\xff\xfe", b"[" * 100_000])
def test_a_manifest_that_is_none(drawn_model, tmp_path, content):
    complaint(changed(drawn_model, tmp_path / "m", add={"manifest.json": content}))


def test_a_huge_manifest_is_not_read(drawn_model, tmp_path, monkeypatch):
    monkeypatch.setattr(archive_module.ModelArchive, "_read_member", _refuse_reading)
    file = tmp_path / "bomb"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", b" " * (archive_module._MAX_MANIFEST_SIZE + 1))
    assert "claims to be larger" in complaint(file)


def test_huge_arrays_are_not_read(drawn_model, tmp_path, monkeypatch):
    file = changed(drawn_model, tmp_path / "m", add={"more.npy": bytes(10_000)})
    read_model(file)
    monkeypatch.setattr(archive_module, "_MAX_SIZE", 10_000)
    monkeypatch.setattr(archive_module.ModelArchive, "_read_member", _refuse_reading)
    assert "claims to be larger" in complaint(file)


def test_a_member_that_claims_to_be_small_is_not_inflated(tmp_path):
    file = tmp_path / "bomb"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("weights.npy", bytes(1 << 26))
    with zipfile.ZipFile(file) as archive:
        archive.getinfo("weights.npy").file_size = 136
        tracemalloc.start()
        with pytest.raises(LeafidError, match="array weights: Bad CRC"):
            archive_module.ModelArchive(archive, file).read_array("weights", 1)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 1 << 22


def test_no_file_or_a_folder(tmp_path):
    assert "no such file" in complaint(tmp_path / "none")
    assert "expected a file, found a folder" in complaint(tmp_path)
    for place in (tmp_path, tmp_path / "none"):
        with pytest.raises(LeafidError):
            read_type_recognition(place)


def test_an_encrypted_or_oddly_packed_archive(drawn_model, tmp_path):
    content = bytearray(drawn_model.read_bytes())
    first = content.index(b"PK\x01\x02")
    for place, value in ((8, 1), (10, 99)):  # flag bits, kind of compression
        changed_content = bytearray(content)
        changed_content[first + place] = value
        file = tmp_path / "m"
        file.write_bytes(changed_content)
        complaint(file)


def test_other_members_do_no_harm(drawn_model, tmp_path):
    file = changed(drawn_model, tmp_path / "m", add={"../../evil.npy": b"x", "notes.txt": "hello"})
    read_model(file)
    assert not (tmp_path.parent.parent / "evil.npy").exists()


def test_a_file_that_can_not_be_written(trained, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LeafidError, match="can't be written"):
        write_model(trained, tmp_path / "file" / "model.leafid")
    assert (tmp_path / "file").read_text() == ""


def _refuse_reading(*_):
    pytest.fail("read before its size was looked at")


@pytest.mark.parametrize(
    ("array", "value", "expected"),
    [
        ("scan/experts/local/encoder/variances", -1, "variances and weights above 0"),
        ("scan/experts/shape/scale", 3e38, "finite coefficients"),
    ],
)
def test_arrays_that_would_overflow(drawn_model, tmp_path, array, value, expected):
    coefficients = "scan/experts/shape/coefficients"
    with zipfile.ZipFile(drawn_model) as archive:
        shapes = {name: np.load(io.BytesIO(archive.read(f"{name}.npy"))).shape for name in (array, coefficients)}
    values = {coefficients: 1000, array: value}
    added = {f"{name}.npy": npy(np.full(shapes[name], values[name], np.float32)) for name in shapes}
    assert expected in complaint(changed(drawn_model, tmp_path / "m", add=added))
