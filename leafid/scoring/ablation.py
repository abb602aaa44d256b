"""Variations of a recipe for an ablation: with parts left out, alone, or exchanged."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from leafid.descriptors.registry import FAMILIES
from leafid.features.recipe import Recipe
from leafid.pictures.picture import AcquisitionType

# Sources of the families that measure the outline; the others measure the inside.
_OUTLINE_SOURCES = ("blade", "whole")


def vary_recipe(recipe: Recipe, type_: AcquisitionType) -> Iterator[tuple[str, Recipe]]:
    """Yield each variation of the recipe of a type with what it changes."""
    yield from _vary_experts(recipe)
    yield from _drop_families(recipe)
    yield from _add_families(recipe)
    yield from _vary_training_pictures(recipe, type_)
    yield from _vary_learning(recipe)
    # Other encoders than the bundled ones have to be learned.
    yield from _vary_local_features(replace(recipe, codebooks="own"))


def _vary_experts(recipe: Recipe) -> Iterator[tuple[str, Recipe]]:
    if len(recipe.experts) > 1:
        for name, expert in recipe.experts.items():
            yield f"only {name}", replace(recipe, experts={name: expert})
        for name in recipe.experts:
            yield f"without {name}", replace(recipe, experts={k: e for k, e in recipe.experts.items() if k != name})


def _drop_families(recipe: Recipe) -> Iterator[tuple[str, Recipe]]:
    for name, expert in recipe.experts.items():
        for family in expert.families if len(expert.families) > 1 else ():
            lean = replace(expert, families=tuple(f for f in expert.families if f != family))
            yield f"without {family}", replace(recipe, experts={**recipe.experts, name: lean})


def _add_families(recipe: Recipe) -> Iterator[tuple[str, Recipe]]:
    """Add each missing family of measures to the expert on the same part of the leaf: outline or inside."""
    of_outline = {
        name: any(FAMILIES[family].source in _OUTLINE_SOURCES for family in expert.families)
        for name, expert in recipe.experts.items()
        if expert.families
    }
    for family in FAMILIES.values():
        for name, is_outline in of_outline.items():
            expert = recipe.experts[name]
            if family.name not in expert.families and (family.source in _OUTLINE_SOURCES) == is_outline:
                richer = replace(expert, families=(*expert.families, family.name))
                yield f"with {family.name}", replace(recipe, experts={**recipe.experts, name: richer})


def _vary_training_pictures(recipe: Recipe, type_: AcquisitionType) -> Iterator[tuple[str, Recipe]]:
    if len(recipe.training_types) > 1:
        yield "trained on that type alone", replace(recipe, types=(type_,), training_types=(type_,))
    for number, words in (
        (0, "without jittered pictures"),
        (1, "with one jittered copy of each picture"),
        (4, "with four of each"),
    ):
        if recipe.jittered not in (0, number):
            yield words, replace(recipe, jittered=number)
    for number, words in ((0, "without composited photos"), (1, "with one composited photo of each picture")):
        if recipe.composited not in (0, number):
            yield words, replace(recipe, composited=number)


def _vary_learning(recipe: Recipe) -> Iterator[tuple[str, Recipe]]:
    changes: dict[str, dict[str, Any]] = {
        "types not centred": {"centre_types": False},
        "every picture counts the same": {"species_balance": 0.0, "plant_balance": 0.0},
        "every species counts the same": {"species_balance": 1.0, "plant_balance": 0.0},
        "every species counts the same, and of it every plant": {"species_balance": 1.0, "plant_balance": 1.0},
        "balanced by half": {"species_balance": 0.5, "plant_balance": 0.5},
        "segmentation always trusted": {"trust": "always"},
        "without softmax": {"softmax_components": 0},
    }
    for what, change in changes.items():
        varied = {name: replace(expert, **change) for name, expert in recipe.experts.items()}
        if varied != recipe.experts:
            yield what, replace(recipe, experts=varied)
    # Without augmented pictures: with them an SVM takes hours.
    changes = {
        "ridge regression alone": {"softmax_components": 0},
        "linear SVM": {"classifier": "linear-svm", "regularisation": 1.0, "softmax_components": 0},
    }
    for what, change in changes.items():
        varied = {name: replace(expert, **change) for name, expert in recipe.experts.items()}
        lean = replace(recipe, experts=varied, jittered=0, composited=0)
        if lean != recipe:
            yield f"{what}, of the pictures alone", lean


def _vary_local_features(recipe: Recipe) -> Iterator[tuple[str, Recipe]]:
    """Exchange the patches of the first expert on SIFT."""
    local = [(name, own) for name, own in recipe.experts.items() if own.descriptor in {"dense-sift", "edge-sift"}]
    if not local:
        return
    name, expert = local[0]
    words = replace(expert, encoder="words", modes=1000, position=0.0, feature_map="chi2")
    yield f"only {name}, as a bag of 1000 words", replace(recipe, experts={name: words})
    changes: dict[str, dict[str, Any]] = {
        "without position": {"position": 0.0},
        "on a grid": {"descriptor": "dense-sift", "symmetry": "turns"},
        "at detected points": {"descriptor": "detected-sift", "symmetry": "none", "focus": 0.0},
    }
    if expert.view != "picture":
        changes |= {
            "not turned upright": {"view": "leaf"},
            "along the outline": {"descriptor": "outline-sift", "symmetry": "none"},
            "inside the leaf alone": {"descriptor": "dense-sift", "symmetry": "turns", "coverage": 0.95},
        }
    for what, change in changes.items():
        varied = replace(expert, **change)
        if varied != expert:
            yield f"only {name}, {what}", replace(recipe, experts={name: varied})
