"""Objects of Python as ground truths and runs."""

import numpy as np
import pytest
from pandas import DataFrame, Index

from leafid import Bootstrap, check, compare, convert, evaluate
from leafid.errors import LeafidError, UsageError
from leafid.scoring.reading.run_reading import read_run

PICTURES, NAMES = ["1.jpg", "2.jpg"], ["Acer campestre", "Quercus ilex"]
SCORES = np.array([[0.9, 0.1], [0.8, 0.2]], np.float32)


@pytest.mark.parametrize(
    "truth",
    [
        dict(zip(PICTURES, NAMES, strict=True)),
        {"a/1.jpg": "acer_campestre", "b/2.jpg": "Quercus ilex L."},
        DataFrame({"image": PICTURES, "species": NAMES, "plant": ["p", 7]}),
        DataFrame({"file": PICTURES, "label": NAMES, "user": [np.nan, None]}),
    ],
)
@pytest.mark.parametrize(
    "run",
    [
        {"1": {"Acer campestre": 0.9, "Quercus ilex": 0.1}, "2.jpg": NAMES},
        {
            "1": {"Acer campestre": 0.9, "Quercus ilex": 0.1},
            "2": {"Acer campestre": 0.8, "Quercus ilex": 0.2},
        },
        (SCORES, PICTURES, NAMES),
        (SCORES.tolist(), np.array([1, 2]), ("Acer campestre", "Quercus ilex")),
        DataFrame(SCORES, ["1.jpg", "2"], NAMES),
    ],
)
def test_objects_of_python_are_truths_and_runs(truth, run):
    for runs in (run, {"mine": run}):
        [*_, record] = evaluate(truth, runs, ["inverse-rank"])
        assert (record["pictures"], record["missing"], record["inverse-rank"]) == (
            2,
            0,
            0.75,
        )


def test_a_mapping_of_names_without_endings_is_a_run():
    truth = dict(zip(PICTURES, NAMES, strict=True))
    run = {"1": "Acer campestre", "x\\2": "Quercus ilex"}
    [*_, record] = evaluate(truth, run)
    assert record["top-1"] == 1


@pytest.mark.parametrize("function", [evaluate, compare])
def test_runs_in_memory_stand_beside_paths(tmp_path, function):
    truth = dict(zip(PICTURES, NAMES, strict=True))
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    convert((SCORES, PICTURES, NAMES), a)
    convert((SCORES[::-1, ::-1], PICTURES, NAMES), b)
    expected = function(truth, [a, b]).render("csv")
    for runs in ([read_run(a), b], [a, read_run(b)], {"a": read_run(a), "b": str(b)}):
        assert function(truth, runs).render("csv") == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"by": []}, "by: expected at least one group"),
        ({"bootstrap": Bootstrap(1.5)}, "resamples: expected a whole number"),
        ({"bootstrap": Bootstrap(seed=-1)}, "seed: expected a whole number"),
        ({"bootstrap": Bootstrap(confidence="95%")}, "confidence: expected a number"),
    ],
)
def test_wrong_arguments_are_wrong_usage(arguments, expected):
    truth = dict(zip(PICTURES, NAMES, strict=True))
    with pytest.raises(UsageError, match=expected):
        evaluate(truth, truth, **arguments)


def test_one_run_is_checked_at_a_time():
    run = (SCORES, PICTURES, NAMES)
    with pytest.raises(UsageError, match="run: expected one, found 2"):
        check({"a": run, "b": run})
    # Names of species aren't taken for files of several runs.
    assert check(dict(zip(PICTURES, NAMES, strict=True))) == []


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (
            (SCORES, ["1.jpg"], NAMES),
            r"expected scores of shape \(1, 2\), found \(2, 2\)",
        ),
        ((np.eye(2) * np.nan, PICTURES, NAMES), "mine:1: expected a score as a"),
        ((np.eye(2) + 0j, PICTURES, NAMES), "found an error: scores of type complex"),
        (
            (np.zeros((2, 2), "datetime64[s]"), PICTURES, NAMES),
            "found an error: scores of type datetime64",
        ),
        ((np.full((2, 2), 10**400), PICTURES, NAMES), "expected scores as numbers"),
        (
            (np.full((2, 2), np.longdouble("1e4000")), PICTURES, NAMES),
            "expected a score as a finite number, found 'inf'",
        ),
        (
            DataFrame([["a"]], ["1.jpg"], ["Acer campestre"]),
            "expected scores as numbers, pictures and species as text",
        ),
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_is_wrong_with_arrays_is_named(run, expected):
    with pytest.raises(LeafidError, match=expected):
        evaluate(dict(zip(PICTURES, NAMES, strict=True)), {"mine": run})


def test_row_numbers_of_a_frame_are_no_pictures():
    truth = {"0.jpg": "Acer campestre", "1.jpg": "Quercus ilex"}
    frame = DataFrame(SCORES, columns=NAMES)
    for runs in (frame, {"mine": frame}, frame[1:]):
        with pytest.raises(LeafidError, match="expected a frame with the names of pic"):
            evaluate(truth, runs)
    named = frame.set_index(Index([0, 1], name="picture"))
    assert evaluate(truth, named) == evaluate(truth, (SCORES, ["0", "1"], NAMES))


@pytest.mark.parametrize(
    "truth",
    [
        {"1.jpg": 5},
        {1: "Acer campestre"},
        {"1.jpg": None},
        {},
        DataFrame([[1]], [0], ["a"]),
    ],
)
def test_a_wrong_truth_is_refused(truth):
    with pytest.raises(LeafidError, match=r"truth.*: expected|expected pictures"):
        evaluate(truth, {"1.jpg": "Acer campestre"})


@pytest.mark.parametrize("ranking", [["Quercus ilex"], {"Quercus ilex": 1}, [("a", 1)]])
def test_a_run_of_unknown_pictures_alone_is_a_run(ranking):
    truth = dict(zip(PICTURES, NAMES, strict=True))
    with pytest.raises(LeafidError, match=r"run:1: expected a picture .* '9.jpg'"):
        evaluate(truth, {"9.jpg": ranking})
