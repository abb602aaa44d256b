"""The official scores and files, against formulas written down literally and against the official scorer's output."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.metrics.averages import average_score
from leafid.pictures.names import parse_label
from leafid.pictures.picture import Picture, Taxon
from leafid.scoring.evaluation import evaluate
from leafid.scoring.judging import judge_run
from leafid.scoring.official import format_java_double, format_official_files
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.truth import make_ground_truth, read_ground_truth
from tests.scoring.golden_files import GOLDEN, GOOD, PARTIAL, TRUTH


def literal_mean(values):
    return sum(values) / len(values)


def literal_s(pictures, score):
    """`pictures`: dicts with author and plant; `score`: of a picture. Follows the formula's three sums."""
    users = sorted({picture["author"] for picture in pictures})
    of_users = []
    for user in users:
        plants = sorted({picture["plant"] for picture in pictures if picture["author"] == user})
        of_plants = []
        for plant in plants:
            values = [score(p) for p in pictures if p["author"] == user and p["plant"] == plant]
            of_plants.append(literal_mean(values))
        of_users.append(literal_mean(of_plants))
    return literal_mean(of_users)


def literal_files(truth, runs, official):
    """`truth`: list of dicts; `runs`: {file name: {picture: species of rank 1}}. Lines as sets, for each file."""
    types = {"scan": "Scan", "scan-like": "pseudoscan", "photo": "photograph"}
    family = {picture["genus"]: picture["family"] for picture in truth}
    files = {}

    def counted(run, type_):
        return [p for p in truth if p["type"] == type_ and (not official or p["picture"] in runs[run])]

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
        scores = [literal_s(counted(run, t), lambda p, run=run: is_correct(run, p, "species")) for t in types]
        lines.add(";".join([run, *map(repr, scores)]) + ";")
    files["OfficialScores.csv"] = lines

    groups = {"all": list(runs), **{run.removesuffix(".txt"): [run] for run in runs}}
    for title, members in groups.items():
        lines = {"type;image;succes;family;genus;species;plantId;author;" + ";".join(members) + ";"}
        for p in truth:
            shown = [
                "" if official and p["picture"] not in runs[run] else str(is_correct(run, p, "species"))
                for run in members
            ]
            if all(cell == "" for cell in shown):
                continue
            cells = [types[p["type"]], p["picture"], str(shown.count("1")), p["family"], p["genus"]]
            cells += [" ".join(p["species"].split()[1:]), p["plant"], p["author"], *shown]
            lines.add(";".join(cells) + ";")
        files["AllRunScoreByPicture.csv" if title == "all" else f"{title}ScoreByPicture.csv"] = lines

    for level, name in (("species", "Species"), ("genus", "Genus"), ("family", "Family")):
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
            files[f"{run.removesuffix('.txt')}ScoresBy{name}.csv"] = {f"{t};{e};{s!r}" for (t, e), s in scores.items()}
        keys = {key for scores in of_runs for key in scores}
        means = {key: literal_mean([scores[key] for scores in of_runs if key in scores]) for key in keys}
        files[f"MeanRunScoresBy{name}.csv"] = {f"{t};{e};{s!r}" for (t, e), s in means.items()}
    return files


def as_records(truth):
    names = ("picture", "species", "genus", "family", "type", "author", "plant")
    taxa = (truth.species, truth.genus, truth.family)
    rows = zip(truth.pictures, *taxa, truth.type, truth.author, truth.official_plant, strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def assert_same_files(files, expected):
    """Text must be equal, but for the last digits of sums, which depend on the order of adding up."""
    assert set(files) == set(expected)
    for name in expected:
        lines = sorted(line.split(";") for line in files[name].split("\n") if line)
        theirs = sorted(line.split(";") for line in expected[name].split("\n") if line)
        assert len(lines) == len(theirs), name
        for our_cells, their_cells in zip(lines, theirs, strict=True):
            assert len(our_cells) == len(their_cells)
            for our, their in zip(our_cells, their_cells, strict=True):
                # 1e-12: a few hundred additions of numbers below 1 differ by some 1e-14.
                assert our == their or abs(float(our) - float(their)) < 1e-12, (name, our_cells, their_cells)


def read_files(folder):
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


pictures = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from(["a", "b", "c"]), st.sampled_from([0.0, 0.5, 1.0])),
    min_size=1,
    max_size=40,
)


@settings(max_examples=50)
@given(pictures)
def test_s_is_the_literal_formula(rows):
    records = [{"author": a, "plant": p, "value": v} for a, p, _, v in rows]
    expected = literal_s(records, lambda record: record["value"])
    values, authors, plants = [r[3] for r in rows], [r[0] for r in rows], [r[1] for r in rows]
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


@pytest.mark.parametrize(("folder", "official"), [("leafid", False), ("official", True)])
def test_small_golden_files(folder, official):
    truth = read_ground_truth(TRUTH)
    runs = [judge_run(read_run(file, truth.known), truth) for file in (GOOD, PARTIAL)]
    files = format_official_files(truth, runs, leave_out_missing=official)
    assert_same_files(files, read_files(GOLDEN / "expected" / folder))


def test_pictures_of_a_type_unknown_to_the_official_scorer_are_left_out(caplog):
    truth = read_ground_truth(TRUTH)
    drawn = replace(truth, type=tuple("drawing" if type_ == "photo" else type_ for type_ in truth.type))
    runs = [judge_run(read_run(file, truth.known), truth) for file in (GOOD, PARTIAL)]
    expected, files = format_official_files(truth, runs), format_official_files(drawn, runs)
    assert files.keys() == expected.keys()
    header, *lines = files.pop("OfficialScores.csv").splitlines()
    assert header == expected.pop("OfficialScores.csv").splitlines()[0]
    assert [line.rsplit(";", 2)[1] for line in lines] == ["NaN", "NaN"]
    for name, text in expected.items():
        kept = [line for line in text.splitlines() if line and not line.startswith("photograph;")]
        assert [line for line in files[name].splitlines() if line] == kept
    (record,) = caplog.records
    assert "expected pictures of type scan, scan-like, photo, found 13 of type drawing" in record.getMessage()


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_files_are_the_literal_ones_for_any_runs(tmp_path_factory, seed):
    rng = random.Random(seed)
    truth = read_ground_truth(TRUTH)
    species = sorted(truth.known.species)
    folder = tmp_path_factory.mktemp("runs")
    predicted, runs = {}, []
    for name in ("one.txt", "two.txt"):
        predicted[name] = {picture: rng.choice(species) for picture in rng.sample(truth.pictures, rng.randint(25, 40))}
        lines = [f"{picture} {kind} 1 0.5\n" for picture, kind in predicted[name].items()]
        (folder / name).write_text("".join(lines))
        runs.append(judge_run(read_run(folder / name, truth.known), truth))
    expected = {name: "\n".join(lines) for name, lines in literal_files(as_records(truth), predicted, False).items()}
    assert_same_files(format_official_files(truth, runs), expected)


@pytest.fixture(scope="module")
def real_truth(real_data):
    return read_ground_truth(real_data / "imageclef2011" / "Train")


@pytest.mark.parametrize(
    ("folder", "names"),
    [("alpha+beta", ["alpha.txt", "beta.txt"]), ("partial", ["partial.txt"]), ("repeated_rank", ["repeated_rank.txt"])],
)
def test_the_official_scorers_own_files(real_data, real_truth, folder, names):
    golden = real_data / "golden" / "imageclef2011"
    runs = [judge_run(read_run(golden / "runs" / name, real_truth.known, official=True), real_truth) for name in names]
    files = format_official_files(real_truth, runs, leave_out_missing=True)
    assert_same_files(files, read_files(golden / "expected" / folder))


def test_pictures_without_plant_are_one_plant_of_their_author(cli, tmp_path):
    # Three plants, of which two are named correctly, and one of four pictures without plant: (1 + 1 + 0 + 1/4) / 4.
    for number, plant in enumerate(["1", "2", "3", "", "", "", ""], 1):
        field = f"<IndividualPlantId>{plant}</IndividualPlantId>" if plant else ""
        (tmp_path / f"{number}.xml").write_text(
            f"<Image><FileName>{number}.jpg</FileName><Type>Scan</Type><Author>Ann</Author>{field}"
            "<Taxon><Genus>Acer</Genus><Species>opalus</Species></Taxon></Image>"
        )
    names = ["opalus", "opalus", "campestre", "opalus", "campestre", "campestre", "campestre"]
    lines = [f"{number}.jpg Acer {name} 1 1\n" for number, name in enumerate(names, 1)]
    (tmp_path / "run.txt").write_text("".join(lines))
    outcome = cli("evaluate", tmp_path, tmp_path / "run.txt", "--official", "--format", "json")
    assert json.loads(outcome.out)[0]["rows"][0]["S"] == 0.5625
    assert "expected the plant of every picture, found none for 4 of 7" in outcome.err


TAXA = {
    "1.jpg": Taxon("Quercus ilex", "Quercus", "Fagaceae"),
    "2.jpg": Taxon("Fagus sylvatica", "Fagus", "Fagaceae"),
    "3.jpg": Taxon("Davidia involucrata", "Davidia", None),
}


@pytest.fixture
def judge_text(tmp_path):
    truth = make_ground_truth(Picture(Path(name), taxon=taxon) for name, taxon in TAXA.items())

    def read(text):
        (tmp_path / "run.txt").write_text(text)
        return judge_run(read_run(tmp_path / "run.txt", official=True), truth)

    return read


def test_rank_of_the_correct_species(judge_text):
    judged = judge_text("1.jpg Quercus rubra 1 0.6\n1.jpg Quercus ilex 2 0.4\n2.jpg Quercus ilex 1 1\n")
    assert judged.rank.tolist() == [2, 0, 0]
    assert judged.size.tolist() == [2, 1, 0]
    assert judged.covered.tolist() == [True, True, False]
    assert (~judged.covered).sum() == 1


def test_genus_and_family_of_the_first_species(judge_text):
    # Quercus rubra has no picture: its genus is in its name, its family is that of the other oak.
    judged = judge_text("1.jpg Quercus rubra 1 0.6\n2.jpg Quercus rubra 1 1\n")
    assert judged.genus_correct.tolist() == [True, False, False]
    assert judged.family_correct.tolist() == [True, True, False]


def test_the_genus_of_a_hybrid_genus(tmp_path):
    taxon = Taxon("x Cuprocyparis leylandii", "x Cuprocyparis", "Cupressaceae")
    truth = make_ground_truth([Picture(Path("1.jpg"), taxon=taxon), Picture(Path("2.jpg"), taxon=Taxon(taxon.species))])
    assert truth.genus == ("x Cuprocyparis", "x Cuprocyparis")
    # Unknown, but well-formed, and of another genus than the other.
    (tmp_path / "run.txt").write_text("1.jpg x Cuprocyparis notabilis 1 1\n2.jpg x Sorbaronia fallax 1 1\n")
    judged = judge_run(read_run(tmp_path / "run.txt", truth.known), truth)
    assert judged.genus_correct.tolist() == [True, False]


def test_an_unknown_family_is_never_correct(judge_text):
    judged = judge_text("3.jpg Davidia involucrata 1 1\n1.jpg Nothofagus alpina 1 1\n")
    assert judged.rank.tolist() == [0, 0, 1]
    assert judged.genus_correct.tolist() == [False, False, True]
    assert not judged.family_correct.any()


def test_the_best_rank_of_a_repeated_species_counts(judge_text):
    assert judge_text("1.jpg Quercus ilex 3 0.1\n1.jpg Fagus sylvatica 1 1\n1.jpg Quercus ilex 2 0.5\n").rank[0] == 2


XML = (
    "<Image><FileName>{name}.jpg</FileName><Type>Scan</Type><Author>Ann</Author><IndividualPlantId>{name}"
    "</IndividualPlantId><Taxon>{family}<Genus>{genus}</Genus><Species>{epithet}</Species></Taxon></Image>"
)


def write_truth(folder, *taxa):
    """Write pictures 1.jpg, 2.jpg, … of taxa: family, genus and epithet."""
    folder.mkdir()
    for number, (family, genus, epithet) in enumerate(taxa, 1):
        element = f"<Family>{family}</Family>" if family else ""
        text = XML.format(name=number, family=element, genus=genus, epithet=epithet)
        (folder / f"{number}.xml").write_text(text)


def score_families(cli, folder, *species, words=()):
    """Score a run that names a species for each picture by family; its standard error is also returned."""
    (folder / "run.txt").write_text("".join(f"{n}.jpg {name} 1 1\n" for n, name in enumerate(species, 1)))
    run = folder / "run.txt"
    words = ("--by", "family", "--metrics", "S-family", "--official", "--output", folder / "out", *words)
    outcome = cli("evaluate", folder / "truth", run, "--format", "json", *words)
    assert outcome.status == 0, outcome.err
    lines = (folder / "out" / "runScoresByFamily.csv").read_text().splitlines()
    scores = {row["family"]: row["S-family"] for row in json.loads(outcome.out)[1]["rows"]}
    # The official scorer's file says the same.
    written = {line.split(";")[1]: float(line.split(";")[2]) for line in lines if line}
    assert written == pytest.approx(scores)
    return scores, outcome.err


def test_the_ground_truth_may_lack_the_genus_that_is_predicted(cli, tmp_path):
    write_truth(tmp_path / "truth", ("Betulaceae", "Alnus", "incana"), ("Rosaceae", "Pyrus", "pyraster"), *TREES)
    scores, _ = score_families(
        cli, tmp_path, "Carpinus betulus", "Betula pendula", "Populus nigra", "Salix alba", "Fraxinus ornus"
    )
    assert scores == {"Betulaceae": 1, "Rosaceae": 0, "Salicaceae": 1, "Aceraceae": 0}


TREES = (("Salicaceae", "Salix", "caprea"), ("Salicaceae", "Populus", "alba"), ("Aceraceae", "Acer", "opalus"))


def test_the_families_of_the_ground_truth_count_before_the_list(cli, tmp_path):
    # It calls the maples Aceraceae, also one that it gives no family; Aesculus stays Sapindaceae.
    write_truth(tmp_path / "truth", ("Aceraceae", "Acer", "opalus"), ("", "Acer", "rubrum"), *TREES[2:])
    scores, _ = score_families(cli, tmp_path, "Acer campestre", "Acer campestre", "Aesculus hippocastanum")
    assert scores == {"Aceraceae": pytest.approx(2 / 3)}


def test_the_correct_species_is_of_the_correct_family_where_the_ground_truth_has_two(cli, tmp_path):
    write_truth(tmp_path / "truth", ("Aceraceae", "Acer", "opalus"), ("Sapindaceae", "Acer", "rubrum"))
    scores, _ = score_families(cli, tmp_path, "Acer opalus", "Acer rubrum")
    assert scores == {"Aceraceae": 1, "Sapindaceae": 1}


def test_a_genus_of_unknown_family_is_warned_of(cli, tmp_path):
    write_truth(tmp_path / "truth", ("Nyssaceae", "Nyssa", "sylvatica"), ("", "Davidia", "vilmoriniana"), *TREES)
    run = ("Camptotheca acuminata", "Hovenia dulcis", "Idesia polycarpa", "Unknown species", "Camptotheca acuminata")
    scores, err = score_families(cli, tmp_path, *run)
    assert scores == {"Nyssaceae": 0, "unknown": 0, "Salicaceae": 0, "Aceraceae": 0}
    # Hovenia stands where no family could be correct, and no family of unknown species is expected.
    expected = "run.txt: expected genera of known families, found Camptotheca, Idesia, which count as wrong"
    assert err.count(expected) == err.count("genera of known families") == 1
    write_truth(
        tmp_path / "more",
        ("Nyssaceae", "Camptotheca", "acuminata"),
        ("Salicaceae", "Idesia", "polycarpa"),
        ("Nyssaceae", "Davidia", "involucrata"),
        ("Sapindaceae", "Acer", "opalus"),
    )
    scores, err = score_families(cli, tmp_path, *run, words=("--taxonomy", tmp_path / "more"))
    assert scores == {"Nyssaceae": 0.5, "Salicaceae": 0.5, "Aceraceae": 0}
    assert "found Hovenia, which" in err
    assert "families" not in cli("evaluate", tmp_path / "truth", tmp_path / "run.txt").err


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_families_do_not_depend_on_which_pictures_are_scored(seed):
    rng = random.Random(seed)
    genera = ["Acer", "Aesculus", "Alnus", "Betula", "Castanea", "Cotinus", "Platanus", "Quercus", "Rhus", "Zelkova"]
    pictures = [Picture(Path(f"{genus}.jpg"), taxon=parse_label(f"{genus} alba")) for genus in genera]
    run = {picture.name: f"{rng.choice(genera)} nigra" for picture in pictures}
    complete = {row["family"]: row for row in evaluate(pictures, run, ["S-family"], by="family")}
    family = rng.choice([*complete])
    some = [picture for picture in pictures if picture.taxon.family == family]
    chosen = {picture.name: run[picture.name] for picture in some}
    assert evaluate(some, chosen, ["S-family"], by="family") == [complete[family]]
