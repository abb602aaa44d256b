from dataclasses import replace

import cv2
import numpy as np
import pytest
from msgspec import structs

from leafid.descriptors.local.grid import LocalFeatures
from leafid.errors import LeafidError
from leafid.features import codebooks as module
from leafid.features.codebooks import learn_encoders
from leafid.features.extractor import FeatureExtractor
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Expert, Recipe
from leafid.pictures.picture import AcquisitionType

SCAN = AcquisitionType.SCAN
LOCAL = Expert(descriptor="dense-sift", size=64, scales=1, modes=2, components=4)
RECIPE = Recipe(
    types=(SCAN,),
    experts={"local": LOCAL, "shape": Expert(descriptor="measures", families=("hu",))},
    training_types=(SCAN,),
)


def codebook(loader, pictures, seed=0, recipe=RECIPE):
    encoders = learn_encoders(pictures, recipe, loader, seed)
    assert list(encoders) == ["local"]
    return {
        name: array.tobytes() for name, array in encoders["local"].get_state().items()
    }


def test_codebooks_are_kept_and_come_back_to_the_bit(pictures, store, monkeypatch):
    learned = codebook(FeatureLoader(store), pictures)
    assert codebook(FeatureLoader(), pictures) == learned
    monkeypatch.setattr(
        module, "_sample_picture", lambda *_: pytest.fail("sampled again")
    )
    assert codebook(FeatureLoader(store), pictures) == learned


def test_another_version_of_opencv_learns_anew(pictures, store, monkeypatch):
    sampled = []
    monkeypatch.setattr(
        module,
        "_sample_picture",
        lambda *given: sampled.append(given[-1]) or fake_sample(),
    )
    for version, n_passes in (
        ("4.12.0", 1),
        ("4.12.1", 1),
        ("5.0.0", 2),
        ("4.12.0", 2),
    ):
        monkeypatch.setattr(cv2, "__version__", version)
        codebook(FeatureLoader(store), pictures)
        assert len(sampled) == n_passes * len(pictures)


def test_another_seed_or_picture_makes_another_codebook(pictures, store):
    first = codebook(FeatureLoader(store), pictures[:3])
    assert codebook(FeatureLoader(store), pictures[:3], seed=1) != first
    assert codebook(FeatureLoader(store), pictures[1:]) != first


def test_a_codebook_of_some_types(pictures, store):
    """A recipe on more types shares the codebook if the expert names its types."""
    photo = replace(pictures[3], type=AcquisitionType.PHOTO)
    shared = structs.replace(
        RECIPE, experts={"local": structs.replace(LOCAL, codebook_types=(SCAN,))}
    )
    assert codebook(
        FeatureLoader(store), [*pictures[:3], photo], recipe=shared
    ) == codebook(FeatureLoader(store), pictures[:3])
    only = structs.replace(
        RECIPE,
        experts={
            "local": structs.replace(LOCAL, codebook_types=(AcquisitionType.SCAN_LIKE,))
        },
    )
    # Where there is no such picture, the encoder is learned from all.
    assert codebook(FeatureLoader(store), pictures[:3], recipe=only) == codebook(
        FeatureLoader(store), pictures[:3]
    )


def grey(pictures):
    """Take the colour out of pictures, and call them photos."""
    for picture in pictures:
        cv2.imwrite(
            str(picture.file), cv2.imread(str(picture.file), cv2.IMREAD_GRAYSCALE)
        )
    return [replace(picture, type=AcquisitionType.PHOTO) for picture in pictures]


@pytest.mark.parametrize("encoder", ["fisher", "words"])
def test_an_expert_that_sees_nothing_costs_no_other(pictures, caplog, encoder):
    """In grey pictures no hues meet."""
    chroma = Expert(
        descriptor="dense-chroma-sift",
        view="picture",
        modes=8,
        components=4,
        encoder=encoder,
    )
    photo = (AcquisitionType.PHOTO,)
    recipe = structs.replace(
        RECIPE,
        types=photo,
        training_types=photo,
        experts={"local": LOCAL, "chroma": chroma},
    )
    photos = grey(pictures)
    encoders = learn_encoders(photos, recipe, FeatureLoader(), 0)
    assert (
        "expert chroma sees nothing in these pictures: expected at least 8 local "
        "features" in caplog.text
    )
    (features,) = FeatureLoader().stream(
        photos[:1], FeatureExtractor(recipe.experts, encoders)
    )
    assert not features.vectors["chroma"].any()
    assert features.vectors["local"].any()
    with pytest.raises(LeafidError, match="expected at least 8 local features"):
        learn_encoders(
            photos,
            structs.replace(recipe, experts={"chroma": chroma}),
            FeatureLoader(),
            0,
        )


def test_where_the_named_types_show_too_little_all_serve(pictures, caplog):
    photo = AcquisitionType.PHOTO
    photos = [replace(picture, type=photo) for picture in pictures[1:]]
    inside = structs.replace(LOCAL, codebook_types=(SCAN,))
    recipe = Recipe(
        types=(photo,), experts={"inside": inside}, training_types=(photo, SCAN)
    )
    # One white sheet, and one that can't be read.
    for content in (
        cv2.imencode(".png", np.full((90, 90, 3), 255, np.uint8))[1].tobytes(),
        b"",
    ):
        pictures[0].file.write_bytes(content)
        encoder = learn_encoders([pictures[0], *photos], recipe, FeatureLoader(), 0)[
            "inside"
        ]
        assert np.isfinite(encoder.get_state()["means"]).all()
    assert "sees nothing" not in caplog.text


def test_without_readable_pictures_no_codebook_is_learned(pictures):
    for picture in pictures:
        picture.file.write_bytes(b"")
    only_local = structs.replace(RECIPE, experts={"local": LOCAL})
    with pytest.raises(
        LeafidError, match="no picture could be read to learn a codebook from"
    ):
        learn_encoders(pictures, only_local, FeatureLoader(), 0)
    without_codebook = structs.replace(
        RECIPE, experts={"shape": RECIPE.experts["shape"]}
    )
    assert learn_encoders(pictures, without_codebook, FeatureLoader(), 0) == {}


def test_each_picture_contributes_at_most_200_features(pictures):
    dense = Expert(descriptor="dense-sift", size=160, scales=2, modes=2, components=4)
    counts = [
        len(module._sample_picture(dense, 400, "leaf", 0, picture))
        for picture in pictures
    ]
    assert counts == [200] * len(pictures)


def test_a_codebook_is_learned_from_300_pictures(pictures, monkeypatch):
    sampled = []
    monkeypatch.setattr(
        module,
        "_sample_picture",
        lambda *given: sampled.append(given[-1]) or fake_sample(),
    )
    codebook(
        FeatureLoader(),
        [
            replace(pictures[0], file=pictures[0].file.with_name(f"{n}.jpg"))
            for n in range(400)
        ],
    )
    assert len({picture.file for picture in sampled}) == len(sampled) == 300


def fake_sample():
    descriptors = np.random.default_rng(0).random((4, 128), np.float32)
    return LocalFeatures(descriptors, np.zeros((4, 2)), np.zeros(4))
