import pytest

from leafid.errors import LeafidError, ProblemsError
from leafid.textfiles import LineProblems


def collect(*entries, error=None):
    with LineProblems("run.txt") as problems:
        for line, problem in entries:
            problems.add(line, problem)
        if error:
            raise error


def test_problems_are_raised_together_in_the_order_of_lines():
    with pytest.raises(ProblemsError) as caught:
        collect((None, "expected more"), (3, "third"), (1, "first"), (3, "third again"))
    assert caught.value.problems == (
        "run.txt:1: first",
        "run.txt:3: third",
        "run.txt:3: third again",
        "run.txt: expected more",
    )


def test_another_error_is_not_hidden():
    with pytest.raises(LeafidError, match="something else"):
        collect((1, "first"), error=LeafidError("something else"))
