import pytest

from leafid.errors import LeafidError
from leafid.textfiles import LineProblems


def fail_beside_a_problem():
    with LineProblems("run.txt") as problems:
        problems.add(1, "first")
        raise LeafidError("something else")


def test_another_error_is_not_hidden_by_problems_of_lines():
    with pytest.raises(LeafidError, match="something else"):
        fail_beside_a_problem()
