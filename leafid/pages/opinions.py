"""What each expert says about a picture, and how much the answer follows it."""

from typing import Any

import numpy as np

from leafid.descriptors.registry import LOCAL_DESCRIPTORS
from leafid.features.recipe import Expert
from leafid.learning.fusion import fuse
from leafid.model.identifier import Identifier, expert_trust
from leafid.model.judgement import rank_species
from leafid.segmentation.result import Image, shrink
from leafid.translation import translate

# Number of species that an expert names.
_N_NAMED = 3
#: What the views of local descriptors show.
VIEWS = {
    "leaf": "the cut-out leaf",
    "upright": "the upright leaf",
    "picture": "the whole picture",
}


def collect_opinions(identifier: Identifier, image: Image) -> list[dict[str, Any]]:
    """Collect what each expert says about a picture of the identifier's type.

    The most influential expert comes first.
    """
    extractor = identifier.extractor
    features = extractor.extract(shrink(image, extractor.longest_side), identifier.type)
    scores = identifier.score([features])
    trust = expert_trust(identifier.recipe, np.array([features.confidence]))
    spreads = [values[np.isfinite(values)].std() for values in scores]
    influence = identifier.weights * np.ravel(trust) * spreads
    shares = influence / (influence.sum() or 1)
    opinions: list[dict[str, Any]] = []
    experts = [*identifier.recipe.experts.items()]
    for index in np.argsort(-shares, kind="stable"):
        name, expert = experts[index]
        only = slice(index, index + 1)
        probabilities = fuse(scores[only], trust[only], identifier.weights[only])[0]
        ranking = rank_species(probabilities, identifier.species)[:_N_NAMED]
        opinions.append(
            {
                "name": name,
                "description": _describe_expert(expert),
                "share": float(shares[index]),
                "ranking": ranking if shares[index] else [],
            }
        )
    return opinions


def _describe_expert(expert: Expert) -> str:
    if not expert.is_local:
        families = [translate(name.replace("_", " ")) for name in expert.families]
        return translate(
            "measures of the leaf: {families}", families=", ".join(families)
        )
    return translate(
        "{features} of {view}",
        features=translate(LOCAL_DESCRIPTORS[expert.descriptor].summary),
        view=translate(VIEWS[expert.view]),
    )
