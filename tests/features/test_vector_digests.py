"""Vectors and `FEATURE_VERSION` change together, or caches serve old vectors.

The fixtures are in conftest.py beside this file. A codebook that is learned anew is no
part of this: its arrays are in the key of every vector made with it.
"""

import hashlib
import itertools
from dataclasses import replace

import cv2
import numpy as np
import pytest
from msgspec import structs

from leafid.descriptors.encoding import ENCODERS
from leafid.descriptors.local.grid import Grid, LocalFeatures
from leafid.descriptors.registry import LOCAL_DESCRIPTORS, measure_families
from leafid.features.augmentation import Augmentation, AugmentedPicture
from leafid.features.extractor import FeatureExtractor, PictureViews
from leafid.features.recipe import list_recipes, load_recipe
from leafid.model.bundled import find_bundled_model
from leafid.model.model import Model
from leafid.segmentation.crop import crop_leaf, estimate_upright_angle
from leafid.segmentation.result import shrink
from leafid.segmentation.segment import segment
from tests.drawing.collection import TYPES

PLAIN = Grid()
# A keypoint is detected or not, an outline runs beside a pixel or through it, and edges
# are sampled.
LOCAL_DRIFTS = {
    "detected-sift/": 0.05,
    "outline-sift/": 0.02,
    "edge-sift/selective/": 0.02,
}
# A Fisher vector may drift so far, as its square roots enlarge small differences.
FISHER_DRIFT = 0.15
SELECTIVE = Grid(scales=3, coverage=0.5, max_patches=300, focus=0.3, symmetry="turns")


@pytest.fixture(scope="module")
def leaves(fixed_pictures):
    return {
        name: (image, segment(image, type_))
        for name, (image, type_) in fixed_pictures.items()
    }


def test_segmentation(leaves, check_digests):
    vectors = {}
    for name, (image, leaf) in leaves.items():
        crop, region = crop_leaf(image, leaf, 64)
        vectors[f"mask/{name}"] = np.concatenate(
            [
                [
                    leaf.confidence,
                    leaf.mask.mean(),
                    leaf.blade.mean(),
                    estimate_upright_angle(leaf) / 180,
                ],
                summarise(leaf.mask),
                summarise(leaf.blade),
            ]
        )
        vectors[f"crop/{name}"] = np.concatenate(
            [summarise(crop.mean(axis=2)) / 255, summarise(region)]
        )
    check_digests("segmentation", vectors)


def test_families(leaves, check_digests):
    vectors = {
        f"{family}/{name}": vector
        for name, (image, leaf) in leaves.items()
        for family, vector in measure_families(image, leaf).items()
    }
    check_digests("families", vectors)


def test_local_descriptors(leaves, check_digests):
    vectors = {}
    for (name, leaf), descriptor in itertools.product(
        leaves.items(), LOCAL_DESCRIPTORS
    ):
        for grid_name, grid in (("plain", PLAIN), ("selective", SELECTIVE)):
            features = compute_local_features(descriptor, *leaf, grid)
            tables = features.descriptors, features.positions, features.scales[:, None]
            values = [
                moment
                for table in tables
                if len(table)
                for moment in (table.mean(axis=0), table.std(axis=0))
            ]
            vectors[f"{descriptor}/{grid_name}/{name}"] = np.concatenate(
                [[np.log1p(len(features))], *values]
            )
    check_digests("local_descriptors", vectors, tolerance=1e-2, drifts=LOCAL_DRIFTS)


def test_encoders(leaves, check_digests):
    vectors = {}
    for kind, encoder_class in ENCODERS.items():
        encoder = encoder_class(n_modes=4, n_components=8, position_weight=0.7, seed=0)
        make_codebook(encoder, 128)
        for name, leaf in leaves.items():
            vectors[f"{kind}/{name}"] = encoder.transform(
                compute_local_features("dense-sift", *leaf, PLAIN)
            )
    check_digests("encoders", vectors, tolerance=1e-2)


def test_shipped_recipes(fixed_pictures, check_digests):
    vectors = {}
    for recipe_name, type_ in itertools.product(list_recipes(), TYPES):
        recipe = load_recipe(recipe_name, type_)
        encoders = {}
        for name, expert in recipe.experts.items():
            if expert.is_local:
                # A small codebook serves: what it is made of doesn't depend on its
                # size.
                encoders[name] = structs.replace(
                    expert, modes=4, components=8
                ).make_encoder(seed=0)
                make_codebook(
                    encoders[name], LOCAL_DESCRIPTORS[expert.descriptor].length
                )
        extractor = FeatureExtractor(recipe.experts, encoders, recipe.longest_side)
        features = extractor.extract(
            shrink(fixed_pictures[str(type_)][0], recipe.longest_side), type_
        )
        for name, vector in features.vectors.items():
            vectors[f"{recipe_name}/{type_}/{name}"] = np.concatenate(
                [[features.confidence], vector]
            )
    check_digests("recipes", vectors)


def test_bundled_model(fixed_pictures, check_digests):
    """All patches are taken.

    One pixel that is no edge elsewhere would change which ones are sampled.
    """
    vectors, drifts = {}, {}
    for type_, type_model in Model.read(find_bundled_model()).types.items():
        extractor = type_model.identifier.extractor
        experts = {
            name: structs.replace(expert, max_patches=0)
            for name, expert in extractor.experts.items()
        }
        features = replace(extractor, experts=experts).extract(
            fixed_pictures[str(type_)][0], type_
        )
        for name, vector in features.vectors.items():
            # Another model has other names here: with its codebooks vectors change
            # without a change of the code.
            codebook = hashlib.sha256()
            if name in extractor.encoders:
                for _, array in sorted(extractor.encoders[name].get_state().items()):
                    codebook.update(array.tobytes())
                drifts[f"{type_}/{name}/"] = FISHER_DRIFT
            vectors[f"{type_}/{name}/{codebook.hexdigest()[:8]}"] = vector
    check_digests("bundled_model", vectors, drifts=drifts)


def test_augmentations(fixed_pictures, check_digests):
    """Only the drawn picture serves.

    What is drawn at random depends on every bit of a picture that is decoded.
    """
    source = AugmentedPicture(*fixed_pictures["drawn"], longest_side=400)
    vectors = {}
    for kind, number in itertools.product(("jitter", "composite"), range(1, 5)):
        augmented = source.make_views(Augmentation(kind, number)).image
        vectors[f"{kind}/{number}"] = np.concatenate(
            [summarise(plane) / 255 for plane in cv2.split(augmented)]
        )
    check_digests("augmentations", vectors)


def compute_local_features(descriptor, image, leaf, grid):
    descriptor = LOCAL_DESCRIPTORS[descriptor]
    return descriptor.compute(
        *PictureViews(image, leaf).get_pyramid("upright", 160, descriptor.reads), grid
    )


def summarise(plane):
    """Average a plane over 4 × 4 blocks."""
    return cv2.resize(
        np.asarray(plane, np.float32), (4, 4), interpolation=cv2.INTER_AREA
    ).ravel()


def make_codebook(encoder, n_values):
    """Put arrays that are made by formula in place of what an encoder learns."""
    random = np.random.default_rng(0)
    encoder.fit(
        LocalFeatures(
            *(
                random.random(shape, np.float32)
                for shape in ((300, n_values), (300, 2), 300)
            )
        )
    )
    encoder.set_state(
        {
            name: make_table(name, array.shape)
            for name, array in encoder.get_state().items()
        }
    )


def make_table(name, shape):
    """Make an array of an encoder's state by formula.

    What is learned depends on the versions of the libraries.
    """
    waves = np.sin(1 + np.arange(int(np.prod(shape))) ** 1.5, dtype=np.float64).reshape(
        shape
    )
    if name in ("variances", "weights", "scale", "position_scale"):
        waves = 0.3 + 0.2 * waves
    if name == "weights":
        waves /= waves.sum()
    return (0.3 * waves if name == "components" else waves).astype(np.float32)
