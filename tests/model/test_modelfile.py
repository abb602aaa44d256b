import base64
import io
import json
import operator
import tracemalloc
import zipfile
from functools import reduce

import numpy as np
import pytest

from leafid.errors import LeafidError
from leafid.model import archive as archive_module
from leafid.model.model import Model
from leafid.model.modelfile import FORMAT_VERSION, read_recogniser
from leafid.pictures.decoding import encode_jpeg
from tests.model.model_files import answers, changed, complaint, npy


def test_round_trip(trained, queries, loader, tmp_path):
    file = tmp_path / "model.leafid"
    trained.save(file)
    first, second = Model.read(file), Model.read(file)
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
    assert first.recogniser.accuracy == trained.recogniser.accuracy
    for type_, own in trained.types.items():
        identifier = own.identifier
        assert first[type_].scores == own.scores
        assert first[type_].plant_exponent == own.plant_exponent
        assert first[type_].identifier.recipe == identifier.recipe
        assert first[type_].identifier.species == identifier.species
        assert first[type_].identifier.n_pictures == identifier.n_pictures
        assert first[type_].identifier.n_plants == identifier.n_plants
        for name in identifier.recipe.experts:
            key = identifier.extractor.make_feature_key(name)
            assert first[type_].identifier.extractor.make_feature_key(name) == key


def test_the_same_model_gives_the_same_bytes(trained, tmp_path, monkeypatch):
    trained.save(tmp_path / "a")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    trained.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_what_it_says_of_itself(drawn_model):
    with zipfile.ZipFile(drawn_model) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert manifest["format_version"] == FORMAT_VERSION
    assert manifest["types"]["scan"]["recipe"]["experts"]["shape"]["families"] == ["geometry", "hu"]
    assert len(manifest["training_fingerprint"]) == 64


def _scan(manifest):
    return manifest["types"]["scan"]


def _species(manifest):
    return manifest["species"][_scan(manifest)["species"][0]]


def _thumbnail(manifest):
    return _species(manifest)["thumbnails"][0]


CHANGES = {
    "types: expected a table that isn't empty, found nothing": lambda m: m.pop("types"),
    "types: expected a table": lambda m: m.update(types=[1]),
    "types: expected one of scan, scan-like, photo as a name, found 'xray'": lambda m: m["types"].update(xray=_scan(m)),
    "types.scan: expected a table, found None": lambda m: m["types"].update(scan=None),
    "types.scan.recipe: expected a table, found nothing": lambda m: _scan(m).pop("recipe"),
    "modes": lambda m: _scan(m)["recipe"]["experts"]["local"].update(modes="many"),
    "types.scan.recipe: expected a table, found 'default'": lambda m: _scan(m).update(recipe="default"),
    "types.scan.species: expected a list of text (one or more), found 3": lambda m: _scan(m).update(species=3),
    "types.scan.species: expected a list of text": lambda m: _scan(m).update(species=[]),
    "types.scan.species[0]: expected text, found 1": lambda m: _scan(m).update(species=[1, 2, 3]),
    "found none of Zelkova abelicea": lambda m: _scan(m)["species"].append("Zelkova abelicea"),
    "expected each species once": lambda m: _scan(m)["species"].__setitem__(1, _scan(m)["species"][0]),
    "types.scan.seed: expected a whole number, found 'x'": lambda m: _scan(m).update(seed="x"),
    "types.scan.n_plants: expected a whole number of 0 or more, found nothing": lambda m: _scan(m).pop("n_plants"),
    "types.scan.scores: expected a table, found 1": lambda m: _scan(m).update(scores=1),
    "expected scores on held-out plants": lambda m: _scan(m).update(scores={}),
    "types.scan.plant_exponent: expected a number from 0 to 1, found 2": lambda m: _scan(m).update(plant_exponent=2),
    "recogniser: expected a table, found 3": lambda m: m.update(recogniser=3),
    "recogniser/coefficients": lambda m: m["recogniser"].update(types=["scan", "photo"]),
    "recogniser.types[1]": lambda m: m["recogniser"].update(types=["scan", "xray"]),
    "species: expected a table": lambda m: m.update(species=["a"]),
    "expected an entry of every species": lambda m: m["species"].pop(_scan(m)["species"][0]),
    "vernacular_names[0]: expected text": lambda m: _species(m).update(vernacular_names=[[[]]]),
    "taxon.genus: expected": lambda m: _species(m)["taxon"].update(genus=[]),
    "n_pictures: expected a whole number of 0 or more, found 'x'": lambda m: _species(m).update(n_pictures="x"),
    "expected n_first, n_five": lambda m: _species(m)["types"]["scan"]["held_out"].update(n_first=99),
    "author: expected text": lambda m: _thumbnail(m).update(author=["a"]),
    "at most 300": lambda m: _thumbnail(m).update(author="a" * 1000),
    "thumbnails[0].type: expected one of": lambda m: _thumbnail(m).update(type="sketch"),
    "traits.teeth: expected a number": lambda m: _thumbnail(m)["traits"].update(teeth="many"),
    "thumbnail: expected a JPEG": lambda m: _thumbnail(m).update(image=_encode(np.zeros((161, 40, 3), np.uint8))),
    "thumbnail: ": lambda m: _thumbnail(m).update(image="R0lGODlh"),
    "expected a finite number": lambda m: next(iter(_species(m)["traits"].values())).update(low=float("nan")),
    "expected text of Unicode characters": lambda m: m.update(training_fingerprint="\ud800"),
    "unknown key 'variants'": lambda m: _scan(m)["recipe"].update(variants=1),
}


def _encode(image):
    return base64.b64encode(encode_jpeg(image)).decode()


@pytest.mark.parametrize("expected", CHANGES)
def test_a_malformed_manifest_is_one_line_that_names_the_key(drawn_model, tmp_path, expected):
    def change(manifest):
        CHANGES[expected](manifest)

    message = complaint(changed(drawn_model, tmp_path / "m", change))
    assert expected in message
    assert "Error" not in message


def list_places(value, place=()):
    """List the paths of all values in a manifest, of the entries of long tables only the first."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(entries)[:3]:
        yield (*place, key)
        yield from list_places(item, (*place, key))


@pytest.mark.parametrize("wrong", [None, "", [], {}, -1, 1e300, 10**30, True, "\ud800"], ids=repr)
def test_any_value_may_be_wrong(drawn_model, tmp_path, wrong):
    """A damaged manifest is one clear line, or does no harm; never anything else."""
    with zipfile.ZipFile(drawn_model) as archive:
        content = archive.read("manifest.json")
    for place in list(list_places(json.loads(content)))[::7]:
        manifest = json.loads(content)
        *outside, key = place
        reduce(operator.getitem, outside, manifest)[key] = wrong
        changed(drawn_model, tmp_path / "m", lambda _, own=manifest: own)
        try:
            Model.read(tmp_path / "m")
        except LeafidError:
            assert "Error" not in complaint(tmp_path / "m")


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
    Model.read(file)
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
            read_recogniser(place)


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
    Model.read(file)
    assert not (tmp_path.parent.parent / "evil.npy").exists()


def test_a_file_that_can_not_be_written(trained, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LeafidError, match="can't be written"):
        trained.save(tmp_path / "file" / "model.leafid")
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
    archive_module.write_archive(tmp_path / "m", {"format": "x"}, arrays)
    with zipfile.ZipFile(tmp_path / "m") as archive:
        assert archive.namelist() == ["manifest.json", "a.npy", "b.npy", "d.npy", "tiny.npy", "small.npy"]
    with archive_module.open_archive(tmp_path / "m") as found:
        assert found.read_manifest()["same_as"] == {"c": "a"}
        for name, wanted in arrays.items():
            np.testing.assert_array_equal(found.read_array(name, *wanted.shape), wanted)


@pytest.mark.parametrize("same_as", [5, ["a"], {"scan/expert_weights": ["a"]}, {"scan/expert_weights": "none"}])
def test_wrong_references_to_arrays_are_damage(drawn_model, tmp_path, same_as):
    file = changed(drawn_model, tmp_path / "m", lambda manifest: {**manifest, "same_as": same_as})
    assert "same_as" in complaint(file) or "damaged" in complaint(file)
