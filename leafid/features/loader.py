"""Loads the features of many pictures: from the cache where they are, computed by several processes where not."""

import hashlib
import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from leafid.errors import LeafidError
from leafid.features.cache import FeatureCache, pack, split_into_chunks, unpack
from leafid.features.extractor import FEATURE_VERSION, FeatureExtractor, Features
from leafid.features.lookup import Lookup, NamedArrays, Source, compute_missing, make_keys
from leafid.features.outcomes import call_guarded, make_failure
from leafid.features.type_features import TYPE_SIDE, measure_type_features
from leafid.pictures import hash_picture_file
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.workers import ordered_map

T = TypeVar("T")
#: ``progress(items, total, caption)`` passes the items on.
Progress = Callable[[Iterable[T], int, str], Iterator[T]]
_log = logging.getLogger(__name__)

# Number of pictures that are looked up together; workers may be ahead of the consumer by as many.
_LOOKED_UP_AT_ONCE = 4096
# Number of pictures whose cached values are in memory at once, and of computed values between two commits.
_READ_AT_ONCE = 64
_COMMIT_EVERY = 64
# Maximum number of file hashes that a loader keeps for later passes over the same pictures.
_REMEMBERED_HASHES = 2**15


def pass_through(items: Iterable[T], total: int, caption: str) -> Iterator[T]:
    """Show no progress."""
    return iter(items)


@dataclass
class FeatureLoader:
    """Loads features; a command has one."""

    #: None: everything is computed.
    cache: FeatureCache | None = None
    #: Worker processes; the results don't depend on it.
    jobs: int = 1
    #: ``progress(items, total, caption)`` passes the items on.
    progress: Progress = pass_through
    #: What the work is for at present, the start of the caption: ``2/3 photo``.
    step: str = ""
    #: Put before every step: ``3/8 small``.
    task: str = ""
    #: Pictures that could not be read so far, with the message.
    unreadable: dict[Path, str] = field(default_factory=dict)
    _hash_file: Callable[[Path], str] = field(default_factory=lambda: lru_cache(_REMEMBERED_HASHES)(hash_picture_file))

    @property
    def folder(self) -> Path | None:
        """Where there is room for arrays that don't fit into memory: the cache's folder; None without a cache."""
        return self.cache.folder if self.cache else None

    def load(
        self, pictures: Sequence[Picture], extractor: FeatureExtractor, progress: Progress | None = None
    ) -> list[Features | None]:
        """Load the features of pictures of known types; for many pictures see `stream`.

        None stands for a picture that can't be read, which is noted in `unreadable`. `progress` is used in place of
        the loader's own.
        """
        with closing(self.stream(pictures, extractor, progress)) as stream:
            return list(stream)

    def stream(
        self, pictures: Sequence[Picture], extractor: FeatureExtractor, progress: Progress | None = None
    ) -> Generator[Features | None, None, None]:
        """Yield what `load` returns, picture by picture, holding a few at a time.

        A caller that may stop early closes the generator: what was computed by then is cached.
        """
        keys = {name: extractor.make_feature_key(name) for name in extractor.experts}
        source = Source(keys, extractor.longest_side, partial(_extract_features, extractor))
        with closing(self._stream_values(pictures, source)) as stream:
            for values in self.show_progress(stream, len(pictures), "describe", progress):
                if values is None:
                    yield None
                else:
                    vectors = {name: vector for name, (_, vector) in values.items()}
                    yield Features(vectors, float(next(iter(values.values()))[0][0]))

    def load_type_features(
        self, pictures: Sequence[Picture], progress: Progress | None = None
    ) -> list[np.ndarray | None]:
        """Load the features of `measure_type_features`; None for a picture that can't be read."""
        return self.load_measures(pictures, "type|2", TYPE_SIDE, _measure_type_features, progress=progress)

    def load_measures(
        self,
        pictures: Sequence[Picture],
        key: str,
        longest_side: int,
        measure: Callable[[np.ndarray, Picture], np.ndarray],
        what: str = "describe",
        progress: Progress | None = None,
    ) -> list[np.ndarray | None]:
        """Load measures of pictures, float32 in half precision; None for a picture that can't be read.

        ``measure(image, picture)``, of the picture reduced to `longest_side` pixels, gives an array of numbers, and is
        picklable. The `key` stands for it in the cache, and changes with it.
        """
        source = Source({key: f"{key}|{FEATURE_VERSION}"}, longest_side, partial(_compute_measures, measure))
        with closing(self._stream_values(pictures, source)) as stream:
            return [
                None if values is None else values[key][0].astype(np.float32)
                for values in self.show_progress(stream, len(pictures), what, progress)
            ]

    def show_progress(self, items: Iterable[T], total: int, what: str, progress: Progress | None = None) -> Iterable[T]:
        """Pass items on and show the progress of the current step; `progress` is used in place of the loader's own."""
        steps = ", ".join(filter(None, (self.task, self.step)))
        return (progress or self.progress)(items, total, f"{steps}: {what}" if steps else what)

    def hash_picture(self, picture: Picture) -> str | None:
        """Hash the content of a picture; None, and a note in `unreadable`, where its file can't be read."""
        if picture.data is not None:
            return hashlib.sha256(picture.data).hexdigest()
        try:
            return self._hash_file(picture.file)
        except (LeafidError, OSError) as error:
            self._note_unreadable(picture.file, str(error))
            return None

    def map_pictures(
        self,
        function: Callable[[Any], T],
        pictures: Sequence[Picture],
        items: Sequence[Any] | None = None,
        jobs: int | None = None,
        item_seconds: float = 0.45,
    ) -> Generator[T | None, None, None]:
        """Apply a function to pictures, or to an item for each, on the workers.

        It takes about `item_seconds` for each. Where it raises an error, the result is None, and the error is noted in
        `unreadable`.
        """
        guarded = list(zip(pictures, items or pictures, strict=True))
        call = partial(call_guarded, function)
        outcomes = ordered_map(call, guarded, jobs or self.jobs, make_failure, item_seconds=item_seconds)
        for picture, outcome in zip(pictures, outcomes, strict=True):
            if outcome.problem is not None:
                _log.debug("%s", outcome.traceback)
                self._note_unreadable(picture.file, outcome.problem)
            yield outcome.result

    def _stream_values(self, pictures: Sequence[Picture], source: Source) -> Generator[NamedArrays | None, None, None]:
        """Find the keys, then what the cache has, compute the rest, and commit that."""
        waiting: list[tuple[bytes, bytes]] = []
        try:
            for stretch in split_into_chunks(pictures, _LOOKED_UP_AT_ONCE):
                lookups = self._find_missing([self._make_lookup(picture, source) for picture in stretch])
                with closing(self._compute([lookup for lookup in lookups if lookup.missing], source)) as computed:
                    for chunk in split_into_chunks(lookups, _READ_AT_ONCE):
                        cached = self._read_cached(chunk)
                        for lookup in chunk:
                            yield self._merge(lookup, cached, computed, source, waiting)
                            if len(waiting) >= _COMMIT_EVERY:
                                self._commit(waiting)
        finally:
            self._commit(waiting)

    def _make_lookup(self, picture: Picture, source: Source) -> Lookup:
        if self.cache is None:
            return Lookup(picture, "", {}, tuple(source.keys))
        content_hash = self.hash_picture(picture)
        if content_hash is None:
            return Lookup(picture, None, {})
        return Lookup(picture, content_hash, make_keys(source, picture, content_hash))

    def _find_missing(self, lookups: list[Lookup]) -> list[Lookup]:
        if self.cache is None:
            return lookups
        known = self.cache.find_keys([key for lookup in lookups for key in lookup.keys.values()])
        return [
            replace(lookup, missing=tuple(name for name, key in lookup.keys.items() if key not in known))
            for lookup in lookups
        ]

    def _read_cached(self, lookups: Sequence[Lookup]) -> dict[bytes, bytes]:
        if self.cache is None:
            return {}
        return self.cache.get(
            [key for lookup in lookups for name, key in lookup.keys.items() if name not in lookup.missing]
        )

    def _compute(
        self, lookups: Sequence[Lookup], source: Source, jobs: int | None = None
    ) -> Generator[tuple[str, NamedArrays] | None, None, None]:
        """Compute what is missing; yields the hash of what was read and the values, None where it can't be read."""
        pictures = [lookup.picture for lookup in lookups]
        seconds = 0.03 if source.longest_side <= TYPE_SIDE else 0.45
        return self.map_pictures(partial(compute_missing, source), pictures, lookups, jobs, seconds)

    def _merge(
        self,
        lookup: Lookup,
        cached: dict[bytes, bytes],
        computed: Iterator[tuple[str, NamedArrays] | None],
        source: Source,
        waiting: list[tuple[bytes, bytes]],
    ) -> NamedArrays | None:
        """Put together what was cached and what was computed of a picture; the latter also waits for the commit."""
        if lookup.content_hash is None:
            return None
        values: NamedArrays = {}
        for name, key in lookup.keys.items():
            with suppress(ValueError, KeyError):
                values[name] = unpack(cached[key])
        # Values that were cached may be damaged, or have been removed by another process since.
        lost = tuple(name for name in lookup.keys if name not in values and name not in lookup.missing)
        results = [next(computed)] if lookup.missing else []
        if lost:
            results += self._compute([replace(lookup, missing=lost)], source, jobs=1)
        for result in results:
            if result is None:
                return None
            content_hash, arrays = result
            if content_hash != lookup.content_hash:
                values = {}
            keys = make_keys(source, lookup.picture, content_hash)
            for name, own in arrays.items():
                value = pack(own)
                # Unpacked again, computed values equal cached ones to the last bit.
                values[name] = unpack(value)
                waiting.append((keys[name], value))
        return {name: values[name] for name in source.keys}

    def _commit(self, waiting: list[tuple[bytes, bytes]]) -> None:
        if self.cache and waiting:
            self.cache.put(waiting)
        waiting.clear()

    def _note_unreadable(self, file: Path, problem: str) -> None:
        if file not in self.unreadable:
            self.unreadable[file] = problem
            _log.warning("%s", problem)


def get_type(picture: Picture) -> AcquisitionType:
    """Return the acquisition type of a picture; raise `LeafidError` where it is not known."""
    if picture.type is None:
        raise LeafidError(f"{picture.file}: the acquisition type is not known; give it with --assume-type")
    return picture.type


def _extract_features(
    extractor: FeatureExtractor, image: np.ndarray, picture: Picture, names: Sequence[str]
) -> NamedArrays:
    features = extractor.extract(image, get_type(picture), names)
    return {name: [np.array([features.confidence]), features.vectors[name]] for name in names}


def _measure_type_features(image: np.ndarray, picture: Picture) -> np.ndarray:
    return measure_type_features(image)


def _compute_measures(
    measure: Callable[[np.ndarray, Picture], np.ndarray], image: np.ndarray, picture: Picture, names: Sequence[str]
) -> NamedArrays:
    return {name: [measure(image, picture)] for name in names}
