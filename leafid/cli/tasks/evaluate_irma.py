"""Score labels and IRMA codes by the errors of ImageCLEF 2009's medical task.

The ground truth and the runs have one line per picture: its name and one answer per
year, in the order of --years. 2005 and 2006 have a label, 2007 and 2008 a code
TTTT-DDD-AAA-BBB. '*' means "don't know" (a label, or positions of a code), 'C' is the
clutter class of 2005 to 2007, whose pictures never count. The code table has one code
per line: its axis (T, D, A or B), the code, and optionally its meaning; the branching
factors come from it.

Errors are summed over the pictures; the task's score is their sum over the years. A
picture that a run lacks counts as entirely wrong.

examples:
  leafid evaluate-irma --codes codes.txt truth.txt mine.txt yours.txt
  leafid evaluate-irma --years 2005,2006 truth.txt mine.txt
  leafid evaluate-irma --codes codes.txt --years 2008 --by-picture truth.txt mine.txt
"""

import math
from pathlib import Path

from leafid.cli.arguments import TableOptions, option, positional, positive_ints, switch
from leafid.cli.outputs import Console, print_tables
from leafid.errors import UsageError
from leafid.scoring.tables import Rows, Table
from leafid.tasks.irma import (
    FLAT_YEARS,
    YEARS,
    Errors,
    read_code_table,
    read_labels,
    year_errors,
)


class Options(TableOptions):
    truth: str = positional("GROUND-TRUTH", "the correct labels and codes")
    runs: list[str] = positional(
        "RUN", "files in the format of the ground truth", nargs="+"
    )
    codes: str | None = option(
        "the codes that exist; required for 2007 and 2008", metavar="TABLE"
    )
    years: list[int] = option(
        "years of the columns (default: 2005,2006,2007,2008)",
        type=positive_ints,
        default=[*YEARS],
        metavar="YEAR,…",
    )
    by_picture: bool = switch("show the errors of every picture")


def run(options: Options, console: Console) -> None:
    years: list[int] = options.years
    if len(set(years)) != len(years) or not set(years) <= set(YEARS):
        raise UsageError(
            "expected --years of 2005 to 2008, each once, found "
            f"{','.join(map(str, years))}"
        )
    if not options.codes and set(years) - FLAT_YEARS:
        raise UsageError(
            "expected a code table for 2007 and 2008, found none; give --codes, or "
            "--years 2005,2006"
        )
    table = read_code_table(options.codes) if options.codes else {}
    truth = read_labels(options.truth, table, years=years)
    results: list[tuple[str, Errors]] = []
    for path in options.runs:
        answers = read_labels(path, table, years=years, pictures=truth)
        if missing := len(truth.keys() - answers.keys()):
            console.warn(
                f"{path}: lacks {missing} of {len(truth)} pictures; each counts as "
                "entirely wrong"
            )
        results.append((Path(path).name, year_errors(truth, answers, table, years)))
    tables = [_make_summary(results)]
    if options.by_picture:
        tables += [_list_pictures(name, [*truth], errors) for name, errors in results]
    print_tables(tables, options, console, digits=6)


def _make_summary(results: list[tuple[str, Errors]]) -> Table:
    rows: Rows = []
    for name, errors in results:
        sums = [math.fsum(year.values()) for year in errors.values()]
        rows.append([name, *sums, math.fsum(sums)])
    years = results[0][1]
    counts = ", ".join(f"{len(errors)} in {year}" for year, errors in years.items())
    return Table(
        title="Sums of errors",
        columns=["run", *map(str, years), "sum"],
        rows=rows,
        notes=[f"pictures that count: {counts}"],
    )


def _list_pictures(name: str, pictures: list[str], errors: Errors) -> Table:
    columns = ["picture", *map(str, errors)]
    rows: Rows = []
    for picture in pictures:
        rows.append([picture, *(year.get(picture) for year in errors.values())])
    return Table(f"{name}: errors by picture", columns, rows)
