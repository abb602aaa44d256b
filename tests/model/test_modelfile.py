import json
import operator
import re
from copy import deepcopy
from functools import reduce

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import save

from leafid.errors import LeafidError
from leafid.model import modelfile
from leafid.model.model import Model
from leafid.model.modelfile import FORMAT_VERSION, read_object, write_object
from tests.model.model_files import (
    answers,
    changed,
    complaint,
    put_together,
    take_apart,
)


def test_round_trip(trained, queries, loader, tmp_path):
    file = tmp_path / "model.leafid"
    trained.save(file)
    first, second = Model.read(file), Model.read(file)
    said = answers(first, queries, loader)
    assert len(said) == 9
    assert said == answers(second, queries, loader)
    for (name, before), (again, after) in zip(
        answers(trained, queries, loader), said, strict=True
    ):
        assert name == again
        # Coefficients are kept in half precision: 11 bits of scores of about 1, times
        # weights of about 10.
        before, after = dict(before), dict(after)
        assert max(abs(before[species] - after[species]) for species in before) < 0.02
    assert first.species == trained.species
    assert first.fingerprint == trained.fingerprint
    assert first.recogniser.accuracy == trained.recogniser.accuracy
    for type_, type_model in trained.types.items():
        read, identifier = first[type_].identifier, type_model.identifier
        assert (first[type_].scores, first[type_].plant_exponent) == (
            type_model.scores,
            type_model.plant_exponent,
        )
        for name in ("recipe", "species", "n_pictures", "n_plants"):
            assert getattr(read, name) == getattr(identifier, name)
        for name in identifier.recipe.experts:
            assert read.extractor.make_feature_key(
                name
            ) == identifier.extractor.make_feature_key(name)


def _scan(model):
    return model["types"]["scan"]


def _identifier(model):
    return _scan(model)["identifier"]


CHANGES = {
    "missing required field `types`": lambda m: m.pop("types"),
    "Invalid enum value 'xray' - at `key` in `$.types`": lambda m: m["types"].update(
        xray=_scan(m)
    ),
    "required field `recipe` - at `$.types[...].identifier`": lambda m: _identifier(
        m
    ).pop("recipe"),
    "Expected `float` <= 1.0 - at `$.types[...].plant_exponent`": lambda m: _scan(
        m
    ).update(plant_exponent=2),
    "scan.local.coefficients of shape": lambda m: _identifier(m)["species"].append(
        _identifier(m)["species"][0]
    ),
    "an entry of every species, found none of Zelkova": lambda m: _identifier(m)[
        "species"
    ].append("Zelkova abelicea"),
    "expected the feature map none or chi2, found 'square'": lambda m: _identifier(m)[
        "scorers"
    ]["local"].update(map="square"),
    "scan.leafness of leaf measures, found none": lambda m: _identifier(m)["rejection"][
        "leafness"
    ].update(forests={}),
    "does not contain tensor none": lambda m: _identifier(m)["weights"].update(
        values="none"
    ),
    "expected a leafid model, found something else": lambda m: m.update(
        fingerprint="\ud800"
    ),
}


@pytest.mark.parametrize("expected", CHANGES)
def test_a_malformed_manifest_is_one_line_that_names_the_key(
    drawn_model, tmp_path, expected
):
    def change(manifest):
        CHANGES[expected](manifest["model"])

    message = complaint(changed(drawn_model, tmp_path / "m", change))
    assert expected in message
    assert "Error" not in message


def list_places(value, place=()):
    """List the paths of a manifest's values, of long tables the first entry only."""
    entries = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in list(entries)[:3]:
        yield (*place, key)
        yield from list_places(item, (*place, key))


@pytest.mark.parametrize(
    "wrong", [None, "", [], {}, -1, 1e300, 10**19, True, "\ud800"], ids=repr
)
def test_any_value_may_be_wrong(drawn_model, tmp_path, wrong):
    """A damaged manifest is one clear line, or does no harm; never anything else."""
    original, arrays = take_apart(drawn_model)
    for place in list(list_places(original))[::7]:
        manifest = deepcopy(original)
        *outside, key = place
        reduce(operator.getitem, outside, manifest)[key] = wrong
        put_together(tmp_path / "m", json.dumps(manifest), arrays)
        try:
            Model.read(tmp_path / "m")
        except LeafidError:
            assert "Error" not in complaint(tmp_path / "m")


@pytest.mark.parametrize("version", [FORMAT_VERSION - 1, FORMAT_VERSION + 1, None])
def test_another_format(drawn_model, tmp_path, version):
    file = changed(
        drawn_model,
        tmp_path / "m",
        lambda m: m.update(format_version=version, program_version="9.9"),
    )
    message = complaint(file)
    assert (
        f"expected model format {FORMAT_VERSION}, found {version} (written by leafid "
        "9.9)" in message
    )
    is_newer = version == FORMAT_VERSION + 1
    assert message.endswith("update leafid" if is_newer else "train the model again")


FOREIGN = {
    "empty": b"",
    "text": b"a text",
    "another file of safetensors": save({"a": np.zeros(3)}, {"manifest": "{}"}),
    "another one without metadata": save({"a": np.zeros(3)}),
    "another one with other metadata": save({"a": np.zeros(3)}, {"format": "pt"}),
    "a header that claims to be huge": b"\xff" * 8 + b"{}",
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_something_else(content, tmp_path):
    file = tmp_path / "model.leafid"
    file.write_bytes(content)
    message = complaint(file)
    assert "expected a leafid model" in message
    assert "NoneType" not in message


def test_damage_anywhere_is_found(drawn_model, tmp_path):
    content = drawn_model.read_bytes()
    file = tmp_path / "model.leafid"
    for share in (0.001, 0.3, 0.9999):
        file.write_bytes(content[: int(len(content) * share)])
        assert "damaged" in complaint(file)
    random = np.random.default_rng(0)
    for place in [
        *random.integers(0, len(content), 20),
        *random.integers(0, 20_000, 20),
    ]:
        damaged = bytearray(content)
        damaged[place] ^= 1 << random.integers(8)
        file.write_bytes(damaged)
        complaint(file)


def test_every_array_is_needed(drawn_model, tmp_path):
    manifest, arrays = take_apart(drawn_model)
    assert len(arrays) > 30
    for name in arrays:
        without = {key: array for key, array in arrays.items() if key != name}
        file = put_together(tmp_path / "m", json.dumps(manifest), without)
        assert re.search(rf"damaged: .* tensor {name};", complaint(file))


def list_free_arrays(manifest):
    """List the arrays whose length is that of no species, measure or mode."""
    for type_model in manifest["model"]["types"].values():
        yield type_model["thresholds"]["correct_probabilities"]["values"]
        rejection = type_model["identifier"]["rejection"]
        yield rejection["quantiles"]["values"]
        for forest in rejection["leafness"]["forests"].values():
            yield forest["roots"]["values"]


def test_every_array_must_have_the_shape_that_the_manifest_demands(
    drawn_model, tmp_path
):
    manifest, arrays = take_apart(drawn_model)
    free, text = set(list_free_arrays(manifest)), json.dumps(manifest)
    for number, name in enumerate(arrays):
        array = arrays[name]
        changes = {"an axis more": array[..., None]}
        if array.ndim and name not in free:
            changes |= {"a row less": array[:-1]}
        if array.ndim == 2 and len(set(array.shape)) == 2:
            changes |= {"turned": array.T}
        # One change of each of many arrays is enough.
        what, values = [*changes.items()][number % len(changes)]
        put_together(
            tmp_path / "m", text, arrays | {name: np.ascontiguousarray(values)}
        )
        message = complaint(tmp_path / "m")
        assert re.search(
            r"expected an array (scan|photo|recogniser)\S+ of shape|as the array "
            r"\w+ has",
            message,
        ), what


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("wrong", [np.nan, np.inf, 3e38, -3e38])
def test_no_array_has_numbers_that_overflow(drawn_model, tmp_path, wrong):
    manifest, arrays = take_apart(drawn_model)
    for name in arrays:
        if arrays[name].dtype == np.float32:
            arrays[name].flat[-1] = wrong
    put_together(tmp_path / "m", json.dumps(manifest), arrays)
    assert "expected numbers below 1e+12 in the array" in complaint(tmp_path / "m")


def test_out_of_memory_is_no_damage(drawn_model, monkeypatch):
    for error in (
        MemoryError(),
        SafetensorError("Cannot allocate memory (os error 12)"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(modelfile, "safe_open", raise_error(error))
            assert ": out of memory; " in complaint(drawn_model)


def raise_error(error):
    def call(*_):
        raise error

    return call


def test_equal_arrays_are_written_once_and_some_in_half_precision(tmp_path):
    table = np.random.default_rng(0).normal(size=(64, 32)).astype(np.float32)
    arrays = {
        "a": table,
        "b": table + 1,
        "c": table.copy(),
        "d": table.T,
        "number": np.asarray(np.float32(3)),
    }
    write_object(tmp_path / "m", arrays, [arrays["b"]])
    # Of the halved one also its scale.
    assert len(take_apart(tmp_path / "m")[1]) == len(arrays)
    values = read_object(tmp_path / "m", dict[str, np.ndarray])
    np.testing.assert_allclose(values.pop("b"), arrays.pop("b"), rtol=1e-3, atol=1e-3)
    for name, wanted in arrays.items():
        np.testing.assert_array_equal(values[name], wanted)
