"""What each expert of an identifier says about a picture, and how much it weighs."""

from dataclasses import dataclass

import numpy as np

from leafid.features.recipe import Expert
from leafid.learning.fusion import fuse
from leafid.model.answer import rank_species
from leafid.model.identifier import Identifier, expert_trust
from leafid.segmentation.result import Image, shrink

NAMED = 3
_PATCHES = {
    "dense-sift": "edges in small patches",
    "dense-chroma-sift": "edges between hues in small patches",
    "detected-sift": "edges around distinct points",
    "edge-sift": "patches along margins and veins",
    "outline-sift": "edges along the outline",
}
_VIEWS = {"leaf": "the cut-out leaf", "upright": "the upright leaf", "picture": "the whole picture"}


@dataclass(frozen=True)
class Opinion:
    """What one expert says about the picture."""

    #: As in the recipe.
    name: str
    #: What it looks at.
    description: str
    #: Its share of the answer, 0 to 1: weight times trust times the spread of its scores. All shares sum to 1.
    share: float
    #: Its first three species with the probabilities that it gives by itself.
    ranking: tuple[tuple[str, float], ...]


def collect_opinions(identifier: Identifier, image: Image) -> tuple[Opinion, ...]:
    """Collect what each expert says about a picture of the identifier's type, the most influential expert first."""
    extractor = identifier.extractor
    features = [extractor.extract(shrink(image, extractor.longest_side), identifier.type)]
    trust = expert_trust(identifier.recipe, np.array([features[0].confidence]))
    scores = identifier.score(features)
    influence = []
    for own, expert_trusts, weight in zip(scores, trust, identifier.weights, strict=True):
        possible = own[0][np.isfinite(own[0])]
        influence.append(float(weight * expert_trusts[0] * possible.std()) if len(possible) else 0.0)
    total = sum(influence)
    opinions = []
    for index, (name, expert) in enumerate(identifier.recipe.experts.items()):
        alone = fuse([scores[index]], [trust[index]], identifier.weights[index : index + 1])[0]
        share = influence[index] / total if total else 0.0
        ranking = rank_species(alone, identifier.species)[:NAMED] if influence[index] else []
        opinions.append(Opinion(name, describe_expert(expert), share, tuple(ranking)))
    return tuple(sorted(opinions, key=lambda own: -own.share))


def describe_expert(expert: Expert) -> str:
    """Describe what an expert looks at, in words."""
    if expert.is_local:
        return f"{_PATCHES[expert.descriptor]} of {_VIEWS[expert.view]}"
    return f"measures of the leaf: {', '.join(name.replace('_', ' ') for name in expert.families)}"
