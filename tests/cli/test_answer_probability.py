"""The calibrated probability of an answer is the same wherever it is shown."""

import html
import re
from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from msgspec import structs

from leafid.model.answer import format_probability
from leafid.model.groups import fuse_answers
from leafid.model.model import Model
from leafid.pictures.picture import Picture
from leafid.web.model_workers import explain_pictures

SLOPE, OFFSET = 0.5, -0.25


@pytest.fixture
def calibrated(drawn_model, tmp_path):
    """A model with a calibration, which rejects nothing."""
    model = Model.read(drawn_model)
    types = {}
    for type_, part in model.types.items():
        calibration = np.array([SLOPE, OFFSET], np.float32)
        rejection = structs.replace(
            part.identifier.rejection, calibration=calibration, quantiles=np.zeros(2)
        )
        types[type_] = replace(
            part, identifier=replace(part.identifier, rejection=rejection)
        )
    replace(model, types=types).save(tmp_path / "calibrated.leafid")
    return tmp_path / "calibrated.leafid"


def calibrate(product):
    return 1 / (1 + exp(-SLOPE * log(product / (1 - product)) - OFFSET))


def test_a_calibration_changes_the_number_everywhere_alike(
    cli, calibrated, drawn, tmp_path
):
    model, n_named = Model.read(calibrated), 0
    for file in sorted((drawn / "Test").glob("*.jpg")):
        words = (file, "--model", calibrated)
        [record] = cli("predict", *words, "--format", "json").json
        if record["verdict"] == "no-leaf":
            continue
        n_named += 1
        number = record["answer_probability"]
        product = record["leaf"] * record["known"] * record["ranking"][0]["probability"]
        assert number == pytest.approx(calibrate(product), abs=1e-6)
        whole, digit = format_probability(number), format_probability(number, 1)
        words_by_level = ["Sure:", "Probably", "Perhaps", "Unsure, but most like"]
        certainty = words_by_level[sum(number < level for level in (0.98, 0.6, 0.2))]

        rows = cli("predict", *words, "--format", "csv").rows
        assert {float(row["answer_probability"]) for row in rows} == {number}
        run = cli("predict", *words, "--format", "run", "--open-world").out
        [answer] = model.identify(file)
        scores = [float(line.split()[-1]) for line in run.splitlines()]
        assert scores == pytest.approx(
            [answer.calibrate(value) for _, value in answer.ranking], abs=1e-9
        )
        assert scores[0] == pytest.approx(number, abs=1e-9)
        together = fuse_answers(model.types, [answer], 0.05)
        assert answer.answer_probability == together.answer_probability == number
        assert answer.verdict_text.startswith(f"{certainty} {record['name']} (")
        assert f"), {whole}" in answer.verdict_text

        for options in ([], ["--together"]):
            *_, head, first, _ = cli(
                "predict", *words, "--top", 2, *options
            ).out.splitlines()
            assert head == f"  {answer.verdict_text}"
            assert first.split()[:2] == ["1", digit]
        assert f"{answer.verdict_text}." in " ".join(cli("explain", *words).out.split())
        [page] = explain_pictures(model, [Picture(file)], False, ())
        shown, _, details = html.unescape(page).partition("<details>")
        assert f'data-summary="{file.name}: {answer.verdict_text}"' in shown
        assert f'<p class="verdict">{answer.verdict_text}.</p>' in shown
        assert f", {answer.type}: {answer.verdict_text}" in shown
        assert re.findall(r'<td class="n">([^<]+%)</td>', shown)[0] == digit
        assert answer.details in details
    assert n_named > 3
