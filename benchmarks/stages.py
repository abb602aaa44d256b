"""The cases that are timed: each stage, and each recipe and its parts, on a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import cv2
import numpy as np

from benchmarks.measure import Call
from benchmarks.pictures import Prepared
from leafid.descriptors import registry
from leafid.features.codebooks import learn_encoders
from leafid.features.extractor import (
    NeededParts,
    PictureViews,
    extract_local_features,
    find_needed_parts,
    segment_as_type,
)
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import LONGEST_SIDE, Expert, Recipe, load_recipe
from leafid.learning.classifiers.linear import apply_feature_map
from leafid.learning.classifiers.scorers import LinearScorer
from leafid.model.identifier import Identifier
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.segmentation.crop import crop_leaf

RECIPES = ("default", "fast", "baseline-bow")
# The number of species of the bundled model; the learned values don't affect the time.
N_SPECIES = 71
# Pictures of each type to learn a codebook from; their number doesn't affect the time
# to use it.
_CODEBOOK_PICTURES = 12
_PATCHES = (
    Expert(descriptor="dense-sift"),
    Expert(descriptor="dense-sift", view="upright", max_patches=4000),
    Expert(descriptor="dense-chroma-sift", view="picture", size=240, max_patches=2000),
    Expert(descriptor="detected-sift", view="picture"),
)


@dataclass(frozen=True)
class Case:
    """Something to time on every picture of a type.

    Attributes
    ----------
    name : str
        ``part``, or ``recipe/part``.
    prepare : callable
        Makes the timed call for a picture; the preceding stages run in it, untimed.
    """

    name: str
    prepare: Callable[[Prepared], Call]


def decode(prepared: Prepared) -> Call:
    """Make the yardstick: decode the bytes of the file at full size."""
    return lambda: cv2.imdecode(prepared.data, cv2.IMREAD_COLOR)


def list_stage_cases() -> list[Case]:
    """List the cases that don't depend on a recipe."""
    cases = [
        Case("decode", decode),
        Case(
            "read",
            lambda prepared: lambda: read_image(prepared.picture.file, LONGEST_SIDE),
        ),
        Case("segment", _segment),
        Case("crop/leaf", lambda prepared: _crop(prepared, "leaf")),
        Case("crop/upright", lambda prepared: _crop(prepared, "upright")),
    ]
    cases += [Case(f"family/{name}", _measures([name])) for name in registry.FAMILIES]
    cases.append(Case("family/all together", _measures(list(registry.FAMILIES))))
    cases += [
        Case(f"local/{describe_patches(patches)}", _features(patches, _at_full_size))
        for patches in _PATCHES
    ]
    return cases


def list_recipe_cases(
    recipe: Recipe, name: str, pictures: Mapping[AcquisitionType, Sequence[Picture]]
) -> list[Case]:
    """List a recipe's parts, and the whole, from the file to probabilities.

    Parameters
    ----------
    recipe : Recipe
    name : str
        Goes in front of the cases' names.
    pictures : mapping of AcquisitionType to sequence of Picture
        To learn the codebooks from.
    """
    side = recipe.longest_side
    families = [
        family for expert in recipe.experts.values() for family in expert.families
    ]

    @cache
    def identifier() -> Identifier:
        return make_untrained_identifier(recipe, pictures)

    def views(prepared: Prepared) -> PictureViews:
        return PictureViews(prepared.image(side), prepared.segmentation(side))

    def describe(prepared: Prepared) -> Call:
        extractor, image = identifier().extractor, prepared.image(side)
        return lambda: extractor.extract(image, prepared.type)

    def classify(prepared: Prepared) -> Call:
        named = identifier()
        described = [named.extractor.extract(prepared.image(side), prepared.type)]
        return lambda: named.predict_proba(described)

    def encode(prepared: Prepared, expert_name: str, patches: Expert) -> Call:
        encoder = identifier().extractor.encoders[expert_name]
        features = extract_local_features(views(prepared), patches)
        return lambda: encoder.transform(features)

    def whole(prepared: Prepared) -> Call:
        return partial(answer, identifier(), prepared.picture)

    cases = [
        Case("read", lambda prepared: lambda: read_image(prepared.picture.file, side))
    ]
    if (needed_parts := find_needed_parts(recipe.experts.values())) != "nothing":
        cases.append(Case("segment", _segment_at(side, needed_parts)))
    if families:
        cases.append(
            Case(
                "measures", lambda prepared: lambda: _measure(views(prepared), families)
            )
        )
    for expert_name, expert in recipe.experts.items():
        if expert.is_local:
            cases += [
                Case(f"{expert_name}/features", _features(expert, views)),
                Case(
                    f"{expert_name}/encode",
                    partial(encode, expert_name=expert_name, patches=expert),
                ),
            ]
    cases += [
        Case("classify", classify),
        Case("describe", describe),
        Case("whole", whole),
    ]
    return [Case(f"{name}/{case.name}", case.prepare) for case in cases]


def list_cases(
    type_: AcquisitionType, pictures: Mapping[AcquisitionType, Sequence[Picture]]
) -> list[Case]:
    """List the cases of an acquisition type: the stages, then each recipe.

    Codebooks are learned when needed.
    """
    cases = list_stage_cases()
    for name in RECIPES:
        cases += list_recipe_cases(load_recipe(name, type_), name, pictures)
    return cases


def answer(identifier: Identifier, picture: Picture) -> np.ndarray:
    """Name a picture: from the file to the probabilities of all species."""
    if picture.type is None:
        raise ValueError(f"{picture.file}: expected a picture of known type")
    image = read_image(picture.file, identifier.recipe.longest_side)
    return identifier.predict_proba([identifier.extractor.extract(image, picture.type)])


def make_untrained_identifier(
    recipe: Recipe, pictures: Mapping[AcquisitionType, Sequence[Picture]]
) -> Identifier:
    """Make an identifier as slow as a trained one, with random classifiers."""
    selected = [
        picture
        for type_ in recipe.training_types
        for picture in pictures.get(type_, ())[:_CODEBOOK_PICTURES]
    ]
    encoders = learn_encoders(selected, recipe, FeatureLoader(), seed=0)
    random = np.random.default_rng(0)
    scorers = {}
    for name, expert in recipe.experts.items():
        length = (
            encoders[name].n_features
            if expert.is_local
            else len(registry.get_column_names(expert.families))
        )
        n_mapped = apply_feature_map(
            np.zeros((1, length), np.float32), expert.feature_map
        ).shape[1]
        coefficients = random.standard_normal((n_mapped, N_SPECIES), np.float32)
        scorers[name] = LinearScorer(
            expert.feature_map, coefficients, np.zeros(N_SPECIES, np.float32)
        )
    codebooks = {name: encoder.get_state() for name, encoder in encoders.items()}
    species = tuple(f"Species {index:02}" for index in range(N_SPECIES))
    return Identifier(
        recipe,
        recipe.types[0],
        species,
        codebooks,
        scorers,
        np.ones(len(recipe.experts)),
    )


def describe_patches(patches: Expert) -> str:
    """Name a local descriptor and its settings: ``dense-sift, 4000 patches``."""
    view = "" if patches.view == "leaf" else f", {patches.view}"
    return (
        f"{patches.descriptor} "
        f"({registry.LOCAL_DESCRIPTORS[patches.descriptor].length}){view}"
        + (f", {patches.max_patches} patches" if patches.max_patches else "")
    )


def _segment(prepared: Prepared) -> Call:
    return _segment_at(LONGEST_SIDE)(prepared)


def _segment_at(
    side: int, needed_parts: NeededParts = "petiole"
) -> Callable[[Prepared], Call]:
    def prepare(prepared: Prepared) -> Call:
        image = prepared.image(side)
        return lambda: segment_as_type(image, prepared.type, needed_parts)

    return prepare


def _crop(prepared: Prepared, view: str) -> Call:
    image = prepared.image(LONGEST_SIDE)
    segmentation = prepared.segmentation(LONGEST_SIDE)
    return lambda: crop_leaf(image, segmentation, 400, upright=view == "upright")


def _measure(views: PictureViews, families: list[str]) -> dict[str, np.ndarray]:
    return registry.measure_families(
        views.image, views.segmentation, dict.fromkeys(families)
    )


def _measures(families: list[str]) -> Callable[[Prepared], Call]:
    def prepare(prepared: Prepared) -> Call:
        image = prepared.image(LONGEST_SIDE)
        segmentation = prepared.segmentation(LONGEST_SIDE)
        return lambda: _measure(PictureViews(image, segmentation), families)

    return prepare


def _at_full_size(prepared: Prepared) -> PictureViews:
    return PictureViews(
        prepared.image(LONGEST_SIDE), prepared.segmentation(LONGEST_SIDE)
    )


def _features(
    patches: Expert, views: Callable[[Prepared], PictureViews]
) -> Callable[[Prepared], Call]:
    """Extract local features, with the crop: new views have no crop yet."""

    def prepare(prepared: Prepared) -> Call:
        return lambda: extract_local_features(views(prepared), patches)

    return prepare
