from leafid.tasks.annotation2016.files import format_line, read_annotation_run
from leafid.tasks.annotation2016.results import MAX_CONCEPTS, localise_ranking
from leafid.tasks.interpretation.box import Box


def test_every_species_has_the_box_of_the_leaf(tmp_path):
    concepts = localise_ranking([("Platanus x hispanica", 0.7), ("Acer campestre", 1e-9)], (5, 25, 10, 40))
    assert [concept.name for concept in concepts] == ["Platanus_x_hispanica", "Acer_campestre"]
    assert {box for concept in concepts for box, _ in concept.boxes} == {Box(left=10, top=5, width=30, height=20)}
    lines = [format_line(*answer) for answer in (("1.jpg", concepts), ("2.jpg", ()))]
    (tmp_path / "run").write_text("".join(lines))
    assert (tmp_path / "run").read_text() == (
        "1 1.jpg Platanus_x_hispanica 0.7:30x20+10+5 Acer_campestre 1e-09:30x20+10+5\n1 2.jpg\n"
    )
    assert read_annotation_run(tmp_path / "run").results == {"1.jpg": concepts, "2.jpg": ()}


def test_species_beyond_the_limit_are_dropped():
    ranking = [(f"Genus species{i}", 1 / (i + 1)) for i in range(MAX_CONCEPTS + 20)]
    concepts = localise_ranking(ranking, (0, 1, 0, 1))
    assert len(concepts) == MAX_CONCEPTS
    assert concepts[-1].name == f"Genus_species{MAX_CONCEPTS - 1}"
