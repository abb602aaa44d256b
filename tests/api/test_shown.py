"""What Python and notebooks show of objects."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import leafid
from leafid.pictures.picture import Picture
from leafid.segmentation.pixels import find_bounding_box


@pytest.fixture(scope="module")
def collection(drawn):
    return leafid.read_collection(drawn)


@pytest.fixture(scope="module")
def objects(drawn_model, collection):
    """An object of each class that shows itself, by the class's name."""
    model = leafid.load_model(drawn_model)
    picture = next(
        picture
        for picture in collection.part("test").pictures
        if picture.type == "scan"
    )
    [answer] = model.identify(picture)
    plant = model.identify_plant([picture, Path("nowhere.jpg")])
    return {
        "Model": model,
        "Collection": collection,
        "Picture": picture,
        "Answer": answer,
        "answer of a plant": plant,
        "Segmentation": leafid.segment(picture),
        "Explanation": leafid.explain(picture, model),
    }


def test_each_is_a_line_of_text(objects, collection):
    for thing in [
        *objects.values(),
        objects["Model"]["scan"],
        *objects["Model"].species.values(),
    ]:
        assert "\n" not in repr(thing)
        assert len(repr(thing)) < 600
    assert (
        f"{len(collection)} pictures of 3 species: 12 scan, 12 scan-like, 12 photo"
        in repr(collection)
    )
    assert "of 3 species: scan (" in repr(objects["Model"])
    assert objects["Answer"].verdict_text in repr(objects["Answer"])
    assert "nowhere.jpg" in repr(objects["answer of a plant"])


def test_each_shows_itself_in_a_notebook(objects):
    n_pictures = {
        name: thing._repr_html_().count("data:image/jpeg;base64,")
        for name, thing in objects.items()
    }
    thumbnails = [species["thumbnails"] for species in objects["Explanation"].species]
    assert n_pictures == {
        **{
            "Model": 3,
            "Collection": 3,
            "Picture": 1,
            "Answer": 1,
            "answer of a plant": 1,
            "Segmentation": 0,
        },
        "Explanation": 1 + sum(map(len, thumbnails)),
    }
    answer = objects["Answer"]
    for name, _ in answer.ranking:
        assert name in answer._repr_html_()
    for name in ("Segmentation", "Explanation"):
        assert "<polygon" in objects[name]._repr_html_()
    for words in objects["Explanation"].traits.values():
        assert words in objects["Explanation"]._repr_html_()


def test_plots_are_on_axes_of_matplotlib(objects):
    figure = Figure()
    for name in ("Answer", "answer of a plant", "Segmentation", "Explanation"):
        axes = figure.add_subplot()
        assert objects[name].plot(ax=axes) is axes
        assert len(axes.patches if "nswer" in name else axes.lines) > 0
    leaf = objects["Segmentation"]
    image = leafid.read_image(objects["Picture"].file)
    axes = leaf.plot(image, figure.add_subplot())
    np.testing.assert_array_equal(axes.images[0].get_array(), image[:, :, ::-1])
    # The outline runs around the blade, in the coordinates of the picture.
    row0, row1, col0, col1 = find_bounding_box(leaf.blade)
    points = np.concatenate(
        [line.get_xydata() for line in axes.lines if line.get_color() == "red"]
    )
    np.testing.assert_allclose(
        [points.min(0), points.max(0)], [(col0, row0), (col1, row1)], atol=1
    )


def test_names_are_text_and_not_html(objects):
    named = replace(objects["Answer"].picture, path_name=os.fsdecode(b"<b>\xe9.jpg"))
    shown = replace(objects["Answer"], picture=named)._repr_html_()
    assert "&lt;b&gt;" in shown
    shown.encode()


def test_a_picture_that_can_not_be_read_is_named(tmp_path):
    unreadable = Picture(tmp_path / "leaf.jpg", data=b"no picture")
    assert unreadable.make_thumbnail() is None
    assert "leaf.jpg" in unreadable._repr_html_()
    assert "<img" not in unreadable._repr_html_()
