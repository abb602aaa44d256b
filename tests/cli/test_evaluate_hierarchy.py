import pytest

OAKS = {"Order": "Fagales", "Family": "Fagaceae", "Genus": "Quercus"}
PICTURES = [
    {"Author": "Ann", "IndividualPlantId": "1", "Species": "robur", **OAKS},
    {"Author": "Ann", "IndividualPlantId": "1", "Species": "robur", **OAKS},
    {"Author": "Ann", "IndividualPlantId": "2", "Species": "ilex", **OAKS},
    {
        "Author": "Bob",
        "IndividualPlantId": "3",
        "Order": "Sapindales",
        "Family": "Sapindaceae",
        "Genus": "Acer",
        "Species": "campestre",
    },
]


@pytest.fixture
def folder(tmp_path, monkeypatch, add):
    monkeypatch.chdir(tmp_path)
    for number, fields in enumerate(PICTURES, 1):
        add(tmp_path / "Train", number, **fields)
    return tmp_path


def test_back_off_beside_species(cli, folder):
    (folder / "species.txt").write_text(
        "1.jpg Quercus robur 1 0.9\n2.jpg Quercus ilex 1 0.5\n2.jpg Quercus robur 2 "
        "0.4\n3.jpg Quercus robur 1 0.6\n4.jpg Quercus robur 1 0.4\n"
    )
    (folder / "back.txt").write_text(
        "1.jpg Quercus robur 1 0.9\n2.jpg Quercus * 1 0.9\n3.jpg Quercus * 1 "
        "0.9\n4.jpg * 1 1.0\n"
    )
    outcome = cli(
        "evaluate-hierarchy", "Train", "species.txt", "back.txt", "--format", "csv"
    )
    assert outcome.status == 0, outcome.err
    species, back = (line.split(",") for line in outcome.out.splitlines()[1:])
    # Oaks: weights 1/2, 1/2, 1/3, 1/8 (2 orders, 1 family, 1 genus, 2 species): a wrong
    # species costs 3/35.
    wrong = (1 / 8) / (1 / 2 + 1 / 2 + 1 / 3 + 1 / 8)
    assert float(species[1]) == pytest.approx((2 * wrong + 1) / 4)
    assert float(species[2]) == pytest.approx(((wrong / 2 + wrong) / 2 + 1) / 2)
    assert float(back[1]) == pytest.approx((wrong + 0.5) / 4)
    assert species[3:] == ["1/4", "0/0", "0/0", "0/0", "0/0"]
    assert back[3:] == ["1/1", "2/2", "0/0", "0/0", "1/1"]


def test_only_pictures_of_one_type_count(cli, folder):
    file = folder / "Train/4.xml"
    file.write_text(file.read_text().replace("Scan", "photograph"))
    (folder / "run.txt").write_text(
        "".join(f"{number}.jpg Acer campestre 1 0.9\n" for number in range(1, 5))
    )
    outcome = cli("evaluate-hierarchy", "Train", "run.txt", "--only-type", "photo")
    assert outcome.out.splitlines()[3].split()[:4] == [
        "run.txt",
        "0.0000",
        "0.0000",
        "1/1",
    ]
    outcome = cli("evaluate-hierarchy", "Train", "run.txt", "--only-type", "scan-like")
    assert (outcome.status, outcome.out) == (1, "")
    assert "Train: expected pictures of type scan-like, found none" in outcome.err


def test_a_missing_picture_counts_1(cli, folder):
    (folder / "run.txt").write_text(
        "1.jpg Quercus robur 1 0.9\n2.jpg Quercus robur 1 0.9\n3.jpg Quercus ilex 1 "
        "0.9\n"
    )
    outcome = cli("evaluate-hierarchy", "Train", "run.txt")
    assert "run.txt: lacks 1 of 4 pictures; each counts 1" in outcome.err
    assert outcome.out.splitlines()[3].split()[1:3] == ["0.2500", "0.5000"]


def test_runs_are_called_by_their_names(cli, folder):
    (folder / "runs").mkdir()
    for name in ("a.txt", "runs/b.txt"):
        (folder / name).write_text("1.jpg Quercus robur 1 0.9\n")
    outcome = cli(
        "evaluate-hierarchy", "Train", "a.txt", "runs/b.txt", "--format", "csv"
    )
    assert [line.split(",")[0] for line in outcome.out.splitlines()] == [
        "run",
        "a.txt",
        "b.txt",
    ]
    assert (
        outcome.err.splitlines()[1]
        == "leafid: warning: b.txt: lacks 3 of 4 pictures; each counts 1"
    )


def test_unknown_answers_and_pictures_are_named_by_their_line(cli, folder):
    for line, expected in (
        ("9.jpg * 1 0.9", "expected a picture of the ground truth, found '9.jpg'"),
        (
            "2 Rosa * 1 0.9",
            "expected a species of the taxonomy, or a higher taxon and '*', found "
            "'Rosa *'; name a collection that has it with --taxonomy",
        ),
    ):
        (folder / "run.txt").write_text(f"1.jpg * 1 0.9\n{line}\n")
        outcome = cli("evaluate-hierarchy", "Train", "run.txt")
        assert outcome.status == 1
        assert outcome.err.endswith(f"run.txt:2: {expected}\n")
