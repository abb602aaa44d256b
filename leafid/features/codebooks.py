"""Learns the encoders of a recipe (its codebooks) from local features that are sampled from some pictures."""

import hashlib
import logging
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import zip_longest

import numpy as np
from safetensors.numpy import load, save

from leafid.descriptors.encoding import Encoder
from leafid.descriptors.local.grid import LocalFeatures, concatenate_features
from leafid.descriptors.registry import LOCAL_DESCRIPTORS
from leafid.errors import LeafidError
from leafid.features import extractor
from leafid.features.extractor import PictureViews, SegmentationTarget
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
_UNREADABLE = "no picture could be read to learn a codebook from"
_log = logging.getLogger(__name__)


def learn_encoders(
    pictures: Sequence[Picture], recipe: Recipe, loader: FeatureLoader, seed: int
) -> dict[str, Encoder]:
    """Learn the encoders of the experts on local patches, by the expert's name, from pictures sampled over the species.

    An expert that finds too few features (grey pictures have no edges between hues) gets an encoder that distinguishes
    nothing. A `LeafidError` is raised when no picture can be read, or all experts are on local patches and none finds
    enough.
    """
    local = {name: expert for name, expert in recipe.experts.items() if expert.is_local}
    encoders: dict[str, Encoder] = {}
    problems: dict[str, str] = {}
    for types, names in group_by(
        local, lambda name: local[name].codebook_types
    ).items():
        # An expert that names the types of its codebook shares it, and all its vectors, with other recipes. Where these
        # types show too few features, it learns from all.
        for candidates in filter(
            None, ([picture for picture in pictures if picture.type in types], pictures)
        ):
            missing = {name: local[name] for name in names if name not in encoders}
            chosen = sample_evenly(candidates, CODEBOOK_PICTURES, seed)
            learned, problems_now = _learn_from(chosen, missing, recipe, loader, seed)
            encoders |= learned
            problems |= problems_now
    problems = {
        name: problem for name, problem in problems.items() if name not in encoders
    }
    if _UNREADABLE in problems.values() or (
        problems and len(problems) == len(recipe.experts)
    ):
        raise LeafidError("; ".join(dict.fromkeys(problems.values())))
    for name, problem in problems.items():
        _log.warning("expert %s sees nothing in these pictures: %s", name, problem)
        number, length = (
            max(local[name].modes, 2),
            LOCAL_DESCRIPTORS[local[name].descriptor].length,
        )
        encoders[name] = (
            local[name].make_encoder(seed).fit(LocalFeatures.zeros(number, length))
        )
    return {name: encoders[name] for name in local}


def sample_evenly(
    pictures: Sequence[Picture], n_pictures: int, seed: int
) -> list[Picture]:
    """Sample at most `n_pictures` pictures in rounds; each round takes one picture of every species."""
    shuffled = [
        pictures[index]
        for index in np.random.default_rng(seed).permutation(len(pictures))
    ]
    by_species = group_by(shuffled, lambda picture: picture.species)
    rounds = zip_longest(*by_species.values())
    return [picture for chosen in rounds for picture in chosen if picture is not None][
        :n_pictures
    ]


def _learn_from(
    pictures: Sequence[Picture],
    experts: Mapping[str, Expert],
    recipe: Recipe,
    loader: FeatureLoader,
    seed: int,
) -> tuple[dict[str, Encoder], dict[str, str]]:
    """Learn the encoders of some experts from all of the pictures, or tell what the problem was, by name."""
    encoders = {name: expert.make_encoder(seed) for name, expert in experts.items()}
    # Patches are sampled from the views that the recipe shows to all of its experts; those of the whole picture don't
    # change with what is sought.
    needs_leaf = any(expert.view != "picture" for expert in experts.values())
    sought = (
        extractor.choose_target(recipe.experts.values()) if needs_leaf else "nothing"
    )
    view = (
        f"{recipe.longest_side} with petiole"
        if sought == "leaf"
        else f"{recipe.longest_side}"
    )
    keys = {
        name: _make_key(pictures, expert, view, loader, seed)
        for name, expert in experts.items()
        if loader.cache
    }
    cached = loader.cache.get(list(keys.values())) if loader.cache else {}
    learned = {
        name: encoders[name].set_state(load(cached[key]))
        for name, key in keys.items()
        if key in cached
    }
    missing = {name: expert for name, expert in experts.items() if name not in learned}
    if not missing:
        return learned, {}
    sample = partial(_sample_picture, missing, recipe.longest_side, sought, seed)
    sampled = loader.show_progress(
        loader.map_pictures(sample, pictures), len(pictures), "codebooks"
    )
    readable = [features for features in sampled if features is not None]
    if not readable:
        return learned, dict.fromkeys(missing, _UNREADABLE)
    problems = {}
    for name in missing:
        try:
            learned[name] = encoders[name].fit(
                concatenate_features([features.pop(name) for features in readable])
            )
        except LeafidError as error:
            problems[name] = str(error)
        else:
            if loader.cache:
                state = {
                    key: np.asarray(array, order="C")
                    for key, array in learned[name].get_state().items()
                }
                loader.cache.put([(keys[name], save(state))])
    return learned, problems


def _make_key(
    pictures: Sequence[Picture],
    expert: Expert,
    view: str,
    loader: FeatureLoader,
    seed: int,
) -> bytes:
    versions = extractor.name_versions()
    kind = f"codebook {CODEBOOK_VERSION}"
    key = expert.make_feature_key()
    settings = f"{kind}|{versions}|{view}|{key}|{seed}|{_SAMPLED_PER_PICTURE}"
    contents = [
        f"{picture.type} {loader.hash_picture(picture)}" for picture in pictures
    ]
    return hashlib.sha256("|".join([settings, *contents]).encode()).digest()


def _sample_picture(
    experts: Mapping[str, Expert],
    longest_side: int,
    sought: SegmentationTarget,
    seed: int,
    picture: Picture,
) -> dict[str, LocalFeatures]:
    """Sample local features of a picture for each of some experts."""
    image = read_hashed_image(picture.file, longest_side, picture.data)[0]
    views = PictureViews(
        image, extractor.segment_as_type(image, picture.require_type(), sought)
    )
    sampled = {}
    for name, expert in experts.items():
        features = extractor.extract_local_features(views, expert)
        order = np.random.default_rng(seed).permutation(len(features))
        sampled[name] = features.take(np.sort(order[:_SAMPLED_PER_PICTURE]))
    return sampled
