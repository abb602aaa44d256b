import shutil

import pytest

import leafid
from leafid.features import loader as loader_module
from leafid.model.model import Model
from tests.model.model_files import read_reproducible_content


@pytest.fixture
def train(cli, small_recipe, drawn_cache, tmp_path):
    """Train on a folder, by default for scans only."""

    def run(
        folder,
        *words,
        output=tmp_path / "model.leafid",
        cache=drawn_cache,
        type_="scan",
    ):
        chosen = ["--only-type", type_] if type_ else []
        kept = ["--cache", cache] if cache else ["--no-cache"]
        jobs = [] if "--jobs" in words else ["--jobs", 1]
        return cli(
            "train",
            folder,
            "--recipe",
            small_recipe,
            "--output",
            output,
            *chosen,
            *kept,
            *jobs,
            *words,
        )

    return run


def copied(drawn, target, keep=lambda stem: True):
    """Copy some training pictures of the drawn collection to another one."""
    target.mkdir(parents=True)
    for file in (drawn / "Train").iterdir():
        if keep(file.stem):
            shutil.copy(file, target / file.name)
    return target


def stems(folder, type_="Scan", species=None):
    """List the training pictures of a type (and species) by their XML."""
    names = []
    for xml in sorted(folder.rglob("*.xml")):
        text = xml.read_text()
        if f"<Type>{type_}</Type>" in text and (
            species is None or f"<Species>{species}</Species>" in text
        ):
            names.append(xml.stem)
    return names


@pytest.mark.slow
def test_a_model_depends_neither_on_the_cache_nor_on_the_number_of_processes(
    train, drawn, drawn_model, tmp_path
):
    # The model of the fixture was trained by one process, which filled the cache.
    one = train(drawn, "--jobs", 2, output=tmp_path / "a", type_=None, cache=None)
    two = train(drawn, output=tmp_path / "b", type_=None)
    assert one.status == two.status == 0, one.err + two.err
    first, *further = map(
        read_reproducible_content, (tmp_path / "a", tmp_path / "b", drawn_model)
    )
    assert further == [first, first]
    for outcome, model in ((one, "a"), (two, "b")):
        holds = f"{tmp_path / model} holds a classifier of scikit-learn: "
        remedy = "to read it, set LEAFID_ALLOW=sklearn in the environment\n"
        assert outcome.err == holds + remedy
    assert one.out.startswith(f"{tmp_path / 'a'}: trained on 27 pictures\n")
    assert "acquisition type recognised: " in one.out
    assert one.out.count("per-plant") == 3


def test_pictures_that_can_not_be_read(train, drawn, tmp_path):
    folder = copied(drawn, tmp_path / "Train")
    scans = stems(folder)
    truncated, empty, text = (folder / f"{stem}.jpg" for stem in scans[:3])
    truncated.write_bytes(truncated.read_bytes()[:800])
    empty.write_bytes(b"")
    text.write_text("no picture at all")
    outcome = train(folder)
    assert outcome.status == 1
    for file in (truncated, empty, text):
        assert outcome.err.count(f"{file}: ") == 1
    assert "leafid: left out 3 pictures that could not be read" in outcome.err
    assert "trained on 15 pictures" in outcome.out
    assert Model.read(tmp_path / "model.leafid")["scan"].identifier.n_pictures == 15


def test_a_single_plant(train, drawn, tmp_path):
    """Nothing can be held out, but the model names that species."""
    folder = copied(
        drawn, tmp_path / "Train", set(stems(drawn / "Train")[:2]).__contains__
    )
    for xml in folder.glob("*.xml"):
        text = xml.read_text()
        start, end = (
            text.index("<IndividualPlantId>"),
            text.index("</IndividualPlantId>"),
        )
        xml.write_text(text[:start] + "<IndividualPlantId>1" + text[end:])
    outcome = train(folder)
    assert outcome.status == 0, outcome.err
    assert (
        "another plant to learn from; probabilities are not calibrated" in outcome.out
    )


def test_folders_named_after_species_are_of_the_assumed_type(train, drawn, tmp_path):
    for name in ("robur", "platanoides"):
        (tmp_path / "garden" / f"Genus {name}").mkdir(parents=True)
        for stem in stems(drawn / "Train", species=name):
            shutil.copy(
                drawn / "Train" / f"{stem}.jpg", tmp_path / "garden" / f"Genus {name}"
            )
    without = train(tmp_path / "garden", type_=None)
    assert without.status == 0
    # The bundled model recognises types; plants remain unknown.
    assert "acquisition types recognised: scan " in without.err
    assert without.err.count("the plants of 6 of 6 pictures are unknown") == 1
    outcome = train(tmp_path / "garden", "--assume-type", "scan", type_=None)
    assert outcome.status == 0, outcome.err
    assert Model.read(tmp_path / "model.leafid").recogniser.scorer is None


def test_pictures_without_labels(train, drawn):
    outcome = train(drawn / "Train" / f"{stems(drawn / 'Train')[0]}.jpg")
    assert outcome.status == 1
    assert "expected labelled pictures, found 1 without a label; put" in outcome.err


@pytest.mark.parametrize(
    "place", ["file/model.leafid", "file/deep/model.leafid", "folder"]
)
def test_an_unwritable_output_is_reported_before_training(
    train, drawn, tmp_path, monkeypatch, place
):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr(
        loader_module.FeatureLoader, "stream", lambda *_: pytest.fail("worked before")
    )
    outcome = train(drawn, output=tmp_path / place)
    assert outcome.status == 1
    assert str(tmp_path / place) in outcome.err
    assert outcome.err.count("\n") == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder"]


def test_a_test_part_alone_is_refused(train, drawn, tmp_path):
    leaf = next((drawn / "Train").glob("*.jpg"))
    for folder in ("Acer campestre", "test/Olea europaea"):
        (tmp_path / "own" / folder).mkdir(parents=True)
        shutil.copy(leaf, tmp_path / "own" / folder)
    outcome = train(tmp_path / "own", "--assume-type", "scan", type_=None)
    assert (outcome.status, outcome.out) == (1, "")
    assert (
        "expected pictures to learn from, found 1 of part test only; put those to "
        "learn from into a " in outcome.err
    )


def test_plain_classes_have_no_taxonomy(train, cli, drawn, tmp_path):
    for name, label in (("robur", "Species1"), ("platanoides", "two words")):
        (tmp_path / "own" / label).mkdir(parents=True)
        for stem in stems(drawn / "Train", species=name):
            shutil.copy(drawn / "Train" / f"{stem}.jpg", tmp_path / "own" / label)
    assert train(tmp_path / "own", "--assume-type", "scan", type_=None).status == 0
    model, run = tmp_path / "model.leafid", tmp_path / "run.txt"
    words = ("--model", model, "--jobs", 1, "--no-cache")
    outcome = cli("predict", tmp_path / "own", *words, "--back-off")
    assert (outcome.status, "or its labels form no taxonomy" in outcome.err) == (
        1,
        True,
    ), outcome.err
    assert cli("predict", tmp_path / "own", *words, "--output", run).status == 0
    assert {" ".join(line.split()[1:-2]) for line in run.read_text().splitlines()} == {
        "Species1",
        "two words",
    }
    assert cli("evaluate", tmp_path / "own", run).status == 0
    outcome = cli("evaluate-hierarchy", tmp_path / "own", run)
    assert (outcome.status, "expected a genus of every species" in outcome.err) == (
        1,
        True,
    ), outcome.err


def test_several_collections_and_unknown_species(
    train, drawn, small_recipe, drawn_cache, tmp_path
):
    """The garden's pictures are those of two of the drawn plants, without metadata."""
    garden = tmp_path / "garden"
    for species in ("robur", "platanoides"):
        genus = {"robur": "Quercus", "platanoides": "Acer"}[species]
        (garden / f"{genus} {species}").mkdir(parents=True)
        for stem in stems(drawn / "Train", species=species):
            picture = drawn / "Train" / f"{stem}.jpg"
            shutil.copy(picture, garden / f"{genus} {species}")
    shutil.copytree(garden, tmp_path / "weeds")
    for number, folder in enumerate(sorted((tmp_path / "weeds").iterdir())):
        folder.rename(tmp_path / "weeds" / f"Genus weed{number}")
    words = ("--unknown", tmp_path / "weeds", "--thumbnails-of", "garden")
    outcome = train(drawn, garden, *words)
    assert outcome.status == 0, outcome.err
    duplicates = "6 duplicates of several collections"
    plants = "garden: the plants of 6 of 6 pictures are unknown; the pictures"
    types = "garden: acquisition types recognised: scan 6"
    assert all(line in outcome.err for line in (duplicates, plants, types))
    assert "several parts" not in outcome.err
    model = Model.read(tmp_path / "model.leafid")
    acer = model.species["Acer platanoides"]
    assert (len(model.species), acer.n_plants, acer.n_pictures) == (3, 4, 9)
    kept = {len(species.thumbnails) for species in model.species.values()}
    assert (len(acer.thumbnails), kept) == (1, {0, 1})
    # The unknown species, which are known ones here, are rejected.
    garden_alone = train(drawn, garden, output=tmp_path / "without.leafid")
    assert garden_alone.status == 0, garden_alone.err
    without = Model.read(tmp_path / "without.leafid")
    answers = [m.identify(garden / "Acer platanoides") for m in (model, without)]
    p_known = [[answer.p_known for answer in answers_of] for answers_of in answers]
    assert max(p_known[0]) < min(p_known[1])

    same = leafid.train(
        [drawn, garden],
        str(small_recipe),
        unknown=tmp_path / "weeds",
        only_type="scan",
        thumbnails=["garden"],
        cache=drawn_cache,
    )
    # A model file holds coefficients in half precision.
    assert [answer.p_known for answer in same.identify(garden)] == pytest.approx(
        [answer.p_known for answer in model.identify(garden)], abs=1e-3
    )
    assert len(same.species["Acer platanoides"].thumbnails) == 1

    for words, message in (
        (("--unknown", garden), "expected a species that the model is not to know"),
        (("--thumbnails-of", "x"), "expected collections (collection, garden), found"),
        (("--extend", "bundled", "--unknown", garden), "leave out --recipe"),
    ):
        refused = train(drawn, garden, *words)
        assert message in refused.err
        assert refused.out == ""
