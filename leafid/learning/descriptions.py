"""Describes many pictures: from the store where they were described before, on several processes where not."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from leafid.collection import content_hash
from leafid.collection.picture import AcquisitionType, Picture
from leafid.descriptors.local import LocalFeatures, pooled
from leafid.encoding import Encoder, make_encoder
from leafid.errors import LeafidError, UsageError
from leafid.learning.describing import (
    DESCRIPTION_VERSION,
    Described,
    Describer,
    experts_key,
    read_picture,
    sample_features,
)
from leafid.learning.recipe import Expert, Recipe
from leafid.learning.recogniser import type_features
from leafid.learning.store import Store, packed, read_arrays, unpacked, written_arrays
from leafid.parallel import ordered_map

T = TypeVar("T")
Progress = Callable[[Iterable[T], int, str], Iterator[T]]
_log = logging.getLogger(__name__)

# Local features drawn of one picture for a codebook; and how many described pictures wait for the next commit.
_DRAWN_PER_PICTURE = 200
_COMMIT_EVERY = 64


def _silent(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    return iter(items)


@dataclass
class Descriptions:
    """Where descriptions come from, and how they are made.

    Attributes
    ----------
    store : Store or None
        None computes everything anew.
    jobs : int
        Worker processes; the results don't depend on it.
    progress : callable
        ``progress(items, total, what)`` passes the items on.
    unreadable : dict of Path to str
        Pictures that could not be read so far, with the message.
    """

    store: Store | None = None
    jobs: int = 1
    progress: Progress = _silent
    unreadable: dict[Path, str] = field(default_factory=dict)
    _hashes: dict[Path, str] = field(default_factory=dict)

    def describe(self, pictures: Sequence[Picture], describer: Describer) -> list[Described | None]:
        """Describe pictures, each of a known acquisition type.

        Returns
        -------
        list of Described or None
            In the pictures' order; None for a picture that can't be read, which is noted in `unreadable`.
        """
        arrays = self._cached(pictures, describer.key(), partial(_describe_picture, describer), "describe")
        return [None if found is None else _described(found, describer) for found in arrays]

    def type_features(self, pictures: Sequence[Picture]) -> list[np.ndarray | None]:
        """Measure what tells acquisition types apart; None for a picture that can't be read."""
        arrays = self._cached(pictures, f"type|{DESCRIPTION_VERSION}", _type_features, "types")
        return [None if found is None else found[0] for found in arrays]

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
        """
        local = {name: expert for name, expert in recipe.experts.items() if expert.is_local}
        if not local:
            return {}
        chosen = _spread_over_species(pictures, recipe.codebook_pictures, seed)
        key = self._codebook_key(chosen, experts_key(local), seed)
        known = self._stored([key])
        if key in known:
            return restored_encoders(local, read_arrays(known[key]), seed)
        drawn: dict[str, list[LocalFeatures]] = {name: [] for name in local}
        task = partial(_draw_features, local, seed)
        for features in self._computed(chosen, task, "codebook"):
            for name, found in (features or {}).items():
                drawn[name].append(found)
        encoders: dict[str, Encoder] = {}
        for name, expert in local.items():
            if not drawn[name]:
                raise LeafidError("no picture could be read to learn a codebook from")
            encoder = make_encoder(expert.encoder, expert.modes, expert.components, expert.position, seed)
            encoders[name] = encoder.fit(pooled(drawn[name]))
        self._keep([(key, written_arrays(encoder_arrays(encoders)))])
        return encoders

    def _cached(
        self, pictures: Sequence[Picture], base: str, task: Callable[[Picture], list[np.ndarray]], what: str
    ) -> list[list[np.ndarray] | None]:
        """Look the arrays of pictures up in the store, and compute and keep those that aren't there."""
        keys = [self._key(picture, base) for picture in pictures]
        known = self._stored(keys)
        results = [unpacked(known[key]) if key in known else None for key in keys]
        missing = [index for index, key in enumerate(keys) if key is not None and key not in known]
        waiting: list[tuple[bytes, bytes]] = []
        try:
            for index, arrays in zip(
                missing, self._computed([pictures[index] for index in missing], task, what), strict=True
            ):
                if arrays is None:
                    continue
                value = packed(arrays)
                # Reading back what was packed makes a first run and a resumed one equal to the last bit.
                results[index] = unpacked(value)
                waiting.append((keys[index] or b"", value))
                if len(waiting) >= _COMMIT_EVERY:
                    self._keep(waiting)
        finally:
            self._keep(waiting)
        return results

    def _computed(self, pictures: Sequence[Picture], task: Callable[[Picture], T], what: str) -> Iterator[T | None]:
        if not pictures:
            return
        outcomes = ordered_map(partial(_guarded, task), pictures, self.jobs)
        for picture, (result, problem) in zip(pictures, self.progress(outcomes, len(pictures), what), strict=True):
            if problem is not None:
                self._note(picture, problem)
            yield result

    def _note(self, picture: Picture, problem: str) -> None:
        if picture.file not in self.unreadable:
            self.unreadable[picture.file] = problem
            _log.warning("%s", problem)

    def _key(self, picture: Picture, base: str) -> bytes | None:
        if picture.file not in self._hashes:
            try:
                self._hashes[picture.file] = content_hash(picture.file)
            except (LeafidError, OSError) as error:
                self._note(picture, str(error))
                return None
        return hashlib.sha256(f"{base}|{picture.type}|{self._hashes[picture.file]}".encode()).digest()

    def _codebook_key(self, pictures: Sequence[Picture], experts: str, seed: int) -> bytes:
        parts = [self._key(picture, "codebook") or b"" for picture in pictures]
        words = f"codebook|{DESCRIPTION_VERSION}|{experts}|{seed}|{_DRAWN_PER_PICTURE}".encode()
        return hashlib.sha256(words + b"".join(parts)).digest()

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


def encoder_arrays(encoders: dict[str, Encoder]) -> dict[str, np.ndarray]:
    """Give all that encoders learned, by ``expert/array``."""
    return {
        f"{name}/{array_name}": array
        for name, encoder in encoders.items()
        for array_name, array in encoder.state().items()
    }


def restored_encoders(
    experts: dict[str, Expert], arrays: Mapping[str, np.ndarray], seed: int = 0
) -> dict[str, Encoder]:
    """Make the encoders of experts from what `encoder_arrays` gave."""
    encoders: dict[str, Encoder] = {}
    for name, expert in experts.items():
        if expert.is_local:
            own = {key.split("/", 1)[1]: array for key, array in arrays.items() if key.startswith(f"{name}/")}
            encoder = make_encoder(expert.encoder, expert.modes, expert.components, expert.position, seed)
            encoders[name] = encoder.restore(own)
    return encoders


def _guarded(task: Callable[[Picture], T], picture: Picture) -> tuple[T | None, str | None]:
    try:
        return task(picture), None
    except UsageError:
        raise
    except LeafidError as error:
        return None, str(error)


def _describe_picture(describer: Describer, picture: Picture) -> list[np.ndarray]:
    described = describer.describe(read_picture(picture.file), _type_of(picture))
    return [np.array([described.confidence]), *described.vectors.values()]


def _type_features(picture: Picture) -> list[np.ndarray]:
    return [type_features(read_picture(picture.file))]


def _draw_features(experts: dict[str, Expert], seed: int, picture: Picture) -> dict[str, LocalFeatures]:
    return sample_features(read_picture(picture.file), _type_of(picture), experts, _DRAWN_PER_PICTURE, seed)


def _described(arrays: list[np.ndarray], describer: Describer) -> Described:
    return Described(dict(zip(describer.experts, arrays[1:], strict=True)), float(arrays[0][0]))


def _type_of(picture: Picture) -> AcquisitionType:
    if picture.type is None:
        raise LeafidError(f"{picture.file}: the acquisition type is not known; give it with --type")
    return picture.type


def _spread_over_species(pictures: Sequence[Picture], n_pictures: int, seed: int) -> list[Picture]:
    """Choose pictures in rounds, one of every species a round."""
    random = np.random.default_rng(seed)
    by_species: dict[str | None, list[Picture]] = {}
    for index in random.permutation(len(pictures)):
        by_species.setdefault(pictures[index].species, []).append(pictures[index])
    ranked = [(turn, position) for position, own in enumerate(by_species.values()) for turn in range(len(own))]
    groups = list(by_species.values())
    return [groups[position][turn] for turn, position in sorted(ranked)[:n_pictures]]
