"""Learns the encoders of a recipe (its codebooks) from local features that are sampled from some pictures."""

import hashlib
import io
import logging
from collections.abc import Sequence
from functools import partial
from itertools import zip_longest

import numpy as np

from leafid.descriptors.encoding import Encoder
from leafid.descriptors.local import LocalFeatures, concatenate_features
from leafid.errors import LeafidError
from leafid.features.extractor import FEATURE_VERSION, extract_local_features, make_views
from leafid.features.loader import FeatureLoader, get_type
from leafid.features.recipe import Expert, Recipe
from leafid.grouping import group_by
from leafid.pictures.decoding import read_hashed_image
from leafid.pictures.picture import Picture

#: Maximum number of pictures that an encoder is learned from.
CODEBOOK_PICTURES = 600
# Maximum number of local features that a picture contributes to a codebook.
_SAMPLED_PER_PICTURE = 200
_log = logging.getLogger(__name__)


def learn_encoders(pictures: Sequence[Picture], recipe: Recipe, loader: FeatureLoader, seed: int) -> dict[str, Encoder]:
    """Learn the encoders of the experts on local patches, by the expert's name, from pictures sampled over the species.

    An expert that finds too few features (grey pictures have no edges between hues) gets an encoder that distinguishes
    nothing. A `LeafidError` is raised when no picture can be read, or all experts are on local patches and none finds
    enough.
    """
    local = {name: expert for name, expert in recipe.experts.items() if expert.is_local}
    learned = {
        name: _learn_encoder(pictures, expert, recipe.longest_side, loader, seed) for name, expert in local.items()
    }
    problems = {name: problem for name, (_, problem) in learned.items() if problem}
    if problems and len(problems) == len(recipe.experts):
        raise LeafidError("; ".join(problems.values()))
    for name, problem in problems.items():
        _log.warning("expert %s sees nothing in these pictures: %s", name, problem)
    return {name: encoder for name, (encoder, _) in learned.items()}


def sample_evenly(pictures: Sequence[Picture], n_pictures: int, seed: int) -> list[Picture]:
    """Sample at most `n_pictures` pictures in rounds; each round takes one picture of every species."""
    shuffled = [pictures[index] for index in np.random.default_rng(seed).permutation(len(pictures))]
    by_species = group_by(shuffled, lambda picture: picture.species)
    rounds = zip_longest(*by_species.values())
    return [picture for own in rounds for picture in own if picture is not None][:n_pictures]


def _learn_encoder(
    pictures: Sequence[Picture], expert: Expert, longest_side: int, loader: FeatureLoader, seed: int
) -> tuple[Encoder, str]:
    """Learn an encoder from the types that the expert names; where these show too few features, from all types.

    Where all types show too few, it is fitted to repeated features or zeros; also returns what the problem was.
    """
    encoder = expert.make_encoder(seed)
    # An expert that names the types of its codebook shares it, and all its vectors, with other recipes.
    own = [picture for picture in pictures if picture.type in expert.codebook_types]
    features: LocalFeatures | None = None
    problem = ""
    sample = partial(_sample_picture, expert, longest_side, seed)
    for candidates in (own, pictures) if 0 < len(own) < len(pictures) else (pictures,):
        chosen = sample_evenly(candidates, CODEBOOK_PICTURES, seed)
        key = _make_key(chosen, expert, longest_side, loader, seed) if loader.cache else b""
        if loader.cache and (cached := loader.cache.get([key])):
            return encoder.set_state(_parse_state(cached[key])), ""
        sampled = loader.show_progress(loader.map_pictures(sample, chosen), len(chosen), "codebook")
        if readable := [own for own in sampled if own is not None]:
            features = concatenate_features(readable)
            try:
                encoder.fit(features)
            except LeafidError as error:
                problem = str(error)
                continue
            if loader.cache:
                loader.cache.put([(key, _dump_state(encoder.get_state()))])
            return encoder, ""
    if features is None:
        raise LeafidError("no picture could be read to learn a codebook from")
    number = max(expert.modes, 2)
    if not len(features):
        return encoder.fit(LocalFeatures.zeros(number, features.descriptors.shape[1])), problem
    return encoder.fit(features.take(np.resize(np.arange(len(features)), number))), problem


def _make_key(
    pictures: Sequence[Picture], expert: Expert, longest_side: int, loader: FeatureLoader, seed: int
) -> bytes:
    settings = f"codebook 2|{FEATURE_VERSION}|{longest_side}|{expert.make_feature_key()}|{seed}|{_SAMPLED_PER_PICTURE}"
    contents = [f"{picture.type} {loader.hash_picture(picture)}" for picture in pictures]
    return hashlib.sha256("|".join([settings, *contents]).encode()).digest()


def _sample_picture(expert: Expert, longest_side: int, seed: int, picture: Picture) -> LocalFeatures:
    image = read_hashed_image(picture.file, longest_side, picture.data)[0]
    views = make_views(image, get_type(picture), needs_leaf=expert.view != "picture")
    features = extract_local_features(views, expert)
    return features.take(np.sort(np.random.default_rng(seed).permutation(len(features))[:_SAMPLED_PER_PICTURE]))


def _dump_state(state: dict[str, np.ndarray]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **state)  # type: ignore[arg-type]  # of the keyword allow_pickle
    return stream.getvalue()


def _parse_state(value: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(value), allow_pickle=False) as archive:
        return dict(archive)
