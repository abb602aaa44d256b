from dataclasses import replace

import numpy as np
import pytest

from leafid.collection import read_collection
from leafid.collection.picture import AcquisitionType
from leafid.learning.descriptions import Descriptions
from leafid.learning.recipe_file import load_recipe
from leafid.learning.store import Store
from leafid.learning.training import train


@pytest.fixture(scope="session")
def training(drawn):
    """The 27 labelled training pictures of the drawn collection."""
    return [picture for picture in read_collection(drawn).pictures if picture.part == "train"]


@pytest.fixture(scope="session")
def asked(drawn):
    """The 9 test pictures, without labels."""
    found = [picture for picture in read_collection(drawn).pictures if picture.part == "test"]
    return [replace(picture, taxon=None, plant=None) for picture in found]


@pytest.fixture(scope="session")
def recipes(small_recipe):
    return {type_: load_recipe(str(small_recipe), type_) for type_ in AcquisitionType}


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "store")
    yield opened
    opened.close()


@pytest.fixture
def descriptions(drawn_cache, drawn_model):
    """With a store that knows the drawn pictures already."""
    store = Store(drawn_cache)
    yield Descriptions(store)
    store.close()


@pytest.fixture(scope="session")
def trained(training, recipes, drawn_cache, drawn_model):
    """What `drawn_model` was before it was written."""
    store = Store(drawn_cache)
    model = train(training, recipes, Descriptions(store))
    store.close()
    return model


@pytest.fixture(scope="session")
def leaf_on_white():
    """A picture of a green leaf, 0.4 times as wide as long; uint8 (400, 300, 3)."""
    image = np.full((400, 300, 3), 250, np.uint8)
    rows, cols = np.ogrid[:400, :300]
    image[((rows - 200) / 150) ** 2 + ((cols - 150) / 60) ** 2 < 1] = (40, 160, 50)
    image.setflags(write=False)
    return image
