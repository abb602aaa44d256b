import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.tasks.irma import CodeTable, axis_error, code_errors, year_errors

# The example of the document; its figures follow from 11, 7 and 8 possible characters.
TEN_LINES = """
463 0.000000
46* 0.025531
461 0.051061
4*1 0.069297
4** 0.069297
47* 0.138594
473 0.138594
477 0.138594
*** 0.125000
731 0.250000
"""
EXAMPLES = [(line.split()[0], float(line.split()[1])) for line in TEN_LINES.split("\n") if line]


def make_example_table() -> CodeTable:
    """Has 11 characters at the first position, 7 below 4, 8 below 46."""
    anatomy = {"731", "473", "477"} | {f"46{n}" for n in range(1, 9)} | {f"4{n}1" for n in (1, 2, 3, 4, 5)}
    anatomy |= {f"{first}00" for first in "12356890a"}
    codes = {"T": {"1121", "1122", "2110"}, "D": {"120", "127", "400"}, "A": anatomy, "B": {"700", "710", "510"}}
    table: dict[tuple[str, str], set[str]] = {}
    for axis, code in [(axis, code) for axis, listed in codes.items() for code in listed]:
        for depth, character in enumerate(code):
            table.setdefault((axis, code[:depth]), set()).add(character)
    return table


def literal_axis_error(correct: str, classified: str, branching: tuple[int, ...]) -> float:
    """Compute the sum of the document clause by clause."""
    if correct == "C" * len(correct):
        return 0.0
    end = correct.find("0")
    length = len(correct) if end < 0 else end + 1
    total = worst = 0.0
    for i in range(1, length + 1):
        a, b = 1 / branching[i - 1], 1 / i
        first = next((j for j in range(1, i + 1) if correct[j - 1] != classified[j - 1]), None)
        if first is None:
            c = 0.0
        elif classified[first - 1] == "*":
            c = 0.0 if correct[i - 1] == "0" else 0.5
        else:
            c = 1.0
        total += a * b * c
        worst += a * b
    return 0.25 * total / worst


labels = st.sampled_from("123ab")
branchings = st.tuples(*[st.integers(1, 30)] * 3)
# A correct code: labels, then zeros after the end of its path.
corrects = st.tuples(st.lists(labels, min_size=3, max_size=3), st.integers(0, 3)).map(
    lambda drawn: "".join(drawn[0][: drawn[1]]).ljust(3, "0")
)
classifieds = st.text("0123ab*", min_size=3, max_size=3)


@pytest.mark.parametrize(("classified", "error"), EXAMPLES)
def test_ten_lines_of_the_document(classified, error):
    table = make_example_table()
    branching = [len(table["A", prefix]) for prefix in ("", "4", "46")]
    assert branching == [11, 7, 8]
    assert f"{axis_error('463', classified, branching):.6f}" == f"{error:.6f}"


@pytest.mark.parametrize("classified", ["111", "11*", "1**", "***", "*C*"])
def test_clutter_examples_of_the_document(classified):
    assert axis_error("CCC", classified, ()) == 0.0


@pytest.mark.parametrize(
    ("classified", "share"),
    # Weights with b = (2, 3, 4): 1/2, 1/6, 1/12; the last position of 410 is where its path ends.
    [
        ("410", 0),
        ("41*", 0),
        ("411", 1 / 9),
        ("4**", 1 / 9),
        ("4*1", 1 / 9),
        ("42*", 1 / 3),
        ("***", 4 / 9),
        ("500", 1),
    ],
)
def test_unspecified_positions(classified, share):
    assert axis_error("410", classified, (2, 3, 4)) == pytest.approx(0.25 * share, abs=1e-12)


@given(corrects, classifieds, branchings)
def test_axis_error_equals_the_literal_version(correct, classified, branching):
    # Both add the same few numbers; only the order of one division differs.
    assert axis_error(correct, classified, branching) == pytest.approx(
        literal_axis_error(correct, classified, branching), abs=1e-12
    )


def test_errors_of_the_axes():
    table = make_example_table()
    correct = "1121-120-463-700"
    assert code_errors(correct, correct, table) == (0, 0, 0, 0)
    assert code_errors(correct, "2110-400-731-510", table) == (0.25, 0.25, 0.25, 0.25)
    assert code_errors(correct, "1121-120-46*-700", table) == pytest.approx((0, 0, 0.025531, 0), abs=5e-7)
    assert code_errors("CCCC-CCC-CCC-CCC", correct, table) == (0, 0, 0, 0)
    # The last position of both 120 and 700 is where their paths end: a wildcard there is no mistake.
    assert code_errors(correct, "1121-12*-463-70*", table) == (0, 0, 0, 0)


def test_a_missing_picture_costs_as_much_as_its_worst_answer():
    table = make_example_table()
    truth = {"1": ("1121-CCC-463-700",)}
    worst = year_errors(truth, {"1": ("2110-120-731-510",)}, table, years=(2007,))
    assert year_errors(truth, {}, table, years=(2007,)) == worst == {2007: {"1": (0.25, 0, 0.25, 0.25)}}
