from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from leafid.features.codebooks import sample_evenly
from leafid.pictures.picture import Picture, Taxon
from leafid.pictures.splitting.units import sample_by_plant, weigh_by_plant


def pictures_of(sizes):
    return [
        Picture(Path(f"{p}-{n}.jpg"), plant=str(p))
        for p, size in enumerate(sizes)
        for n in range(size)
    ]


@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=12),
    st.integers(1, 40),
    st.integers(0, 3),
)
def test_whole_plants_within_the_limit(sizes, limit, seed):
    pictures = pictures_of(sizes)
    drawn = sample_by_plant(pictures, limit, seed).tolist()
    assert drawn == sorted(set(drawn))
    assert 0 < len(drawn) <= limit
    if len(pictures) <= limit:
        assert len(drawn) == len(pictures)
    elif limit >= max(sizes):
        plants = {pictures[index].plant for index in drawn}
        assert len(drawn) == sum(picture.plant in plants for picture in pictures)
        # No plant that is left would fit.
        assert limit - len(drawn) < min(
            size for p, size in enumerate(sizes) if str(p) not in plants
        )
    assert drawn == sample_by_plant(pictures, limit, seed).tolist()


def test_of_plants_that_all_have_more_another_one_with_another_seed():
    pictures = pictures_of([9] * 6)
    drawn = [sample_by_plant(pictures, 5, seed).tolist() for seed in range(6)]
    assert all(
        len({pictures[index].plant for index in indices}) == 1 for indices in drawn
    )
    assert len({pictures[indices[0]].plant for indices in drawn}) > 1


def test_codebook_pictures_are_spread_over_species(tmp_path):
    many = [Picture(tmp_path / f"a{n}", taxon=Taxon("A a")) for n in range(50)]
    few = [Picture(tmp_path / f"b{n}", taxon=Taxon("B b")) for n in range(3)]
    chosen = sample_evenly([*many, *few], 10, 0)
    assert len(set(chosen)) == 10
    assert set(few) <= set(chosen)
    assert chosen == sample_evenly([*many, *few], 10, 0)
    assert len(sample_evenly(few, 10, 0)) == 3


def test_each_plant_weighs_the_same():
    assert weigh_by_plant(pictures_of([1, 4])).tolist() == [1, 0.25, 0.25, 0.25, 0.25]
