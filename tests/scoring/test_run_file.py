import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from leafid.errors import LeafidError, ProblemsError
from leafid.pictures.names import parse_species_name
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.runs import KnownNames, Prediction, find_name_problem
from tests.scoring.run_files import write_run

SPECIES = (
    "Acer campestre",
    "Acer platanoides",
    "Juglans nigra",
    "Platanus x hispanica",
    "Quercus ilex",
)
KNOWN = KnownNames(frozenset({"1.jpg", "2.jpg", "2107.jpg"}), frozenset(SPECIES))
GOOD = (
    "1.jpg Quercus ilex 1 0.5\n1.jpg Acer campestre 2 0.25\n2107.jpg Platanus x "
    "hispanica 1 1.0\n"
)


def problems(path, known=KNOWN, **options):
    try:
        read_run(path, known, **options)
    except ProblemsError as error:
        return [problem.removeprefix(str(path)) for problem in error.problems]
    return []


def test_reads_what_the_readme_shows(file):
    run = read_run(file(GOOD), KNOWN)
    assert list(run) == [
        Prediction("1.jpg", "Quercus ilex", 1, 0.5),
        Prediction("1.jpg", "Acer campestre", 2, 0.25),
        Prediction("2107.jpg", "Platanus x hispanica", 1, 1.0),
    ]
    assert (run.name, len(run), run.pictures) == ("run.txt", 3, ("1.jpg", "2107.jpg"))


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("\n", "\r\n"),
        GOOD.rstrip("\n"),
        "\ufeff" + GOOD,
        GOOD.replace(" ", "\t "),
    ],
)
def test_line_ends_marks_and_blanks_of_other_editors(file, text):
    assert list(read_run(file(text), KNOWN)) == list(read_run(file(GOOD), KNOWN))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "\n" + GOOD,
            ":1: expected '<picture> <Genus species> <rank> <score>', found a blank "
            "line; remove it",
        ),
        (
            "1.jpg Quercus ilex 1 1,0\n",
            ":1: expected a score as a finite number, found '1,0'",
        ),
        (
            "1.jpg Quercus ilex 0 1\n",
            ":1: expected a rank (1, 2, …) before the score, found '0'",
        ),
        (
            "1.jpg 1 0.5\n",
            ":1: expected '<picture> <Genus species> <rank> <score>', found '1.jpg 1",
        ),
        (
            "1.jpg Quercus illex 1 0.5\n",
            ":1: expected some of the 5 known species ['Acer campestre', 'Acer "
            "platanoides', 'Juglans nigra', 'Platanus x hispanica', 'Quercus ilex'], "
            "found others only: ['Quercus illex'] (the nearest known names are "
            "{'Quercus illex': 'Quercus ilex'})",
        ),
        (
            "1.jpg Quercus ilex 2 0.5\n",
            ":1: expected rank 1 of picture '1.jpg', found 2; ranks begin at 1 and "
            "have no gaps",
        ),
        (
            GOOD + "1.jpg Juglans nigra 1 0.4\n",
            ":4: expected rank 2 of picture '1.jpg', found rank 1 in lines 1 and 4",
        ),
        (
            GOOD + "1.jpg Juglans nigra 4 0.1\n",
            ":4: expected rank 3 of picture '1.jpg', found 4; ranks begin at 1 and "
            "have no gaps",
        ),
        (
            GOOD + "1.jpg Quercus ilex 3 0.1\n",
            ":4: expected each species of picture '1.jpg' once, found 'Quercus ilex' "
            "in lines 1 and 4",
        ),
        (
            "1.jpg Quercus\u200b ilex 1 0.5\n",
            ":1: expected UTF-8 text without invisible characters, found '1.jpg "
            "Quercus\\u200b ilex 1 0.5'",
        ),
        (
            "2.jpg Quercus ilex 1 0.5\n1.jpg Acer campestre 2 0.75\n1.jpg Quercus ilex "
            "1 0.5\n",
            ":2: expected a score that falls with the rank, found 0.75 after 0.5 for "
            "picture '1.jpg'; write scores",
        ),
        (
            "",
            ":1: expected lines '<picture> <Genus species> <rank> <score>', found no "
            "prediction",
        ),
        (
            b"1.jpg Quercus ilex 1 0.5\n\xff\xfe.jpg Quercus ilex 1 0.5\n",
            ":2: expected UTF-8 text",
        ),
    ],
)
def test_each_problem_is_named_with_its_line(file, text, expected):
    (complaint,) = problems(file(text))
    assert complaint.startswith(expected)


def test_all_problems_are_found_at_once_and_in_order(file):
    text = (
        GOOD + "\n2.jpg Quercus ilex 1 0,5\n9.jpg acer campestre 1 0.5\n9.jpg Quercus "
        "ilex 3 0.5\n"
    )
    path = file(text)
    complaints = problems(path)
    assert [problem[: problem.index(" ")] for problem in complaints] == [
        ":4:",
        ":5:",
        ":6:",
        ":7:",
    ]
    with pytest.raises(ProblemsError) as error:
        read_run(path, KNOWN)
    assert len(error.value.problems) == 4


@pytest.mark.parametrize("official", [False, True])
def test_a_wrong_line_is_the_only_problem_of_its_picture(file, official):
    first = {
        "1.jpg Quercus ilex one 0.5": ":1: expected a rank",
        "1.jpg Quercus ilex 1 high": ":1: expected a score",
        "1.jpg Quercus 1": ":1: expected '<picture>",
        "<1.jpg Quercus ilex 1 0.5>": ":1: expected '<picture>",
    }
    further = "1.jpg Acer campestre 2 0.2\n2.jpg Acer campestre 2 0.2\n"
    for line, expected in first.items():
        wrong, gap = problems(file(f"{line}\n{further}"), official=official)
        assert wrong.startswith(expected)
        assert gap.startswith(":3: expected rank 1 of picture '2.jpg'")
    table = "picture,species,rank,score\n1.jpg,Quercus ilex,1\n"
    table += "1.jpg,Acer campestre,2,0.2\n"
    assert problems(file(table), official=official) == [":2: expected 4 cells, found 3"]


@pytest.mark.parametrize("official", [False, True])
def test_foreign_names_are_counted_in_one_warning(file, caplog, official):
    wrong = ["Sorbus aria", "quercus ilex", "Acer campester", "Sorbus", "Ulmus minor"]
    lines = [f"1.jpg {name} {n} {1 / n}\n" for n, name in enumerate(wrong, 1)]
    run = read_run(
        file("".join([*lines, "2.jpg Quercus ilex 1 1\n"])), KNOWN, official=official
    )
    assert [p.species for p in run if p.picture == "1.jpg"] == wrong
    [record] = caplog.records
    assert record.getMessage() == (
        "run.txt: 5 of 6 names are of no known species, and count as wrong answers: "
        "['Acer campester', 'Sorbus', 'Sorbus aria', 'Ulmus minor', 'quercus ilex'] "
        "(the nearest known names are {'Acer campester': 'Acer campestre', 'quercus "
        "ilex': 'Quercus ilex'})"
    )


def test_a_run_may_reject_all_pictures_but_not_name_foreign_species_alone(file):
    assert problems(file("1.jpg Unknown species 1 1\n")) == []
    [problem] = problems(file("1.jpg Unknown species 1 1\n1.jpg 7 2 0\n"))
    assert problem.endswith("found others only: ['7']")


def test_official_mode_takes_what_the_official_scorer_takes(file, caplog):
    text = (
        GOOD
        + "1.jpg quercus ilex 1 0.1\n2.jpg Quercus ilex 1 0.5\n2.jpg Quercus ilex 7 "
        "0.75\n"
    )
    run = read_run(file(text), KNOWN, official=True)
    assert [p.species for p in run if p.picture == "1.jpg" and p.rank == 1] == [
        "quercus ilex"
    ]
    message = caplog.messages[0]
    assert message.endswith("ignored 1 line whose rank a later line of the picture has")


@settings(max_examples=50)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_with_a_line(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("run") / "run.txt"
    path.write_text(text, encoding="utf-8")
    complaints = problems(path)
    assert complaints or len(read_run(path, KNOWN))
    assert all(
        problem.removeprefix(":").split(":")[0].isdigit() for problem in complaints
    )


@pytest.mark.parametrize(
    "ranking",
    [("Quercus  ilex", 0.5), ("Quercus\nilex", 0.5), ("Quercus ilex", float("nan"))],
)
def test_what_could_not_be_read_back_is_not_written(tmp_path, ranking):
    with pytest.raises(LeafidError):
        write_run(
            tmp_path / "run.txt", {"1.jpg": [("Quercus ilex", 1.0)], "2.jpg": [ranking]}
        )
    assert list(tmp_path.iterdir()) == []


# Every name that a command accepts is one that the next command can read.
HOSTILE = [
    " a.jpg",
    "\xa0a.jpg",
    "a\xa0.jpg",
    "<a.jpg",
    "a\u202e.jpg",
    "\ufeffa.jpg",
    "a\x1b[31m.jpg",
    "a\udce9.jpg",
    "a",
    # The first line of the run must not be taken for the heading of a table.
    ".|",
    "|.jpg",
    "id,1.jpg",
]
letters = st.characters(exclude_characters="/\0")


def with_examples(test):
    for name in HOSTILE:
        test = example(name)(test)
    return given(st.text(letters, min_size=1) | st.text(letters).map("{}.jpg".format))(
        test
    )


@with_examples
def test_a_picture_name_is_refused_or_read_back(tmp_path_factory, name):
    file = tmp_path_factory.mktemp("run") / "run.txt"
    if find_name_problem(name):
        with pytest.raises(LeafidError, match="rename the file"):
            write_run(file, {name: [("Acer campestre", 1.0)]})
        return
    write_run(file, {name: [("Acer campestre", 1.0)]})
    assert read_run(file).pictures == (name,)


@with_examples
def test_a_species_name_is_refused_or_read_back(tmp_path_factory, name):
    file = tmp_path_factory.mktemp("run") / "run.txt"
    try:
        species = parse_species_name(f"Acer {name}")
    except LeafidError:
        return
    write_run(file, {"1.jpg": [(species, 1.0)]})
    assert read_run(file).species == (species,)
