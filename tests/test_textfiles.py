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


def test_no_problem_raises_nothing():
    with LineProblems("run.txt") as problems:
        assert problems.check_unique(1, "every id", "a")
        assert problems.check_unique(2, "every name", "a")
    assert not problems


def test_a_repeated_key_is_named_with_both_lines():
    with pytest.raises(ProblemsError) as caught, LineProblems("run.txt") as problems:
        is_new = [problems.check_unique(line, "every id", name) for line, name in enumerate("aba", 1)]
    assert is_new == [True, True, False]
    assert caught.value.problems == ("run.txt:3: expected every id once, found 'a', as in line 1",)


def test_another_error_is_not_hidden():
    with pytest.raises(LeafidError, match="something else"):
        collect((1, "first"), error=LeafidError("something else"))
