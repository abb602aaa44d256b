"""Loads the features of many pictures from the cache, or has workers compute them."""

import hashlib
import logging
import traceback
from collections.abc import (
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain, compress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from leafid import errors
from leafid.errors import InputError, InstallationError, LeafidError, UsageError
from leafid.features.augmentation import Augmentation, AugmentedPicture
from leafid.features.extractor import (
    TYPE_SIDE,
    FeatureExtractor,
    Features,
    measure_type_features,
    name_versions,
)
from leafid.features.feature_cache import FeatureCache, choose_cache_folder
from leafid.files import StrPath
from leafid.grouping import group_by
from leafid.parallel.mapping import check_jobs, ordered_map
from leafid.pictures.decoding import read_hashed_image
from leafid.pictures.header import hash_picture_file
from leafid.pictures.picture import Picture
from leafid.segmentation.condition import Condition
from leafid.translation import get_language, using_language
from leafid.versions import TYPE_VERSION

T = TypeVar("T")
#: ``progress(items, total, caption)`` passes the items on.
Progress = Callable[[Iterable[T], int, str], Iterator[T]]
#: Arrays of a picture, each with one axis, by anything that names them.
_Arrays = dict[Any, np.ndarray]
_log = logging.getLogger(__name__)

# Number of pictures that are looked up, and stored, together: their values are in
# memory at once, and workers may be as far ahead of the consumer.
_LOOKED_UP_AT_ONCE = 128


def pass_through(items: Iterable[T], total: int, caption: str) -> Iterator[T]:
    """Show no progress."""
    return iter(items)


@dataclass(frozen=True)
class PictureFunction:
    """A picklable function of pictures, whose results are cached."""

    #: It stands for the function in the cache, and changes with it.
    key: str
    #: ``compute(image, picture)`` gives the result, float (n,).
    compute: Callable[[np.ndarray, Picture], np.ndarray]
    #: Pictures are reduced to it before, in pixels.
    longest_side: int | None = None
    #: The type in which results are stored.
    dtype: type[np.floating] = np.float16

    def compute_by_key(
        self, image: np.ndarray, picture: Picture, keys: Sequence[str]
    ) -> dict[str, np.ndarray]:
        """Compute the result, by the only one of some keys."""
        return {key: self.compute(image, picture) for key in keys}


#: `measure_type_features`, from which acquisition types are recognised.
TYPE_FEATURES = PictureFunction(
    f"type|{TYPE_VERSION}", measure_type_features, TYPE_SIDE
)


@dataclass(frozen=True)
class _CachedComputation:
    """A computation from pictures that is cached; picklable, as workers get it."""

    #: Everything but the picture that decides an array, by the array's name.
    keys: dict[Any, str]
    #: Pictures are reduced to it when they are read, in pixels.
    longest_side: int | None
    #: ``function(image, picture, names)`` returns the arrays with these names.
    function: Callable[[np.ndarray, Picture, Sequence[Any]], _Arrays]
    #: The type in which arrays are stored.
    dtype: type[np.floating] = np.float16

    def make_keys(self, picture: Picture, content_hash: str | None) -> dict[Any, bytes]:
        """Make the keys in the cache of a picture's arrays, by name.

        There are none where its content is unknown.
        """
        if not content_hash:
            return {}
        words = f"|{picture.type}|{content_hash}"
        return {
            name: hashlib.sha256((key + words).encode()).digest()
            for name, key in self.keys.items()
        }

    def compute(self, picture: Picture, names: Sequence[Any]) -> tuple[str, _Arrays]:
        """Compute arrays of a picture with some names.

        Also returns the hash of the file's content.
        """
        image, content_hash = read_hashed_image(
            picture.file, self.longest_side, picture.data
        )
        # In the range of its type, and rounded, a computed array equals a cached one to
        # the last bit.
        greatest = np.finfo(self.dtype).max
        arrays = self.function(image, picture, names)
        for name, array in arrays.items():
            arrays[name] = np.clip(array, -greatest, greatest).astype(self.dtype)
        return content_hash, arrays

    def encode(
        self, picture: Picture, content_hash: str, arrays: _Arrays
    ) -> list[tuple[bytes, bytes]]:
        """Encode arrays of a picture for the cache, each with its key."""
        keys = self.make_keys(picture, content_hash)
        return [(keys[name], array.tobytes()) for name, array in arrays.items()]

    def read(self, stored: Mapping[bytes, bytes], keys: Mapping[Any, bytes]) -> _Arrays:
        """Read the arrays that a cache has for a picture's keys."""
        return {
            name: np.frombuffer(stored[key], self.dtype)
            for name, key in keys.items()
            if key in stored
        }


@dataclass
class FeatureLoader:
    """Loads features; a command has one, and copies of it for its steps."""

    #: Without one, everything is computed.
    cache: FeatureCache | None = None
    #: Worker processes; the results don't depend on it.
    jobs: int = 1
    progress: Progress = pass_through
    #: The step of the work that is being done, with which captions start: ``2/3
    #: photo``.
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
        """The folder of the cache, with room for arrays larger than the memory.

        The folder is None without a cache.
        """
        return self.cache.folder if self.cache else None

    def with_step(self, step: str) -> "FeatureLoader":
        """Return a loader for a part of the work, with this cache and `unreadable`."""
        return replace(self, step=", ".join(filter(None, (self.step, step))))

    def stream(
        self, pictures: Sequence[Picture], extractor: FeatureExtractor
    ) -> Generator[Features | None, None, None]:
        """Yield the features of pictures of known types.

        Features of some hundred pictures are held at a time.

        None stands for a picture that can't be read, which is noted in `unreadable`. A
        caller that may stop early closes the generator: what was computed by then is
        cached.
        """
        with closing(self.stream_augmented(pictures, extractor, [None])) as stream:
            for features in stream:
                yield next(iter(features or ()), None)

    def stream_augmented(
        self,
        pictures: Sequence[Picture],
        extractor: FeatureExtractor,
        augmentations: Sequence[Augmentation | None],
        names: Sequence[str] | None = None,
    ) -> Generator[list[Features] | None, None, None]:
        """Yield the features of the augmentations of each picture.

        They have all vectors of the extractor, or those with some names.

        The augmentation None stands for the picture itself, as `stream` yields it.

        A picture is read, and its leaf searched for, once for all of them.
        """
        keys = {}
        names = names or extractor.vector_names
        for number, augmentation in enumerate(augmentations):
            words = augmentation.make_feature_key() if augmentation else ""
            for name in names:
                keys[number, name] = extractor.make_feature_key(name, words)
        computation = _CachedComputation(
            keys,
            longest_side=extractor.longest_side,
            function=partial(_extract_features, extractor, augmentations),
        )
        with closing(self._stream_arrays(pictures, computation)) as stream:
            for arrays in self.show_progress(stream, len(pictures), "describe"):
                if arrays is None:
                    yield None
                    continue
                yield [
                    _read_features(arrays, number, names)
                    for number in range(len(augmentations))
                ]

    def compute_for_each(
        self,
        function: PictureFunction,
        pictures: Sequence[Picture],
        caption: str = "describe",
    ) -> list[np.ndarray | None]:
        """Give the result for each picture, float32 with the precision of its type.

        None if it can't be read.
        """
        key = function.key
        computation = _CachedComputation(
            keys={key: f"{key}|{name_versions()}"},
            longest_side=function.longest_side,
            function=function.compute_by_key,
            dtype=function.dtype,
        )
        results: list[np.ndarray | None] = []
        with closing(self._stream_arrays(pictures, computation)) as stream:
            for arrays in self.show_progress(stream, len(pictures), caption):
                if arrays is None:
                    results.append(None)
                else:
                    results.append(arrays[key].astype(np.float32))
        return results

    def show_progress(self, items: Iterable[T], total: int, what: str) -> Iterable[T]:
        """Pass items on and show the progress of the current step."""
        caption = ": ".join(filter(None, (self.step, what)))
        return self.progress(items, total, caption)

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
        """Apply a function to pictures on the workers, with further arguments for each.

        Where it raises an error, the result is None, and the error is noted in
        `unreadable`.
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

    def _stream_arrays(
        self, pictures: Sequence[Picture], computation: _CachedComputation
    ) -> Generator[_Arrays | None, None, None]:
        """Take arrays from the cache, and compute and store the missing ones."""
        for start in range(0, len(pictures), _LOOKED_UP_AT_ONCE):
            chunk = pictures[start : start + _LOOKED_UP_AT_ONCE]
            cached = self._look_up_arrays(chunk, computation)
            missing = [computation.keys.keys() - arrays.keys() for arrays in cached]
            names = [sorted(of_picture) for of_picture in missing if of_picture]
            incomplete = list(compress(chunk, missing))
            results = self.map_pictures(computation.compute, incomplete, names)
            new: list[tuple[bytes, bytes]] = []
            try:
                for picture, arrays in zip(chunk, cached, strict=True):
                    if len(arrays) == len(computation.keys):
                        yield arrays
                    elif result := next(results):
                        content_hash, computed = result
                        new += computation.encode(picture, content_hash, computed)
                        yield arrays | computed
                    else:
                        yield None
            finally:
                results.close()
                self.store(new)

    def _look_up_arrays(
        self, pictures: Sequence[Picture], computation: _CachedComputation
    ) -> list[_Arrays]:
        """Look up the arrays of pictures in the cache."""
        if self.cache is None:
            return [{} for _ in pictures]
        keys = [
            computation.make_keys(picture, self.hash_picture(picture))
            for picture in pictures
        ]
        stored = self.look_up([*chain(*(of_picture.values() for of_picture in keys))])
        return [computation.read(stored, of_picture) for of_picture in keys]

    def look_up(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Look up some keys in the cache; without a cache, none is there."""
        return self.cache.get(keys) if self.cache else {}

    def store(self, items: Sequence[tuple[bytes, bytes]]) -> None:
        """Store values by key in the cache, if there is one."""
        if self.cache and items:
            self.cache.put(items)


@contextmanager
def open_loader(
    jobs: int, cache: StrPath | bool | FeatureLoader
) -> Iterator[FeatureLoader]:
    """Open the feature cache as `leafid.train` describes it, with a loader."""
    if isinstance(cache, FeatureLoader):
        yield cache
        return
    if cache == "":
        raise InputError("cache: expected a folder, True or False, found an empty path")
    if cache is False:
        yield FeatureLoader(None, jobs)
        return
    with closing(
        FeatureCache(choose_cache_folder() if cache is True else Path(cache))
    ) as store:
        yield FeatureLoader(store, jobs)


def _call_guarded(
    function: Callable[..., Any], language: str, call: tuple[Picture, ...]
) -> Any:
    """Call the function, or return its error with the traceback as a note.

    One bad picture must not cost the others.
    """
    file = call[0].file
    try:
        with (
            using_language(language),
            errors.memory_errors_as_image_error(file),
            errors.naming_what_to_install(),
        ):
            return function(*call)
    except LeafidError as error:
        is_of_all = isinstance(error, UsageError | InstallationError)
        if is_of_all and not isinstance(error, InputError):
            raise
        problem = LeafidError(str(error))
        trace = traceback.format_exception(error)
    except Exception as error:
        text = " ".join(str(error).split())
        problem = LeafidError(
            f"{file}: unexpected {type(error).__name__}: {text}; this is a bug, please "
            "report it"
        )
        trace = traceback.format_exception(error)
    problem.add_note("".join(trace).rstrip("\n"))
    return problem


def _extract_features(
    extractor: FeatureExtractor,
    augmentations: Sequence[Augmentation | None],
    image: np.ndarray,
    picture: Picture,
    names: Sequence[tuple[int, str]],
) -> _Arrays:
    """Extract vectors, each behind the values of the `Condition`."""
    source = AugmentedPicture(
        image, picture.require_type(), extractor.longest_side, extractor.needed_parts
    )
    arrays: _Arrays = {}
    for number, of_number in group_by(names, lambda name: name[0]).items():
        views = source.make_views(augmentations[number])
        vector_names = [vector_name for _, vector_name in of_number]
        features = extractor.extract_from_views(views, vector_names)
        for vector_name, vector in features.vectors.items():
            arrays[number, vector_name] = np.append(features.condition, vector)
    return arrays


def _read_features(arrays: _Arrays, number: int, names: Iterable[str]) -> Features:
    """Make the features of an augmentation from what `_extract_features` returns."""
    n_values = len(Condition._fields)
    vectors = {name: arrays[number, name] for name in names}
    condition = Condition(*next(iter(vectors.values()))[:n_values].tolist())
    return Features({name: v[n_values:] for name, v in vectors.items()}, condition)
