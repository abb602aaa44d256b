"""The formats of runs: what is read, and how errors are named."""

import csv
import io
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leafid.errors import ProblemsError
from leafid.scoring.reading.run_formats import WRITERS
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.runs import KnownNames, Prediction
from leafid.scoring.reading.truth_reading import read_ground_truth
from tests.scoring.golden_files import GOOD, TRUTH
from tests.scoring.run_files import write_run

SPECIES = ("Acer campestre", "Platanus x hispanica", "Quercus ilex")
KNOWN = KnownNames(
    frozenset({"1.jpg", "2.jpg", "2.png", "a/3.jpg"}), frozenset(SPECIES)
)
TRUTH_TABLE = (
    "picture,species,plant,author,type\n1.jpg,Acer campestre,p,Ann,scan\n2.jpg,Quercus "
    "ilex,q,Bob,photo\n"
)


def archive(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def problems(path, known=KNOWN):
    with pytest.raises(ProblemsError) as error:
        read_run(path, known)
    return [problem.removeprefix(str(path)) for problem in error.value.problems]


@pytest.mark.parametrize(
    "content",
    [
        "1.jpg Quercus ilex 1 0.75\n1.jpg Acer campestre 2 0.25\n",
        "picture,species,score\n1.jpg,Acer campestre,0.25\n1.jpg,Quercus ilex,0.75\n",
        "\ufeffFile Name;note;Class;Probability\r\n1.jpg;?;Acer  "
        "campestre;0.25\r\n1.jpg;?;Quercus ilex;0.75\r\n",
        '"image"\t"label"\t"score"\n"images/1.jpg"\t"Acer '
        'campestre"\t"0.25"\n1\tQuercus ilex\t 0.75\n',
        "picture,Acer campestre,Quercus ilex\n1.jpg,0.25,0.75\n",
        ",picture,Acer campestre,Quercus ilex\n0,1.jpg,0.25,0.75\n",
        "sep=;\nUnnamed: 0;Image;Acer campestre;Quercus "
        "ilex;;\n7;1.jpg;0.25;0.75;;\n;;;;;\n",
        ",image,label,score\n0,1.jpg,Acer campestre,0.25\n1,C:\\x\\1.jpg,Quercus "
        "ilex,0.75\n",
        "Unnamed: 0.1,Unnamed: 0,id,Acer campestre,Quercus ilex\n3,0,1,0.25,0.75\n",
        "image;Acer campestre;Quercus ilex\n1;0,25;0,75\n",
        ",Acer campestre,Quercus ilex\n1,0.25,0.75\n",
        ",index,Acer campestre,Quercus ilex\n0,1.jpg,0.25,0.75\n",
        # A label beside a prediction is the truth.
        "image,label,predicted_label,prob\n1,Acer campestre,Quercus ilex,0.75\n1,Acer "
        "campestre,Acer campestre,0.25\n",
        "id;species;Prediction;score\n1;Quercus ilex;Acer campestre;0,25\n1;Quercus "
        "ilex;Quercus ilex;0,75\n",
        "1.jpg Q0 Quercus_ilex 1 0.75 mine\n1.jpg Q0 Acer_campestre 2 0.25 mine\n",
        "observation;species;probability;rank\n1;Quercus ilex;0.75;1\n1;Acer "
        "campestre;0.25;2\n",
        "1;Quercus ilex;0.75;1\n1;Acer campestre;0.25;2\n",
        archive(
            pictures=["1.jpg"],
            species=["Acer campestre", "Quercus ilex"],
            scores=np.float32([[0.25, 0.75]]),
        ),
        archive(
            pictures=[1],
            species=np.array([b"Acer campestre", b"Quercus ilex"]),
            scores=[[0.25, 0.75]],
        ),
    ],
)
def test_every_format_is_read_to_the_same(file, content):
    assert list(read_run(file(content), KNOWN)) == [
        Prediction("1.jpg", "Quercus ilex", 1, 0.75),
        Prediction("1.jpg", "Acer campestre", 2, 0.25),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "picture,species\n1.jpg,Quercus ilex\na/3.jpg,Acer campestre\n",
        "sep=;\nfilename;prediction\nx\\1.jpg;Quercus ilex\nx\\a\\3.jpg;Acer "
        "campestre\n",
        ",image,predicted\n0,1,Quercus ilex\n1,x/a/3,Acer campestre\n",
    ],
)
def test_labels_without_scores(file, content):
    assert list(read_run(file(content), KNOWN)) == [
        Prediction("1.jpg", "Quercus ilex", 1, 1),
        Prediction("a/3.jpg", "Acer campestre", 1, 1),
    ]


def test_species_may_be_numbers(file):
    """A heading of numbers is no row."""
    run = read_run(file("picture,1355868,7,12\n1.jpg,0.25,0.75,0\n"))
    assert [(p.species, p.rank) for p in run] == [("7", 1), ("1355868", 2), ("12", 3)]


def test_equal_scores_are_ranked_by_name(file):
    run = read_run(
        file(
            "picture,species,score\n1.jpg,Quercus ilex,1\n2.jpg,Quercus "
            "ilex,1\n1.jpg,Acer campestre,1\n"
        )
    )
    assert [(p.picture, p.species, p.rank) for p in run] == [
        ("1.jpg", "Acer campestre", 1),
        ("1.jpg", "Quercus ilex", 2),
        ("2.jpg", "Quercus ilex", 1),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("1", "1.jpg"),
        ("1.jpg", "1.jpg"),
        ("b/2.png", "2.png"),
        ("b/1", "1.jpg"),
        ("a/3", "a/3.jpg"),
        (r"C:\b\a\3.jpg", "a/3.jpg"),
    ],
)
def test_a_name_without_ending_or_with_a_path_is_that_of_the_only_picture_it_can_mean(
    file, name, expected
):
    assert read_run(file(f"{name} Quercus ilex 1 0.5\n"), KNOWN).pictures == (expected,)


def test_names_of_pictures_that_differ_in_case_only(file):
    assert problems(file("9.jpg Quercus ilex 1 1\nB/1.JPG Quercus ilex 1 1\n")) == [
        ":1: expected a picture of the ground truth, found '9.jpg'",
        ":2: expected a picture of the ground truth, found 'B/1.JPG'",
    ]


@pytest.mark.parametrize("name", ["2", "3", "x", "1.png"])
def test_a_name_that_means_no_or_several_pictures_is_refused(file, name):
    [problem] = problems(file(f"{name} Quercus ilex 1 0.5\n"))
    assert problem == f":1: expected a picture of the ground truth, found {name!r}"


letters = st.characters(
    min_codepoint=33, max_codepoint=0x2FF, categories=("Ll", "Lo", "N")
)
words = st.text(letters, min_size=1, max_size=8)
species_scores = st.dictionaries(
    words.map("Acer {}".format), st.floats(0, 1), min_size=1, max_size=4
)
# Some look like formulas.
pictures = st.builds("{}{}.jpg".format, st.sampled_from(["", "=", "'="]), words)
rankings = st.dictionaries(pictures, species_scores, min_size=1, max_size=4)


@settings(max_examples=25)
@given(rankings, st.randoms())
def test_reading_gives_back_what_was_written_in_any_order(
    tmp_path_factory, scores, random
):
    folder = tmp_path_factory.mktemp("runs")
    # Equal scores keep their order, whatever the names.
    ranked = {
        name: sorted(kinds.items(), key=lambda item: -item[1])
        for name, kinds in scores.items()
    }
    write_run(folder / "run.txt", ranked)
    run = read_run(folder / "run.txt")
    assert [(p.picture, p.species, p.rank, p.score) for p in run] == [
        (name, species, rank, score)
        for name in sorted(ranked)
        for rank, (species, score) in enumerate(ranked[name], 1)
    ]
    lines = (folder / "run.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    random.shuffle(lines)
    (folder / "run.txt").write_text("".join(lines), encoding="utf-8")
    assert list(read_run(folder / "run.txt")) == list(run)
    for form, write in WRITERS.items():
        with (folder / form).open("w", encoding="utf-8") as stream:
            write(run, stream)
        assert list(read_run(folder / form)) == list(run), form


@settings(max_examples=25)
@given(st.data())
def test_a_table_of_scores_gives_back_what_a_long_one_does(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("runs")
    pictures = [
        f"{word}.jpg"
        for word in data.draw(st.lists(words, min_size=1, max_size=4, unique=True))
    ]
    species = [
        f"Acer {word}"
        for word in data.draw(st.lists(words, min_size=1, max_size=4, unique=True))
    ]
    shape = len(pictures), len(species)
    scores = data.draw(
        arrays(float, shape, elements=st.floats(allow_nan=False, allow_infinity=False))
    ).tolist()
    rows = [
        ["picture", *species],
        *([name, *row] for name, row in zip(pictures, scores, strict=True)),
    ]
    long = [
        (name, kind, score)
        for name, *row in rows[1:]
        for kind, score in zip(species, row, strict=True)
    ]
    for name, lines in (
        ("wide", rows),
        ("long", [("picture", "species", "score"), *long]),
    ):
        with (folder / name).open("w", encoding="utf-8") as stream:
            csv.writer(stream).writerows(lines)
    (folder / "npz").write_bytes(
        archive(pictures=pictures, species=species, scores=scores)
    )
    read = list(read_run(folder / "long"))
    assert {(p.picture, p.species, p.score) for p in read} == set(long)
    assert list(read_run(folder / "wide")) == list(read_run(folder / "npz")) == read


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "1.jpg,Quercus ilex,0.5\n",
            ":1: expected a heading with columns for picture, species and maybe score, "
            "or",
        ),
        (
            "picture,species,certainty\n1.jpg,Quercus ilex,1\n",
            ":1: expected a heading with columns for picture, species and maybe score, "
            "",
        ),
        (
            "picture,species\n1.jpg,Quercus ilex\n1.jpg,Acer campestre\n",
            ":3: expected rank 2 of picture '1.jpg', found rank 1 in lines 2 and 3",
        ),
        (
            "picture,species,score\n1.jpg,Quercus ilex\n",
            ":2: expected 3 cells, found 2",
        ),
        (
            "picture,species,score\n1.jpg,Quercus ilex,nan\n",
            ":2: expected a score as a finite number, found 'nan'",
        ),
        (
            "picture,species,score\n1.jpg,,1\n",
            ":2: expected a picture and a species, found an empty cell",
        ),
        (
            "picture,species,score\n1.jpg,Quercus ilex,1\n1,Quercus ilex,0\n",
            ":3: expected each species of picture '1.jpg' once, found 'Quercus ilex' "
            "in lines 2 and 3",
        ),
        (
            "picture,Quercus ilex,Acer campestre\n1.jpg,,1\n",
            ":2: expected a score as a finite number, found ''",
        ),
        (
            "1.jpg Q0 Quercus_ilex 1 1 a\n1.jpg A 2\n",
            ":2: expected '<picture> <Genus species> <rank> <score>', found '1.jpg A",
        ),
        (
            "1.jpg Q0 Quercus_ilex 0 1 a\n",
            ":1: expected a rank (1, 2, …) before the score, found '0'",
        ),
        (
            "1.jpg Q0 Quercus_ilex 1 NaN a\n",
            ":1: expected a score as a finite number, found 'NaN'",
        ),
        (
            "1;Quercus ilex;0.5;1\n1;Acer campestre;0.5;x\n",
            ":2: expected a rank (1, 2, …) before the score, found 'x",
        ),
        (
            "1;Quercus ilex;0.5;1\n1;Acer campestre;0.7;2\n",
            ":2: expected a score that falls with the rank, found 0.7",
        ),
        (
            archive(
                pictures=["1.jpg", "2.jpg"],
                species=["Quercus ilex"],
                scores=[[1.0], [np.inf]],
            ),
            ":2: expected a score as a finite number, found 'inf'",
        ),
        (
            archive(pictures=["1.jpg"], species=["Quercus ilex"], scores=np.eye(2)),
            ":1: expected scores of shape (1, 1), found (2, 2)",
        ),
        (
            archive(pictures=["1.jpg"], species=["Quercus ilex"], scores=[["high"]]),
            ":1: expected scores as numbers, ",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(file, content, expected):
    [problem] = problems(file(content))
    assert problem[: len(expected)] == expected


def pickled():
    stream = io.BytesIO()
    np.save(stream, np.array([{}], object))
    return stream.getvalue()


def lie(shape):
    """Make an array whose header claims another shape."""
    stream = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue()


def lying_archive(shape):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as members:
        for name in ("scores", "pictures", "species"):
            members.writestr(f"{name}.npy", lie(shape))
    return stream.getvalue()


BINARY = {
    "lie.npy": lie((10**14, 2)),
    "lie.npz": lying_archive((10**13, 2)),
    "long.npz": lying_archive((10**23, 2)),
    "scores.npy": archive(scores=np.eye(9))[:30] + bytes(range(256)),
    "labels.npz": archive(labels=np.eye(2)),
    "objects.npz": archive(
        pictures=np.array([None], object), species=["a"], scores=[[1]]
    ),
    "array.npy": pickled(),
    "model.joblib": b"\x80\x04\x95\xfe\n\xff\n\xff\n" * 90,
    "1.jpg": b"\xff\xd8\xff\xe0\x00\x10JFIF\n\n" * 30,
    "utf-16.txt": "1.jpg Quercus ilex 1 0.5\n".encode("utf-16"),
}


@pytest.mark.parametrize("name", BINARY)
def test_a_binary_file_is_refused_in_one_line(cli, file, name):
    path, run = file(BINARY[name], name), file("1.jpg Quercus ilex 1 0.5\n")
    expected = (
        f"{path}:1: expected a run: lines '<picture> <Genus species> <rank> <score>', "
        "a table or an .npz"
    )
    result = cli("check", path)
    assert (result.status, result.err) == (1, "")
    assert result.out.startswith(expected)
    assert result.out.count("\n") == 1
    result = cli("evaluate", file(TRUTH_TABLE, "truth.csv"), path)
    assert (result.status, result.out, result.err.count("\n")) == (1, "", 1)
    result = cli("evaluate", path, run)
    assert (result.status, result.out, result.err.count("\n")) == (1, "", 1)
    assert (
        "expected a collection, a …GroundTruth.txt or a CSV table with the columns "
        "picture and spec" in result.err
    )


def test_a_run_in_another_format_is_the_same(cli, tmp_path):
    for form in WRITERS:
        assert cli("check", GOOD, "--to", form, tmp_path / form).status == 0
        assert list(read_run(tmp_path / form, read_ground_truth(TRUTH).known)) == list(
            read_run(GOOD)
        )


def test_columns_of_a_run_that_are_not_used_are_named(tmp_path, caplog):
    file = tmp_path / "run.csv"
    file.write_text("file,label,model_output,confidence\n1.jpg,Quercus ilex,Acer,.9\n")
    read_run(file)
    (message,) = caplog.messages
    assert message.endswith("'label' is the prediction; not used: model_output")


def test_true_labels_beside_predictions_without_scores_are_not_used(tmp_path):
    file = tmp_path / "run.csv"
    file.write_text("picture,label,prediction\n1.jpg,Quercus ilex,Acer campestre\n")
    assert [*read_run(file)] == [Prediction("1.jpg", "Acer campestre", 1, 1.0)]
