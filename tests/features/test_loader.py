import shutil
import tracemalloc
from contextlib import closing
from dataclasses import replace

import cv2
import numpy as np
import pytest

from leafid.collection.picture import AcquisitionType
from leafid.errors import LeafidError
from leafid.features import loader as module
from leafid.features.extractor import FeatureExtractor
from leafid.features.loader import FeatureLoader
from leafid.recipes.recipe import Expert, LocalPatches, Measures, Recipe

SCAN = AcquisitionType.SCAN
SHAPE = FeatureExtractor({"shape": Expert(Measures(("geometry",)))})


@pytest.fixture
def pictures(training, tmp_path):
    """Copies of four scans, which a test may change."""
    chosen = [picture for picture in training if picture.type == SCAN][:4]
    return [replace(picture, file=shutil.copy(picture.file, tmp_path / picture.name)) for picture in chosen]


class Counted:
    """Counts the pictures that are really described."""

    def __init__(self, monkeypatch):
        self.files = []
        describe = module._describe_picture

        def counting(extractor, asked):
            self.files.append(asked[0].file)
            return describe(extractor, asked)

        self.uncounted = describe
        monkeypatch.setattr(module, "_describe_picture", counting)

    def since(self):
        found, self.files = self.files, []
        return found


@pytest.fixture
def described(monkeypatch):
    return Counted(monkeypatch)


def vectors(found):
    return [None if one is None else {name: v.tobytes() for name, v in one.vectors.items()} for one in found]


def test_the_same_from_the_store_without_it_and_on_two_processes(pictures, store):
    runs = [
        FeatureLoader(store).describe(pictures, SHAPE),
        FeatureLoader(store).describe(pictures, SHAPE),
        FeatureLoader().describe(pictures, SHAPE),
        FeatureLoader(jobs=2).describe(pictures, SHAPE),
    ]
    assert all(vectors(run) == vectors(runs[0]) for run in runs)
    assert all([one.confidence for one in run] == [one.confidence for one in runs[0]] for run in runs)


def test_nothing_is_described_twice(pictures, store, described):
    FeatureLoader(store).describe(pictures[:3], SHAPE)
    assert len(described.since()) == 3
    FeatureLoader(store).describe(pictures, SHAPE)
    assert described.since() == [pictures[3].file]


def test_a_moved_picture_is_known_and_a_changed_one_is_not(pictures, store, described, tmp_path):
    before = FeatureLoader(store).describe(pictures, SHAPE)
    described.since()
    moved = replace(pictures[0], file=shutil.move(pictures[0].file, tmp_path / "elsewhere.jpg"))
    shutil.copy(pictures[2].file, pictures[1].file)
    after = FeatureLoader(store).describe([moved, *pictures[1:]], SHAPE)
    assert described.since() == []
    assert vectors(after)[0] == vectors(before)[0]
    assert vectors(after)[1] == vectors(before)[2]
    image = cv2.imread(str(pictures[3].file))
    cv2.imwrite(str(pictures[3].file), cv2.rotate(image[:, : image.shape[1] // 2], cv2.ROTATE_180))
    again = FeatureLoader(store).describe(pictures[3:], SHAPE)
    assert described.since() == [pictures[3].file]
    assert vectors(again)[0] != vectors(before)[3]


def test_another_type_or_parameter_is_described_anew(pictures, store, described):
    FeatureLoader(store).describe(pictures[:1], SHAPE)
    described.since()
    FeatureLoader(store).describe([replace(pictures[0], type=AcquisitionType.PHOTO)], SHAPE)
    assert len(described.since()) == 1
    FeatureLoader(store).describe(pictures[:1], FeatureExtractor({"shape": Expert(Measures(("geometry", "hu")))}))
    assert len(described.since()) == 1


def test_experts_share_their_vectors_whatever_recipe_they_are_in(pictures, store, monkeypatch):
    both = FeatureExtractor({"hu": Expert(Measures(("hu",))), "renamed": Expert(Measures(("geometry",)))})
    wanted = FeatureLoader().describe(pictures, both)
    FeatureLoader(store).describe(pictures, SHAPE)
    asked = []
    extract = FeatureExtractor.extract
    monkeypatch.setattr(
        FeatureExtractor,
        "extract",
        lambda self, image, kind, names=None: asked.append(names) or extract(self, image, kind, names),
    )
    found = FeatureLoader(store).describe(pictures, both)
    assert asked == [["hu"]] * len(pictures)
    assert vectors(found) == vectors(wanted)


def test_labels_do_not_count(pictures, store, described):
    FeatureLoader(store).describe(pictures, SHAPE)
    described.since()
    FeatureLoader(store).describe([replace(p, taxon=None, plant=None, part=None) for p in pictures], SHAPE)
    assert described.since() == []


def test_pictures_that_can_not_be_read_cost_nothing_of_the_others(pictures, store, caplog):
    pictures[0].file.write_bytes(b"")
    pictures[2].file.write_text("no picture")
    gone = replace(pictures[3], file=pictures[3].file.with_name("gone.jpg"))
    loader = FeatureLoader(store)
    found = loader.describe([*pictures, gone], SHAPE)
    assert [one is None for one in found] == [True, False, True, False, True]
    assert set(loader.unreadable) == {pictures[0].file, pictures[2].file, gone.file}
    for file in loader.unreadable:
        # Named once, though it is asked for again.
        loader.describe([replace(pictures[0], file=file)], SHAPE)
        assert caplog.text.count(f"{file}: ") == 1


def test_what_was_done_before_an_interruption_is_kept(pictures, store, described, monkeypatch):
    def impatient(items, total, what):
        for number, item in enumerate(items):
            if number == 2:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt):
        FeatureLoader(store, progress=impatient).describe(pictures, SHAPE)
    described.since()
    resumed = FeatureLoader(store).describe(pictures, SHAPE)
    assert len(described.since()) == 2
    assert vectors(resumed) == vectors(FeatureLoader().describe(pictures, SHAPE))


def test_a_failing_store_costs_only_time(pictures, store, caplog):
    store._connection.close()
    found = FeatureLoader(store).describe(pictures, SHAPE)
    assert all(one is not None for one in found)
    assert "descriptor store can't be" in caplog.text
    store._connection = store._connect()


LOCAL = Expert(LocalPatches("dense-sift", size=64, scales=1, modes=2, components=4))
RECIPE = Recipe(SCAN, {"local": LOCAL, "shape": Expert(Measures(("hu",)))}, (SCAN,), codebook_pictures=3)


def codebook(loader, pictures, seed=0, recipe=RECIPE):
    encoders = loader.learn_encoders(pictures, recipe, seed)
    assert list(encoders) == ["local"]
    return {name: array.tobytes() for name, array in encoders["local"].get_state().items()}


def test_codebooks_are_kept_and_come_back_to_the_bit(pictures, store, monkeypatch):
    learned = codebook(FeatureLoader(store), pictures)
    assert codebook(FeatureLoader(), pictures) == learned
    monkeypatch.setattr(module, "_draw_features", lambda *_: pytest.fail("drew again"))
    assert codebook(FeatureLoader(store), pictures) == learned


def test_another_seed_or_picture_makes_another_codebook(pictures, store):
    first = codebook(FeatureLoader(store), pictures[:3])
    assert codebook(FeatureLoader(store), pictures[:3], seed=1) != first
    assert codebook(FeatureLoader(store), pictures[1:]) != first


def test_a_codebook_of_some_types(pictures, store):
    """A recipe on more types shares the codebook, and with it all vectors, where the expert names its types."""
    photo = replace(pictures[3], type=AcquisitionType.PHOTO)
    shared = replace(RECIPE, experts={"local": LOCAL.with_keys(codebook_types=(SCAN,))})
    assert codebook(FeatureLoader(store), [*pictures[:3], photo], recipe=shared) == codebook(
        FeatureLoader(store), pictures[:3]
    )
    only = replace(RECIPE, experts={"local": LOCAL.with_keys(codebook_types=(AcquisitionType.SCAN_LIKE,))})
    # Where there is no such picture, all serve.
    assert codebook(FeatureLoader(store), pictures[:3], recipe=only) == codebook(FeatureLoader(store), pictures[:3])


def grey(pictures):
    """Take the colour out of pictures, as photos."""
    for picture in pictures:
        cv2.imwrite(str(picture.file), cv2.imread(str(picture.file), cv2.IMREAD_GRAYSCALE))
    return [replace(picture, type=AcquisitionType.PHOTO) for picture in pictures]


@pytest.mark.parametrize("encoder", ["fisher", "vlad", "words"])
def test_an_expert_that_sees_nothing_costs_no_other(pictures, caplog, encoder):
    """Of grey pictures there are no hues that meet."""
    chroma = Expert(LocalPatches("dense-chroma-sift", view="picture", modes=8, components=4, encoder=encoder))
    recipe = replace(RECIPE, type=AcquisitionType.PHOTO, experts={"local": LOCAL, "chroma": chroma})
    photos = grey(pictures)
    encoders = FeatureLoader().learn_encoders(photos, recipe, 0)
    assert "expert chroma sees nothing in these pictures: expected at least 8 local features" in caplog.text
    (found,) = FeatureLoader().describe(photos[:1], FeatureExtractor(recipe.experts, encoders))
    assert not found.vectors["chroma"].any()
    assert found.vectors["local"].any()
    with pytest.raises(LeafidError, match="expected at least 8 local features"):
        FeatureLoader().learn_encoders(photos, replace(recipe, experts={"chroma": chroma}), 0)


def test_where_the_named_types_show_too_little_all_serve(pictures, caplog):
    photo = AcquisitionType.PHOTO
    photos = [replace(picture, type=photo) for picture in pictures[1:]]
    inside = LOCAL.with_keys(codebook_types=(SCAN,))
    recipe = Recipe(photo, {"inside": inside}, (photo, SCAN), codebook_pictures=3)
    # One white sheet, and one that can't be read.
    for content in (cv2.imencode(".png", np.full((90, 90, 3), 255, np.uint8))[1].tobytes(), b""):
        pictures[0].file.write_bytes(content)
        encoder = FeatureLoader().learn_encoders([pictures[0], *photos], recipe, 0)["inside"]
        assert np.isfinite(encoder.get_state()["means"]).all()
    assert "sees nothing" not in caplog.text


def test_nothing_to_learn_a_codebook_from(pictures):
    for picture in pictures:
        picture.file.write_bytes(b"")
    with pytest.raises(LeafidError, match="no picture could be read to learn a codebook from"):
        FeatureLoader().learn_encoders(pictures, RECIPE, 0)
    assert (
        FeatureLoader().learn_encoders(pictures, replace(RECIPE, experts={"shape": Expert(Measures(("hu",)))}), 0) == {}
    )


def test_a_picture_without_a_type_is_refused(pictures):
    loader = FeatureLoader()
    assert loader.describe([replace(pictures[0], type=None)], SHAPE) == [None]
    assert "give it with --assume-type" in next(iter(loader.unreadable.values()))


def test_type_features_are_kept(pictures, store, monkeypatch):
    first = FeatureLoader(store).type_features(pictures)
    monkeypatch.setattr(module, "_type_features", lambda _: pytest.fail("measured again"))
    again = FeatureLoader(store).type_features(pictures)
    np.testing.assert_array_equal(first, again)


def test_streaming_goes_on_where_a_caller_stopped(pictures, store, described):
    with closing(FeatureLoader(store).stream(pictures, SHAPE)) as stream:
        first = next(stream)
    # What was asked for is kept, and nothing else was computed.
    assert described.since() == [pictures[0].file]
    again = list(FeatureLoader(store).stream(pictures, SHAPE))
    assert described.since() == [picture.file for picture in pictures[1:]]
    assert vectors(again)[0] == vectors([first])[0]


def test_known_and_new_pictures_in_any_order(pictures, store, described, monkeypatch):
    """Also where they are looked up, and computed, in several stretches."""
    wanted = vectors(FeatureLoader().describe(pictures, SHAPE))
    FeatureLoader(store).describe([pictures[1], pictures[3]], SHAPE)
    monkeypatch.setattr(module, "_READ_AT_ONCE", 3)
    monkeypatch.setattr(module, "_AHEAD", 1)
    described.since()
    assert vectors(FeatureLoader(store).describe(pictures, SHAPE)) == wanted
    assert described.since() == [pictures[0].file, pictures[2].file]
    # Worker processes count nothing that would be seen here.
    monkeypatch.setattr(module, "_describe_picture", described.uncounted)
    assert vectors(FeatureLoader(jobs=2).describe(pictures, SHAPE)) == wanted


def test_what_another_process_removed_meanwhile_is_computed_again(pictures, store, described, monkeypatch):
    wanted = vectors(FeatureLoader(store).describe(pictures, SHAPE))
    described.since()
    store._change("DELETE FROM vectors", [()])
    monkeypatch.setattr(store, "known", set)  # it still says that it has all
    assert vectors(FeatureLoader(store).describe(pictures, SHAPE)) == wanted
    assert len(described.since()) == 4


def test_few_descriptions_are_held_at_once(pictures, tmp_path, monkeypatch):
    """The peak of a stream over many pictures is that over few, also where none is in the store yet."""
    monkeypatch.setattr(module, "_READ_AT_ONCE", 8)
    monkeypatch.setattr(module, "_COMMIT_EVERY", 8)
    monkeypatch.setattr(
        module, "_describe_picture", lambda extractor, asked: [[np.ones(1), np.ones(100_000)] for _ in asked[1]]
    )
    peaks = []
    list(FeatureLoader().stream(pictures[:1], SHAPE))  # what is loaded at first use
    for n_pictures in (40, 160):
        tracemalloc.start()
        n_found = sum(1 for _ in FeatureLoader().stream([pictures[0]] * n_pictures, SHAPE))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert n_found == n_pictures
    # The vectors of the 120 more are 24 MB.
    assert peaks[1] < peaks[0] + 2_000_000
