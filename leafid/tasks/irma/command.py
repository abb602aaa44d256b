"""Score labels and IRMA codes as ImageCLEF 2009's medical annotation task did.

The ground truth and every run have a line a picture: its name, then one answer a year, in the order of --years. 2005
and 2006 take a label, 2007 and 2008 a code TTTT-DDD-AAA-BBB. '*' is "don't know" (a whole label, or positions of a
code), 'C' is the clutter class of 2005 to 2007, whose pictures never count. The code table has a line a code: its axis
(T, D, A or B), the code, and maybe what it means; the branching factors come from it.

Errors are summed over the pictures; the task's score is their sum over the years. A picture that a run lacks counts as
all wrong.

examples:
  leafid evaluate-irma --codes codes.txt truth.txt mine.txt yours.txt
  leafid evaluate-irma --years 2005,2006 truth.txt mine.txt
  leafid evaluate-irma --codes codes.txt --years 2008 --by-picture truth.txt mine.txt
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from leafid.console.arguments import add_format, nonempty_path, positive_ints
from leafid.console.environment import Environment
from leafid.errors import UsageError

if TYPE_CHECKING:
    from leafid.report.tables import Cell, Table
    from leafid.tasks.irma.files import Answers, CodeTable
    from leafid.tasks.irma.metrics import YearError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("truth", metavar="GROUND-TRUTH", help="the right labels and codes")
    parser.add_argument("runs", nargs="+", metavar="RUN", help="files of the same format")
    parser.add_argument(
        "--codes", metavar="TABLE", type=nonempty_path, help="the codes that exist; needed for 2007 and 2008"
    )
    parser.add_argument(
        "--years",
        type=positive_ints,
        default=[2005, 2006, 2007, 2008],
        metavar="YEAR,…",
        help="the years of the columns (default: 2005,2006,2007,2008)",
    )
    parser.add_argument("--by-picture", action="store_true", help="show every picture's errors")
    add_format(parser)


def run(arguments: argparse.Namespace, environment: Environment) -> int:
    """Score every run and print a table."""
    from pathlib import Path

    from leafid.report.tables import render
    from leafid.tasks.irma.files import FLAT_YEARS, YEARS, read_code_table, read_labels
    from leafid.tasks.irma.metrics import year_errors

    years = arguments.years
    if len(set(years)) != len(years) or not set(years) <= set(YEARS):
        raise UsageError(f"expected --years of 2005 to 2008, each once, found {','.join(map(str, years))}")
    if not arguments.codes and set(years) - FLAT_YEARS:
        raise UsageError("expected a code table for 2007 and 2008, found none; give --codes, or --years 2005,2006")
    table = read_code_table(arguments.codes) if arguments.codes else None
    truth = read_labels(arguments.truth, table, years=years, answers=False)
    found, pictures = [], []
    for path in arguments.runs:
        answers = read_labels(path, table, years=years, pictures=truth)
        errors = year_errors(truth, answers, table, years)
        if missing := len(truth.keys() - answers.keys()):
            environment.warn(f"{path}: lacks {missing} of {len(truth)} pictures; each counts as all wrong")
        found.append((Path(path).name, errors))
        if arguments.by_picture:
            pictures.append(_by_picture(Path(path).name, truth, answers, table, years))
    tables = [_summary(found, years), *pictures]
    environment.stdout.write(render(tables, arguments.format, digits=6))
    return 0


def _summary(found: list[tuple[str, list[YearError]]], years: list[int]) -> Table:
    from math import fsum

    from leafid.report.tables import Table

    rows: list[list[Cell]] = [
        [name, *(year.error for year in errors), fsum(year.error for year in errors)] for name, errors in found
    ]
    counted = ", ".join(f"{year.pictures} in {year.year}" for year in found[0][1])
    return Table("", ["run", *map(str, years), "sum"], rows, [f"pictures that count: {counted}"])


def _by_picture(
    name: str, truth: dict[str, Answers], answers: dict[str, Answers], table: CodeTable | None, years: list[int]
) -> Table:
    from leafid.report.tables import Table
    from leafid.tasks.irma.metrics import year_errors

    rows: list[list[Cell]] = []
    for picture, right in truth.items():
        errors = year_errors({picture: right}, answers, table, years)
        rows.append([picture, *(year.error if year.pictures else None for year in errors)])
    return Table(f"{name}: errors by picture", ["picture", *map(str, years)], rows)
