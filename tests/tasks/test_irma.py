import re
from itertools import product
from pathlib import Path

import pytest

from leafid.errors import ProblemsError
from leafid.tasks.irma import (
    axis_error,
    code_errors,
    read_code_table,
    read_labels,
    year_errors,
)

# 11 characters at the first position of the anatomical axis, 7 below 4, 8 below 46, as
# in the document's example.
ANATOMY = [
    "731",
    "473",
    "477",
    *(f"46{n}" for n in range(1, 9)),
    *(f"4{n}1" for n in range(1, 6)),
]
ANATOMY += [f"{first}00" for first in "12356890a"]
TABLE = (
    "# axis code meaning\nT 1121 x-ray, plain\nT 1122 x-ray\nT 2110\nD 120\nD 127\nD "
    "400\nB 700\nB 710\nB 510\n"
)
TABLE += "".join(f"A {code}\n" for code in ANATOMY)
CODE = "1121-120-463-700"
TEN_LINES = {
    "463": "0.000000",
    "46*": "0.025531",
    "461": "0.051061",
    "4*1": "0.069297",
    "4**": "0.069297",
    "47*": "0.138594",
    "473": "0.138594",
    "477": "0.138594",
    "***": "0.125000",
    "731": "0.250000",
}


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
            f"{n} 1121-120-{code}-700\n" for n, code in enumerate(TEN_LINES)
        ),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def table(folder):
    return read_code_table("codes.txt")


def literal_axis_error(
    correct: str, classified: str, branching: tuple[int, ...]
) -> float:
    """Compute the sum of the document clause by clause."""
    end = correct.find("0")
    length = len(correct) if end < 0 else end + 1
    total = worst = 0.0
    for i in range(1, length + 1):
        a, b = 1 / branching[i - 1], 1 / i
        first = next(
            (j for j in range(1, i + 1) if correct[j - 1] != classified[j - 1]), None
        )
        if first is None:
            c = 0.0
        elif classified[first - 1] == "*":
            c = 0.0 if correct[i - 1] == "0" else 0.5
        else:
            c = 1.0
        total += a * b * c
        worst += a * b
    return 0.25 * total / worst


@pytest.mark.parametrize("branching", [(2, 3, 4), (30, 1, 7)])
def test_axis_error_equals_the_literal_version(branching):
    answers = ["".join(characters) for characters in product("012*", repeat=3)]
    for correct in filter(re.compile("[12]*0*").fullmatch, answers):
        for answer in answers:
            # Both add the same few numbers; only the order of one division differs.
            expected = pytest.approx(
                literal_axis_error(correct, answer, branching), abs=1e-12
            )
            assert axis_error(correct, answer, branching) == expected, (correct, answer)


@pytest.mark.parametrize("classified", ["111", "11*", "1**", "***", "*C*"])
def test_clutter_examples_of_the_document(classified):
    assert axis_error("CCC", classified, ()) == 0.0


def test_errors_of_the_axes(table):
    assert code_errors(CODE, CODE, table) == (0, 0, 0, 0)
    assert code_errors(CODE, "2110-400-731-510", table) == (0.25, 0.25, 0.25, 0.25)
    assert code_errors(CODE, "1121-120-46*-700", table) == pytest.approx(
        (0, 0, 0.025531, 0), abs=5e-7
    )
    assert code_errors("CCCC-CCC-CCC-CCC", CODE, table) == (0, 0, 0, 0)
    # The last position of both 120 and 700 is where their paths end: a wildcard there
    # is no mistake.
    assert code_errors(CODE, "1121-12*-463-70*", table) == (0, 0, 0, 0)


def test_a_missing_picture_costs_as_much_as_its_worst_answer(table):
    truth = {"1": ("1121-CCC-463-700",)}
    worst = year_errors(truth, {"1": ("2110-120-731-510",)}, table, years=(2007,))
    assert year_errors(truth, {}, table, years=(2007,)) == worst == {2007: {"1": 0.75}}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("X 463", "codes.txt:1: expected an axis"),
        (
            "A 46",
            "codes.txt:1: expected an axis .* positions of 0-9, a-z, found 'A 46'",
        ),
        (
            "A 463\nA 463",
            "codes.txt:2: expected every code of axis A once, found '463', as in line "
            "1",
        ),
    ],
)
def test_bad_table_lines_are_named(folder, line, message):
    (folder / "codes.txt").write_text(line + "\n")
    with pytest.raises(ProblemsError, match=message):
        read_code_table("codes.txt")


def find_problems(text, *args, **options):
    Path("labels.txt").write_text(text, "utf-8")
    with pytest.raises(ProblemsError) as caught:
        read_labels("labels.txt", *args, **options)
    return [problem.removeprefix("labels.txt:") for problem in caught.value.problems]


def test_all_problems_of_a_run_are_reported_together(table):
    text = (
        f"# picture 2005 2006 2007 2008\n1 18 18 {CODE} {CODE}\n1 18 18 {CODE} "
        f"{CODE}\n2 18 {CODE} {CODE}\n3 1 1 1121-120-463 1121-120-46-700\n4 1 1 "
        f"1121-120-4x*-700 1121-120-4?3-700\n9 1 1 {CODE} CCCC-CCC-CCC-CCC\n"
    )
    assert find_problems(text, table, pictures=["1", "2", "3", "4"]) == [
        "3: expected every picture once, found '1', as in line 2",
        "4: expected a picture and 4 answers (2005, 2006, 2007, 2008), found '2 18 "
        f"{CODE} {CODE}'",
        "5: 2007: expected a code TTTT-DDD-AAA-BBB, found '1121-120-463'",
        "5: 2008: expected a code TTTT-DDD-AAA-BBB, found '1121-120-46-700'",
        "6: 2007: axis A: expected a code of the table or * or C, found '4x*'",
        "6: 2008: axis A: expected a code of the table or *, found '4?3'",
        "7: expected a picture of the ground truth, found '9'",
        "7: 2008: axis T: expected a code of the table or *, found 'CCCC'",
    ]


def test_a_ground_truth_has_no_wildcards(table):
    assert find_problems(f"1 * 18 1121-120-46*-700 {CODE}\n", table) == [
        "1: 2005: expected a label (a whole number or C), found '*'",
        "1: 2007: axis A: expected a code of the table or C, found '46*'",
    ]


@pytest.mark.parametrize("label", ["**", "1.5", "018", "¹"])
def test_labels_are_whole_numbers(folder, label):
    problems = find_problems(
        f"1 18 *\n2 C {label}\n", {}, years=(2005, 2006), pictures=["1", "2"]
    )
    assert problems == [
        f"2: 2006: expected a label (a whole number or C, or *), found '{label}'"
    ]


def test_an_empty_run_is_refused(table):
    assert find_problems("# nothing\n\n", table) == [
        " expected one line per picture, found none"
    ]


def test_four_years(cli, folder):
    options = ["--codes", "codes.txt", "--format", "json"]
    outcome = cli("evaluate-irma", *options, "truth.txt", "run.txt", "part.txt")
    assert outcome.status == 0
    (sums,) = outcome.json
    assert sums["title"] == "Sums of errors"
    first, second = sums["rows"]
    assert first == {
        "run": "run.txt",
        "2005": 0,
        "2006": 1.5,
        "2007": pytest.approx(0.025531, abs=5e-7),
        "2008": pytest.approx(0.069297, abs=5e-7),
        "sum": pytest.approx(1.5 + 0.025531 + 0.069297, abs=1e-6),
    }
    assert second["sum"] == 2  # the missing picture is clutter in 2005 and 2007
    assert (
        "part.txt: lacks 1 of 2 pictures; each counts as entirely wrong" in outcome.err
    )
    # Of 2007 one picture counts, of 2008 two.
    assert sums["notes"] == [
        "pictures that count: 1 in 2005, 2 in 2006, 1 in 2007, 2 in 2008"
    ]


def test_ten_lines_of_the_document(cli, folder):
    outcome = cli(
        "evaluate-irma",
        "--codes",
        "codes.txt",
        "--years",
        2008,
        "--by-picture",
        "truth08.txt",
        "run08.txt",
    )
    assert [line.split()[1] for line in outcome.out.splitlines()[-10:]] == list(
        TEN_LINES.values()
    )


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (
            ["truth.txt", "run.txt"],
            2,
            "expected a code table for 2007 and 2008, found none",
        ),
        (
            ["--years", "2005,2005", "truth.txt", "run.txt"],
            2,
            "expected --years of 2005 to 2008, each once",
        ),
        (
            ["--codes", "codes.txt", "truth.txt", "bad.txt"],
            1,
            "bad.txt:2: expected a picture of the ground truth",
        ),
        (
            ["--codes", "codes.txt", "truth.txt", "bad.txt"],
            1,
            "bad.txt:2: 2008: axis A: expected a code of the table",
        ),
        (["--codes", "nowhere.txt", "truth.txt", "run.txt"], 1, "nowhere.txt"),
    ],
)
def test_bad_input(cli, folder, words, status, message):
    outcome = cli("evaluate-irma", *words)
    assert (outcome.status, outcome.out) == (status, "")
    assert message in outcome.err
