import json

import pytest

# 11 characters at the first position of the anatomical axis, 7 below 4, 8 below 46.
ANATOMY = ["731", "473", "477", *(f"46{n}" for n in range(1, 9)), *(f"4{n}1" for n in range(1, 6))]
ANATOMY += [f"{first}00" for first in "12356890a"]
TABLE = "".join(f"A {code}\n" for code in ANATOMY) + "T 1121\nT 1122\nD 120\nD 127\nB 700\nB 710\n"
CODE = "1121-120-463-700"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {
        "codes.txt": TABLE,
        "truth.txt": f"1 18 18 {CODE} {CODE}\n2 C 3 CCCC-CCC-CCC-CCC {CODE}\n",
        "run.txt": f"2 7 * {CODE} 1121-120-4**-700\n1 18 21 1121-120-46*-700 {CODE}\n",
        "part.txt": f"1 18 18 {CODE} {CODE}\n",
        "bad.txt": f"1 18 18 {CODE} {CODE}\n9 18 18 {CODE} 1121-120-999-700\n",
        "truth08.txt": "".join(f"{n} {CODE}\n" for n in range(10)),
        "run08.txt": "".join(
            f"{n} 1121-120-{code}-700\n"
            for n, code in enumerate(["463", "46*", "461", "4*1", "4**", "47*", "473", "477", "***", "731"])
        ),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)


def test_four_years(cli, folder):
    outcome = cli("evaluate-irma", "--codes", "codes.txt", "--format", "json", "truth.txt", "run.txt", "part.txt")
    assert outcome.status == 0
    [table] = json.loads(outcome.out)
    assert table["title"] == "Sums of errors"
    first, second = table["rows"]
    assert first == {
        "run": "run.txt",
        "2005": 0,
        "2006": 1.5,
        "2007": pytest.approx(0.025531, abs=5e-7),
        "2008": pytest.approx(0.069297, abs=5e-7),
        "sum": pytest.approx(1.5 + 0.025531 + 0.069297, abs=1e-6),
    }
    assert second["sum"] == 2  # the missing picture is clutter in 2005 and 2007
    assert "part.txt: lacks 1 of 2 pictures; each counts as entirely wrong" in outcome.err


def test_ten_lines_of_the_document(cli, folder):
    outcome = cli("evaluate-irma", "--codes", "codes.txt", "--years", 2008, "--by-picture", "truth08.txt", "run08.txt")
    listed = [line.split()[1] for line in outcome.out.splitlines()[-10:]]
    expected = "0.000000 0.025531 0.051061 0.069297 0.069297 0.138594 0.138594 0.138594 0.125000 0.250000"
    assert listed == expected.split()


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["truth.txt", "run.txt"], 2, "expected a code table for 2007 and 2008, found none"),
        (["--years", "2005,2005", "truth.txt", "run.txt"], 2, "expected --years of 2005 to 2008, each once"),
        (["--codes", "codes.txt", "truth.txt", "bad.txt"], 1, "bad.txt:2: expected a picture of the ground truth"),
        (["--codes", "codes.txt", "truth.txt", "bad.txt"], 1, "bad.txt:2: 2008: axis A: expected a code of the table"),
        (["--codes", "nowhere.txt", "truth.txt", "run.txt"], 1, "nowhere.txt"),
    ],
)
def test_bad_input(cli, folder, words, status, message):
    outcome = cli("evaluate-irma", *words)
    assert (outcome.status, outcome.out) == (status, "")
    assert message in outcome.err


def test_errors_by_axis(cli, folder):
    outcome = cli("evaluate-irma", "--codes", "codes.txt", "--by-axis", "--format", "json", "truth.txt", "run.txt")
    years = {row["year"]: row for row in json.loads(outcome.out)[1]["rows"]}
    assert years.keys() == {2007, 2008}
    # Of 2007 one picture counts, of 2008 two.
    assert years[2007]["A"] == pytest.approx(0.025531, abs=5e-7)
    assert years[2008]["A"] == pytest.approx(0.069297 / 2, abs=5e-7)
    assert {years[year][axis] for year in years for axis in "TDB"} == {0}
    assert years[2008]["code"] == years[2008]["A"]
