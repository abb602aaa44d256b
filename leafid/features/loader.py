"""Loads the features of many pictures from the cache, or has workers compute them."""

import hashlib
import logging
import traceback
from collections.abc import (
    Callable,
    Generator,
    Iterable,
    Iterator,
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
from leafid.features.augmentation import Augmentation
from leafid.features.computations import (
    Arrays,
    CachedComputation,
    PictureFunction,
    make_extraction,
    make_features,
)
from leafid.features.extractor import FeatureExtractor, Features, name_versions
from leafid.features.feature_cache import FeatureCache, choose_cache_folder
from leafid.files import StrPath
from leafid.parallel.mapping import check_jobs, ordered_map
from leafid.parallel.progress import show_progress
from leafid.pictures.header import hash_picture_file
from leafid.pictures.picture import Picture
from leafid.translation import get_language, using_language

T = TypeVar("T")
_log = logging.getLogger(__name__)

# Number of pictures that are looked up, and stored, together: their values are in
# memory at once, and workers may be as far ahead of the consumer.
_LOOKED_UP_AT_ONCE = 128
# Nearly the largest block that can change how glibc handles freed memory, in bytes.
_LARGE_BLOCK = (32 << 20) - (1 << 16)


@dataclass
class FeatureLoader:
    """Loads features; a command has one, and copies of it for its steps."""

    #: Without one, everything is computed.
    cache: FeatureCache | None = None
    #: Worker processes; the results don't depend on it.
    jobs: int = 1
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
        """The folder of the cache, with room for large arrays; None without a cache."""
        return self.cache.folder if self.cache else None

    def with_step(self, step: str) -> "FeatureLoader":
        """Return a loader for a part of the work, with this cache and `unreadable`."""
        return replace(self, step=", ".join(filter(None, (self.step, step))))

    def stream(
        self, pictures: Sequence[Picture], extractor: FeatureExtractor
    ) -> Generator[Features | None, None, None]:
        """Yield the features of pictures of known types.

        None stands for a picture that can't be read, which is noted in `unreadable`.
        Features of some hundred pictures are held at a time. A caller that may stop
        early closes the generator: what was computed by then is cached.
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

        The augmentation None stands for the picture itself, as `stream` yields it. A
        picture is read, and its leaf searched for, once for all augmentations. `names`
        selects vectors of the extractor.
        """
        names = names or extractor.vector_names
        computation = make_extraction(extractor, augmentations, names)
        numbers = range(len(augmentations))
        with closing(self._stream_arrays(pictures, computation, "describe")) as stream:
            for arrays in stream:
                if arrays is None:
                    yield None
                else:
                    yield [make_features(arrays, number, names) for number in numbers]

    def compute_for_each(
        self,
        function: PictureFunction,
        pictures: Sequence[Picture],
        caption: str = "describe",
    ) -> list[np.ndarray | None]:
        """Give the result for each picture, or None for one that can't be read.

        Results are float32, with the precision of the function's `dtype`.
        """
        key = function.key
        computation = CachedComputation(
            keys={key: f"{key}|{name_versions()}"},
            longest_side=function.longest_side,
            function=function.compute_by_key,
            dtype=function.dtype,
        )
        results: list[np.ndarray | None] = []
        for arrays in self._stream_arrays(pictures, computation, caption):
            if arrays is None:
                results.append(None)
            else:
                results.append(arrays[key].astype(np.float32))
        return results

    def show_progress(self, items: Iterable[T], total: int, what: str) -> Iterable[T]:
        """Pass items on and show the progress of the current step."""
        caption = ": ".join(filter(None, (self.step, what)))
        return show_progress(items, total, caption)

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
        call = partial(_call_or_return_error, function, get_language())
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
        self, pictures: Sequence[Picture], computation: CachedComputation, what: str
    ) -> Generator[Arrays | None, None, None]:
        """Yield the arrays of each picture, and show the progress."""
        with closing(self._load_arrays(pictures, computation)) as stream:
            yield from self.show_progress(stream, len(pictures), what)

    def _load_arrays(
        self, pictures: Sequence[Picture], computation: CachedComputation
    ) -> Generator[Arrays | None, None, None]:
        """Take arrays from the cache, and compute and store the missing ones."""
        for start in range(0, len(pictures), _LOOKED_UP_AT_ONCE):
            chunk = pictures[start : start + _LOOKED_UP_AT_ONCE]
            cached = self._look_up_arrays(chunk, computation)
            missing = [computation.keys.keys() - arrays.keys() for arrays in cached]
            names = [
                sorted(missing_names) for missing_names in missing if missing_names
            ]
            incomplete = list(compress(chunk, missing))
            results = self.map_pictures(computation.compute, incomplete, names)
            new: list[tuple[bytes, bytes]] = []
            try:
                for arrays in cached:
                    if len(arrays) == len(computation.keys):
                        yield arrays
                    elif result := next(results):
                        computed, keys = result
                        for name, array in computed.items():
                            new.append((keys[name], array.tobytes()))
                        yield arrays | computed
                    else:
                        yield None
            finally:
                results.close()
                self.store(new)

    def _look_up_arrays(
        self, pictures: Sequence[Picture], computation: CachedComputation
    ) -> list[Arrays]:
        """Look up the arrays of pictures in the cache."""
        if self.cache is None:
            return [{} for _ in pictures]
        keys = [computation.make_keys(p, self.hash_picture(p)) for p in pictures]
        stored = self.look_up([*chain.from_iterable(map(dict.values, keys))])
        cached: list[Arrays] = []
        for names in keys:
            arrays: Arrays = {}
            for name, key in names.items():
                if key in stored:
                    arrays[name] = np.frombuffer(stored[key], computation.dtype)
            cached.append(arrays)
        return cached

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
    """Open the feature cache that `leafid.train` describes, and make a loader of it."""
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


@cache
def _keep_freed_memory() -> None:
    """Have glibc keep freed memory for the next picture.

    It returns blocks as large as a picture to the system, which then clears every page
    of the next one, until a larger block is freed.

    References
    ----------
    .. [1] mallopt(3), M_MMAP_THRESHOLD: the threshold is adjusted dynamically
    """
    np.empty(_LARGE_BLOCK, np.uint8)


def _call_or_return_error(
    function: Callable[..., Any], language: str, call: tuple[Picture, ...]
) -> Any:
    """Call a function; an error of one picture is returned, with its traceback."""
    file = call[0].file
    _keep_freed_memory()
    try:
        with (
            using_language(language),
            errors.memory_errors_as_image_error(file),
            errors.naming_what_to_install(),
        ):
            return function(*call)
    except Exception as error:
        concerns_all = isinstance(error, UsageError | InstallationError)
        if concerns_all and not isinstance(error, InputError):
            raise
        text = str(error)
        if not isinstance(error, LeafidError):
            text = (
                f"{file}: unexpected {type(error).__name__}: {' '.join(text.split())}; "
                "this is a bug, please report it"
            )
        problem = LeafidError(text)
        problem.add_note("".join(traceback.format_exception(error)).rstrip("\n"))
        return problem
