from leafid.model.species import Species, TraitRange
from leafid.pages.explaining import compare_species
from leafid.pictures.picture import AcquisitionType, Taxon

SCAN, PHOTO = AcquisitionType.SCAN, AcquisitionType.PHOTO


def record(**ranges):
    return Species(Taxon("A a"), traits={name: TraitRange(*own) for name, own in ranges.items()})


RECORDS = {
    "A a": record(teeth=(28, 34, 40, 9), length_width=(2.0, 2.2, 2.4, 9), petiole=(0.1, 0.1, 0.1, 2)),
    "B b": record(teeth=(0, 0, 2, 9), length_width=(2.0, 2.3, 2.6, 9), petiole=(0.9, 0.9, 0.9, 9)),
}


def test_only_traits_in_which_the_species_differ_are_listed():
    [found] = compare_species(RECORDS, ["A a", "B b"], {"teeth": 30, "length_width": 2.2, "petiole": 0.5})
    # The ranges of length to width overlap, and two pictures of A give no range of the petiole.
    assert (found.title, found.value, found.favours) == ("teeth", 30, "A a")
    assert (found.first.median, found.second.median) == (34, 0)


def test_a_value_between_both_speaks_for_neither():
    [found] = compare_species(RECORDS, ["A a", "B b"], {"teeth": 5})
    assert found.favours == "B b"
    even = {"A a": record(teeth=(28, 34, 40, 9)), "B b": record(teeth=(4, 10, 16, 9))}
    [found] = compare_species(even, ["A a", "B b"], {"teeth": 22})
    assert found.favours == ""


def test_nothing_is_compared_without_values_or_a_second_species():
    assert compare_species(RECORDS, ["A a", "B b"], {}) == []
    assert compare_species(RECORDS, ["A a"], {"teeth": 30}) == []
