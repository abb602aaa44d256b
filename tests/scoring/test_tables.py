import csv
import io

import pytest

from leafid.errors import UsageError
from leafid.scoring.tables import Table, choose_tables, render

TABLE = Table(
    "Scores",
    ["run", "S", "n"],
    [["a_1.txt", 0.123456789, 3], ["1e5", float("nan"), None]],
    notes=["seed 0, 5 % left out"],
)


def test_text():
    assert render([TABLE]).splitlines() == [
        "Scores",
        "run           S    n",
        "-------  ------  ---",
        "a_1.txt  0.1235    3",
        "1e5           –    –",
        "seed 0, 5 % left out",
    ]


def test_csv_has_all_digits():
    rows = list(csv.reader(io.StringIO(render([TABLE], "csv"))))
    assert rows == [["run", "S", "n"], ["a_1.txt", "0.123456789", "3"], ["1e5", "", ""]]


def test_a_csv_holds_one_table():
    tables = [TABLE, Table("Species", ["a"], [[1]])]
    assert choose_tables(tables, "text", None) == tables
    assert choose_tables(tables[:1], "csv", None) == tables[:1]
    assert choose_tables(tables, "csv", 2) == choose_tables(tables, "text", 2) == tables[1:]
    with pytest.raises(UsageError, match=r"found several tables for a CSV; .* --table N: 1 Scores, 2 Species$"):
        choose_tables(tables, "csv", None)
    with pytest.raises(UsageError, match=r"found --table 3; .*: 1 Scores, 2 Species$"):
        choose_tables(tables, "json", 3)


@pytest.mark.parametrize("name", ["=1+1", "+1", "@SUM(A1)", "\tx"])
def test_csv_holds_no_formulas(name):
    table = Table("", ["run", name], [[name, -1.5]])
    assert [*csv.reader(render([table], "csv").splitlines())] == [["run", f"'{name}"], [f"'{name}", "-1.5"]]
