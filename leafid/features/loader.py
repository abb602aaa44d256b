"""Loads the features of many pictures: from the cache where they are, computed by several processes where not."""

import hashlib
import logging
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from leafid.errors import LeafidError, UsageError, naming_large_picture
from leafid.features.extractor import FEATURE_VERSION, FeatureExtractor, Features
from leafid.features.feature_cache import FeatureCache, pack, split_into_chunks, unpack
from leafid.features.type_features import TYPE_SIDE, measure_type_features
from leafid.pictures import hash_picture_file
from leafid.pictures.decoding import read_hashed_image
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.workers import ordered_map

T = TypeVar("T")
#: ``progress(items, total, caption)`` passes the items on.
Progress = Callable[[Iterable[T], int, str], Iterator[T]]
#: Arrays by name.
NamedArrays = dict[str, list[np.ndarray]]
_log = logging.getLogger(__name__)

# Number of pictures that are looked up together, whose cached values are in memory at once, and that workers may be
# ahead of the consumer; and of pictures that are computed between two commits.
_LOOKED_UP_AT_ONCE = 512
_COMMIT_EVERY = 64
# Maximum number of file hashes that a loader keeps for later passes over the same pictures.
_REMEMBERED_HASHES = 2**15


def pass_through(items: Iterable[T], total: int, caption: str) -> Iterator[T]:
    """Show no progress."""
    return iter(items)


@dataclass(frozen=True)
class _Source:
    """What is computed from pictures and cached; picklable, as workers get it."""

    #: Everything but the picture that decides a value, by the value's name.
    keys: dict[str, str]
    #: Pictures are reduced to it when they are read, in pixels.
    longest_side: int
    #: ``compute(image, picture, names)`` returns the values with these names.
    compute: Callable[[np.ndarray, Picture, Sequence[str]], NamedArrays]

    def make_key(self, name: str, picture: Picture, content_hash: str | None) -> bytes:
        """Make the key in the cache of a value of a picture."""
        return hashlib.sha256(f"{self.keys[name]}|{picture.type}|{content_hash}".encode()).digest()


class _Miss(NamedTuple):
    """A picture, the hash of its content, and the names of the values that the cache doesn't have.

    The hash is None, and there are no names, where the file can't be read; it is empty without a cache.
    """

    picture: Picture
    content_hash: str | None
    names: tuple[str, ...]


class _Outcome(NamedTuple):
    """The result for a picture, or the message and the traceback of the error."""

    result: Any
    problem: str | None = None
    traceback: str = ""


@dataclass
class FeatureLoader:
    """Loads features; a command has one, and copies of it for its steps."""

    #: None: everything is computed.
    cache: FeatureCache | None = None
    #: Worker processes; the results don't depend on it.
    jobs: int = 1
    progress: Progress = pass_through
    #: What the work is for at present, the start of the caption: ``2/3 photo``.
    step: str = ""
    #: Pictures that could not be read so far, with the message.
    unreadable: dict[Path, str] = field(default_factory=dict)
    _hash_file: Callable[[Path], str] = field(default_factory=lambda: lru_cache(_REMEMBERED_HASHES)(hash_picture_file))

    @property
    def folder(self) -> Path | None:
        """Where there is room for arrays that don't fit into memory: the cache's folder; None without a cache."""
        return self.cache.folder if self.cache else None

    def with_step(self, step: str) -> "FeatureLoader":
        """Return a loader for a part of the work, which shares the cache and `unreadable`."""
        return replace(self, step=", ".join(filter(None, (self.step, step))))

    def with_progress(self, progress: Progress = pass_through) -> "FeatureLoader":
        """Return a loader that shows progress in another way, by default none, and shares the rest."""
        return replace(self, progress=progress)

    def load(self, pictures: Sequence[Picture], extractor: FeatureExtractor) -> list[Features | None]:
        """Load the features of pictures of known types; for many pictures see `stream`.

        None stands for a picture that can't be read, which is noted in `unreadable`.
        """
        with closing(self.stream(pictures, extractor)) as stream:
            return list(stream)

    def stream(
        self, pictures: Sequence[Picture], extractor: FeatureExtractor
    ) -> Generator[Features | None, None, None]:
        """Yield what `load` returns, picture by picture, holding some hundred at a time.

        A caller that may stop early closes the generator: what was computed by then is cached.
        """
        keys = {name: extractor.make_feature_key(name) for name in extractor.experts}
        source = _Source(keys, extractor.longest_side, partial(_extract_features, extractor))
        with closing(self._stream_values(pictures, source)) as stream:
            for values in self.show_progress(stream, len(pictures), "describe"):
                if values is None:
                    yield None
                else:
                    vectors = {name: vector for name, (_, vector) in values.items()}
                    yield Features(vectors, float(next(iter(values.values()))[0][0]))

    def load_type_features(self, pictures: Sequence[Picture]) -> list[np.ndarray | None]:
        """Load the features of `measure_type_features`; None for a picture that can't be read."""
        return self.load_measures(pictures, "type|2", TYPE_SIDE, _measure_type_features)

    def load_measures(
        self,
        pictures: Sequence[Picture],
        key: str,
        longest_side: int,
        measure: Callable[[np.ndarray, Picture], np.ndarray],
        what: str = "describe",
    ) -> list[np.ndarray | None]:
        """Load measures of pictures, float32 in half precision; None for a picture that can't be read.

        ``measure(image, picture)``, of the picture reduced to `longest_side` pixels, gives an array of numbers, and is
        picklable. The `key` stands for it in the cache, and changes with it.
        """
        source = _Source({key: f"{key}|{FEATURE_VERSION}"}, longest_side, partial(_compute_measures, measure))
        with closing(self._stream_values(pictures, source)) as stream:
            return [
                None if values is None else values[key][0].astype(np.float32)
                for values in self.show_progress(stream, len(pictures), what)
            ]

    def show_progress(self, items: Iterable[T], total: int, what: str) -> Iterable[T]:
        """Pass items on and show the progress of the current step."""
        return self.progress(items, total, f"{self.step}: {what}" if self.step else what)

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
        item_seconds: float = 0.45,
    ) -> Generator[T | None, None, None]:
        """Apply a function to pictures, or to an item for each, on the workers.

        It takes about `item_seconds` for each. Where it raises an error, the result is None, and the error is noted in
        `unreadable`.
        """
        guarded = list(zip(pictures, items or pictures, strict=True))
        call = partial(_call_guarded, function)
        outcomes = ordered_map(call, guarded, self.jobs, _make_failure, item_seconds=item_seconds)
        for picture, outcome in zip(pictures, outcomes, strict=True):
            if outcome.problem is not None:
                _log.debug("%s", outcome.traceback)
                self._note_unreadable(picture.file, outcome.problem)
            yield outcome.result

    def _stream_values(self, pictures: Sequence[Picture], source: _Source) -> Generator[NamedArrays | None, None, None]:
        """Take from the cache what it has, compute the rest, and commit that."""
        waiting: list[tuple[bytes, bytes]] = []
        seconds = 0.03 if source.longest_side <= TYPE_SIDE else 0.45
        compute = partial(compute_missing, source)
        try:
            for chunk in split_into_chunks(pictures, _LOOKED_UP_AT_ONCE):
                found = self._look_up(chunk, source)
                misses = [miss for _, miss in found if miss.names]
                own = [miss.picture for miss in misses]
                with closing(self.map_pictures(compute, own, misses, seconds)) as computed:
                    for values, miss in found:
                        arrays = next(computed) if miss.names else {}
                        for name, array in (arrays or {}).items():
                            value = pack(array)
                            # Unpacked again, computed values equal cached ones to the last bit.
                            values[name] = unpack(value)
                            if self.cache:
                                waiting.append((source.make_key(name, miss.picture, miss.content_hash), value))
                        is_readable = arrays is not None and miss.content_hash is not None
                        yield {name: values[name] for name in source.keys} if is_readable else None
                        if len(waiting) >= _COMMIT_EVERY:
                            self._commit(waiting)
        finally:
            self._commit(waiting)

    def _look_up(self, pictures: Sequence[Picture], source: _Source) -> list[tuple[NamedArrays, _Miss]]:
        """Look up the values of pictures: of each what the cache has, and what it lacks."""
        if self.cache is None:
            return [({}, _Miss(picture, "", tuple(source.keys))) for picture in pictures]
        hashes = [self.hash_picture(picture) for picture in pictures]
        keys = [
            {name: source.make_key(name, picture, content_hash) for name in source.keys if content_hash is not None}
            for picture, content_hash in zip(pictures, hashes, strict=True)
        ]
        stored = self.cache.get([key for own in keys for key in own.values()])
        found = []
        for picture, content_hash, own in zip(pictures, hashes, keys, strict=True):
            hits: NamedArrays = {}
            for name, key in own.items():
                with suppress(KeyError, ValueError):
                    hits[name] = unpack(stored[key])
            found.append((hits, _Miss(picture, content_hash, tuple(name for name in own if name not in hits))))
        return found

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


def read_unchanged(picture: Picture, longest_side: int, content_hash: str | None) -> np.ndarray:
    """Read a picture whose content was hashed before, if at all; raise `LeafidError` if it has changed since."""
    image, found = read_hashed_image(picture.file, longest_side, picture.data)
    if content_hash and found != content_hash:
        raise LeafidError(f"{picture.file}: the file was changed while it was read; try again")
    return image


def compute_missing(source: _Source, miss: _Miss) -> NamedArrays:
    """Compute the values of a picture that the cache doesn't have."""
    image = read_unchanged(miss.picture, source.longest_side, miss.content_hash)
    return source.compute(image, miss.picture, miss.names)


def _call_guarded(function: Callable[[Any], Any], guarded: tuple[Picture, Any]) -> _Outcome:
    """Call the function and return its error, if any, as text: one bad picture must not cost the work on the others."""
    picture, item = guarded
    try:
        with naming_large_picture(picture.file):
            return _Outcome(function(item))
    except UsageError:
        raise
    except Exception as error:
        if isinstance(error, LeafidError):
            problem = str(error)
        else:
            problem = (
                f"{picture.file}: unexpected {type(error).__name__}: {' '.join(str(error).split())}; "
                "this is a bug, please report it with --debug's output"
            )
        return _Outcome(None, problem, "".join(traceback.format_exception(error)).rstrip("\n"))


def _make_failure(guarded: tuple[Picture, Any], problem: str) -> _Outcome:
    """Make the outcome for a picture whose worker died or took too long."""
    return _Outcome(None, f"{guarded[0].file}: {problem}")


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
