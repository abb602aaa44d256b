import pytest

from benchmarks.reference_numbers import (
    PAGE,
    compare_interpretation,
    compare_irma,
    compare_meteor,
    compare_official,
    compare_plantnet,
    format_row,
)
from leafid.tasks.annotation2016.meteor import find_missing_requirement


def is_in_page(row):
    """Check that the page has this row; the difference, rounding errors mostly, depends on the machine."""
    before, after = format_row(row).split(f"{row.difference:.1e}")
    return any(line.startswith(before) and line.endswith(after) for line in PAGE.open(encoding="utf-8"))


def test_numbers_of_the_documents():
    # Both documents give rounded numbers.
    assert compare_irma().difference <= 5e-7
    assert compare_interpretation().difference <= 5e-4
    rows = [*compare_plantnet()]
    assert [(row.numbers, row.difference) for row in rows] == [
        (8, pytest.approx(0, abs=1e-15)),
        (16, pytest.approx(0, abs=1e-15)),
    ]
    assert all(map(is_in_page, [compare_irma(), compare_interpretation(), *rows]))


@pytest.mark.slow
def test_numbers_of_the_official_scorer(real_data):
    rows = list(compare_official(real_data))
    assert sum(row.numbers for row in rows) == 44_673
    assert max(row.difference for row in rows) < 1e-15
    assert all(map(is_in_page, rows))


@pytest.mark.slow
def test_numbers_of_meteor():
    if missing := find_missing_requirement():
        pytest.skip(missing)
    row = compare_meteor()
    # Both come from one program, which prints all digits.
    assert (row.numbers, row.difference) == (6, 0)
    assert is_in_page(row)
