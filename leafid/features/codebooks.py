"""Learns the encoders of a recipe (its codebooks) from local features that are sampled from some pictures."""

import hashlib
import io
import logging
from collections.abc import Sequence
from functools import partial

import numpy as np

from leafid.descriptors.encoding import Encoder
from leafid.descriptors.local import LocalFeatures, tile_features
from leafid.errors import LeafidError
from leafid.features.extractor import FEATURE_VERSION, sample_features
from leafid.features.loader import FeatureLoader, get_type, read_unchanged
from leafid.features.recipe import Expert, Recipe
from leafid.features.sampling import sample_evenly
from leafid.pictures.picture import Picture

#: Maximum number of pictures that an encoder is learned from.
CODEBOOK_PICTURES = 600
# Maximum number of local features that a picture contributes to a codebook.
_SAMPLED_PER_PICTURE = 200
_log = logging.getLogger(__name__)


def learn_encoders(pictures: Sequence[Picture], recipe: Recipe, loader: FeatureLoader, seed: int) -> dict[str, Encoder]:
    """Learn the encoders of the experts on local patches, by the expert's name, from pictures sampled over the species.

    A `LeafidError` is raised when no picture can be read, or all experts are on local patches and none finds enough.
    """
    encoders: dict[str, Encoder] = {}
    problems: dict[str, str] = {}
    for name, expert in recipe.experts.items():
        if expert.is_local:
            encoders[name], problem = _learn_encoder(pictures, expert, recipe.longest_side, loader, seed)
            if problem:
                problems[name] = problem
    if problems and len(problems) == len(recipe.experts):
        raise LeafidError("; ".join(problems.values()))
    for name, problem in problems.items():
        _log.warning("expert %s sees nothing in these pictures: %s", name, problem)
    return encoders


def _learn_encoder(
    pictures: Sequence[Picture], expert: Expert, longest_side: int, loader: FeatureLoader, seed: int
) -> tuple[Encoder, str | None]:
    """Learn an encoder from the types that the expert names; where these show too few features, from all types.

    Where all types show too few (grey pictures have no edges between hues), the encoder is fitted to repeated features
    or zeros and distinguishes nothing; the problem is returned with it.
    """
    encoder = expert.make_encoder(seed)
    # An expert that names the types of its codebook shares it, and all its vectors, with other recipes.
    own = [picture for picture in pictures if picture.type in expert.codebook_types]
    features: LocalFeatures | None = None
    problem = ""
    for candidates in (own, pictures) if 0 < len(own) < len(pictures) else (pictures,):
        chosen = sample_evenly(candidates, CODEBOOK_PICTURES, seed)
        settings = f"codebook 2|{FEATURE_VERSION}|{longest_side}|{expert.make_feature_key()}|{seed}"
        hashes = [loader.hash_picture(picture) if loader.cache else None for picture in chosen]
        key = _make_key(settings, chosen, hashes)
        if loader.cache and (cached := loader.cache.get([key])):
            return encoder.set_state(_parse_state(cached[key])), None
        features = _sample_pictures(chosen, hashes, expert, longest_side, loader, seed)
        if features is not None:
            try:
                encoder.fit(features)
            except LeafidError as error:
                problem = str(error)
            else:
                if loader.cache:
                    loader.cache.put([(key, _dump_state(encoder.get_state()))])
                return encoder, None
    if features is None:
        raise LeafidError("no picture could be read to learn a codebook from")
    return encoder.fit(tile_features(features, max(expert.modes, 2))), problem


def _sample_pictures(
    pictures: Sequence[Picture],
    hashes: Sequence[str | None],
    expert: Expert,
    longest_side: int,
    loader: FeatureLoader,
    seed: int,
) -> LocalFeatures | None:
    """Sample local features of pictures; None where no picture can be read."""
    sample = partial(_sample_picture, expert, longest_side, seed)
    items = list(zip(pictures, hashes, strict=True))
    # In one array from the start: hundreds of small ones would leave gaps in memory that is never returned.
    gathered: LocalFeatures | None = None
    number = 0
    for own in loader.show_progress(loader.map_pictures(sample, pictures, items), len(pictures), "codebook"):
        if own is None:
            continue
        if gathered is None:
            gathered = LocalFeatures.zeros(len(pictures) * _SAMPLED_PER_PICTURE, own.descriptors.shape[1])
        gathered.put(number, own)
        number += len(own)
    return None if gathered is None else gathered.take(slice(number))


def _sample_picture(expert: Expert, longest_side: int, seed: int, item: tuple[Picture, str | None]) -> LocalFeatures:
    picture, content_hash = item
    image = read_unchanged(picture, longest_side, content_hash)
    return sample_features(image, get_type(picture), expert, _SAMPLED_PER_PICTURE, seed)


def _make_key(settings: str, pictures: Sequence[Picture], hashes: Sequence[str | None]) -> bytes:
    contents = [f"{picture.type} {content_hash}" for picture, content_hash in zip(pictures, hashes, strict=True)]
    return hashlib.sha256("|".join([settings, str(_SAMPLED_PER_PICTURE), *contents]).encode()).digest()


def _dump_state(state: dict[str, np.ndarray]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **state)  # type: ignore[arg-type]  # of the keyword allow_pickle
    return stream.getvalue()


def _parse_state(value: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(value), allow_pickle=False) as archive:
        return dict(archive)
