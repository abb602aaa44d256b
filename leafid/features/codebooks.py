"""Learns the codebooks of a recipe's encoders from a sample of local features."""

import hashlib
import logging
from collections.abc import Sequence
from functools import partial
from itertools import chain, zip_longest

import numpy as np
from safetensors.numpy import load, save

from leafid.descriptors.encoding import Encoder
from leafid.descriptors.local.grid import LocalFeatures, concatenate_features
from leafid.descriptors.registry import LOCAL_DESCRIPTORS
from leafid.errors import LeafidError
from leafid.features import extractor
from leafid.features.extractor import NeededParts, PictureViews
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Expert, Recipe
from leafid.grouping import group_by
from leafid.pictures.decoding import read_hashed_image
from leafid.pictures.picture import Picture
from leafid.versions import CODEBOOK_VERSION

#: Maximum number of pictures that an encoder is learned from.
CODEBOOK_PICTURES = 300
# Maximum number of local features that a picture contributes to a codebook.
_SAMPLED_PER_PICTURE = 200
_log = logging.getLogger(__name__)


def learn_encoders(
    pictures: Sequence[Picture], recipe: Recipe, loader: FeatureLoader, seed: int
) -> dict[str, Encoder]:
    """Learn the encoders of the experts on local patches, by the expert's name.

    Pictures are sampled evenly over the species. An expert that finds too few features
    (grey pictures have no edges between hues) gets an encoder that distinguishes
    nothing. A `LeafidError` is raised when all experts are on local patches and none
    finds enough.
    """
    encoders: dict[str, Encoder] = {}
    blind: dict[str, str] = {}
    for name, expert in recipe.experts.items():
        if not expert.is_local:
            continue
        # Where there are no pictures of these types, or they show too little, an
        # encoder is learned from all pictures.
        typical = [p for p in pictures if p.type in expert.codebook_types]
        for candidates in (typical, pictures):
            try:
                encoders[name] = _learn_encoder(
                    expert, candidates, recipe, loader, seed=seed
                )
                break
            except LeafidError as error:
                problem = str(error)
        else:
            blind[name] = problem
            length = LOCAL_DESCRIPTORS[expert.descriptor].length
            nothing = LocalFeatures.zeros(max(expert.modes, 2), length)
            encoders[name] = expert.make_encoder(seed).fit(nothing)
    if blind and len(blind) == len(recipe.experts):
        raise LeafidError("; ".join(dict.fromkeys(blind.values())))
    for name, problem in blind.items():
        _log.warning("expert %s sees nothing in these pictures: %s", name, problem)
    return encoders


def sample_evenly(
    pictures: Sequence[Picture], n_pictures: int, seed: int
) -> list[Picture]:
    """Sample at most `n_pictures` pictures in rounds.

    Each round takes one picture of every species.
    """
    shuffled = [
        pictures[index]
        for index in np.random.default_rng(seed).permutation(len(pictures))
    ]
    by_species = group_by(shuffled, lambda picture: picture.species)
    rounds = chain(*zip_longest(*by_species.values()))
    return [picture for picture in rounds if picture is not None][:n_pictures]


def _learn_encoder(
    expert: Expert,
    candidates: Sequence[Picture],
    recipe: Recipe,
    loader: FeatureLoader,
    seed: int,
) -> Encoder:
    """Learn an encoder from a sample of pictures, or take it from the cache."""
    pictures = sample_evenly(candidates, CODEBOOK_PICTURES, seed)
    needed_parts = extractor.find_needed_parts(recipe.experts.values())
    # The whole picture is the same whichever parts are needed.
    if expert.view == "picture":
        needed_parts = "nothing"
    words = [
        f"codebook {CODEBOOK_VERSION}",
        extractor.name_versions(),
        f"{recipe.longest_side} {needed_parts}",
        expert.make_feature_key(),
        f"{seed} {_SAMPLED_PER_PICTURE}",
        *(f"{p.type} {loader.hash_picture(p)}" for p in pictures),
    ]
    key = hashlib.sha256("|".join(words).encode()).digest()
    encoder = expert.make_encoder(seed)
    if stored := loader.look_up([key]):
        return encoder.set_state(load(stored[key]))
    sample = partial(_sample_picture, expert, recipe.longest_side, needed_parts, seed)
    samples = loader.show_progress(
        loader.map_pictures(sample, pictures), len(pictures), "codebooks"
    )
    readable = [features for features in samples if features is not None]
    if not readable:
        raise LeafidError("no picture could be read to learn a codebook from")
    encoder.fit(concatenate_features(readable))
    arrays = encoder.get_state().items()
    state = {name: np.asarray(array, order="C") for name, array in arrays}
    loader.store([(key, save(state))])
    return encoder


def _sample_picture(
    expert: Expert,
    longest_side: int,
    needed_parts: NeededParts,
    seed: int,
    picture: Picture,
) -> LocalFeatures:
    """Sample local features of a picture for an expert."""
    image = read_hashed_image(picture.file, longest_side, picture.data)[0]
    views = PictureViews(
        image, extractor.segment_as_type(image, picture.require_type(), needed_parts)
    )
    features = extractor.extract_local_features(views, expert)
    order = np.random.default_rng(seed).permutation(len(features))
    return features.take(np.sort(order[:_SAMPLED_PER_PICTURE]))
