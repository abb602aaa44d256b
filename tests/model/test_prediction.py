from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.features.loader import FeatureLoader
from leafid.model import groups
from leafid.model.identifier import Identifier
from leafid.model.judgement import rank_species
from leafid.model.model import Model
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.segmentation.condition import Condition


@pytest.fixture(scope="module")
def model(drawn_model):
    return Model.read(drawn_model)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_ranks_by_probability_then_by_name(numbers):
    species = [f"Genus {letter}" for letter in "abcdefgh"[: len(numbers)]]
    wanted = sorted(
        zip(species, map(float, numbers), strict=True),
        key=lambda pair: (-pair[1], pair[0]),
    )
    assert rank_species(np.array(numbers, float), species) == wanted


def test_answers_come_in_the_order_of_the_pictures_whatever_the_batches(
    model, queries, loader, monkeypatch
):
    whole = list(model.predict(queries, loader))
    assert [answer.picture.file for answer in whole] == [
        picture.file for picture in queries
    ]
    assert all(answer.has_leaf for answer in whole)
    monkeypatch.setattr(groups, "BATCH_SIZE", 2)
    parts = list(model.predict(queries, loader))
    assert [answer.picture for answer in parts] == [answer.picture for answer in whole]
    for part, answer in zip(parts, whole, strict=True):
        assert [name for name, _ in part.ranking] == [
            name for name, _ in answer.ranking
        ]
        # Products of matrices of other sizes are summed in another order.
        np.testing.assert_allclose(
            [p for _, p in part.ranking], [p for _, p in answer.ranking], atol=1e-5
        )


def test_a_picture_without_a_leaf_is_said_so_and_nothing_is_likelier(
    model, tmp_path, caplog
):
    file = tmp_path / "white.png"
    cv2.imwrite(str(file), np.full((120, 90, 3), 255, np.uint8))
    [answer] = model.predict(
        [Picture(file, type=AcquisitionType.SCAN)], FeatureLoader()
    )
    assert "no leaf found" in caplog.text
    assert not answer.has_leaf
    assert (answer.verdict, answer.confidence) == ("no-leaf", 0)
    assert answer.type == AcquisitionType.SCAN
    assert len({probability for _, probability in answer.ranking}) == 1
    assert [species for species, _ in answer.ranking] == sorted(
        species for species, _ in answer.ranking
    )


@pytest.mark.parametrize(
    ("p_leaf", "p_known", "cut", "decision"),
    [
        (1.0, 1.0, 0.5, "species"),
        (1.0, 0.0, 0.5, "unclear"),
        (1.0, 0.0, 0.0, "unknown"),
        (0.3, 1.0, 0.5, "unclear"),
        (0.3, 1.0, 0.0, "no-leaf"),
        # What surely is no leaf isn't told to be shown as a whole.
        (0.05, 1.0, 0.5, "no-leaf"),
    ],
)
def test_a_rejected_picture_is_unclear_for_a_reason_that_was_measured(
    trained, loader, queries, monkeypatch, p_leaf, p_known, cut, decision
):
    type_model = trained[queries[0].type]
    probabilities = np.array([p_leaf]), np.array([p_known])
    monkeypatch.setattr(Identifier, "assess", lambda *_: probabilities)
    [features] = loader.stream(queries[:1], type_model.identifier.extractor)
    condition = Condition(0.9, cut=cut)
    answer = type_model.answer(
        queries[0], replace(features, condition=condition), 0.05, {}
    )
    assert answer.decision == decision
    reason = "what leafid takes for the leaf is cut off"
    is_told = any(text.startswith(reason) for text in answer.reasons)
    assert is_told == (cut > 0 and decision != "no-leaf")
