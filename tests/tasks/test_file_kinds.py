"""Tests that files of another task are recognised, and options without effect are refused."""

import re

import pytest

from leafid.tasks.file_kinds import recognise_file

CODE = "1121-120-463-700"
FILES = {
    "irma.txt": f"1.png 18 18 {CODE} {CODE}\n2.png C 3 CCCC-CCC-CCC-CCC {CODE}\n",
    "irma08.txt": f"1 {CODE}\n2 1121-***-46*-700\n",
    "codes.txt": "# codes\nA 463 left carpal joint\nT 1121\n",
    "plants.txt": "2107.jpg Platanus x hispanica 1 1.0\n2107.jpg Quercus ilex 2 -3e-05\n",
    "taxa.txt": "1.jpg Quercus * 1 0.8\n2.jpg * 1 1.0\n3.jpg Quercus ilex 1 0.9\n4.jpg Fagaceae * 1 1\n",
    "trainGroundTruth.txt": "Quercus ilex 1.jpg 2.jpg\nPlatanus x hispanica 3.jpg\nAcer campestre\n",
    "concepts.txt": "1 a.jpg leaf 0.5:10x20+3+4\n1 b.jpg\n",
    "places.txt": "5 a 51.5 -6.2\n5 b 1 0\n",
    "boxes.json": '{"images": [], "categories": [], "annotations": []}',
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("irma.txt", "evaluate-irma"),
        ("irma08.txt", "evaluate-irma"),
        ("codes.txt", "evaluate-irma --codes"),
        ("plants.txt", "evaluate"),
        ("taxa.txt", "evaluate-hierarchy"),
        ("trainGroundTruth.txt", "evaluate"),
        ("concepts.txt", "evaluate-annotation"),
        ("places.txt", "evaluate-annotation"),
        ("boxes.json", "evaluate-interpretation"),
    ],
)
def test_files_are_recognised(folder, name, command):
    kind = recognise_file(folder / name)
    assert kind is not None
    assert kind.command == command


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["evaluate-irma", "--years", "2005", "plants.txt", "irma.txt"],
            "plants.txt: .* found a plant run; use 'leafid evaluate'",
        ),
        (["evaluate-annotation", "irma.txt", "irma.txt"], "found IRMA codes; use 'leafid evaluate-irma'"),
        (["evaluate-annotation", "concepts.txt", "plants.txt"], "plants.txt: .* use 'leafid evaluate'"),
        (["evaluate-interpretation", "concepts.txt", "concepts.txt"], "use 'leafid evaluate-annotation'"),
    ],
)
def test_the_right_command_is_named_once(cli, folder, words, message):
    outcome = cli(*words)
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err.count("\n") == 1
    assert re.search(message, outcome.err)


def test_check_names_the_right_command_once(cli, folder):
    outcome = cli("check-annotation", "plants.txt", "concepts.txt")
    assert outcome.status == 1
    assert outcome.out.splitlines() == [
        "plants.txt: expected a file for 'leafid check-annotation', found a plant run; use 'leafid check'",
        "concepts.txt: good: subtask 1, 2 lines",
    ]
    # A command that checks names another that checks.
    outcome = cli("check", "places.txt")
    assert (outcome.status, outcome.err.count("\n")) == (1, 1)
    assert "places.txt: expected a file for 'leafid check', found a file of the 2016" in outcome.err
    assert "use 'leafid check-annotation'" in outcome.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate-annotation", "places.txt", "places.txt", "--by-concept"], "--by-concept is for subtask 1"),
        (["evaluate-annotation", "concepts.txt", "concepts.txt", "--k", "3"], "--k is for subtask 4"),
        (["evaluate-annotation", "concepts.txt", "concepts.txt", "--radius", "6371"], "--radius is for subtask 5"),
        (["evaluate-irma", "--years", "2005", "--codes", "codes.txt", "irma.txt", "irma.txt"], "--codes has no effect"),
        (
            ["evaluate-interpretation", "--matching", "one-to-one", "--threshold", "0.3", "boxes.json", "boxes.json"],
            "--threshold has no effect",
        ),
    ],
)
def test_options_without_effect_are_refused(cli, folder, words, message):
    outcome = cli(*words)
    assert (outcome.status, outcome.out) == (2, "")
    assert message in outcome.err
