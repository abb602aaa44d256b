import pytest

from leafid.errors import ProblemsError
from leafid.tasks.annotation2016.files import AllowedNames, Subtask, read_annotations
from leafid.tasks.interpretation.regions import Box, BoxedObject

# A good run of each subtask; 2, 3 and 5 are the examples of the task's page, 1 is built
# from its description.
GOOD = {
    1: (
        "1 -0-QJyJXLD_48kXv dog 0.7:100x50+30+20,0.3:10x10+0+0 boy 40x90+5+5\n1 b\n1 c "
        "cat -2e-3:1x1+0+0\n"
    ),
    2: (
        "2 -0-QJyJXLD_48kXv Two boys are playing with a dog.\n2 b A dog: 'x', and 3 "
        "cats.\n"
    ),
    3: "3 -0-QJyJXLD_48kXv 0,2,5\n3 b 7\n",
    4: (
        "4 doc1 jlsCv7gwAE1ScDJ2,LCbsocZO4I1KtVf1,2WFgg3tHINzdbLfs\n4 doc2 "
        "LCbsocZO4I1KtVf1\n"
    ),
    5: "5 zwtm5ZcmsvTZydW0 51.5085 -6.24889\n5 b -90 180\n",
}


def write(tmp_path, text):
    path = tmp_path / "run.txt"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


def find_problems(tmp_path, text, known=None, subtask=None):
    path = write(tmp_path, text)
    with pytest.raises(ProblemsError) as caught:
        read_annotations(path, known or AllowedNames(), subtask=subtask)
    return [problem.removeprefix(f"{path}:") for problem in caught.value.problems]


def test_values_of_the_examples(tmp_path):
    read = {}
    for number, text in GOOD.items():
        results = read_annotations(write(tmp_path, text)).results
        read[number] = {identity: only for identity, (only,) in results.items()}
    first = "-0-QJyJXLD_48kXv"
    assert read[1][first] == (
        BoxedObject("dog", Box(30, 20, 100, 50), 0.7),
        BoxedObject("dog", Box(0, 0, 10, 10), 0.3),
        BoxedObject("boy", Box(5, 5, 40, 90), 1.0),
    )
    assert read[1]["b"] == ()
    assert read[2][first] == "Two boys are playing with a dog."
    assert read[3][first] == (0, 2, 5)
    assert read[4]["doc1"][0] == "jlsCv7gwAE1ScDJ2"
    assert read[5]["zwtm5ZcmsvTZydW0"] == (51.5085, -6.24889)


def make_bad_examples():
    """The five files that the task's verifier rejects, as its page says, and where."""
    boxes = ",".join(["0.5:10x10+0+0"] * 101)
    pictures = frozenset({"jlsCv7gwAE1ScDJ2", "LCbsocZO4I1KtVf1", "2WFgg3tHINzdbLfs"})
    return [
        (
            1,
            f"1 a dog 1x1+0+0\n1 b dog 1x1+0+0\n1 c dog {boxes} cat 1x1+0+0\n",
            None,
            "3: expected at most 100 boxes of a concept, found 101 of 'dog'",
        ),
        (2, "2 a A dog.\n2 b\n", None, "2: expected a sentence, found none"),
        (
            3,
            "3 a 0,2\n3 b 0,1.5\n",
            None,
            "2: expected ids of boxes as whole numbers from 0 up, found '1.5'",
        ),
        (
            4,
            GOOD[4] + "4 doc3 jlsCv7gwAE1ScDJ2,notOfThe2000\n",
            AllowedNames(illustrations=pictures),
            "3: expected a picture of the collection, found 'notOfThe2000'",
        ),
        (
            5,
            "5 a 51.5 -6.2\n5 b 51.5 -180.5\n",
            None,
            "2: expected a latitude from -90 to 90 and a longitude from -180 to 180, "
            "found '51.5 -180.5'",
        ),
    ]


@pytest.mark.parametrize(
    ("subtask", "text", "known", "problem"),
    make_bad_examples(),
    ids=lambda value: str(value)[:1],
)
def test_the_five_bad_examples_are_rejected_with_their_line(
    tmp_path, subtask, text, known, problem
):
    assert find_problems(tmp_path, text, known) == [problem]
    assert find_problems(tmp_path, text, known, Subtask(subtask)) == [problem]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (
            "1 a dog",
            "expected pairs of a concept and its boxes, found nothing behind 'dog'",
        ),
        ("1 a dog 0x5+1+1", "expected a box of some area, found 0x5+1+1"),
        (
            "1 a dog 5x5+1",
            "expected a box [confidence:]WIDTHxHEIGHT+LEFT+TOP in whole pixels, found "
            "'5x5+1'",
        ),
        (
            "1 a dog nan:5x5+1+1",
            "expected a box [confidence:]WIDTHxHEIGHT+LEFT+TOP in whole pixels, found "
            "'nan:5x5+1+1'",
        ),
        (
            "1 a dog 5x5+1+1 dog 5x5+1+1",
            "expected at most 100 concepts, each once, found dog, dog",
        ),
        ("3 a 0,2,2", "expected at most 3 boxes, each once, found 0, 2, 2"),
        (
            "4 a x,,y",
            "expected ids of pictures, the best first, separated by commas, found "
            "'x,,y'",
        ),
        (
            "4 a " + ",".join(f"p{n}" for n in range(101)),
            "expected at most 100 pictures, each once, found",
        ),
        (
            "5 a 0 180.01",
            "expected a latitude from -90 to 90 and a longitude from -180 to 180, "
            "found '0 180.01'",
        ),
        ("", "expected '[subtask] [id] [results]', subtask 1 to 5, found ''"),
        ("2 a Un café.", r"expected ASCII text, found '2 a Un caf\udcc3\udca9.'"),
    ],
)
def test_bad_lines(tmp_path, line, problem):
    subtask = line[:1] if line[:1] in "12345" and line else "2"
    good = GOOD[int(subtask)]
    problems = find_problems(tmp_path, f"{good}{line}\n")
    assert problems[0].split(":", 1)[1].strip().startswith(problem)
    assert problems[0].startswith(f"{good.count(chr(10)) + 1}:")


def test_unknown_names_are_problems(tmp_path):
    for known, problem in (
        (
            AllowedNames(ids=frozenset("b")),
            "1: expected an id of the collection, found 'a'",
        ),
        (
            AllowedNames(concepts=frozenset({"cat"})),
            "1: expected a concept of the list, found 'dog'",
        ),
    ):
        assert find_problems(tmp_path, "1 a dog 5x5+0+0\n", known) == [problem]


def test_a_ground_truth_has_several_descriptions(tmp_path):
    truth = read_annotations(write(tmp_path, "3 a 0\n3 a 0,1\n3 b 2\n"), is_truth=True)
    assert truth.results == {"a": [(0,), (0, 1)], "b": [(2,)]}
    with pytest.raises(
        ProblemsError, match=r":2: expected every id once, found 'a', as in line 1"
    ):
        read_annotations(write(tmp_path, "5 a 0 0\n5 a 0 0\n"), is_truth=True)


def test_a_selection_may_be_empty_in_a_run_only(tmp_path):
    file = write(tmp_path, "3 a\n3 b 1\n")
    assert read_annotations(file).results == {"a": [()], "b": [(1,)]}
    with pytest.raises(
        ProblemsError,
        match=r":1: expected a description that mentions at least one box, found none",
    ):
        read_annotations(file, is_truth=True)
