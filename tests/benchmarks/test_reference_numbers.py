import pytest

from benchmarks.reference_numbers import compare_interpretation, compare_irma, compare_official, compare_plantnet


def test_numbers_of_the_documents():
    # Both documents give rounded numbers.
    assert compare_irma().difference <= 5e-7
    assert compare_interpretation().difference <= 5e-4
    assert [(row.numbers, row.difference) for row in compare_plantnet()] == [
        (8, pytest.approx(0, abs=1e-15)),
        (16, pytest.approx(0, abs=1e-15)),
    ]


@pytest.mark.slow
def test_numbers_of_the_official_scorer(real_data):
    rows = list(compare_official(real_data))
    assert sum(row.numbers for row in rows) == 44_673
    assert max(row.difference for row in rows) < 1e-15
