import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from leafid.learning.context import Bandwidths, Context, collect_sightings
from leafid.model.modelfile import read_model, write_model
from leafid.pictures.picture import AcquisitionType
from tests.model.model_files import changed, complaint


@pytest.fixture
def informed(drawn_model, training):
    """The small model, with a context of some weight: there are too few places to learn one."""
    model = read_model(drawn_model)
    species = model.identifiers[AcquisitionType.SCAN].species
    # One thing is unknown, so that what isn't finite is written too.
    known = collect_sightings([replace(training[0], date=None), *training[1:]], species)
    model.contexts[AcquisitionType.SCAN] = Context(known, Bandwidths(30.0, None, 200.0), 4.0, 0.5, len(species))
    return model


def test_training_learns_a_context_for_each_type(trained):
    assert list(trained.contexts) == list(trained.identifiers)
    for type_, context in trained.contexts.items():
        assert context.n_species == len(trained.identifiers[type_].species)
        assert len(context.sightings.weights) > 0


def test_round_trip(informed, training, tmp_path):
    write_model(informed, tmp_path / "model.leafid")
    again = read_model(tmp_path / "model.leafid")
    assert list(again.contexts) == list(informed.contexts)
    for type_, before in informed.contexts.items():
        after = again.contexts[type_]
        assert (after.bandwidths, after.shrinkage, after.weight) == (
            before.bandwidths,
            before.shrinkage,
            before.weight,
        )
        np.testing.assert_array_equal(after.compute_priors(training), before.compute_priors(training))
    assert np.ptp(again.contexts[AcquisitionType.SCAN].compute_priors(training[1:2])) > 0
    write_model(again, tmp_path / "again.leafid")
    assert (tmp_path / "again.leafid").read_bytes() == (tmp_path / "model.leafid").read_bytes()


@pytest.mark.parametrize(
    "wrong",
    [
        {"weight": -1},
        {"weight": "much"},
        {"shrinkage": 0},
        {"bandwidths": {"place_km": -5, "days": None, "altitude_m": None}},
        {"bandwidths": {"place_km": None, "days": 0, "altitude_m": None}},
        {"n_sightings": 1},
        {"n_sightings": None},
        {"bandwidths": None},
    ],
)
def test_damage_is_one_clear_error(informed, tmp_path, wrong):
    write_model(informed, tmp_path / "model.leafid")
    file = tmp_path / "m"
    changed(tmp_path / "model.leafid", file, lambda m: m["identifiers"]["scan"]["context"].update(wrong))
    assert "damaged" in complaint(file)


def test_nothing_that_names_a_plant_or_a_person_is_kept(informed, training, tmp_path):
    write_model(informed, tmp_path / "model.leafid")
    with zipfile.ZipFile(tmp_path / "model.leafid") as archive:
        context = json.dumps(json.loads(archive.read("manifest.json"))["identifiers"]["scan"]["context"])
        assert {name for name in archive.namelist() if "/context/" in name} >= {"scan/context/values.npy"}
    assert json.loads(context).keys() == {"bandwidths", "shrinkage", "weight", "n_sightings"}
    assert all(picture.author not in context for picture in training if picture.author)
    # Coordinates to a hundredth of a degree only.
    values = informed.contexts[AcquisitionType.SCAN].sightings.values[:, :2]
    np.testing.assert_array_equal(values, values.round(2))
