"""Properties of the protocols: what is trained on never shows what is tested."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from leafid.errors import LeafidError
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.pictures.splitting.protocol import SplitProtocol
from leafid.pictures.splitting.units import UNITS

TYPES = list(AcquisitionType)
LEAVE_ONE_OUT = SplitProtocol("", "leave-one-out")


@st.composite
def collections(draw):
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, 3), st.integers(0, 7), st.integers(0, 2)),
            min_size=12,
            max_size=25,
        )
    )
    assume(len({(s, p) for s, p, _ in rows}) > 1)
    return [
        Picture(
            Path(f"{n}.jpg"),
            type=TYPES[t],
            taxon=Taxon("abcd"[s]),
            plant=f"{s}-{p}",
            author=f"a{p % 4}",
            date=f"2011-0{1 + p % 3}",
            collection=f"c{p % 2}",
        )
        for n, (s, p, t) in enumerate(rows)
    ]


@settings(max_examples=30)
@given(collections(), st.sampled_from(UNITS))
def test_folds_cover_everything_once_and_separate_units(pictures, unit):
    splits = []
    with suppress(LeafidError):  # fewer than two units
        splits = list(SplitProtocol("", by=unit, folds=2).make_splits(pictures, (0, 1)))
    if not splits:
        return
    for seed in (0, 1):
        of_seed = [split for split in splits if split.seed == seed]
        assert sorted(np.concatenate([split.test for split in of_seed])) == list(
            range(len(pictures))
        )
        for split in of_seed:
            assert sorted([*split.training, *split.test]) == list(range(len(pictures)))
            for field in {"author": ("plant", "author"), "day": ("plant", "date")}.get(
                unit, ("plant",)
            ):
                trained, tested = (
                    {getattr(pictures[i], field) for i in part}
                    for part in (split.training, split.test)
                )
                assert trained.isdisjoint(tested)


@settings(max_examples=30)
@given(collections(), st.sampled_from(["plant", "author", "collection"]))
def test_leave_one_out_tests_each_unit_by_itself(pictures, unit):
    units = {getattr(picture, unit) for picture in pictures}
    protocol = SplitProtocol("", "leave-one-out", by=unit)
    splits = protocol.make_splits(pictures, (0, 1))
    if len(units) == 1:
        with pytest.raises(LeafidError, match=f"expected at least 2 {unit}s"):
            list(splits)
        return
    tested = []
    for split in splits:
        (name,) = {getattr(pictures[i], unit) for i in split.test}
        assert name not in {getattr(pictures[i], unit) for i in split.training}
        assert sorted([*split.training, *split.test]) == list(range(len(pictures)))
        tested.append(name)
    assert sorted(tested) == sorted(units)


@settings(max_examples=30)
@given(collections(), st.sampled_from(["pictures", "plants"]))
def test_shots_are_limited_and_nested(pictures, of):
    splits = list(
        SplitProtocol("", "leave-one-out", shots=(1, 3), shots_of=of).make_splits(
            pictures, (0,)
        )
    )
    for few, more in zip(splits[::2], splits[1::2], strict=True):
        assert set(few.training) <= set(more.training)
        assert (few.setting, more.setting) == (f"1 {of[:-1]}", f"3 {of}")
        for split, limit in ((few, 1), (more, 3)):
            units: dict = {}
            for index in split.training.tolist():
                picture = pictures[index]
                units.setdefault((picture.species, picture.type), set()).add(
                    picture.plant if of == "plants" else index
                )
            assert all(len(members) <= limit for members in units.values())
    # Whatever is missing is missing because a species had no more.
    whole = next(
        SplitProtocol("", "leave-one-out", shots=(100,), shots_of=of).make_splits(
            pictures, (0,)
        )
    )
    assert (
        whole.training.tolist()
        == next(LEAVE_ONE_OUT.make_splits(pictures, (0,))).training.tolist()
    )


def test_folds_of_one_type_leave_out_the_others(tmp_path, caplog):
    """Those might show the plants that are tested."""
    pictures = [
        Picture(Path(f"{t}-{plant}.jpg"), type=TYPES[t], plant=str(plant))
        for t in (0, 2)
        for plant in range(4)
    ]
    rows = [f"0-{plant}.jpg,{plant % 2}" for plant in range(3)]
    folds = tmp_path / "folds.csv"
    folds.write_text("\n".join(["picture,fold", *rows, "0-3.jpg,1"]))
    splits = list(SplitProtocol("", folds=str(folds)).make_splits(pictures, (0,)))
    assert [split.test.tolist() for split in splits] == [[0, 2], [1, 3]]
    assert [split.training.tolist() for split in splits] == [[1, 3], [0, 2]]
    left_out = "left out 4 pictures of types without folds"
    assert caplog.messages == [f"{folds}: {left_out}"]
    caplog.clear()
    folds.write_text("\n".join(["picture,fold", *rows, "0-3.JPG,1"]))
    with pytest.raises(LeafidError, match=r"each of the 4 pictures .* for 1, 0-3.jpg"):
        list(SplitProtocol("", folds=str(folds)).make_splits(pictures, (0,)))
    assert "'0-3.JPG' first" in caplog.text


def test_given_parts():
    pictures = [
        Picture(Path(f"{n}.jpg"), part=part)
        for n, part in enumerate(["test", "train", "val", "train"])
    ]
    first, second = SplitProtocol("", "parts").make_splits(pictures, (4, 5))
    assert (first.seed, second.seed) == (4, 5)
    assert (first.training.tolist(), first.test.tolist()) == ([1, 3], [0])
    with pytest.raises(LeafidError, match="found 2 and 0; name parts by folders"):
        list(SplitProtocol("", "parts").make_splits(pictures[1:], (0,)))
