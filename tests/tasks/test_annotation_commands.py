import pytest

TRUTH = "1 a dog 10x10+0+0\n1 b dog 10x10+0+0 cat 5x5+0+0\n"
RUN = "1 a dog 0.9:10x10+0+0,0.2:3x3+20+20\n1 b dog 0.8:10x10+5+0 cat 0.7:5x5+0+0\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {
        "truth.txt": TRUTH,
        "run.txt": RUN,
        "partial.txt": "1 a dog 0.9:10x10+0+0\n",
        "unknown.txt": RUN + "1 zzz dog 0.9:10x10+0+0\n",
        "ids.txt": "a\nb\nzzz\n",
        "bad.txt": "1 a dog 0x10+0+0\n1 b dog nan:1x1+0+0\n1 b cat 1x1+0+0\n",
        "places.txt": "5 a 51.5 -6.2\n5 b 91 0\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def rows(outcome, table=0):
    assert outcome.status == 0, outcome.err
    return outcome.json[table]["rows"]


def test_scores(cli, folder):
    outcome = cli(
        "evaluate-annotation",
        "truth.txt",
        "run.txt",
        "--by-concept",
        "--format",
        "json",
    )
    (scores,) = rows(outcome)
    titles = [table["title"] for table in outcome.json]
    assert titles == ["Scores", "run.txt: average precision by concept and overlap"]
    assert scores["run"] == "run.txt"
    assert scores["map-0"] == 1
    assert scores["map-0.5"] == pytest.approx((0.5 + 1) / 2)
    assert [row["concept"] for row in rows(outcome, 1)] == ["cat", "dog"]
    assert outcome.err == ""


def test_missing_pictures_are_warned_about(cli, folder):
    outcome = cli("evaluate-annotation", "truth.txt", "run.txt", "partial.txt")
    assert (
        "partial.txt: lacks 1 of 2 pictures or documents; each counts as the worst "
        "answer" in outcome.err
    )


def test_pictures_outside_the_ground_truth_need_a_list(cli, folder):
    outcome = cli("evaluate-annotation", "truth.txt", "unknown.txt")
    assert outcome.status == 1
    assert "unknown.txt:3: expected an id of the collection, found 'zzz'" in outcome.err
    options = ["--pictures", "ids.txt", "--format", "json"]
    first, second = rows(
        cli("evaluate-annotation", *options, "truth.txt", "unknown.txt", "run.txt")
    )
    assert {**first, "run": ""} == {**second, "run": ""}


def test_check(cli, folder):
    outcome = cli("check-annotation", "run.txt", "bad.txt", "places.txt")
    assert outcome.status == 1
    assert outcome.out.splitlines() == [
        "run.txt: good: subtask 1, 2 lines",
        "bad.txt:1: expected a box of some area, found 0x10+0+0",
        "bad.txt:2: expected a box [confidence:]WIDTHxHEIGHT+LEFT+TOP in whole pixels, "
        "found 'nan:1x1+0+0'",
        "places.txt:2: expected a latitude from -90 to 90 and a longitude from -180 to "
        "180, found '91 0'",
    ]
    assert cli("check-annotation", "run.txt").status == 0
    assert cli("check-annotation", "nowhere.txt").status == 1


def test_options_of_other_subtasks_are_refused(cli, folder):
    for truth, option in (
        ("places-true.txt", "--by-concept"),
        ("truth.txt", "--by-picture"),
    ):
        (folder / "places-true.txt").write_text("5 a 51.5 -6.2\n")
        outcome = cli("evaluate-annotation", truth, "run.txt", option)
        assert (outcome.status, outcome.out) == (2, "")
        assert (
            "--by-concept is for subtask 1, --by-picture for the others" in outcome.err
        )
