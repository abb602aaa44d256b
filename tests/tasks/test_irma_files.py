import pytest

from leafid.errors import ProblemsError
from leafid.tasks.irma import read_code_table, read_labels

TABLE = """# axis code meaning
T 1121 x-ray, plain
T 1122 x-ray
D 120 sagittal
D 127
A 463 left carpal joint
A 411 finger
A 700 abdomen
B 700 musculoskeletal
B 710
"""
GOOD = "1121-120-463-700"


@pytest.fixture
def table_file(tmp_path):
    path = tmp_path / "codes.txt"
    path.write_text(TABLE)
    return path


@pytest.fixture
def table(table_file):
    return read_code_table(table_file)


def test_a_table_has_what_can_follow_each_prefix(table):
    assert [table["T", prefix] for prefix in ("", "1", "11", "112")] == [{"1"}, {"1"}, {"2"}, {"1", "2"}]
    assert [table["A", prefix] for prefix in ("", "4", "46")] == [{"4", "7"}, {"6", "1"}, {"3"}]
    assert [table["B", prefix] for prefix in ("", "7", "70")] == [{"7"}, {"0", "1"}, {"0"}]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("X 463", "codes.txt:11: expected an axis"),
        ("A 46", "codes.txt:11: expected an axis .* positions of 0-9, a-z, found 'A 46'"),
        ("A 463", "codes.txt:11: expected every code of axis A once, found '463', as in line 6"),
    ],
)
def test_bad_table_lines_are_named(table_file, line, message):
    table_file.write_text(TABLE + line + "\n")
    with pytest.raises(ProblemsError, match=message):
        read_code_table(table_file)


def test_all_problems_of_a_run_are_reported_together(tmp_path, table):
    path = tmp_path / "run.txt"
    path.write_text(
        f"# picture 2005 2006 2007 2008\n1 18 18 {GOOD} {GOOD}\n1 18 18 {GOOD} {GOOD}\n2 18 {GOOD} {GOOD}\n"
        f"3 1 1 1121-120-463 1121-120-46-700\n4 1 1 1121-120-4x*-700 1121-120-4?3-700\n9 1 1 {GOOD} CCCC-CCC-CCC-CCC\n"
    )
    with pytest.raises(ProblemsError) as caught:
        read_labels(path, table, pictures=["1", "2", "3", "4"])
    problems = [problem.removeprefix(f"{path}:") for problem in caught.value.problems]
    assert problems == [
        "3: expected every picture once, found '1', as in line 2",
        f"4: expected a picture and 4 answers (2005, 2006, 2007, 2008), found '2 18 {GOOD} {GOOD}'",
        "5: 2007: expected a code TTTT-DDD-AAA-BBB, found '1121-120-463'",
        "5: 2008: expected a code TTTT-DDD-AAA-BBB, found '1121-120-46-700'",
        "6: 2007: axis A: expected a code of the table, found '4x*'",
        "6: 2008: axis A: expected positions of 0-9, a-z, *, found '4?3'",
        "7: expected a picture of the ground truth, found '9'",
        "7: 2008: axis T: expected positions of 0-9, a-z, *, found 'CCCC'",
    ]


def test_a_ground_truth_has_no_wildcards(tmp_path, table):
    path = tmp_path / "truth.txt"
    path.write_text(f"1 * 18 1121-120-46*-700 {GOOD}\n")
    with pytest.raises(ProblemsError) as caught:
        read_labels(path, table)
    assert [problem.removeprefix(f"{path}:1: ") for problem in caught.value.problems] == [
        "2005: expected a label (a whole number or C), found '*'",
        "2007: axis A: expected positions of 0-9, a-z, C, found '46*'",
    ]


@pytest.mark.parametrize("label", ["**", "1.5", "018", "¹"])
def test_labels_are_whole_numbers(tmp_path, label):
    path = tmp_path / "run.txt"
    path.write_text(f"1 18 *\n2 C {label}\n", "utf-8")
    with pytest.raises(ProblemsError, match=r"run.txt:2: 2006: expected a label \(a whole number or C, or \*\), found"):
        read_labels(path, {}, years=(2005, 2006), pictures=["1", "2"])


@pytest.mark.parametrize("content", ["", "# nothing\n\n"])
def test_an_empty_run_is_refused(tmp_path, table, content):
    (tmp_path / "run.txt").write_text(content)
    with pytest.raises(ProblemsError, match="expected one line per picture"):
        read_labels(tmp_path / "run.txt", table)
