import json
import shutil
from collections import Counter, defaultdict
from dataclasses import replace

import pytest

from leafid import load_model
from leafid.model.groups import find_session, fuse_answers
from leafid.pictures.reading import read_collection


@pytest.fixture
def files(drawn):
    """A scan, a scan-like and a photo of one plant."""
    by_plant = defaultdict(list)
    for picture in read_collection(drawn).pictures:
        by_plant[picture.plant].append(picture.file)
    return next(
        group
        for plant, group in sorted(by_plant.items(), key=str)
        if plant is not None and len(group) == 3
    )


def test_together(predict, files, drawn_model):
    outcome = predict("--together", *files, "--format", "json")
    assert outcome.status == 0, outcome.err
    records = outcome.json
    assert [record["picture"] for record in records] == list(map(str, files))
    assert len({record["type"] for record in records}) == 3
    shared = ("known", "verdict", "name", "answer_probability", "ranking", "reasons")
    assert len({json.dumps([record[key] for key in shared]) for record in records}) == 1
    answer = load_model(drawn_model).identify_plant(map(str, files))
    assert [part.to_dict() for part in answer.expand()] == records
    assert answer.p_leaf == max(part.p_leaf for part in answer.parts)
    single = predict(*files, "--format", "json").json
    assert [part.to_dict() for part in answer.parts] == single


def test_pictures_that_can_not_be_judged_are_left_out_of_a_plant(files, drawn_model):
    model = load_model(drawn_model)
    answers = [
        replace(next(model.identify(file)), decision="species") for file in files
    ]
    blurred = [
        replace(answer, decision="unclear", reasons=("it is blurred",))
        for answer in answers
    ]
    some = fuse_answers(model.types, [blurred[0], *answers[1:]], 0)
    assert some.ranking == fuse_answers(model.types, answers[1:], 0).ranking
    assert (some.verdict == "unclear", some.reasons) == (False, ())
    for part in fuse_answers(model.types, blurred, 0).expand():
        assert (part.verdict, part.name) == ("unclear", None)
        assert part.reasons == ("it is blurred",)


def test_a_run_by_plant_and_by_folder(predict, drawn, tmp_path):
    plants = {
        picture.name: picture.group for picture in read_collection(drawn).pictures
    }
    trees = tmp_path / "trees"
    for number, file in enumerate(sorted((drawn / "Test").glob("*.jpg"))):
        folder = trees / f"{number % 2}"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder)
    for words, find_group in (
        ((drawn / "Train", "--group-by", "plant"), plants.get),
        ((trees, "--group-by", "folder"), lambda name: (trees / "0" / name).exists()),
    ):
        assert predict(*words, "--output", tmp_path / "run.txt").status == 0
        rankings = defaultdict(str)
        for line in (tmp_path / "run.txt").open():
            name, ranking = line.split(" ", 1)
            rankings[name] += ranking
        by_group = defaultdict(set)
        for name, ranking in rankings.items():
            by_group[find_group(name)].add(ranking)
        assert {len(group) for group in by_group.values()} == {1}
        assert 1 < len(by_group) < len(rankings)


def test_a_run_by_session(predict, drawn, drawn_model, tmp_path):
    alone = {
        record["picture"]: record
        for record in predict(drawn / "Train", "--format", "json").json
    }
    words = (drawn / "Train", "--group-by", "session", "--format", "json", "--output")
    assert predict(*words, tmp_path / "sessions").status == 0
    records = json.loads((tmp_path / "sessions").read_text())
    assert {record["picture"] for record in records} == alone.keys()
    changed = [
        record
        for record in records
        if record["ranking"] != alone[record["picture"]]["ranking"]
    ]
    assert changed
    for record in records:
        expected = alone[record["picture"]]
        assert all(
            record[key] == expected[key]
            for key in ("type", "type_probability", "leaf", "known", "problem")
        )
    sessions = Counter(
        find_session(picture) for picture in read_collection(drawn / "Train").pictures
    )
    by_file = {
        str(picture.file): find_session(picture)
        for picture in read_collection(drawn / "Train").pictures
    }
    assert all(sessions[by_file[record["picture"]]] > 1 for record in changed)
    assert predict(*words, tmp_path / "two", "--jobs", 2).status == 0
    assert (tmp_path / "two").read_bytes() == (tmp_path / "sessions").read_bytes()
    assert [
        answer.to_dict()
        for answer in load_model(drawn_model).identify(drawn / "Train", sessions=True)
    ] == records


def test_unknown_plants_are_told(predict, loose):
    for kind in ("plant", "session"):
        assert (
            f"no two pictures are of one {kind}"
            in predict(loose, "--group-by", kind).err
        )
    assert predict(loose, "--group-by", "folder", "--set", "average-2").status == 2
