"""The names of runs and ground truths are joined, whoever wrote them."""

import unicodedata

import numpy as np
import pytest
from pandas import DataFrame

from leafid import compare, evaluate
from leafid.errors import ProblemsError
from leafid.scoring.reading.inputs import to_ground_truth

# A label of the ground truth, and other ways in which a run may write it.
JOINED = {
    "Quercus robur L.": ["Quercus robur", "Quercus_robur", "Quercus robur L."],
    "Betula pendula": ["Betula pendula Roth", "Betula_pendula_Roth"],
    "Lactuca virosa L.": ["Lactuca virosa", "Lactuca_virosa"],
    "Platanus ×hispanica": [
        "Platanus x hispanica Mill. ex Münchh.",
        "Platanus × hispanica",
    ],
    "acer_campestre": ["acer_campestre", "Acer campestre"],
    "Tilia cordata M": ["Tilia_cordata_M"],
    "Tilia cordata F": ["Tilia cordata F"],
    "Malus domestica 'Gala'": ["Malus_domestica_'Gala'"],
    "Apple___Black_rot": ["Apple Black rot"],
    "Érable champêtre": ["Érable_champêtre"],
}
TRUTH = {f"é{n}.jpg": name for n, name in enumerate(JOINED)}


def decompose(text):
    return unicodedata.normalize("NFD", text)


def write_files(folder, ranked):
    """Write a run in each format of files, with names in Unicode form NFD."""
    pictures, names = [*map(decompose, ranked)], [*map(decompose, ranked.values())]
    pairs = [*zip(pictures, names, strict=True)]
    texts = {
        "lines.txt": [f"{picture} {name} 1 1" for picture, name in pairs],
        "long.csv": [
            "picture,species,score",
            *(f'{picture},"{name}",1' for picture, name in pairs),
        ],
        "trec.txt": [
            f"{picture} Q0 {name.replace(' ', '_')} 1 1 tag" for picture, name in pairs
        ],
    }
    for name, lines in texts.items():
        (folder / name).write_text("\n".join(lines), encoding="utf-8")
    np.savez(
        folder / "run.npz", scores=np.eye(len(pairs)), pictures=pictures, species=names
    )
    return [*(folder / name for name in texts), folder / "run.npz"]


@pytest.mark.parametrize("choice", range(3))
def test_names_are_joined_wherever_they_come_in(tmp_path, choice):
    ranked = {
        picture: JOINED[name][min(choice, len(JOINED[name]) - 1)]
        for picture, name in TRUTH.items()
    }
    pictures, names = [*map(decompose, ranked)], [*map(decompose, ranked.values())]
    scores = np.eye(len(names))
    runs = {
        **{file.name: file for file in write_files(tmp_path, ranked)},
        "mapping": dict(zip(pictures, names, strict=True)),
        "tuple": (scores, pictures, names),
        "frame": DataFrame(scores, pictures, names),
    }
    for truth in (TRUTH, {decompose(p): decompose(name) for p, name in TRUTH.items()}):
        records = evaluate(truth, runs, ["top-1"])
        assert {record["top-1"] for record in records} == {1}
        assert len(records) == len(runs)


def test_names_that_may_be_two_classes_are_not_joined():
    """Each is one more class, of a system or a truth, that only some names mean."""
    match = to_ground_truth(
        {"1": "Tilia cordata", "2": "Acer_a", "3": "Acer a"}
    ).known.match_species
    assert match(["Tilia cordata M", "Tilia cordata Mill."]) == {
        "Tilia cordata Mill.": "Tilia cordata"
    }
    assert match(["Tilia cordata Greenspire", "Tilia cordata Rancho"]) == {}
    assert match(["Tilia cordata", "Tilia cordata Greenspire"]) == {
        "Tilia cordata": "Tilia cordata"
    }
    assert match(["Acer__a"]) == {}
    # The only picture of a cultivar is of its own name, though its label is shorter.
    match = to_ground_truth({"1": "Tilia cordata Greenspire"}).known.match_species
    assert match(["Tilia cordata", "Tilia cordata Greenspire"]) == {
        "Tilia cordata Greenspire": "Tilia cordata"
    }
    assert match(["Tilia cordata"]) == {"Tilia cordata": "Tilia cordata"}
    match = to_ground_truth(
        {"1": "Tilia cordata Greenspire", "2": "Tilia cordata Rancho"}
    ).known.match_species
    assert match(["Tilia cordata", "Tilia_cordata_Rancho"]) == {
        "Tilia_cordata_Rancho": "Tilia cordata Rancho"
    }


@pytest.fixture
def files(tmp_path):
    """A ground truth, a run of a broader system, and one of another naming."""
    species = ["Species1", "Species2", "Species3"]
    lines = {
        "truth.csv": [
            "picture,species",
            *(f"{n}.jpg,{s}" for n, s in enumerate(species)),
        ],
        "broad.txt": [
            f"{n}.jpg {name} {rank} {1 / rank}"
            for n in range(3)
            for rank, name in enumerate(["Species1", "Species2", *"vwxyz"], 1)
        ],
        "other.txt": [f"{n}.jpg {n} 1 1" for n in range(3)],
    }
    for name, text in lines.items():
        (tmp_path / name).write_text("\n".join(text))
    return [tmp_path / name for name in lines]


def test_a_run_without_any_known_name_is_refused_with_both_lists(cli, files, tmp_path):
    truth, broad, numbered = files
    expected = (
        "other.txt:1: expected some of the 3 known species ['Species1', 'Species2', "
        "'Species3'], found others only: ['0', '1', '2']"
    )
    for words in (
        ("evaluate", truth, broad, numbered),
        ("evaluate", truth, numbered, "--official"),
        ("compare", truth, broad, numbered),
        ("report", truth, numbered, "--output", tmp_path / "report"),
    ):
        result = cli(*words)
        assert (result.status, result.out) == (1, "")
        assert expected in result.err
    assert not (tmp_path / "report").exists()
    result = cli("check", numbered, "--against", truth)
    assert (result.status, result.err) == (1, "")
    assert expected in result.out
    numbers = (np.eye(3), ["0.jpg", "1.jpg", "2.jpg"], [0, 1, 2])
    for call in (
        lambda: evaluate(truth, {"other.txt": numbers}),
        lambda: compare(truth, {"a": broad, "b": numbered}),
    ):
        with pytest.raises(ProblemsError, match="found others only: "):
            call()


@pytest.mark.parametrize("words", [(), ("--official",)])
def test_the_other_names_of_a_broader_system_are_wrong_answers(cli, files, words):
    truth, broad, _ = files
    words = ("--metrics", "top-1", "--format", "json", *words)
    result = cli("evaluate", truth, broad, *words)
    assert result.status == 0
    row = result.json[0]["rows"][-1]
    assert row["top-1"] == pytest.approx(1 / 3)
    assert result.err.splitlines() == [
        "leafid: warning: broad.txt: 5 of 7 names are of no known species, and count "
        "as wrong answers: ['v', 'w', 'x', 'y', 'z']"
    ]
