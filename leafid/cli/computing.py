"""What commands that compute share: the feature cache, the workers of a cluster, and the types of pictures."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from leafid.cli.arguments import CacheOptions, ComputingOptions
from leafid.cli.environment import Environment
from leafid.cluster import on_cluster
from leafid.errors import LeafidError
from leafid.features.feature_cache import FeatureCache, choose_cache_folder
from leafid.features.loader import FeatureLoader
from leafid.features.type_features import TYPE_SIDE, measure_type_features
from leafid.model.recogniser import TypeRecogniser
from leafid.pictures import AcquisitionType, Picture
from leafid.pictures.decoding import read_image


@contextmanager
def on_workers(options: ComputingOptions, pictures: Sequence[str], folders: Sequence[str] = ()) -> Iterator[None]:
    """Run parallel work on the cluster of ``--cluster``, or on local processes without it.

    The workers must be able to read the pictures and collections of the command line, and to see the other `folders`.
    """
    if not options.cluster:
        yield
        return
    # Only folders: there may be thousands of files.
    paths = dict.fromkeys(path if path.is_dir() else path.parent for path in map(Path, (*pictures, *folders)))
    with on_cluster(options.cluster, paths, options.jobs):
        yield


@contextmanager
def open_loader(options: CacheOptions, environment: Environment) -> Iterator[FeatureLoader]:
    """Open the feature cache and yield the loader that uses it."""
    with ExitStack() as stack:
        folder = options.cache or choose_cache_folder()
        if options.no_cache:
            # A temporary cache, so that features that several types share are computed only once.
            folder = stack.enter_context(TemporaryDirectory(prefix="leafid-"))
        cache = None
        try:
            cache = FeatureCache(folder, options.cache_limit)
            stack.callback(cache.close)
        except LeafidError as error:
            environment.warn(f"{error}; nothing is cached")
        yield FeatureLoader(cache, options.jobs, environment.progress)


def assume_type(type_: str | None, pictures: Sequence[Picture]) -> list[Picture]:
    """Give every picture the type of ``--assume-type``, if there is one."""
    return [replace(picture, type=AcquisitionType(type_)) for picture in pictures] if type_ else list(pictures)


def recognise_type(recognition: TypeRecogniser | None, picture: Picture) -> AcquisitionType:
    """Recognise the type of a picture whose metadata don't say it."""
    assert recognition is not None, "load_recogniser found no picture of unknown type"
    return recognition.recognise(measure_type_features(read_image(picture.file, TYPE_SIDE))[None])[0][0]
