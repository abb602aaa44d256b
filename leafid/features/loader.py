"""Describes many pictures: from the store where they were described before, on several processes where not."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np

from leafid.collection import hash_file
from leafid.collection.picture import AcquisitionType, Picture
from leafid.descriptors.local import LocalFeatures, concatenate_features, tile_features
from leafid.encoding import Encoder
from leafid.errors import LeafidError, UsageError
from leafid.features.cache import FeatureCache, dump_arrays, pack, parse_arrays, split_into_chunks, unpack
from leafid.features.extractor import FEATURE_VERSION, FeatureExtractor, Features, sample_features
from leafid.features.sampling import sample_evenly
from leafid.features.type_features import TYPE_SIDE, type_features
from leafid.images import read_image
from leafid.parallel import ordered_map
from leafid.recipes.recipe import LocalPatches, Recipe

T = TypeVar("T")
Item = TypeVar("Item", Picture, tuple[Picture, tuple[int, ...]])
#: For everything wanted of a picture, its arrays.
Arrays = list[list[np.ndarray]]
Task = Callable[[tuple[Picture, tuple[int, ...]]], Arrays]
Progress = Callable[[Iterable[T], int, str], Iterator[T]]
_log = logging.getLogger(__name__)

# Local features drawn of one picture for a codebook; and how many described pictures wait for the next commit.
_DRAWN_PER_PICTURE = 200
_COMMIT_EVERY = 64
# Pictures that are looked up in the store together, and how many computed ones may wait to be fetched.
_READ_AT_ONCE = 64
_AHEAD = 4096


def _silent(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    return iter(items)


@dataclass
class FeatureLoader:
    """Where descriptions come from, and how they are made.

    Attributes
    ----------
    store : FeatureCache or None
        None computes everything anew.
    jobs : int
        Worker processes; the results don't depend on it.
    progress : callable
        ``progress(items, total, what)`` passes the items on.
    unreadable : dict of Path to str
        Pictures that could not be read so far, with the message.
    """

    store: FeatureCache | None = None
    jobs: int = 1
    progress: Progress = _silent
    unreadable: dict[Path, str] = field(default_factory=dict)
    _hashes: dict[Path, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path | None:
        """Where there is room for what memory has none for: beside the store; None: where temporary files go."""
        return self.store.folder if self.store else None

    def describe(self, pictures: Sequence[Picture], extractor: FeatureExtractor) -> list[Features | None]:
        """Describe pictures, each of a known acquisition type; for many of them see `stream`.

        Returns
        -------
        list of Described or None
            In the pictures' order; None for a picture that can't be read, which is noted in `unreadable`.
        """
        with closing(self.stream(pictures, extractor)) as stream:
            return list(stream)

    def stream(
        self, pictures: Sequence[Picture], extractor: FeatureExtractor
    ) -> Generator[Features | None, None, None]:
        """Describe any number of pictures, one after the other, without holding more than a few.

        A caller that may stop early closes the generator: what was described by then is kept.

        Yields
        ------
        Described or None
            As `describe` returns them.
        """
        names = tuple(extractor.experts)
        bases = [extractor.feature_key(name) for name in names]
        with closing(self._streamed(pictures, bases, partial(_describe_picture, extractor), "describe")) as found:
            for arrays in found:
                yield None if arrays is None else _described(names, arrays)

    def type_features(self, pictures: Sequence[Picture]) -> list[np.ndarray | None]:
        """Measure what tells acquisition types apart; None for a picture that can't be read."""
        with closing(self._streamed(pictures, [f"type|2|{FEATURE_VERSION}"], _type_features, "types")) as found:
            return [None if arrays is None else arrays[0][0].astype(np.float32) for arrays in found]

    def learn_encoders(self, pictures: Sequence[Picture], recipe: Recipe, seed: int) -> dict[str, Encoder]:
        """Learn the encoders that the experts of a recipe need, from some of the pictures.

        Parameters
        ----------
        pictures : sequence of Picture
            Labelled; drawn from evenly over the species.
        recipe : Recipe
        seed : int

        Returns
        -------
        dict of str to Encoder
            By the expert's name.

        Raises
        ------
        LeafidError
            When no picture can be read, or none of the experts sees anything in the pictures.
        """
        encoders: dict[str, Encoder] = {}
        blind: dict[str, str] = {}
        for name, expert in recipe.experts.items():
            if isinstance(expert.features, LocalPatches):
                encoders[name], problem = self._encoder(pictures, expert.features, recipe, seed)
                if problem:
                    blind[name] = problem
        if len(blind) == len(recipe.experts):
            raise LeafidError("; ".join(blind.values()))
        for name, problem in blind.items():
            _log.warning("expert %s sees nothing in these pictures: %s", name, problem)
        return encoders

    def _encoder(
        self, pictures: Sequence[Picture], patches: LocalPatches, recipe: Recipe, seed: int
    ) -> tuple[Encoder, str | None]:
        """Learn an encoder, from the types that the expert names if these show enough, else from all.

        Where all show too little (grey pictures have no hues that meet), it is one that tells nothing, and why.
        """
        encoder = patches.make_encoder(seed)
        # An expert that names the types of its codebook shares it, and all vectors, with other recipes.
        own = [picture for picture in pictures if picture.type in patches.codebook_types]
        features: LocalFeatures | None = None
        problem = ""
        for source in (own, pictures) if 0 < len(own) < len(pictures) else (pictures,):
            chosen = sample_evenly(source, recipe.codebook_pictures, seed)
            key = self._codebook_key(chosen, patches, recipe.longest_side, seed)
            known = self._stored([key])
            if key in known:
                return encoder.set_state(parse_arrays(known[key])), None
            drawn = self._computed(chosen, partial(_draw_features, patches, recipe.longest_side, seed), "codebook")
            pieces = [one for one in drawn if one is not None]
            if pieces:
                features = concatenate_features(pieces)
                try:
                    encoder.fit(features)
                except LeafidError as error:
                    problem = str(error)
                else:
                    self._keep([(key, dump_arrays(encoder.get_state()))])
                    return encoder, None
        if features is None:
            raise LeafidError("no picture could be read to learn a codebook from")
        return encoder.fit(tile_features(features, max(patches.modes, 2))), problem

    def _streamed(
        self, pictures: Sequence[Picture], bases: Sequence[str], task: Task, what: str
    ) -> Generator[Arrays | None, None, None]:
        """Look up what is wanted of each picture, and compute and keep what isn't there.

        For every base a list of arrays is wanted of each picture; `task` computes those at some positions of `bases`.
        What has to be computed is found out first, so that all of it is one stretch of work.
        """
        todo = self._missing(pictures, bases)
        computed = self._computed([(pictures[index], places) for index, places in todo.items()], task, what)
        waiting: list[tuple[bytes, bytes]] = []
        try:
            for indices in split_into_chunks(range(len(pictures)), _READ_AT_ONCE):
                keys = {index: [self._key(pictures[index], base) for base in bases] for index in indices}
                known = self._stored(
                    [key for i, own in keys.items() for place, key in enumerate(own) if place not in todo.get(i, ())]
                )
                for index, own in keys.items():
                    found = {place: unpack(known[key]) for place, key in enumerate(own) if key in known}
                    places = todo.get(index, ())
                    arrays = next(computed) if places else []
                    # What is damaged, or was removed by another process meanwhile.
                    lost = tuple(place for place in range(len(bases)) if place not in found and place not in places)
                    if lost and arrays is not None and None not in own:
                        again = next(self._computed([(pictures[index], lost)], task, what, jobs=1))
                        arrays = None if again is None else [*arrays, *again]
                        places += lost
                    for place, own_arrays in zip(places, arrays or (), strict=arrays is not None):
                        value = pack(own_arrays)
                        # Reading back what was packed makes a first run and a resumed one equal to the last bit.
                        found[place] = unpack(value)
                        waiting.append((own[place] or b"", value))
                    if len(waiting) >= _COMMIT_EVERY:
                        self._keep(waiting)
                    yield [found[place] for place in range(len(bases))] if len(found) == len(bases) else None
        finally:
            computed.close()
            self._keep(waiting)

    def _missing(self, pictures: Sequence[Picture], bases: Sequence[str]) -> dict[int, tuple[int, ...]]:
        """Find what the store does not have: by the picture's index, the positions in `bases`."""
        missing: dict[int, tuple[int, ...]] = {}
        for indices in split_into_chunks(range(len(pictures)), _READ_AT_ONCE):
            keys = {index: [self._key(pictures[index], base) for base in bases] for index in indices}
            asked = [key for own in keys.values() for key in own if key is not None]
            known = self.store.known(asked) if self.store else set()
            for index, own in keys.items():
                places = tuple(place for place, key in enumerate(own) if key not in known)
                if places and None not in own:
                    missing[index] = places
        return missing

    def _computed(
        self, items: Sequence[Item], task: Callable[[Item], T], what: str, jobs: int | None = None
    ) -> Generator[T | None, None, None]:
        if not items:
            return
        # Workers run ahead of whoever takes the results, but by no more than a stretch.
        outcomes = chain.from_iterable(
            ordered_map(partial(_guarded, task), stretch, jobs or self.jobs)
            for stretch in split_into_chunks(items, _AHEAD)
        )
        for item, (result, problem) in zip(items, self.progress(outcomes, len(items), what), strict=True):
            if problem is not None:
                self._note(_file_of(item), problem)
            yield result

    def _note(self, file: Path, problem: str) -> None:
        if file not in self.unreadable:
            self.unreadable[file] = problem
            _log.warning("%s", problem)

    def _key(self, picture: Picture, base: str) -> bytes | None:
        if picture.file not in self._hashes:
            try:
                self._hashes[picture.file] = hash_file(picture.file)
            except (LeafidError, OSError) as error:
                self._note(picture.file, str(error))
                return None
        return hashlib.sha256(f"{base}|{picture.type}|{self._hashes[picture.file]}".encode()).digest()

    def _codebook_key(self, pictures: Sequence[Picture], patches: LocalPatches, longest_side: int, seed: int) -> bytes:
        parts = [self._key(picture, "codebook") or b"" for picture in pictures]
        words = f"codebook|{FEATURE_VERSION}|{longest_side}|{patches.feature_key()}|{seed}|{_DRAWN_PER_PICTURE}"
        return hashlib.sha256(words.encode() + b"".join(parts)).digest()

    def _stored(self, keys: Sequence[bytes | None]) -> Mapping[bytes | None, bytes]:
        found: dict[bytes | None, bytes] = {}
        if self.store:
            for key, value in self.store.get([key for key in keys if key is not None]).items():
                found[key] = value
        return found

    def _keep(self, waiting: list[tuple[bytes, bytes]]) -> None:
        if self.store and waiting:
            self.store.put(waiting)
        waiting.clear()


def _guarded(task: Callable[[Item], T], item: Item) -> tuple[T | None, str | None]:
    try:
        return task(item), None
    except UsageError:
        raise
    except LeafidError as error:
        return None, str(error)
    except Exception as error:
        # One picture that nobody thought of must not cost the work done on the others.
        what = " ".join(str(error).split())
        return None, f"{_file_of(item)}: unexpected {type(error).__name__}: {what}; this is a bug, please report it"


def _file_of(item: Picture | tuple[Picture, tuple[int, ...]]) -> Path:
    return item.file if isinstance(item, Picture) else item[0].file


def _describe_picture(extractor: FeatureExtractor, asked: tuple[Picture, tuple[int, ...]]) -> Arrays:
    picture, places = asked
    names = [name for place, name in enumerate(extractor.experts) if place in places]
    described = extractor.extract(read_image(picture.file, extractor.longest_side), _type_of(picture), names)
    return [[np.array([described.confidence]), described.vectors[name]] for name in names]


def _type_features(asked: tuple[Picture, tuple[int, ...]]) -> Arrays:
    return [[type_features(read_image(asked[0].file, TYPE_SIDE))]]


def _draw_features(patches: LocalPatches, longest_side: int, seed: int, picture: Picture) -> LocalFeatures:
    image = read_image(picture.file, longest_side)
    return sample_features(image, _type_of(picture), patches, _DRAWN_PER_PICTURE, seed)


def _described(names: Sequence[str], arrays: Arrays) -> Features:
    vectors = {name: vector for name, (_, vector) in zip(names, arrays, strict=True)}
    return Features(vectors, float(arrays[0][0][0]))


def _type_of(picture: Picture) -> AcquisitionType:
    if picture.type is None:
        raise LeafidError(f"{picture.file}: the acquisition type is not known; give it with --assume-type")
    return picture.type
