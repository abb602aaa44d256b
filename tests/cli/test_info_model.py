import shutil

from leafid.model.model import Model
from tests.pages.written_pages import check_page


def test_text(cli, drawn_model):
    outcome = cli("info", drawn_model)
    assert (outcome.status, outcome.err) == (0, "")
    model = Model.read(drawn_model)
    lines = outcome.out.splitlines()
    assert lines[0] == f"{drawn_model}: 3 species"
    for name, info in model.species.items():
        line = next(line for line in lines if line.startswith(name))
        assert info.vernacular_names[0] in line
        assert info.taxon.family in line


def test_json(cli, drawn_model):
    described = cli("info", drawn_model, "--format", "json").json
    model = Model.read(drawn_model)
    for entry in described["species"]:
        species = model.species[entry["species"]]
        for type_, counts in entry["types"].items():
            record = species.types[type_]
            assert (counts["pictures"], counts["plants"]) == (
                record.n_pictures,
                record.n_plants,
            )
            assert counts["held_out"]["first"] == record.held_out.n_first


def test_field_guide(cli, drawn_model, tmp_path):
    outcome = cli("info", drawn_model, "--output", tmp_path / "guide")
    file = tmp_path / "guide" / "field-guide.html"
    assert (outcome.status, outcome.out) == (0, f"{file}\n")
    page = check_page(file)
    model = Model.read(drawn_model)
    assert sorted(page.headings[3][: len(model.species)]) == sorted(model.species)
    # The first picture stands beside the name, too.
    assert len(page.images) == sum(
        len(record.thumbnails) + 1 for record in model.species.values()
    )


def test_the_card_beside_the_model_is_shown(cli, drawn_model, tmp_path):
    model = tmp_path / "own.leafid"
    shutil.copy(drawn_model, model)
    card = "# Mine\n\n## Scores\n\nby <me>\n"
    (tmp_path / "own.md").write_text(card)
    # Its author's language is that of the whole card.
    words = ("info", model, "--format", "json", "--language", "de")
    assert cli(*words).json["card"] == card
    assert cli("info", model, "--output", tmp_path).status == 0
    assert "by <me>" in check_page(tmp_path / "field-guide.html").text
    (tmp_path / "own.md").write_bytes(b"\xff\xfe")
    outcome = cli("info", model)
    assert outcome.status == 1
    assert "UTF-8" in outcome.err
