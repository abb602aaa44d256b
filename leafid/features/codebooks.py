"""Learns the encoders of a recipe (its codebooks) from local features that are sampled from some pictures."""

import hashlib
import logging
from collections.abc import Mapping, Sequence
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
from leafid.features.loader import FeatureLoader, get_type
from leafid.features.recipe import Expert, Recipe
from leafid.grouping import group_by
from leafid.pictures.decoding import read_hashed_image
from leafid.pictures.picture import Picture

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
    by_types = group_by(local, lambda name: local[name].codebook_types)
    for types, names in by_types.items():
        # An expert that names the types of its codebook shares it, and all its vectors, with other recipes. Where these
        # types show too few features, it learns from all.
        of_types = [picture for picture in pictures if picture.type in types]
        for candidates in filter(None, (of_types, pictures)):
            missing = {name: local[name] for name in names if name not in encoders}
            sample = sample_evenly(candidates, CODEBOOK_PICTURES, seed)
            problems |= _learn_from(sample, missing, recipe, loader, seed, encoders)
    blind = [name for name in local if name not in encoders]
    reasons = dict.fromkeys(problems[name] for name in blind)
    if _UNREADABLE in reasons or (blind and len(blind) == len(recipe.experts)):
        raise LeafidError("; ".join(reasons))
    for name in blind:
        _log.warning(
            "expert %s sees nothing in these pictures: %s", name, problems[name]
        )
        length = LOCAL_DESCRIPTORS[local[name].descriptor].length
        nothing = LocalFeatures.zeros(max(local[name].modes, 2), length)
        encoders[name] = local[name].make_encoder(seed).fit(nothing)
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
    rounds = chain(*zip_longest(*by_species.values()))
    return [picture for picture in rounds if picture is not None][:n_pictures]


def _learn_from(
    pictures: Sequence[Picture],
    experts: Mapping[str, Expert],
    recipe: Recipe,
    loader: FeatureLoader,
    seed: int,
    encoders: dict[str, Encoder],
) -> dict[str, str]:
    """Add the encoders of some experts, learned from all of the pictures; return what the problem was, by name."""
    # Patches are sampled from the views that the recipe shows to all of its experts. Those of the whole picture are the
    # same whichever parts are needed.
    needed_parts: NeededParts = "nothing"
    if any(expert.view != "picture" for expert in experts.values()):
        needed_parts = extractor.find_needed_parts(recipe.experts.values())
    view = f"{recipe.longest_side}"
    if needed_parts == "leaf":
        view += " with petiole"
    keys = {
        name: _make_key(pictures, expert, view, loader, seed)
        for name, expert in experts.items()
    }
    stored = loader.look_up(list(keys.values()))
    missing = {}
    for name, expert in experts.items():
        if keys[name] in stored:
            encoder = expert.make_encoder(seed)
            encoders[name] = encoder.set_state(load(stored[keys[name]]))
        else:
            missing[name] = expert
    if not missing:
        return {}
    sample = partial(_sample_picture, missing, recipe.longest_side, needed_parts, seed)
    sampled = loader.show_progress(
        loader.map_pictures(sample, pictures), len(pictures), "codebooks"
    )
    readable = [features for features in sampled if features is not None]
    if not readable:
        return dict.fromkeys(missing, _UNREADABLE)
    problems = {}
    for name, expert in missing.items():
        features = concatenate_features([features.pop(name) for features in readable])
        try:
            encoder = expert.make_encoder(seed).fit(features)
        except LeafidError as error:
            problems[name] = str(error)
            continue
        encoders[name] = encoder
        state = {k: np.asarray(a, order="C") for k, a in encoder.get_state().items()}
        loader.store([(keys[name], save(state))])
    return problems


def _make_key(
    pictures: Sequence[Picture],
    expert: Expert,
    view: str,
    loader: FeatureLoader,
    seed: int,
) -> bytes:
    versions, key = extractor.name_versions(), expert.make_feature_key()
    settings = f"codebook 3|{versions}|{view}|{key}|{seed}|{_SAMPLED_PER_PICTURE}"
    contents = [
        f"{picture.type} {loader.hash_picture(picture)}" for picture in pictures
    ]
    return hashlib.sha256("|".join([settings, *contents]).encode()).digest()


def _sample_picture(
    experts: Mapping[str, Expert],
    longest_side: int,
    needed_parts: NeededParts,
    seed: int,
    picture: Picture,
) -> dict[str, LocalFeatures]:
    """Sample local features of a picture for each of some experts."""
    image = read_hashed_image(picture.file, longest_side, picture.data)[0]
    views = PictureViews(
        image, extractor.segment_as_type(image, get_type(picture), needed_parts)
    )
    sampled = {}
    for name, expert in experts.items():
        features = extractor.extract_local_features(views, expert)
        order = np.random.default_rng(seed).permutation(len(features))
        sampled[name] = features.take(np.sort(order[:_SAMPLED_PER_PICTURE]))
    return sampled
