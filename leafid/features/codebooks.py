"""Learns the encoders of a recipe (its codebooks) from local features that are sampled from some pictures."""

import hashlib
import io
import logging
from collections.abc import Sequence
from functools import partial

import numpy as np

from leafid.descriptors.encoding import Encoder
from leafid.descriptors.local import LocalFeatures, concatenate_features, tile_features
from leafid.errors import LeafidError
from leafid.features.extractor import FEATURE_VERSION, sample_features
from leafid.features.loader import FeatureLoader, get_type
from leafid.features.recipe import Expert, Recipe
from leafid.features.sampling import sample_evenly
from leafid.pictures.decoding import read_hashed_image
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
    sample = partial(_sample_picture, expert, longest_side, seed)
    for candidates in (own, pictures) if 0 < len(own) < len(pictures) else (pictures,):
        chosen = sample_evenly(candidates, CODEBOOK_PICTURES, seed)
        key = b""
        if loader.cache:
            settings = f"codebook 2|{FEATURE_VERSION}|{longest_side}|{expert.make_feature_key()}|{seed}"
            contents = [f"{picture.type} {loader.hash_picture(picture)}" for picture in chosen]
            key = hashlib.sha256("|".join([settings, str(_SAMPLED_PER_PICTURE), *contents]).encode()).digest()
            if found := loader.cache.get([key]):
                return encoder.set_state(_parse_state(found[key])), None
        sampled = loader.show_progress(loader.map_pictures(sample, chosen), len(chosen), "codebook")
        if readable := [own for own in sampled if own is not None]:
            features = concatenate_features(readable)
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


def _sample_picture(expert: Expert, longest_side: int, seed: int, picture: Picture) -> LocalFeatures:
    image = read_hashed_image(picture.file, longest_side, picture.data)[0]
    return sample_features(image, get_type(picture), expert, _SAMPLED_PER_PICTURE, seed)


def _dump_state(state: dict[str, np.ndarray]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **state)  # type: ignore[arg-type]  # of the keyword allow_pickle
    return stream.getvalue()


def _parse_state(value: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(value), allow_pickle=False) as archive:
        return dict(archive)
