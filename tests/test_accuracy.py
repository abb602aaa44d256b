"""Floors of top-1: they fail when a recipe or the bundled model becomes worse.

Each floor is about two pictures below what was measured, since other processors round
differently. That of the recipe `fast` is in tests/test_readme.py, where a page trains a
model with it.
"""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs
from threadpoolctl import threadpool_limits

from benchmarks.altering import ALTERATIONS
from leafid.features.computations import TYPE_FEATURES
from leafid.features.extractor import TYPE_SIDE, measure_type_features
from leafid.features.feature_cache import FeatureCache
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import load_recipe
from leafid.model.bundled import find_bundled_model
from leafid.model.held_out import held_out_scores
from leafid.model.model import Model
from leafid.pictures.decoding import read_image
from leafid.pictures.reading import read_collection
from leafid.pictures.splitting.protocol import Split
from leafid.segmentation.segment import segment
from leafid.studies.cross_validation import cross_validate
from tests.drawing.collection import SAMPLE, TYPES

pytestmark = pytest.mark.slow

#: So many plants of each second species of the sample are for training, and two for
#: test.
N_TRAINING_PLANTS = 2
RECIPE_FLOORS = {
    "default": {"scan": 0.83, "scan-like": 0.83, "photo": 0.75},
    "baseline-bow": {"scan": 0.75, "scan-like": 0.83, "photo": 0.58},
}
PICTURES_PER_TYPE = 40
BUNDLED_FLOORS = {"scan": 0.95, "scan-like": 0.95, "photo": 0.95}


@pytest.fixture(scope="module")
def sample():
    return read_collection(SAMPLE).pictures


@pytest.fixture
def loader(default_cache):
    cache = FeatureCache(default_cache)
    yield FeatureLoader(cache)
    cache.close()


def split_some_species(sample):
    """Split some species of the sample: some training plants, and all test plants."""
    species = sorted({picture.species for picture in sample})[::2]
    plants = {name: set() for name in species}
    for picture in sample:
        if picture.species in plants and picture.part == "train":
            plants[picture.species].add(int(picture.plant))
    chosen = {
        str(plant)
        for numbers in plants.values()
        for plant in sorted(numbers)[:N_TRAINING_PLANTS]
    }
    test = [picture.part == "test" and picture.species in plants for picture in sample]
    return Split(
        0,
        0,
        np.flatnonzero([picture.plant in chosen for picture in sample]),
        np.flatnonzero(test),
    )


def compute_top1(model, pictures, loader):
    """Compute the share of correct first answers, by acquisition type."""
    correct, total = Counter(), Counter()
    hidden = [replace(picture, taxon=None, plant=None) for picture in pictures]
    with threadpool_limits(1):
        answers = list(model.predict(hidden, loader))
    for picture, answer in zip(pictures, answers, strict=True):
        total[str(picture.type)] += 1
        correct[str(picture.type)] += answer.ranking[0][0] == picture.species
    return {name: round(correct[name] / total[name], 3) for name in total}


def assert_not_below(top1, floors):
    assert set(top1) == set(floors)
    below = {name: top1[name] for name, floor in floors.items() if top1[name] < floor}
    assert not below, f"top-1 below its floor: {below}, floors {floors}"


@pytest.mark.parametrize("recipe", RECIPE_FLOORS)
def test_top1_of_a_recipe_on_the_sample(recipe, sample, loader):
    # Without composited photos, which take longest: the model of docs/quickstart.md
    # learns from some.
    recipes = {
        type_: structs.replace(load_recipe(recipe, type_), composited=0)
        for type_ in TYPES
    }
    split = split_some_species(sample)
    with threadpool_limits(1):
        answers = list(cross_validate(sample, recipes, loader, [split]))
    assert sum(len(of_type.held_out.pictures) for of_type in answers) == len(split.test)
    top1 = {
        str(of_type.type): held_out_scores([of_type.held_out])["top-1"]
        for of_type in answers
    }
    print(recipe, top1)
    assert_not_below(top1, RECIPE_FLOORS[recipe])


def test_the_bundled_model_recognises_the_types_of_the_sample(sample, loader):
    model = Model.read(find_bundled_model())
    rows = loader.compute_for_each(TYPE_FEATURES, sample)
    is_correct = [
        model.recogniser.recognise(row)[0] is picture.type
        for row, picture in zip(rows, sample, strict=True)
    ]
    assert np.mean(is_correct) >= 0.93


@pytest.mark.parametrize("surface", ["dark card", "blue card", "paper, turned"])
def test_leaves_on_card_and_on_paper_are_recognised_as_scan_likes(surface, sample):
    model, random = Model.read(find_bundled_model()), np.random.default_rng(0)
    recognised = []
    for picture in [picture for picture in sample if picture.type == "scan-like"][:30]:
        image = read_image(picture.file, TYPE_SIDE)
        altered, _ = ALTERATIONS[surface](
            image, segment(image, picture.type).mask, random
        )
        recognised.append(model.recogniser.recognise(measure_type_features(altered))[0])
    assert np.mean([type_ == "scan-like" for type_ in recognised]) >= 0.8


@pytest.mark.parametrize(
    "folder",
    [
        "elsewhere/classify-leaves-224-unknown-field",
        "other-collections/swedish",
        "uci-leaf",
    ],
)
def test_few_leaves_of_other_cameras_are_called_no_leaf(folder, real_data):
    files = sorted(
        file
        for file in (real_data / folder).rglob("*")
        if file.suffix.lower() in {".jpg", ".png"}
    )
    files = [file for file in files if "mask" not in str(file).lower()][::3]
    if not files:
        pytest.skip(f"needs the pictures of $LEAFID_REAL_DATA/{folder}")
    verdicts = Counter(
        answer.verdict for answer in Model.read(find_bundled_model()).identify(files)
    )
    assert verdicts["no-leaf"] <= 0.1 * len(files), verdicts


def test_top1_of_the_bundled_model_on_its_own_pictures(real_data, loader):
    folder = real_data / "imageclef2011"
    if not folder.is_dir():
        pytest.skip(
            "needs the pictures of ImageCLEF 2011 in $LEAFID_REAL_DATA/imageclef2011"
        )
    of_type = defaultdict(list)
    for picture in read_collection(folder).select_labelled().pictures:
        of_type[str(picture.type)].append(picture)
    selection = []
    for name in BUNDLED_FLOORS:
        pictures = sorted(of_type[name], key=lambda picture: int(picture.file.stem))
        indices = (
            np.linspace(0, len(pictures) - 1, PICTURES_PER_TYPE).round().astype(int)
        )
        selection += [pictures[index] for index in indices]
    top1 = compute_top1(Model.read(find_bundled_model()), selection, loader)
    print(top1)
    assert_not_below(top1, BUNDLED_FLOORS)
