import pytest

from leafid import load_model

KEYS = [
    *(
        "picture",
        "type",
        "type_probability",
        "leaf",
        "known",
        "n_leaves",
        "verdict",
        "name",
        "answer_probability",
    ),
    *("ranking", "reasons", "problem"),
]


UNNAMED = {"species": "", "accepted_name": None, "probability": ""}


@pytest.fixture
def with_a_bad_picture(loose):
    (loose / "0 bad.jpg").write_bytes(b"no picture")
    return loose


def test_json_has_an_object_for_every_picture(predict, with_a_bad_picture, drawn_model):
    outcome = predict(with_a_bad_picture, "--format", "json")
    assert outcome.status == 1
    bad, *good = outcome.json
    assert all(list(record) == KEYS for record in (bad, *good))
    assert bad["picture"] == str(with_a_bad_picture / "0 bad.jpg")
    assert (bad["verdict"], bad["ranking"]) == ("unreadable", [])
    assert bad["picture"] in bad["problem"]
    assert all(bad[key] is None for key in KEYS[1:9] if key != "verdict")
    model = load_model(drawn_model)
    assert len(good) == 3
    for record in good:
        assert record["problem"] is None
        assert record["n_leaves"] == 1
        assert 1 / 3 < record["type_probability"] <= 1
        assert 0 <= record["leaf"] <= 1
        assert 0 <= record["known"] <= 1
        assert 0 <= record["answer_probability"] <= record["ranking"][0]["probability"]
        assert {entry["species"] for entry in record["ranking"]} == set(model.species)
        for entry in record["ranking"]:
            assert entry["common_names"] == list(
                model.species[entry["species"]].vernacular_names
            )
        probabilities = [entry["probability"] for entry in record["ranking"]]
        assert probabilities == sorted(probabilities, reverse=True)
        assert sum(probabilities) == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize(
    "words",
    [(), ("--top", 2), ("--set", "coverage-0.5"), ("--back-off",), ("--reject-at", 1)],
)
def test_all_formats_hold_the_same_answers(predict, with_a_bad_picture, words):
    records = predict(with_a_bad_picture, "--format", "json", *words).json
    rows = predict(with_a_bad_picture, "--format", "csv", *words).rows
    expected = [
        (
            record["picture"],
            record["verdict"],
            record["name"] or "",
            named["species"],
            named["accepted_name"] or "",
            str(named["probability"]),
            "; ".join(record["reasons"]),
        )
        for record in records
        for named in record["ranking"] or [UNNAMED]
    ]
    columns = (
        *("picture", "verdict", "name", "species", "accepted_name", "probability"),
        "reasons",
    )
    assert [tuple(row[column] for column in columns) for row in rows] == expected


@pytest.mark.parametrize("together", [(), ("--together",)])
def test_a_picture_without_a_leaf_has_the_same_reasons_in_all_formats(
    predict, cli, drawn_model, draw, tmp_path, together
):
    # Of a picture that is all dark, and of one that is all light.
    for shade in (20, 255):
        words = (draw(tmp_path / f"{shade}.png", shade), *together)
        [record] = predict(*words, "--format", "json").json
        assert record["verdict"] == "no-leaf"
        assert not any("the leaf is" in reason for reason in record["reasons"])
        assert ("it is dark" in record["reasons"][0]) == (shade == 20)
        sentence = "; ".join(record["reasons"])
        assert sentence.endswith("or cut it out")
        assert predict(*words).out.endswith(f"in this picture; {sentence}\n")
        rows = predict(*words, "--format", "csv").rows
        assert {row["reasons"] for row in rows} == {sentence}
    explained = cli("explain", words[0], "--model", drawn_model).out
    assert f"; {sentence}." in " ".join(explained.split())


def test_outdated_names_have_the_accepted_ones(predict, loose, monkeypatch):
    outdated = {"Quercus robur": {"accepted": "Quercus nova"}}
    monkeypatch.setattr("leafid.pictures.names.read_common_names", lambda: outdated)
    [record, *_] = predict(loose, "--format", "json").json
    rows = predict(loose, "--format", "csv").rows
    for entry in (*record["ranking"], *rows):
        expected = "Quercus nova" if entry["species"] == "Quercus robur" else ""
        assert (entry["accepted_name"] or "") == expected


@pytest.mark.parametrize("name", ["text", "json", "csv", "run"])
def test_a_file_has_what_is_printed(predict, drawn, tmp_path, monkeypatch, name):
    printed = predict(drawn, "--format", name)
    assert printed.status == 0, printed.err
    assert printed.out
    # In several batches, of which the first and the last begin and end the file.
    monkeypatch.setattr("leafid.model.groups.BATCH_SIZE", 4)
    assert predict(drawn, "--format", name, "--output", tmp_path / "out").status == 0
    assert (tmp_path / "out").read_text() == printed.out


def test_wrong_usage(predict, loose):
    for words, expected in (
        (
            ["--format", "run", "--reject-at", 0.1],
            "expected --reject-at without --format run",
        ),
        (
            ["--format", "json", "--open-world"],
            "expected --format run with --open-world",
        ),
    ):
        outcome = predict(loose, *words)
        assert (outcome.status, outcome.err.count("\n")) == (2, 1)
        assert expected in outcome.err


def test_common_names_in_a_language_come_first(predict, loose):
    record = predict(loose, "--format", "json", "--language", "de").json[0]
    names = {entry["species"]: entry["common_names"] for entry in record["ranking"]}
    assert names["Acer platanoides"] == ["Spitzahorn", "Norway Maple"]
    assert names["Quercus robur"] == ["English Oak"]


def test_a_line_break_in_a_name_breaks_no_line_of_text(predict, loose):
    picture = next(loose.glob("*.jpg")).rename(loose / "a\nb.jpg")
    assert predict(picture).out.startswith(f"{loose}/a\\nb.jpg  (")
