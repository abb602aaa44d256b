import shutil
import tracemalloc
from contextlib import closing
from dataclasses import replace

import cv2
import numpy as np
import pytest

from leafid.features import computations
from leafid.features import loader as module
from leafid.features.augmentation import Augmentation
from leafid.features.computations import TYPE_FEATURES, PictureFunction
from leafid.features.extractor import LEAF_MEASURES, FeatureExtractor, Features
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Expert
from leafid.parallel.progress import showing_progress
from leafid.pictures.decoding import read_hashed_image
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.condition import Condition

SCAN = AcquisitionType.SCAN
SHAPE = FeatureExtractor(
    {"shape": Expert(descriptor="measures", families=("geometry",))}
)


@pytest.fixture
def computed(monkeypatch):
    """The names of the experts computed in this process, for each picture."""
    calls = []
    extract = FeatureExtractor.extract_from_views

    def note(self, views, names):
        calls.append(names)
        return extract(self, views, names)

    monkeypatch.setattr(FeatureExtractor, "extract_from_views", note)
    return calls


def load(loader, pictures, extractor=SHAPE):
    return list(loader.stream(pictures, extractor))


def vectors(loaded):
    return [
        item and {name: vector.tobytes() for name, vector in item.vectors.items()}
        for item in loaded
    ]


def test_features_are_equal_with_the_cache_without_it_and_on_two_processes(
    pictures, store
):
    runs = [
        load(FeatureLoader(store), pictures),
        load(FeatureLoader(store), pictures),
        load(FeatureLoader(), pictures),
        load(FeatureLoader(jobs=2), pictures),
    ]
    assert all(vectors(run) == vectors(runs[0]) for run in runs)
    assert all(
        [features.confidence for features in run]
        == [features.confidence for features in runs[0]]
        for run in runs
    )


def test_a_moved_picture_is_cached_and_a_changed_one_is_not(
    pictures, store, computed, tmp_path
):
    before = load(FeatureLoader(store), pictures)
    moved = replace(
        pictures[0], file=shutil.move(pictures[0].file, tmp_path / "elsewhere.jpg")
    )
    shutil.copy(pictures[2].file, pictures[1].file)
    after = load(FeatureLoader(store), [moved, *pictures[1:]])
    assert len(computed) == 4
    assert vectors(after)[0] == vectors(before)[0]
    assert vectors(after)[1] == vectors(before)[2]
    image = cv2.imread(str(pictures[3].file))
    cv2.imwrite(
        str(pictures[3].file),
        cv2.rotate(image[:, : image.shape[1] // 2], cv2.ROTATE_180),
    )
    again = load(FeatureLoader(store), pictures[3:])
    assert len(computed) == 5
    assert vectors(again)[0] != vectors(before)[3]


def test_another_type_or_parameter_is_computed_anew(pictures, store, computed):
    longer = FeatureExtractor(
        {"shape": Expert(descriptor="measures", families=("geometry", "hu"))}
    )
    load(FeatureLoader(store), pictures[:1])
    load(FeatureLoader(store), [replace(pictures[0], type=AcquisitionType.PHOTO)])
    load(FeatureLoader(store), pictures[:1], longer)
    assert len(computed) == 3


def test_equal_experts_of_different_recipes_share_their_vectors(
    pictures, store, computed
):
    hu = Expert(descriptor="measures", families=("hu",))
    both = FeatureExtractor({"hu": hu, "renamed": SHAPE.experts["shape"]})
    wanted = load(FeatureLoader(), pictures, both)
    load(FeatureLoader(store), pictures)
    computed.clear()
    loaded = load(FeatureLoader(store), pictures, both)
    assert computed == [["hu"]] * len(pictures)
    assert vectors(loaded) == vectors(wanted)


def test_unreadable_pictures_do_not_stop_the_others(pictures, store, caplog):
    pictures[0].file.write_bytes(b"")
    pictures[2].file.write_text("no picture")
    gone = replace(pictures[3], file=pictures[3].file.with_name("gone.jpg"))
    loader = FeatureLoader(store)
    loaded = load(loader, [*pictures, gone])
    assert [features is None for features in loaded] == [True, False, True, False, True]
    assert set(loader.unreadable) == {pictures[0].file, pictures[2].file, gone.file}
    for file in loader.unreadable:
        # The message is logged once, although the picture is loaded again.
        load(loader, [replace(pictures[0], file=file)])
        assert caplog.text.count(f"{file}: ") == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_tracebacks_of_errors_in_workers_are_logged_for_debugging(
    pictures, caplog, jobs
):
    pictures[0].file.write_bytes(b"")
    caplog.set_level("DEBUG", "leafid")
    loader = FeatureLoader(jobs=jobs)
    load(loader, pictures[:2])
    assert list(loader.map_pictures(divide_by_zero, pictures[1:2])) == [None]
    assert "this is a bug, please report it" in loader.unreadable[pictures[1].file]
    tracebacks = [
        record.getMessage() for record in caplog.records if record.levelname == "DEBUG"
    ]
    assert len(tracebacks) == 2
    assert all(text.startswith("Traceback") for text in tracebacks)
    assert ", in read_picture_bytes\n" in tracebacks[0]
    assert ", in divide_by_zero\n" in tracebacks[1]


def divide_by_zero(_guarded):
    return 1 / 0


def test_features_computed_before_an_interruption_are_cached(pictures, store, computed):
    def impatient(items, total, what):
        for number, item in enumerate(items):
            if number == 2:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt), showing_progress(impatient):
        load(FeatureLoader(store), pictures)
    computed.clear()
    resumed = load(FeatureLoader(store), pictures)
    assert len(computed) == 1
    assert vectors(resumed) == vectors(load(FeatureLoader(), pictures))


def test_a_picture_without_a_type_is_refused(pictures):
    loader = FeatureLoader()
    assert load(loader, [replace(pictures[0], type=None)]) == [None]
    assert "give it with --assume-type" in next(iter(loader.unreadable.values()))


def test_another_version_of_opencv_computes_anew(
    pictures, store, computed, monkeypatch
):
    """The last of its three numbers makes no difference, as it counts bug fixes."""
    types = []
    function = replace(
        TYPE_FEATURES,
        compute=lambda image, picture: types.append(picture) or np.zeros(27),
    )
    counts = []
    for version in ("4.11.0", "4.11.1", "4.12.0", "5.0.0", "5.0.0-dev", "4.11.0"):
        monkeypatch.setattr(cv2, "__version__", version)
        load(FeatureLoader(store), pictures[:1])
        FeatureLoader(store).compute_for_each(function, pictures[:1])
        counts.append((len(computed), len(types)))
    assert counts == [(1, 1), (1, 1), (2, 2), (3, 3), (3, 3), (3, 3)]


def test_values_are_rounded_to_half_precision(pictures, store):
    values = np.array([0.1, -1e9, 1e-7, 70000.0, 2049.0])
    wanted = (
        np.array([0.1, -65504, 1e-7, 65504, 2048]).astype(np.float16).astype(np.float32)
    )
    for loader in (FeatureLoader(store), FeatureLoader(store), FeatureLoader()):
        function = PictureFunction("own|1", lambda image, picture: values, 100)
        (measures,) = loader.compute_for_each(function, pictures[:1])
        np.testing.assert_array_equal(measures, wanted)
        assert measures.dtype == np.float32


@pytest.mark.parametrize("jobs", [1, 2])
def test_cached_and_new_pictures_in_any_order(pictures, store, monkeypatch, jobs):
    """The order also holds where they are looked up, and computed, in several parts."""
    wanted = vectors(load(FeatureLoader(), pictures))
    load(FeatureLoader(store), [pictures[1], pictures[3]])
    monkeypatch.setattr(module, "_LOOKED_UP_AT_ONCE", 2)
    assert vectors(load(FeatureLoader(store, jobs), pictures)) == wanted


def test_few_features_are_held_at_once(pictures, monkeypatch):
    """A stream over many pictures has the peak of few, also with an empty cache."""
    monkeypatch.setattr(module, "_LOOKED_UP_AT_ONCE", 8)
    vectors = {"shape": np.ones(100_000), LEAF_MEASURES: np.ones(1)}
    features = Features(vectors, Condition(1.0))
    monkeypatch.setattr(FeatureExtractor, "extract_from_views", lambda *_: features)
    small = replace(SHAPE, longest_side=32)
    peaks = []
    list(FeatureLoader().stream(pictures[:1], small))  # what is loaded at first use
    for n_pictures in (16, 64):
        tracemalloc.start()
        n_found = sum(
            1 for _ in FeatureLoader().stream([pictures[0]] * n_pictures, small)
        )
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert n_found == n_pictures
    # The vectors of the 48 more are 10 MB.
    assert peaks[1] < peaks[0] + 2_000_000


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_is_replaced_after_it_was_hashed_is_cached_as_what_was_read(
    pictures, store, jobs
):
    first, second = pictures[:2]
    before = first.file.read_bytes()
    wanted = vectors(load(FeatureLoader(), [first, second]))
    loader = FeatureLoader(store, jobs)
    loader.hash_picture(first)
    first.file.write_bytes(second.file.read_bytes())
    assert vectors(load(loader, [first, second])) == [wanted[1], wanted[1]]
    first.file.write_bytes(before)
    assert vectors(load(FeatureLoader(store), [first, second])) == wanted


def test_a_picture_is_read_once_for_all_its_augmentations(
    pictures, store, computed, monkeypatch
):
    read = []
    monkeypatch.setattr(
        computations,
        "read_hashed_image",
        lambda *args: read.append(args) or read_hashed_image(*args),
    )
    augmentations = [None, Augmentation("jitter", 1), Augmentation("jitter", 2)]
    with closing(
        FeatureLoader(store).stream_augmented(pictures[:2], SHAPE, augmentations)
    ) as stream:
        augmented = list(stream)
    assert (len(read), len(computed)) == (2, 6)
    assert vectors([item[0] for item in augmented]) == vectors(
        load(FeatureLoader(store), pictures[:2])
    )
    assert len({item["shape"] for item in vectors(augmented[0])}) == 3
    assert len(computed) == 6
