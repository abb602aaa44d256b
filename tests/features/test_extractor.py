import cv2
import numpy as np
import pytest
from msgspec import structs

from leafid.descriptors.encoding import BagOfWordsEncoder, FisherEncoder
from leafid.descriptors.local.grid import LocalFeatures
from leafid.descriptors.registry import get_column_names, measure_families
from leafid.features import extractor as extractor_module
from leafid.features.augmentation import Augmentation, AugmentedPicture
from leafid.features.compositing import composite_photo
from leafid.features.extractor import (
    LEAF_MEASURES,
    FeatureExtractor,
    PictureViews,
    segment_as_type,
)
from leafid.features.recipe import Expert
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.segment import segment

SCAN = AcquisitionType.SCAN
SIFT = Expert(descriptor="dense-sift", size=64, scales=1, modes=2, components=4)
VIEWS = ("leaf", "upright", "picture")


@pytest.fixture(scope="module")
def leaf():
    image = np.full((120, 160, 3), 245, np.uint8)
    cv2.ellipse(image, (80, 60), (55, 28), 20, 0, 360, (40, 140, 60), -1)
    cv2.line(image, (30, 40), (130, 80), (90, 190, 120), 2)
    return image


def learn_encoder(kind, n_values=128, **options):
    random = np.random.default_rng(0)
    features = LocalFeatures(
        random.random((60, n_values), np.float32),
        random.random((60, 2), np.float32),
        np.ones(60, np.float32),
    )
    return kind(2, 4, **options).fit(features)  # fmt: skip


# Families of experts are among the measures by which a leaf is recognised.
LEAF_FAMILIES = ["geometry", "hu", "arch", "triangle", "lobes", "interior"]


def test_a_vector_for_every_expert(leaf):
    experts = {
        "fisher": SIFT,
        "words": structs.replace(SIFT, encoder="words", view="picture"),
        "margin": structs.replace(SIFT, descriptor="outline-sift", view="upright"),
        "chroma": structs.replace(SIFT, descriptor="dense-chroma-sift", view="picture"),
        "points": structs.replace(SIFT, descriptor="detected-sift"),
        "shape": Expert(descriptor="measures", families=("geometry", "hu")),
        "again": Expert(descriptor="measures", families=("hu",)),
        "texture": Expert(descriptor="measures", families=("interior",)),
    }
    encoders = {
        name: learn_encoder(FisherEncoder) for name in ("fisher", "margin", "points")
    }
    encoders |= {
        "words": learn_encoder(BagOfWordsEncoder),
        "chroma": learn_encoder(FisherEncoder, 256),
    }
    features = FeatureExtractor(experts, encoders).extract(leaf, SCAN)
    assert list(features.vectors) == [*experts, LEAF_MEASURES]
    assert 0 <= features.confidence <= 1
    lengths = {name: len(vector) for name, vector in features.vectors.items()}
    measures = {
        "shape": len(get_column_names(["geometry", "hu"])),
        "again": len(get_column_names(["hu"])),
        "texture": len(get_column_names(["interior"])),
        LEAF_MEASURES: len(get_column_names(LEAF_FAMILIES)) + 6,
    }
    assert lengths == {**dict.fromkeys(encoders, 16), "words": 2, **measures}
    for vector in features.vectors.values():
        assert np.isfinite(vector).all()
        assert vector.any()
    np.testing.assert_array_equal(
        features.vectors["shape"][-lengths["again"] :], features.vectors["again"]
    )


@pytest.mark.parametrize("type_", list(AcquisitionType))
@pytest.mark.parametrize("value", [0, 255])
@pytest.mark.parametrize("shape", [(40, 60), (16, 16), (3, 800), (800, 1)])
def test_without_a_leaf_the_whole_picture_counts(type_, value, shape):
    """A picture of 20,000 × 16 pixels shrinks to a row of one pixel."""
    small = structs.replace(SIFT, size=64)
    experts = {view: structs.replace(small, view=view) for view in VIEWS}
    encoders = dict.fromkeys(VIEWS, learn_encoder(FisherEncoder))
    extractor = FeatureExtractor(
        {**experts, "shape": Expert(descriptor="measures", families=("geometry",))},
        encoders,
    )
    features = extractor.extract(np.full((*shape, 3), value, np.uint8), type_)
    assert all(np.isfinite(vector).all() for vector in features.vectors.values())


def test_features_of_some_experts_only(leaf):
    experts = {
        "a": SIFT,
        "b": Expert(descriptor="measures", families=("geometry",)),
        "c": Expert(descriptor="measures", families=("hu",)),
    }
    extractor = FeatureExtractor(experts, {"a": learn_encoder(FisherEncoder)})
    everything = extractor.extract(leaf, SCAN)
    some = extractor.extract_from_views(
        PictureViews(leaf, segment_as_type(leaf, SCAN)), ["c", "a"]
    )
    assert list(some.vectors) == ["c", "a"]
    for name, vector in some.vectors.items():
        np.testing.assert_array_equal(vector, everything.vectors[name])
    assert some.confidence == everything.confidence


def test_the_leaf_is_looked_for_where_an_expert_needs_it(leaf, monkeypatch):
    whole, encoders = (
        structs.replace(SIFT, view="picture"),
        {"a": learn_encoder(FisherEncoder)},
    )
    features = FeatureExtractor({"a": whole}, encoders).extract(leaf, SCAN)
    beside = FeatureExtractor(
        {"a": whole, "b": Expert(descriptor="measures", families=("hu",))}, encoders
    ).extract(leaf, SCAN)
    np.testing.assert_array_equal(features.vectors["a"], beside.vectors["a"])
    assert features.confidence == 1

    def refuse(*_args, **_options):
        pytest.fail("looked for the leaf")

    monkeypatch.setattr(extractor_module, "segment", refuse)
    FeatureExtractor({"a": whole}, encoders).extract(leaf, SCAN)
    with pytest.raises(pytest.fail.Exception):
        FeatureExtractor(
            {"a": structs.replace(whole, trust="segmentation")}, encoders
        ).extract(leaf, SCAN)


def test_features_of_a_composited_photo_are_those_of_a_photo(leaf):
    extractor = FeatureExtractor(
        {"a": Expert(descriptor="measures", families=("hu", "geometry"))},
        longest_side=200,
    )
    features = extractor.extract_from_views(
        AugmentedPicture(leaf, SCAN, 200).make_views(Augmentation("composite", 2))
    )
    photo = composite_photo(leaf, segment(leaf, SCAN), 2, 200)
    expected = extractor.extract(photo, AcquisitionType.PHOTO)
    np.testing.assert_array_equal(features.vectors["a"], expected.vectors["a"])
    assert features.confidence == expected.confidence


def test_the_feature_key_changes_with_all_that_decides_about_a_vector(monkeypatch):
    encoder = learn_encoder(FisherEncoder)

    def key(expert, encoder=encoder):
        return FeatureExtractor(
            {"a": expert, "other": Expert(descriptor="measures", families=("hu",))},
            {"a": encoder},
        ).make_feature_key("a")

    first = key(SIFT)
    assert (
        key(
            structs.replace(
                SIFT, classifier="sklearn.naive_bayes.GaussianNB", species_balance=0.1
            )
        )
        == first
    )
    assert key(SIFT, learn_encoder(FisherEncoder)) == first
    beside = Expert(descriptor="measures", families=("geometry",))
    assert (
        FeatureExtractor({"b": SIFT, "c": beside}, {"b": encoder}).make_feature_key("b")
        == first
    )
    alone = FeatureExtractor({"a": SIFT}, {"a": encoder})
    measures = [("hu",), ("geometry",), ("hu", "geometry"), ("geometry", "hu")]
    others = [
        key(structs.replace(SIFT, size=65)),
        key(structs.replace(SIFT, view="picture")),
        alone.make_feature_key("a"),  # from leaves with their petioles
        key(SIFT, learn_encoder(FisherEncoder, seed=1)),
        *(
            FeatureExtractor(
                {"a": Expert(descriptor="measures", families=families)}
            ).make_feature_key("a")
            for families in measures
        ),
        *(
            alone.make_feature_key("a", Augmentation(*augmentation).make_feature_key())
            for augmentation in (("jitter", 1), ("composite", 1), ("jitter", 2))
        ),
    ]
    assert len({first, *others}) == 1 + len(others)
    monkeypatch.setattr(
        extractor_module, "FEATURE_VERSION", extractor_module.FEATURE_VERSION + 1
    )
    assert key(SIFT) not in {first, *others}


@pytest.mark.parametrize("type_", list(AcquisitionType))
def test_petioles_are_segmented_on_sheets_only(fixed_pictures, type_):
    """In photos, what juts out of a leaf is as often a neighbour as its petiole."""
    image, _ = fixed_pictures["drawn"]
    with_petiole, without = (
        measure_families(image, segment(image, type_, petiole=petiole), ["geometry"])[
            "geometry"
        ]
        for petiole in (True, False)
    )
    assert (with_petiole != without).any()
    vector = (
        FeatureExtractor({"a": Expert(descriptor="measures", families=("geometry",))})
        .extract(image, type_)
        .vectors["a"]
    )
    np.testing.assert_array_equal(
        vector, without if type_ is AcquisitionType.PHOTO else with_petiole
    )
