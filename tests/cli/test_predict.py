import shutil
from collections import defaultdict
from dataclasses import replace

import pytest

from leafid.model.model import Model


def test_from_pictures_to_a_score(cli, predict, drawn, tmp_path):
    run = tmp_path / "run.txt"
    outcome = predict(drawn, "--output", run)
    assert outcome.status == 0, outcome.err
    assert outcome.out == ""
    assert outcome.err == f"{run}: answers to 9 pictures\n"
    pictures = defaultdict(list)
    for line in run.read_text().splitlines():
        name, genus, species, rank, score = line.split(" ")
        pictures[name].append((int(rank), f"{genus} {species}", float(score)))
    assert len(pictures) == 9
    for lines in pictures.values():
        assert [rank for rank, _, _ in lines] == [1, 2, 3]
        scores = [score for _, _, score in lines]
        assert scores == sorted(scores, reverse=True)
        assert sum(scores) <= 1
        assert sum(scores) == pytest.approx(
            1, abs=3e-9
        )  # each is cut after nine digits
        assert len({species for _, species, _ in lines}) == 3
    checked = cli("check", run, "--against", drawn)
    assert checked.status == 0, checked.err
    scored = cli("evaluate", drawn / "TestXmlWithGroundTruth", run)
    assert scored.status == 0, scored.err


def test_bytes_depend_neither_on_the_cache_nor_on_the_number_of_processes(
    predict, drawn, tmp_path
):
    calls = {
        "a": ([], None),
        "b": (["--jobs", 2], None),
        "c": ([], tmp_path / "cache"),
        "d": ([], tmp_path / "cache"),
    }
    for name, (words, cache) in calls.items():
        assert (
            predict(drawn, "--output", tmp_path / name, *words, cache=cache).status == 0
        )
    assert len({(tmp_path / name).read_bytes() for name in calls}) == 1


def test_rejected_pictures_are_ranked_on_request_only(predict, loose, tmp_path):
    rejected = predict(loose, "--reject-at", 1)
    assert rejected.status == 0
    remarks = [line for line in rejected.out.splitlines() if line.startswith("  ")]
    assert len(remarks) == 3
    starts = (
        "  Unknown: probably none of the 3 species that the model knows;",
        "  No leaf: leafid sees none in this picture",
    )
    assert all(line.startswith(starts) for line in remarks)
    ranked = predict(loose, "--reject-at", 1, "--top", 2).out.splitlines()
    assert [line for line in ranked if line in remarks] == remarks
    accepted = predict(loose, "--reject-at", 0, "--top", 2).out.splitlines()
    assert [line for line in ranked if line[:4] in {"  1 ", "  2 "}] == [
        line for line in accepted if line[:4] in {"  1 ", "  2 "}
    ]


def test_folders_need_not_be_named_after_species(predict, loose, tmp_path):
    for file, folder in zip(
        sorted(loose.iterdir()), ("olivier", "érable champêtre"), strict=False
    ):
        (tmp_path / "own" / folder).mkdir(parents=True)
        shutil.copy(file, tmp_path / "own" / folder)
    outcome = predict(tmp_path / "own", "--output", tmp_path / "run")
    assert (outcome.status, outcome.err.endswith("answers to 2 pictures\n")) == (
        0,
        True,
    )


def test_names_that_a_run_can_not_hold_or_tell_apart(predict, loose, tmp_path):
    blank, original, *_ = sorted(loose.iterdir())
    blank = blank.rename(loose / "<my leaf.jpg")
    (tmp_path / "other").mkdir()
    twin = shutil.copy(original, tmp_path / "other" / original.name)
    outcome = predict(blank, original, twin, "--output", tmp_path / "run")
    assert outcome.status == 1
    first, second = outcome.err.splitlines()
    assert f"{blank}: a run file holds names in UTF-8 without blanks" in first
    assert f"several pictures have this name ({original}, {twin})" in second
    assert not (tmp_path / "run").exists()
    assert predict(blank, original, twin, "--top", 1).out.count("  1  ") == 3


def test_a_type_that_the_model_lacks(predict, drawn, drawn_model, tmp_path):
    model, scans = Model.read(drawn_model), tmp_path / "scans.leafid"
    replace(model, types={"scan": model["scan"]}).save(scans)
    outcome = predict(drawn, "--output", tmp_path / "run", model=scans)
    assert outcome.status == 1
    assert outcome.err.startswith(
        "leafid: error: the model was not trained for pictures of type "
    )
    assert (
        predict(
            drawn, "--output", tmp_path / "run", "--assume-type", "scan", model=scans
        ).status
        == 0
    )
