"""Sets, higher taxa, and boxes: the answers of predict other than a ranking."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from leafid.model.model import Model
from leafid.pictures.reading import read_collection


@pytest.fixture
def truth(drawn):
    return drawn / "TestXmlWithGroundTruth"


@pytest.fixture
def doubtful(drawn_model, tmp_path):
    """The model with a threshold of backing off that hardly any answer reaches."""
    model = Model.read(drawn_model)
    types = {
        type_: replace(part, thresholds=replace(part.thresholds, back_off=0.999999))
        for type_, part in model.types.items()
    }
    replace(model, types=types).save(tmp_path / "doubtful.leafid")
    return tmp_path / "doubtful.leafid"


def lines(file):
    answers = defaultdict(list)
    for line in file.read_text().splitlines():
        name, *species, rank, score = line.split(" ")
        answers[name].append((int(rank), " ".join(species), float(score)))
    return answers


@pytest.mark.parametrize(
    "rule", ["top-2", "average-2.5", "average-0.5", "coverage-0.8"]
)
def test_sets_are_the_likeliest_species(
    cli, predict, drawn, drawn_model, truth, tmp_path, rule
):
    assert predict(drawn, "--output", tmp_path / "all.txt").status == 0
    outcome = predict(drawn, "--set", rule, "--output", tmp_path / "sets.txt")
    assert outcome.status == 0, outcome.err
    everything, sets = lines(tmp_path / "all.txt"), lines(tmp_path / "sets.txt")
    model = Model.read(drawn_model)
    kind, value = rule.split("-")
    for picture in read_collection(drawn).part("test").pictures:
        thresholds = model[picture.type].thresholds
        if kind == "top":
            expected = everything[picture.name][: int(value)]
        else:
            find = (
                thresholds.threshold_for_size
                if kind == "average"
                else thresholds.threshold_for_coverage
            )
            least = find(float(value))
            expected = [line for line in everything[picture.name] if line[2] >= least]
        assert sets[picture.name] == expected
    empty = sum(not lines for lines in sets.values())
    scored = cli("evaluate", truth, tmp_path / "sets.txt", "--sets", "--format", "json")
    assert scored.status == 0, scored.err
    [table] = [table for table in scored.json if table["title"] == "Sets"]
    assert table["rows"][-1]["set-size"] == pytest.approx(
        sum(map(len, sets.values())) / 9
    )
    assert table["rows"][-1]["empty-sets"] == pytest.approx(empty / 9)


def test_back_off_of_a_model_of_low_confidence(
    cli, predict, drawn, drawn_model, doubtful, truth, tmp_path
):
    outcome = predict(
        drawn, "--back-off", "--output", tmp_path / "run.txt", model=doubtful
    )
    assert outcome.status == 0, outcome.err
    run = lines(tmp_path / "run.txt")
    assert {len(answer) for answer in run.values()} == {1}
    assert any(name.endswith("*") for [(_, name, _)] in run.values())
    assert all(score >= 0.999999 for [(_, _, score)] in run.values())
    scored = cli(
        "evaluate-hierarchy",
        "--taxonomy",
        drawn / "Train",
        truth,
        tmp_path / "run.txt",
        "--format",
        "json",
    )
    assert scored.status == 0, scored.err
    [row] = scored.json[0]["rows"]
    answered = sum(
        int(cell.split("/")[1])
        for cell in row.values()
        if isinstance(cell, str) and "/" in cell[-3:]
    )
    assert answered == 9

    outcome = predict(
        drawn, "--back-off", "--format", "json", "--reject-at", 0, model=doubtful
    )
    assert outcome.status == 0, outcome.err
    records = outcome.json
    model = Model.read(drawn_model)
    for record in records:
        ((_, written, _),) = run[Path(record["picture"]).name]
        if record["verdict"] in {"unknown", "no-leaf"}:
            assert (written, record["name"]) == ("*", None)
        elif record["verdict"] in {"species", "uncertain"}:
            assert written == record["name"] == record["ranking"][0]["species"]
        else:
            assert written == f"{record['name']} *"
            named = [info.taxon for info in model.species.values()]
            assert record["name"] in {
                getattr(taxon, record["verdict"]) for taxon in named
            }
        assert len(record["ranking"]) == len(model.species)
    assert {record["verdict"] for record in records} & {
        "genus",
        "family",
        "order",
        "unknown",
    }
    answers = list(Model.read(doubtful).identify(drawn, back_off=True, reject_at=0))
    assert [
        answer.to_dict() for answer in answers if answer.picture.part == "test"
    ] == records


def test_a_model_without_thresholds(predict, drawn, drawn_model, tmp_path):
    model = Model.read(drawn_model)
    types = {
        type_: replace(part, thresholds=None) for type_, part in model.types.items()
    }
    replace(model, types=types).save(tmp_path / "bare.leafid")
    for words in (["--set", "average-5"], ["--back-off"]):
        outcome = predict(
            drawn, *words, "--output", tmp_path / "run", model=tmp_path / "bare.leafid"
        )
        assert outcome.status == 1
        assert "train it again" in outcome.err
        assert not (tmp_path / "run").exists()
