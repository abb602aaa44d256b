from benchmarks.pareto import Point, draw_fronts, find_front
from leafid.pictures.picture import AcquisitionType


def test_the_front_has_what_no_other_excels_in_both():
    best, cheap, worse, slow = (
        Point("a", 20, 0.9),
        Point("b", 6, 0.7),
        Point("c", 10, 0.6),
        Point("d", 30, 0.9),
    )
    assert find_front([best, cheap, worse, slow]) == [cheap, best]
    assert find_front([Point("a", 6, 0.5), Point("b", 6, 0.6)]) == [Point("b", 6, 0.6)]
    assert find_front([]) == []


def test_every_type_is_drawn():
    figure = draw_fronts(
        {type_: [Point("a", 20, 0.9), Point("b", 6, 0.7)] for type_ in AcquisitionType}
    )
    assert [axes.get_title() for axes in figure.axes] == [
        str(type_) for type_ in AcquisitionType
    ]
