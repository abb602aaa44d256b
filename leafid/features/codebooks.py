"""Learns the codebooks of a recipe's encoders from a sample of local features."""

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
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
_UNREADABLE = "no picture could be read to learn a codebook from"
_log = logging.getLogger(__name__)


def learn_encoders(
    pictures: Sequence[Picture], recipe: Recipe, loader: FeatureLoader, seed: int
) -> dict[str, Encoder]:
    """Learn the encoders of the experts on local patches, by the expert's name.

    Pictures are sampled evenly over the species.

    An expert that finds too few features (grey pictures have no edges between hues)
    gets an encoder that distinguishes nothing. A `LeafidError` is raised when no
    picture can be read, or all experts are on local patches and none finds enough.
    """
    local = {name: expert for name, expert in recipe.experts.items() if expert.is_local}
    learner = _Learner(recipe, loader, seed)
    by_types = group_by(local, lambda name: local[name].codebook_types)
    for types, names in by_types.items():
        # Recipes with equal codebook types share the codebook and its vectors. Where
        # pictures of these types show too few features, all pictures are learned from.
        of_types = [picture for picture in pictures if picture.type in types]
        learner.learn(names, of_types)
        learner.learn(names, pictures)
    blind = [name for name in local if name not in learner.encoders]
    reasons = dict.fromkeys(learner.problems[name] for name in blind)
    if _UNREADABLE in reasons or (blind and len(blind) == len(recipe.experts)):
        raise LeafidError("; ".join(reasons))
    for name in blind:
        problem = learner.problems[name]
        _log.warning("expert %s sees nothing in these pictures: %s", name, problem)
        length = LOCAL_DESCRIPTORS[local[name].descriptor].length
        nothing = LocalFeatures.zeros(max(local[name].modes, 2), length)
        learner.encoders[name] = local[name].make_encoder(seed).fit(nothing)
    return {name: learner.encoders[name] for name in local}


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


class _Learner:
    """Learns encoders of the experts of a recipe, by name, or keeps what went wrong."""

    def __init__(self, recipe: Recipe, loader: FeatureLoader, seed: int) -> None:
        self.encoders: dict[str, Encoder] = {}
        self.problems: dict[str, str] = {}
        self._recipe = recipe
        self._loader = loader
        self._seed = seed

    def learn(self, names: Sequence[str], candidates: Sequence[Picture]) -> None:
        """Learn the encoders that are missing, for the experts of some names."""
        experts = self._list_missing(names)
        if not candidates or not experts:
            return
        pictures = sample_evenly(candidates, CODEBOOK_PICTURES, self._seed)
        needed_parts = self._find_needed_parts(experts)
        keys = self._load_cached(experts, pictures, needed_parts)
        missing = self._list_missing(names)
        if not missing:
            return
        loader = self._loader
        longest_side = self._recipe.longest_side
        sample = partial(
            _sample_picture, missing, longest_side, needed_parts, self._seed
        )
        samples = loader.show_progress(
            loader.map_pictures(sample, pictures), len(pictures), "codebooks"
        )
        readable = [features for features in samples if features is not None]
        if not readable:
            self.problems |= dict.fromkeys(missing, _UNREADABLE)
            return
        for name, expert in missing.items():
            features = concatenate_features([parts.pop(name) for parts in readable])
            try:
                encoder = expert.make_encoder(self._seed).fit(features)
            except LeafidError as error:
                self.problems[name] = str(error)
                continue
            self.encoders[name] = encoder
            arrays = encoder.get_state().items()
            state = {key: np.asarray(array, order="C") for key, array in arrays}
            loader.store([(keys[name], save(state))])

    def _list_missing(self, names: Iterable[str]) -> dict[str, Expert]:
        return {
            name: self._recipe.experts[name]
            for name in names
            if name not in self.encoders
        }

    def _find_needed_parts(self, experts: Mapping[str, Expert]) -> NeededParts:
        """Find the views of a recipe's experts, from which patches are sampled.

        The whole picture is the same whichever parts are needed.
        """
        if all(expert.view == "picture" for expert in experts.values()):
            return "nothing"
        return extractor.find_needed_parts(self._recipe.experts.values())

    def _load_cached(
        self,
        experts: Mapping[str, Expert],
        pictures: Sequence[Picture],
        needed_parts: NeededParts,
    ) -> dict[str, bytes]:
        """Load encoders from the cache, and give the key of each expert's encoder."""
        view = f"{self._recipe.longest_side}"
        if needed_parts == "leaf":
            view += " with petiole"
        versions = extractor.name_versions()
        contents = [f"{p.type} {self._loader.hash_picture(p)}" for p in pictures]
        keys = {}
        for name, expert in experts.items():
            settings = [
                f"codebook {CODEBOOK_VERSION}",
                versions,
                view,
                expert.make_feature_key(),
                f"{self._seed}",
                f"{_SAMPLED_PER_PICTURE}",
            ]
            words = "|".join([*settings, *contents])
            keys[name] = hashlib.sha256(words.encode()).digest()
        stored = self._loader.look_up(list(keys.values()))
        for name, key in keys.items():
            if key in stored:
                encoder = experts[name].make_encoder(self._seed)
                self.encoders[name] = encoder.set_state(load(stored[key]))
        return keys


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
        image, extractor.segment_as_type(image, picture.require_type(), needed_parts)
    )
    samples = {}
    for name, expert in experts.items():
        features = extractor.extract_local_features(views, expert)
        order = np.random.default_rng(seed).permutation(len(features))
        samples[name] = features.take(np.sort(order[:_SAMPLED_PER_PICTURE]))
    return samples
