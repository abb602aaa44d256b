import csv
import io
from pathlib import Path

import numpy as np
import pytest

from leafid import compare, evaluate, report
from leafid.errors import InputError, LeafidError, ProblemsError, UsageError
from leafid.pictures.names import parse_label
from leafid.pictures.picture import Picture
from leafid.pictures.reading import read_collection
from leafid.scoring.metrics import DEFAULT_METRICS
from leafid.scoring.reading.run_reading import read_run
from tests.scoring.golden_files import GOOD, PARTIAL, TRUTH

METRICS = ["S", "inverse-rank", "per-plant", "top-2", "macro-f1", "log-loss"]


@pytest.mark.parametrize("group", ["type", "family"])
def test_the_records_are_the_rows_of_the_command(cli, group):
    words = ["--by", group, "--table", 2] if group != "type" else []
    # F1 is not of single pictures, of which a family is a part.
    metrics = METRICS if group == "type" else ["top-2", "log-loss"]
    words += ["--metrics", ",".join(metrics), "--format", "csv"]
    table = cli("evaluate", TRUTH, GOOD, PARTIAL, *words).out
    records = evaluate(TRUTH, [GOOD, PARTIAL], metrics, by=group, intervals="bounds")
    assert records.render("csv") == table
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [[*record] for record in records] == [[*row] for row in rows]
    assert [record["log-loss"] for record in records] == pytest.approx(
        [float(row["log-loss"]) for row in rows]
    )


def test_what_each_picture_scores():
    metrics = ["top-1", "mrr", "log-loss"]
    records = evaluate(TRUTH, [GOOD, PARTIAL], metrics, by="picture")
    assert len(records) == 80
    scores = {row["run"]: row for row in evaluate(TRUTH, [GOOD, PARTIAL], metrics)[-2:]}
    for run, row in scores.items():
        for metric in metrics:
            assert np.mean(
                [record[metric] for record in records if record["run"] == run]
            ) == pytest.approx(row[metric])
    assert {record["picture"] for record in records} == set(read_run(GOOD).pictures)
    with pytest.raises(
        UsageError, match="expected metrics that score single pictures, found ece"
    ):
        evaluate(TRUTH, GOOD, ["ece"], by="picture")


def test_runs_are_compared_as_by_the_command(cli):
    words = ("--metrics", "S,top-5", "--table", 2, "--format", "csv")
    records = compare(TRUTH, [GOOD, PARTIAL], ["S", "top-5"])
    assert records.render("csv") == cli("compare", TRUTH, GOOD, PARTIAL, *words).out
    with pytest.raises(UsageError, match="at least two runs"):
        compare(TRUTH, GOOD)
    # The metrics are the command's by default, too.
    names = {record["metric"] for record in compare(TRUTH, [GOOD, PARTIAL])}
    assert names == {*DEFAULT_METRICS}


@pytest.mark.parametrize("names", [("1", "2"), (0, 1), (("C", 1), None)])
def test_runs_may_be_called_as_pictures_are(names):
    truth = {"1.jpg": "Quercus ilex", "2.jpg": "Ulmus minor"}
    scores = (np.eye(2), [*truth], [*truth.values()])
    for run in (scores, truth, {name: {truth[name]: 0.5} for name in truth}):
        records = evaluate(truth, dict.fromkeys(names, run), ["top-1"])
        assert [(row["run"], row["top-1"]) for row in records] == [
            (str(name), 1) for name in names
        ]


@pytest.mark.parametrize("words", [("html",), ("LaTeX",), ("latex", -1), ("text", "2")])
def test_a_wrong_format_of_records(words):
    with pytest.raises(
        InputError,
        match=r"expected one of text, .*, latex, markdown and digits from 1, found",
    ):
        evaluate(TRUTH, GOOD).render(*words)


def test_records_become_a_frame():
    pytest.importorskip("pandas")
    frame = evaluate(TRUTH, GOOD).to_frame()
    assert [*frame.columns][:3] == ["type", "run", "pictures"]
    assert len(frame) == 5


def rankings(file):
    rankings = {}
    for prediction in read_run(file):
        rankings.setdefault(prediction.picture, []).append(
            (prediction.species, prediction.score)
        )
    return rankings


@pytest.mark.parametrize(
    "truth", [read_collection(TRUTH), read_collection(TRUTH).pictures]
)
@pytest.mark.parametrize(
    "run",
    [GOOD, str(GOOD), {"good.txt": GOOD}, [GOOD], {"good.txt": rankings(GOOD)}],
    ids=type,
)
def test_paths_and_objects_give_the_same(truth, run):
    assert evaluate(truth, run, ["S"]) == evaluate(TRUTH, GOOD, ["S"])


@pytest.mark.parametrize("name", [".", "/", "..", "1.", ".jpg"])
def test_whatever_the_truth_calls_a_picture_a_run_may_call_it(name):
    (record,) = evaluate(
        {name: "Quercus ilex"}, {"run": {name: "Quercus ilex"}}, ["top-1"]
    )
    assert record["top-1"] == 1


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (
            {"1.jpg": ["quercus ilex"]},
            r"a:1: expected some of the 6 known species \['Acer .*\], found others "
            r"only: \['quercus ilex'\]",
        ),
        ({"9999.jpg": ["Quercus ilex"]}, "a:1: expected a picture of the ground truth"),
    ],
)
def test_problems_of_a_run_are_reported(run, message):
    with pytest.raises(ProblemsError, match=message):
        evaluate(TRUTH, {"a": run})


def rank(ranking):
    """Rank the correct species of 1.jpg in a ranking, by Python's evaluate."""
    pictures = [
        Picture(Path("1.jpg"), taxon=parse_label("Quercus ilex"), part="test"),
        Picture(Path("2.jpg"), taxon=parse_label("Fagus sylvatica"), part="train"),
    ]
    [record] = evaluate(pictures, {"1.jpg": ranking}, "inverse-rank")
    return 1 / record["inverse-rank"] if record["inverse-rank"] else 0


@pytest.mark.parametrize(
    ("ranking", "expected"),
    [
        ({"Fagus sylvatica": 0.1, "Quercus ilex": 0.7, "Acer opalus": 0.2}, 1),
        ({"Quercus ilex": np.float32(-3), "Fagus sylvatica": 5}, 2),
        # Equal scores are in the order of the names, whatever that of the keys.
        ({"Quercus ilex": 1, "Fagus sylvatica": 1, "Ulmus minor": 1}, 2),
        ({"Ulmus minor": 1, "Fagus sylvatica": 1, "Quercus ilex": 1}, 2),
        ("Quercus ilex", 1),
        ("Fagus sylvatica", 0),
        (np.array(["Fagus sylvatica", "Quercus ilex"]), 2),
        (np.array([("Fagus sylvatica", 0.9), ("Quercus ilex", 0.1)], object), 2),
        ([("Fagus sylvatica", 0.5), ("Quercus ilex", 0.5)], 2),
        (("Fagus sylvatica", "Quercus ilex"), 2),
    ],
)
def test_a_ranking_is_a_mapping_of_scores_or_a_list_or_a_name(ranking, expected):
    assert rank(ranking) == pytest.approx(expected)


@pytest.mark.parametrize(
    "runs",
    [
        {"1.jpg": {"Fagus sylvatica": 0.1, "Quercus ilex": 0.9}},
        {"1.jpg": "Quercus ilex", "2.jpg": "Quercus ilex"},
        {"/home/1.jpg": "Quercus ilex", Path("here/2.jpg"): ["Quercus ilex"]},
        {r"C:\home\1.jpg": {"Quercus ilex": 0.1}, Path("2.jpg"): "Quercus ilex"},
    ],
)
def test_a_mapping_with_pictures_is_a_run(runs):
    pictures = [
        Picture(Path(f"{number}.jpg"), taxon=parse_label("Quercus ilex"))
        for number in (1, 2)
    ]
    expected = evaluate(
        pictures, {"run": {name: ["Quercus ilex"] for name in runs}}, ["S"]
    )
    assert (
        evaluate(pictures, runs, ["S"])
        == evaluate(pictures, {"run": runs}, ["S"])
        == expected
    )


@pytest.mark.parametrize(
    "ranking",
    [
        *(
            None,
            5,
            0.5,
            b"Quercus ilex",
            object(),
            {"Quercus ilex", "Fagus sylvatica"},
            iter(["Quercus ilex"]),
        ),
        *(
            [None],
            [5],
            [["Quercus ilex"]],
            [["Quercus ilex", "Fagus sylvatica"]],
            [("Quercus ilex", 0.5, 1)],
        ),
        *(
            [(0.5, "Quercus ilex")],
            [("Quercus ilex", "0.5")],
            [("Quercus ilex", None)],
            [("Quercus ilex", np.nan)],
        ),
        *(
            [("Quercus ilex", np.inf)],
            [("Quercus ilex", np.float32("inf"))],
            [("Quercus ilex", 10**400)],
            [("Quercus ilex", np.array([0.5]))],
        ),
        *([("Quercus ilex", 1j)], ["Quercus ilex", 0.9], ("Quercus ilex", 0.9)),
        *(
            {"Quercus ilex": None},
            {"Quercus ilex": "1"},
            {"Quercus ilex": [1, 2]},
            {5: 0.5},
            {None: "Quercus ilex"},
        ),
        *(
            np.array(0.5),
            np.array([0.5, 0.1]),
            np.eye(2),
            np.array([["Quercus ilex", "0.5"]]),
            np.zeros((2, 2, 2)),
        ),
        *(
            {"Quercus ilex": {"Fagus sylvatica": 1}},
            [{"Quercus ilex": 0.5}],
            [np.array(["Quercus ilex"])],
        ),
    ],
    ids=lambda ranking: type(ranking).__name__,
)
def test_a_wrong_ranking_is_named(ranking):
    picture = Picture(Path("1.jpg"), taxon=parse_label("Quercus ilex"))
    for runs in ({"1.jpg": ranking}, {"mine": {"1.jpg": ranking}}):
        with pytest.raises(
            InputError,
            match=r"^run '(run|mine)', 1.jpg: expected species, pairs .*, found ",
        ):
            evaluate([picture], runs)


@pytest.mark.parametrize("frame", ["DataFrame", "Series"])
def test_objects_of_pandas_end_in_one_line(frame):
    made = getattr(pytest.importorskip("pandas"), frame)(
        {"Quercus ilex": [0.9], "Fagus sylvatica": [0.1]}
    )
    picture = Picture(Path("1.jpg"), taxon=parse_label("Quercus ilex"))
    for words in (
        [made, {"1.jpg": "Quercus ilex"}],
        [[picture], made],
        [[picture], {"1.jpg": made}],
    ):
        with pytest.raises(LeafidError) as error:
            evaluate(*words)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "value",
    [None, 5, [5], [None], np.array(5), np.zeros((2, 2)), b"run.txt", [[GOOD]], [{}]],
)
def test_values_of_another_type_are_named(value):
    for words in ((value, GOOD), (TRUTH, value)):
        with pytest.raises(InputError, match="expected"):
            evaluate(*words)
    if value is not None:
        with pytest.raises(LeafidError, match="expected"):
            evaluate(TRUTH, GOOD, value)
        with pytest.raises(
            InputError, match="bootstrap: expected Bootstrap or nothing"
        ):
            evaluate(TRUTH, GOOD, bootstrap=value)
    with pytest.raises(InputError, match="intervals: expected bounds, error or none"):
        evaluate(TRUTH, GOOD, intervals=value)
    with pytest.raises(InputError, match="leave_out_missing: expected true or false"):
        evaluate(TRUTH, GOOD, leave_out_missing=value)


@pytest.mark.parametrize(
    "runs",
    [{}, [], (), {"mine": {}}, {"1.jpg": []}, {"mine": {"1.jpg": {}, "2.jpg": ()}}],
)
def test_a_run_without_predictions_is_refused(runs):
    with pytest.raises(
        LeafidError, match=r"expected (runs|predictions for the 40 labelled)"
    ):
        evaluate(TRUTH, runs)


def test_misuse():
    for words, message in [
        ({"metrics": ["top-K"]}, r"expected a metric \(S, .*found 'top-K'"),
        ({"by": "colour"}, "expected a group"),
    ]:
        with pytest.raises(LeafidError, match=message):
            evaluate(TRUTH, GOOD, **words)


def test_the_warning_says_that_missing_pictures_are_left_out(caplog):
    evaluate(TRUTH, PARTIAL, leave_out_missing=True)
    assert "are left out of the means" in caplog.text
    assert "count 0" not in caplog.text


def test_validation_runs_belong_to_runs_of_their_names():
    truth = {f"{number}.jpg": "Quercus ilex" for number in range(4)}
    low, high = [
        {name: {"Quercus ilex": score + 0.1, "Ulmus minor": score} for name in truth}
        for score in (0.1, 0.7)
    ]
    thresholds = []
    for validation in ({"a": low, "b": high}, {"b": high, "a": low}, [low, high]):
        if isinstance(validation, list):
            validation = dict(zip(("c", "d"), validation, strict=True))
        runs = {"a": high, "b": low}
        scores = evaluate(truth, runs, average=1, validation=validation)
        thresholds.append([row["threshold"] for row in scores.tables["average"]])
    assert thresholds[0] == thresholds[1] == thresholds[2]
    assert thresholds[0] == pytest.approx([0.15, 0.75])


@pytest.mark.parametrize("names", [("C=0.1", "C=0.5"), ("x/knn", "y/knn")])
def test_runs_of_any_names_have_files_of_their_own(tmp_path, names):
    truth = {"1.jpg": "Quercus ilex", "2.jpg": "Ulmus minor"}
    runs = dict.fromkeys(names, truth)
    evaluate(truth, runs, output=tmp_path / "scores")
    report(truth, runs, tmp_path / "report")
    for name in names:
        stem = name.replace("/", "-")
        assert (tmp_path / f"scores/{stem}ScoreByPicture.csv").is_file()
        assert (tmp_path / f"report/tables/species-{stem}.csv").is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"truth": None}, "truth: expected a path, a Collection, pictures, a mapping"),
        ({"average": "2"}, "average: expected a number, found '2'"),
        ({"metrics": [1]}, "metrics: expected text, found 1"),
    ],
)
def test_what_an_argument_may_be_is_said_in_words(words, message):
    with pytest.raises(InputError, match=message):
        evaluate(**{"truth": TRUTH, "runs": GOOD} | words)
