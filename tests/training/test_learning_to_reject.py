from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from leafid.features.extractor import LEAF_MEASURES
from leafid.features.loader import FeatureLoader
from leafid.features.non_leaves import TRAINING_KINDS
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.training.rejection import gather_non_leaves
from tests.drawing.collection import TYPES


@pytest.mark.parametrize(
    ("type_", "number"), list(zip(TYPES, [960, 960, 1440], strict=True))
)
def test_anything_can_be_behind_the_leaf_of_a_photo(monkeypatch, type_, number):
    """Half as many more pictures without a leaf are drawn for photos as for sheets.

    Two are drawn for each of some sheets. Most of those for photos are photographs.
    """
    drawn = []

    def stream(_loader, pictures, _extractor, augmentations, names):
        assert names == [LEAF_MEASURES]
        assert [augmentation.kind for augmentation in augmentations] == [
            "no-leaf",
            "jittered-no-leaf",
        ]
        drawn.extend((picture.file, augmentations[0].number) for picture in pictures)
        yield from (None for _ in pictures)

    monkeypatch.setattr(FeatureLoader, "stream_augmented", stream)
    extractor = SimpleNamespace(leaf_vectors=[LEAF_MEASURES])
    training_set = SimpleNamespace(extractor=extractor)
    plan = SimpleNamespace(types=[type_], training_set=training_set)
    pictures = [
        Picture(Path(f"{index}.jpg"), AcquisitionType.SCAN) for index in range(1000)
    ]
    assert gather_non_leaves(plan, pictures, FeatureLoader()) == []
    assert len({file for file, _ in drawn}) == len(drawn) == number // 2
    kinds = {n: kind for kind, numbers in TRAINING_KINDS.items() for n in numbers}
    counts = Counter(kinds[drawing] for _, drawing in drawn)
    n_photographs = counts.pop("photograph")
    assert set(counts.values()) == {120 if type_.lies_on_sheet else 90}
    assert n_photographs == (120 if type_.lies_on_sheet else 450)
    assert {drawing for _, drawing in drawn} == set(kinds)
