import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest

from leafid.errors import LeafidError
from leafid.model import archive as archive_module
from leafid.model.modelfile import FORMAT_VERSION, read_model, read_type_recognition, write_model
from tests.model.model_files import answers, changed, complaint, npy


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
    assert {"scores", "thresholds"} < set(manifest["identifiers"]["scan"])
    assert set(manifest["type_recogniser"]) == {"types", "accuracy"}


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
    "no scores": lambda m: m["identifiers"]["scan"].pop("scores"),
    "no records": lambda m: m.pop("records"),
    "a species without a record": lambda m: m["records"].pop(_first_species(m)),
    "scores are a number": lambda m: m["identifiers"]["scan"].update(scores=1),
    "a species without an entry": lambda m: m["species"].pop(_first_species(m)),
    "a species listed twice": lambda m: m["identifiers"]["scan"]["species"].__setitem__(1, _first_species(m)),
    "common names are lists": lambda m: _first_entry(m).update(vernacular_names=[[[]]]),
    "a genus is a list": lambda m: _first_entry(m).update(genus=[]),
    "the number of pictures is a text": lambda m: _first_entry(m).update(n_pictures="x"),
    "a recipe with an unknown key": lambda m: m["identifiers"]["scan"]["recipe"].update(variants=1),
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


def test_equal_arrays_are_written_once(trained, tmp_path):
    array = np.random.default_rng(0).normal(size=(64, 32)).astype(np.float32)
    arrays = {"a": array, "b": array + 1, "c": array.copy(), "d": array.T.copy(), "tiny": array[:2], "small": array[:2]}
    archive_module.write_archive(tmp_path / "m", {"format": "x"}, arrays, {})
    with zipfile.ZipFile(tmp_path / "m") as archive:
        assert archive.namelist() == ["manifest.json", "a.npy", "b.npy", "d.npy", "tiny.npy", "small.npy"]
    with archive_module.open_archive(tmp_path / "m") as found:
        assert found.read_manifest()["same_as"] == {"c": "a"}
        for name, wanted in arrays.items():
            np.testing.assert_array_equal(found.read_array(name, *wanted.shape), wanted)


@pytest.mark.parametrize("same_as", [5, ["a"], {"scan/expert_weights": ["a"]}, {"scan/expert_weights": "none"}])
def test_wrong_references_to_arrays_are_damage(drawn_model, tmp_path, same_as):
    file = changed(drawn_model, tmp_path / "m", lambda manifest: {**manifest, "same_as": same_as})
    assert "damaged" in complaint(file)
