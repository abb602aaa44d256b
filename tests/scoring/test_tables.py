import csv
import io
import re

import pytest

from leafid.errors import UsageError
from leafid.scoring.tables import (
    LETTERS,
    Estimate,
    Table,
    choose_tables,
    format_csv,
    render,
)
from leafid.textfiles import read_table

TABLE = Table(
    "Scores",
    ["run", "S", "n"],
    [["a_1.txt", 0.123456789, 3], ["1e5", float("nan"), None]],
    notes=["seed 0, 5 % left out"],
)


def test_text():
    assert render([TABLE]).splitlines() == [
        "Scores",
        "run           S  n",
        "-------  ------  -",
        "a_1.txt  0.1235  3",
        "1e5           –  –",
        "seed 0, 5 % left out",
    ]


def test_csv_has_all_digits():
    rows = list(csv.reader(io.StringIO(render([TABLE], "csv"))))
    assert rows == [["run", "S", "n"], ["a_1.txt", "0.123456789", "3"], ["1e5", "", ""]]


def test_a_csv_holds_one_table():
    tables = [TABLE, Table("Species", ["a"], [[1]])]
    assert choose_tables(tables, "text", None) == tables
    assert choose_tables(tables[:1], "csv", None) == tables[:1]
    assert (
        choose_tables(tables, "csv", 2)
        == choose_tables(tables, "text", 2)
        == tables[1:]
    )
    with pytest.raises(
        UsageError,
        match=r"found several tables for a CSV; .* --table N: 1 Scores, 2 Species$",
    ):
        choose_tables(tables, "csv", None)
    with pytest.raises(UsageError, match=r"found --table 3; .*: 1 Scores, 2 Species$"):
        choose_tables(tables, "json", 3)


@pytest.mark.parametrize("name", ["=1+1", "+1", "@SUM(A1)", "\tx"])
def test_csv_holds_no_formulas(name):
    table = Table("", ["run", name], [[name, -1.5]])
    assert [*csv.reader(render([table], "csv").splitlines())] == [
        ["run", f"'{name}"],
        [f"'{name}", "-1.5"],
    ]


@pytest.mark.parametrize("name", ["a\rb", "a\nb", "a\r\nb", '"\r', ","])
def test_line_ends_in_names_stay_in_their_cells(tmp_path, name):
    rows = [["run", name], [name, "x"]]
    (tmp_path / "table.csv").write_text(format_csv(rows), newline="")
    assert [cells for _, cells in read_table(tmp_path / "table.csv")] == rows


NAN = float("nan")
BOUNDS = {"low": 0.778, "high": 1.0}
SCORES = Table(
    "Scores",
    ["type", "run", "plants", "S", "log-loss"],
    [
        [
            "scan",
            "a_1",
            7,
            Estimate(
                0.8123,
                BOUNDS,
                is_best=True,
                better_than="b",
                p_values={"a": NAN, "b": 0.01},
                smallest_difference=0.05,
            ),
            Estimate(2.5, {"error": 0.25}),
        ],
        ["scan", "b", 7, Estimate(-0.2), Estimate(NAN, {"error": NAN})],
    ],
    details=frozenset({"plants"}),
    n_keys=2,
    letters={"a_1": "a", "b": "b"},
    notes=["[low, high]: 95 % interval"],
)


def test_an_estimate_is_one_cell():
    assert render([SCORES], digits=3).splitlines() == [
        "Scores",
        "type  run      S                  log-loss",
        "----  -------  -----------------  -----------",
        "scan  a_1 (a)  .812 [.78, 1.00]ᵇ  2.500 ± .25",
        "scan  b (b)    -.200              –",
        "[low, high]: 95 % interval",
    ]


def test_latex_has_groups_and_the_best_in_bold():
    lines = render([SCORES], "latex", 3).splitlines()
    assert lines[1:] == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"run & S & log-loss \\",
        r"\midrule",
        r"\multicolumn{3}{l}{\textit{scan}} \\",
        r"a\_1 (a) & \textbf{.812} [.78, 1.00]$^{b}$ & 2.500 $\pm$ .25 \\",
        r"b (b) & -.200 & – \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\par{\footnotesize [low, high]: 95 \% interval\par}",
    ]


def test_markdown_has_a_table_and_notes():
    rows = [["a|_1", Estimate(-0.25, BOUNDS, is_best=True, better_than="b")], ["b", 1]]
    table = Table("Scores", ["run", "S"], rows, notes=["seed 0"])
    title, head, _, first, second, note = filter(
        None, render([table], "markdown", 2).splitlines()
    )
    assert (title, note) == ("Scores", "seed 0")
    cells = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in (head, first, second)
    ]
    expected = ["run", "S"], [r"a\|\_1", "**-.25** [.78, 1.00]ᵇ"], ["b", "1"]
    assert cells == [*expected]


def test_csv_has_the_numbers_of_an_estimate():
    rows = list(csv.DictReader(io.StringIO(render([SCORES], "csv"))))
    assert rows[0] == {
        **{
            "type": "scan",
            "run": "a_1",
            "letter": "a",
            "plants": "7",
            "S": "0.8123",
            "S low": "0.778",
            "S high": "1.0",
            "S best": "True",
            "S better than": "b",
            "S smallest difference": "0.05",
            "S p a": "",
            "S p b": "0.01",
        },
        **{"log-loss": "2.5", "log-loss error": "0.25"},
    }
    assert (rows[1]["S"], rows[1]["S low"], rows[1]["log-loss error"]) == (
        "-0.2",
        "",
        "",
    )


def test_a_wide_table_is_set_in_parts():
    names = [f"metric {number}" for number in range(12)]
    table = Table(
        "",
        ["run", *names],
        [["a", *(Estimate(0.5, BOUNDS) for _ in names)]],
        n_keys=1,
    )
    text = render([table], digits=3)
    assert max(map(len, text.splitlines())) <= 100
    assert (
        [line.split()[0] for line in text.splitlines() if line].count("run")
        == len(text.split("\n\n"))
        > 1
    )
    assert all(name in text for name in names)


def test_a_small_p_is_not_0():
    assert render([Table("", ["p"], [[0.0001], [0.0]])], digits=3).split()[-2:] == [
        "0.0001",
        "0.000",
    ]


def test_each_letter_can_be_raised():
    table = Table("", ["run", "S"], [["x", Estimate(0.5, better_than=LETTERS)]])
    assert not set(LETTERS) & set(render([table]).splitlines()[-1].removeprefix("x"))
