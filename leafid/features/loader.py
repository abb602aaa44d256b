"""Loads the features of many pictures: from the cache where they are, computed by several processes where not."""

import hashlib
import logging
import os
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from leafid import errors
from leafid.errors import InputError, InstallationError, LeafidError, UsageError
from leafid.features.augmentation import Augmentation, SourcePicture
from leafid.features.extractor import (
    N_TYPE_FEATURES,
    TYPE_SIDE,
    FeatureExtractor,
    Features,
    measure_type_features,
    name_versions,
)
from leafid.features.feature_cache import FeatureCache, choose_cache_folder
from leafid.parallel.mapping import check_jobs, ordered_map
from leafid.pictures.decoding import read_hashed_image
from leafid.pictures.header import hash_picture_file
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.segmentation.condition import Condition
from leafid.translation import get_language, using_language

T = TypeVar("T")
#: ``progress(items, total, caption)`` passes the items on.
Progress = Callable[[Iterable[T], int, str], Iterator[T]]
#: Values of a picture, each with one axis, by the key of a measure, or an augmentation's number and an expert's name.
Values = dict[Any, np.ndarray]
_log = logging.getLogger(__name__)

# Number of pictures that are looked up, and stored, together: their values are in memory at once, and workers may be as
# far ahead of the consumer.
_LOOKED_UP_AT_ONCE = 128


def pass_through(items: Iterable[T], total: int, caption: str) -> Iterator[T]:
    """Show no progress."""
    return iter(items)


@dataclass(frozen=True)
class _Source:
    """What is computed from pictures and cached; picklable, as workers get it."""

    #: Everything but the picture that decides a value, by the value's name.
    keys: dict[Any, str]
    #: How many numbers each value has.
    lengths: dict[Any, int]
    #: Pictures are reduced to it when they are read, in pixels.
    longest_side: int | None
    #: ``measure(image, picture, names)`` returns the values with these names.
    measure: Callable[[np.ndarray, Picture, Sequence[Any]], Values]
    #: The type in which values are stored.
    dtype: type[np.floating] = np.float16

    def make_keys(self, picture: Picture, content_hash: str | None) -> dict[Any, bytes]:
        """Make the keys in the cache of a picture's values, by name; there are none where its content is unknown."""
        if not content_hash:
            return {}
        words = f"|{picture.type}|{content_hash}"
        return {
            name: hashlib.sha256((key + words).encode()).digest()
            for name, key in self.keys.items()
        }

    def compute(self, picture: Picture, names: Sequence[Any]) -> tuple[str, Values]:
        """Compute values of a picture with some names; also returns the hash of what was read."""
        image, content_hash = read_hashed_image(
            picture.file, self.longest_side, picture.data
        )
        return content_hash, self.measure(image, picture, names)


@dataclass
class FeatureLoader:
    """Loads features; a command has one, and copies of it for its steps."""

    #: Without one, everything is computed.
    cache: FeatureCache | None = None
    #: Worker processes; the results don't depend on it.
    jobs: int = 1
    progress: Progress = pass_through
    #: The step of the work that is being done, with which captions start: ``2/3 photo``.
    step: str = ""
    #: Pictures that could not be read so far, with the message.
    unreadable: dict[Path, str] = field(default_factory=dict)
    _hash_file: Callable[[Path], str] = field(
        default_factory=lambda: cache(hash_picture_file)
    )

    def __post_init__(self) -> None:
        check_jobs(self.jobs)

    @property
    def folder(self) -> Path | None:
        """Where there is room for arrays that don't fit into memory: the cache's folder; None without a cache."""
        return self.cache.folder if self.cache else None

    def with_step(self, step: str) -> "FeatureLoader":
        """Return a loader for a part of the work, which shares the cache and `unreadable`."""
        return replace(self, step=", ".join(filter(None, (self.step, step))))

    def stream(
        self, pictures: Sequence[Picture], extractor: FeatureExtractor
    ) -> Generator[Features | None, None, None]:
        """Yield the features of pictures of known types, holding those of some hundred pictures at a time.

        None stands for a picture that can't be read, which is noted in `unreadable`. A caller that may stop early
        closes the generator: what was computed by then is cached.
        """
        with closing(self.stream_augmented(pictures, extractor, [None])) as stream:
            yield from (
                None if features is None else features[0] for features in stream
            )

    def stream_augmented(
        self,
        pictures: Sequence[Picture],
        extractor: FeatureExtractor,
        augmentations: Sequence[Augmentation | None],
    ) -> Generator[list[Features] | None, None, None]:
        """Yield for each picture the features of its augmentations, None for itself, as `stream` yields its own.

        A picture is read, and its leaf searched for, once for all of them.
        """
        keys = {
            (number, name): extractor.make_feature_key(
                name, augmentation.make_feature_key() if augmentation else ""
            )
            for number, augmentation in enumerate(augmentations)
            for name in extractor.experts
        }
        lengths = {key: extractor.count_values(key[1]) for key in keys}
        source = _Source(
            keys,
            lengths,
            extractor.longest_side,
            partial(_extract_features, extractor, augmentations),
        )
        with closing(self._stream_values(pictures, source)) as stream:
            for values in self.show_progress(stream, len(pictures), "describe"):
                numbers = range(len(augmentations))
                yield (
                    None
                    if values is None
                    else [_read_features(values, n, extractor.experts) for n in numbers]
                )

    def load_type_features(
        self, pictures: Sequence[Picture]
    ) -> list[np.ndarray | None]:
        """Load the features of `measure_type_features`; None for a picture that can't be read."""
        return self.load_measures(
            pictures, "type|2", N_TYPE_FEATURES, TYPE_SIDE, measure_type_features
        )

    def load_measures(
        self,
        pictures: Sequence[Picture],
        key: str,
        n_values: int,
        longest_side: int | None,
        measure: Callable[[np.ndarray, Picture], np.ndarray],
        what: str = "describe",
        dtype: type[np.floating] = np.float16,
    ) -> list[np.ndarray | None]:
        """Load measures of pictures, float32 with the precision of a type; None for a picture that can't be read.

        ``measure(image, picture)``, of the picture reduced to `longest_side` pixels, gives an array of `n_values`
        numbers, and is picklable. The `key` stands for it in the cache, and changes with it.
        """
        source = _Source(
            {key: f"{key}|{name_versions()}"},
            {key: n_values},
            longest_side,
            partial(_compute_measures, measure),
            dtype,
        )
        with closing(self._stream_values(pictures, source)) as stream:
            values_of_pictures = self.show_progress(stream, len(pictures), what)
            return [
                None if values is None else values[key].astype(np.float32)
                for values in values_of_pictures
            ]

    def show_progress(self, items: Iterable[T], total: int, what: str) -> Iterable[T]:
        """Pass items on and show the progress of the current step."""
        return self.progress(
            items, total, f"{self.step}: {what}" if self.step else what
        )

    def hash_picture(self, picture: Picture) -> str | None:
        """Hash the content of a picture; None where its file can't be read."""
        if picture.data is not None:
            return hashlib.sha256(picture.data).hexdigest()
        try:
            return self._hash_file(picture.file)
        except LeafidError:
            return None

    def map_pictures(
        self,
        function: Callable[..., T],
        pictures: Sequence[Picture],
        *arguments: Sequence[Any],
    ) -> Generator[T | None, None, None]:
        """Apply a function to pictures, with further arguments for each, on the workers.

        Where it raises an error, the result is None, and the error is noted in `unreadable`.
        """
        calls = list(zip(pictures, *arguments, strict=True))
        call = partial(_call_guarded, function, get_language())
        results = ordered_map(
            call,
            calls,
            self.jobs,
            lambda call, reason: LeafidError(f"{call[0].file}: {reason}"),
        )
        for picture, result in zip(pictures, results, strict=True):
            if not isinstance(result, LeafidError):
                yield result
                continue
            _log.debug("%s", "\n".join(getattr(result, "__notes__", ())))
            if picture.file not in self.unreadable:
                self.unreadable[picture.file] = str(result)
                _log.warning("%s", result)
            yield None

    def _stream_values(
        self, pictures: Sequence[Picture], source: _Source
    ) -> Generator[Values | None, None, None]:
        """Take from the cache what it has, compute what is missing, and commit that; float16 arrays."""
        for start in range(0, len(pictures), _LOOKED_UP_AT_ONCE):
            chunk = pictures[start : start + _LOOKED_UP_AT_ONCE]
            cached = self._look_up(chunk, source)
            missing = [
                [name for name in source.keys if name not in values]
                for values in cached
            ]
            incomplete = [
                picture for picture, names in zip(chunk, missing, strict=True) if names
            ]
            new: list[tuple[bytes, bytes]] = []
            results = self.map_pictures(
                source.compute, incomplete, [names for names in missing if names]
            )
            try:
                for picture, values, names in zip(chunk, cached, missing, strict=True):
                    content_hash, computed = (next(results) if names else None) or (
                        "",
                        {},
                    )
                    keys = source.make_keys(picture, content_hash)
                    for name, array in computed.items():
                        # In the range of its type, and rounded, computed values equal cached ones to the last bit.
                        greatest = np.finfo(source.dtype).max
                        values[name] = np.clip(array, -greatest, greatest).astype(
                            source.dtype
                        )
                        new.append((keys[name], values[name].tobytes()))
                    yield values if len(values) == len(source.keys) else None
            finally:
                results.close()
                if self.cache and new:
                    self.cache.put(new)

    def _look_up(self, pictures: Sequence[Picture], source: _Source) -> list[Values]:
        """Look up what the cache has of pictures; a value of another length is none of theirs."""
        if self.cache is None:
            return [{} for _ in pictures]
        keys = [
            source.make_keys(picture, self.hash_picture(picture))
            for picture in pictures
        ]
        itemsize = np.dtype(source.dtype).itemsize
        stored = self.cache.get(
            [key for of_picture in keys for key in of_picture.values()]
        )
        return [
            {
                name: np.frombuffer(stored[key], source.dtype)
                for name, key in of_picture.items()
                if len(stored.get(key, b"")) == source.lengths[name] * itemsize
            }
            for of_picture in keys
        ]


@contextmanager
def open_loader(
    jobs: int, cache: str | os.PathLike[str] | bool
) -> Iterator[FeatureLoader]:
    """Open the feature cache, as `leafid.train` describes it, with a loader that uses it."""
    if cache == "":
        raise InputError("cache: expected a folder, True or False, found an empty path")
    if cache is False:
        yield FeatureLoader(None, jobs)
        return
    with closing(
        FeatureCache(choose_cache_folder() if cache is True else Path(cache))
    ) as store:
        yield FeatureLoader(store, jobs)


def get_type(picture: Picture) -> AcquisitionType:
    """Return the acquisition type of a picture; raise `LeafidError` where it is not known."""
    if picture.type is None:
        raise LeafidError(
            f"{picture.file}: the acquisition type is not known; give it with --assume-type"
        )
    return picture.type


def _call_guarded(
    function: Callable[..., Any], language: str, call: tuple[Picture, ...]
) -> Any:
    """Call the function, or return its error with the traceback as a note: one bad picture must not cost the others."""
    file = call[0].file
    try:
        with (
            using_language(language),
            errors.memory_errors_as_image_error(file),
            errors.naming_what_to_install(),
        ):
            return function(*call)
    except (UsageError, InstallationError):
        raise
    except Exception as error:
        problem = LeafidError(str(error))
        if not isinstance(error, LeafidError):
            text = " ".join(str(error).split())
            problem = LeafidError(
                f"{file}: unexpected {type(error).__name__}: {text}; this is a bug, please report it"
            )
        problem.add_note("".join(traceback.format_exception(error)).rstrip("\n"))
        return problem


def _extract_features(
    extractor: FeatureExtractor,
    augmentations: Sequence[Augmentation | None],
    image: np.ndarray,
    picture: Picture,
    names: Sequence[tuple[int, str]],
) -> Values:
    """Extract vectors, each behind the values of the `Condition`."""
    source = SourcePicture(
        image, get_type(picture), extractor.longest_side, extractor.sought
    )
    values: Values = {}
    for number, augmentation in enumerate(augmentations):
        if experts := [expert for of_number, expert in names if of_number == number]:
            features = extractor.extract_from_views(
                source.make_views(augmentation), experts
            )
            vectors = {(number, expert): features.vectors[expert] for expert in experts}
            values |= {
                name: np.append(features.condition, vector)
                for name, vector in vectors.items()
            }
    return values


def _read_features(values: Values, number: int, experts: Iterable[str]) -> Features:
    """Make the features of an augmentation from what `_extract_features` returns."""
    arrays = {expert: values[number, expert] for expert in experts}
    n_values = len(Condition._fields)
    condition = Condition(*next(iter(arrays.values()))[:n_values].tolist())
    return Features(
        {expert: array[n_values:] for expert, array in arrays.items()}, condition
    )


def _compute_measures(
    measure: Callable[[np.ndarray, Picture], np.ndarray],
    image: np.ndarray,
    picture: Picture,
    names: Sequence[str],
) -> Values:
    return {name: measure(image, picture) for name in names}
