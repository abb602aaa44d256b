"""The official scores and files, against formulas and the official scorer."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.metrics.averages import average_score
from leafid.scoring.judging import judge_run
from leafid.scoring.official import format_java_double, format_official_files
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.truth_reading import read_ground_truth
from tests.scoring.golden_files import GOLDEN, GOOD, PARTIAL, TRUTH


def literal_mean(values):
    return sum(values) / len(values)


def literal_s(pictures, score):
    """`pictures`: dicts with author and plant; `score`: of a picture.

    Follows the formula's three sums.
    """
    users = sorted({picture["author"] for picture in pictures})
    of_users = []
    for user in users:
        plants = sorted(
            {picture["plant"] for picture in pictures if picture["author"] == user}
        )
        of_plants = []
        for plant in plants:
            values = [
                score(p)
                for p in pictures
                if p["author"] == user and p["plant"] == plant
            ]
            of_plants.append(literal_mean(values))
        of_users.append(literal_mean(of_plants))
    return literal_mean(of_users)


def literal_files(truth, runs, official):
    """`truth`: list of dicts; `runs`: {file name: {picture: species of rank 1}}.

    Lines as sets, for each file.
    """
    types = {"scan": "Scan", "scan-like": "pseudoscan", "photo": "photograph"}
    family = {picture["genus"]: picture["family"] for picture in truth}
    files = {}

    def counted(run, type_):
        return [
            p
            for p in truth
            if p["type"] == type_ and (not official or p["picture"] in runs[run])
        ]

    def is_correct(run, picture, level):
        predicted = runs[run].get(picture["picture"])
        if predicted is None:
            return 0
        if level == "genus":
            return int(predicted.split()[0] == picture["genus"])
        if level == "family":
            return int(family.get(predicted.split()[0]) == picture["family"])
        return int(predicted == picture["species"])

    lines = {"RunFileName;Scan;pseudoscan;photograph;"}
    for run in runs:
        scores = [
            literal_s(counted(run, t), lambda p, run=run: is_correct(run, p, "species"))
            for t in types
        ]
        lines.add(";".join([run, *map(repr, scores)]) + ";")
    files["OfficialScores.csv"] = lines

    groups = {"all": list(runs), **{run.removesuffix(".txt"): [run] for run in runs}}
    for title, members in groups.items():
        lines = {
            "type;image;succes;family;genus;species;plantId;author;"
            + ";".join(members)
            + ";"
        }
        for p in truth:
            shown = [
                ""
                if official and p["picture"] not in runs[run]
                else str(is_correct(run, p, "species"))
                for run in members
            ]
            if all(cell == "" for cell in shown):
                continue
            cells = [
                types[p["type"]],
                p["picture"],
                str(shown.count("1")),
                p["family"],
                p["genus"],
            ]
            cells += [
                " ".join(p["species"].split()[1:]),
                p["plant"],
                p["author"],
                *shown,
            ]
            lines.add(";".join(cells) + ";")
        files[
            "AllRunScoreByPicture.csv"
            if title == "all"
            else f"{title}ScoreByPicture.csv"
        ] = lines

    for level, name in (
        ("species", "Species"),
        ("genus", "Genus"),
        ("family", "Family"),
    ):
        of_runs = []
        for run in runs:
            scores = {}
            for t in types:
                for entry in {p[level] for p in counted(run, t)}:
                    group = [p for p in counted(run, t) if p[level] == entry]
                    scores[types[t], entry] = literal_s(
                        group, lambda p, run=run, level=level: is_correct(run, p, level)
                    )
            of_runs.append(scores)
            files[f"{run.removesuffix('.txt')}ScoresBy{name}.csv"] = {
                f"{t};{e};{s!r}" for (t, e), s in scores.items()
            }
        keys = {key for scores in of_runs for key in scores}
        means = {
            key: literal_mean([scores[key] for scores in of_runs if key in scores])
            for key in keys
        }
        files[f"MeanRunScoresBy{name}.csv"] = {
            f"{t};{e};{s!r}" for (t, e), s in means.items()
        }
    return files


def as_records(truth):
    names = ("picture", "species", "genus", "family", "type", "author", "plant")
    taxa = (truth.species, truth.genus, truth.family)
    rows = zip(
        truth.pictures,
        *taxa,
        truth.type,
        truth.author,
        truth.official_plant,
        strict=True,
    )
    return [dict(zip(names, row, strict=True)) for row in rows]


def assert_same_files(files, expected):
    """Text must be equal but for the last digits of sums, whose order differs."""
    assert set(files) == set(expected)
    for name in expected:
        lines = sorted(line.split(";") for line in files[name].split("\n") if line)
        theirs = sorted(line.split(";") for line in expected[name].split("\n") if line)
        assert len(lines) == len(theirs), name
        for our_cells, their_cells in zip(lines, theirs, strict=True):
            assert len(our_cells) == len(their_cells)
            for our, their in zip(our_cells, their_cells, strict=True):
                # 1e-12: a few hundred additions of numbers below 1 differ by some
                # 1e-14.
                assert our == their or abs(float(our) - float(their)) < 1e-12, (
                    name,
                    our_cells,
                    their_cells,
                )


def read_files(folder):
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


pictures = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 4),
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from([0.0, 0.5, 1.0]),
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=50)
@given(pictures)
def test_s_is_the_literal_formula(rows):
    records = [{"author": a, "plant": p, "value": v} for a, p, _, v in rows]
    expected = literal_s(records, lambda record: record["value"])
    values, authors, plants = (
        [r[3] for r in rows],
        [r[0] for r in rows],
        [r[1] for r in rows],
    )
    assert average_score(values, authors, plants) == pytest.approx(expected, abs=1e-12)
    assert 0 <= average_score(values, authors, plants) <= 1


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.5129675919614511, "0.5129675919614511"),
        (1, "1.0"),
        (0, "0.0"),
        (0.001, "0.001"),
        (0.00012, "1.2E-4"),
        (2e-05, "2.0E-5"),
        (float("nan"), "NaN"),
    ],
)
def test_numbers_are_written_as_java_does(number, text):
    assert format_java_double(number) == text


@pytest.mark.parametrize(
    ("folder", "official"), [("leafid", False), ("official", True)]
)
def test_small_golden_files(folder, official):
    truth = read_ground_truth(TRUTH)
    runs = [judge_run(read_run(file, truth.known), truth) for file in (GOOD, PARTIAL)]
    files = format_official_files(truth, runs, leave_out_missing=official)
    assert_same_files(files, read_files(GOLDEN / "expected" / folder))


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_files_are_the_literal_ones_for_any_runs(tmp_path_factory, seed):
    rng = random.Random(seed)
    truth = read_ground_truth(TRUTH)
    species = sorted(truth.known.species)
    folder = tmp_path_factory.mktemp("runs")
    predicted, runs = {}, []
    for name in ("one.txt", "two.txt"):
        predicted[name] = {
            picture: rng.choice(species)
            for picture in rng.sample([*truth.pictures], rng.randint(25, 40))
        }
        lines = [
            f"{picture} {kind} 1 0.5\n" for picture, kind in predicted[name].items()
        ]
        (folder / name).write_text("".join(lines))
        runs.append(judge_run(read_run(folder / name, truth.known), truth))
    expected = {
        name: "\n".join(lines)
        for name, lines in literal_files(as_records(truth), predicted, False).items()
    }
    assert_same_files(format_official_files(truth, runs), expected)


@pytest.fixture(scope="module")
def real_truth(real_data):
    return read_ground_truth(real_data / "imageclef2011" / "Train")


@pytest.mark.parametrize(
    ("folder", "names"),
    [
        ("alpha+beta", ["alpha.txt", "beta.txt"]),
        ("partial", ["partial.txt"]),
        ("repeated_rank", ["repeated_rank.txt"]),
    ],
)
def test_the_official_scorers_own_files(real_data, real_truth, folder, names):
    golden = real_data / "golden" / "imageclef2011"
    runs = [
        judge_run(
            read_run(golden / "runs" / name, real_truth.known, official=True),
            real_truth,
        )
        for name in names
    ]
    files = format_official_files(real_truth, runs, leave_out_missing=True)
    assert_same_files(files, read_files(golden / "expected" / folder))


def test_pictures_without_plant_are_one_plant_of_their_author(cli, tmp_path, add):
    # Three plants, of which two are named correctly, and one of four pictures without
    # plant: (1 + 1 + 0 + 1/4) / 4.
    for number, plant in enumerate(["1", "2", "3", *[None] * 4], 1):
        add(
            tmp_path,
            number,
            False,
            Genus="Acer",
            Species="opalus",
            IndividualPlantId=plant,
        )
    names = [
        "opalus",
        "opalus",
        "campestre",
        "opalus",
        "campestre",
        "campestre",
        "campestre",
    ]
    lines = [f"{number}.jpg Acer {name} 1 1\n" for number, name in enumerate(names, 1)]
    (tmp_path / "run.txt").write_text("".join(lines))
    outcome = cli(
        "evaluate", tmp_path, tmp_path / "run.txt", "--official", "--format", "json"
    )
    assert outcome.json[0]["rows"][0]["S"] == 0.5625
    assert "expected the plant of every picture, found none for 4 of 7" in outcome.err
