import csv
import io
import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import settings

from leafid.cli.main import main
from leafid.cli.outputs import Console
from leafid.features.feature_cache import FeatureCache
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import load_recipe
from leafid.model.model import Model
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.reading import read_collection
from leafid.segmentation.segment import segment
from leafid.training.model import train
from tests.drawing.collection import SAMPLE, TYPES, copy_sample

# benchmarks/ and fuzz/ stand beside the package, and are not installed.
sys.path.insert(0, str(Path(__file__).parents[1]))
# A deadline would fail tests for how busy the machine is; the same examples every time
# make a failure one to trust.
settings.register_profile("leafid", deadline=None, derandomize=True)
settings.load_profile("leafid")
# The model of drawn leaves holds a classifier that isn't linear.
os.environ["LEAFID_ALLOW"] = "sklearn"

RECIPES = Path(__file__).parent / "recipes"
#: Seconds until a command shows progress: what it prints must not depend on how busy
#: the machine is.
NO_PROGRESS = 1e6
#: The files that take longest, begun first: one that begins last leaves all other
#: cores without work.
_LONGEST = [
    "test_readme.py",
    "test_accuracy.py",
    "robustness/test_processes.py",
    "test_examples.py",
]

_XML_FIELDS = {
    "FileName": "1.jpg",
    "Date": "06/07/10",
    "Type": "Scan",
    "Author": "Doe Jane",
    "IndividualPlantId": "113",
    "Order": "Rosales",
    "Family": "Cannabaceae",
    "Species": "australis",
    "Genus": "Celtis",
    "VernacularNames": "European Nettle Tree",
    "Content": "Leaf",
    "Longitude": "3.25",
    "Latitude": "43.5",
}


def pytest_configure(config):
    # pytest-xdist would begin with the files that have most tests.
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items):
    order = {name: position for position, name in enumerate(_LONGEST)}
    items.sort(
        key=lambda item: order.get(
            item.path.relative_to(Path(__file__).parent).as_posix(), len(order)
        )
    )


@dataclass
class Outcome:
    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def rows(self) -> list[dict[str, str]]:
        """The rows of a CSV."""
        return list(csv.DictReader(io.StringIO(self.out)))


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory) -> Path:
    """A folder that all processes of this run of the tests share."""
    folder = tmp_path_factory.getbasetemp()
    folder = (
        folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    ) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def default_cache(shared_folder):
    """Leave the user's feature cache alone.

    Its vectors may be of another version of OpenCV, or another processor.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEAFID_CACHE", str(shared_folder / "default-cache"))
        # The help is as wide as the terminal.
        patch.setenv("COLUMNS", "120")
        yield shared_folder / "default-cache"


@contextmanager
def only_one_process(file: Path) -> Iterator[None]:
    """Let other processes wait until the ``with`` block or its process has ended."""
    with closing(
        sqlite3.connect(file, timeout=600, isolation_level=None)
    ) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


def run_command(*words: object) -> Outcome:
    console = Console(io.StringIO(), io.StringIO(), log_interval=NO_PROGRESS)
    status = main([str(word) for word in words], console)
    return Outcome(status, console.stdout.getvalue(), console.stderr.getvalue())


@pytest.fixture
def cli(monkeypatch):
    """Run a command in-process: ``cli("info", path)``.

    Without ``--jobs``, it starts no worker processes.
    """
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    return run_command


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data: ``imageclef2011/``, ``uci-leaf/``, ``golden/``."""
    folder = os.environ.get("LEAFID_REAL_DATA")
    if not folder:
        pytest.skip(
            "LEAFID_REAL_DATA is not set: the real collections are not in the "
            "repository"
        )
    return Path(folder)


@pytest.fixture(scope="session")
def small_recipe() -> Path:
    """A folder with a recipe for each type, tiny, with every kind of expert."""
    return RECIPES / "small"


@pytest.fixture(scope="session")
def ridge_recipe() -> Path:
    """A folder with recipes of ridge regressions, which learn further species."""
    return RECIPES / "ridge"


@pytest.fixture(scope="session")
def light_recipe() -> Path:
    """A recipe of measures and ridge regression, whose model is quickly read."""
    return RECIPES / "light.toml"


@pytest.fixture(scope="session")
def drawn(tmp_path_factory) -> Path:
    """A drawn collection: 3 species of 4 plants, with a picture of each type.

    One plant of each species is for test.
    """
    folder = tmp_path_factory.mktemp("drawn") / "collection"
    copy_sample(folder)
    return folder


@pytest.fixture(scope="session")
def drawn_cache(shared_folder) -> Path:
    """A feature cache that tests on `drawn` and copies of its pictures may share."""
    return shared_folder / "drawn-cache"


def train_once(file: Path, *words: object) -> Path:
    """Train a model by the command line, unless another process has done so."""
    with only_one_process(file.with_suffix(".lock")):
        if not file.exists():
            outcome = run_command("train", *words, "--output", file, "--jobs", 1)
            assert outcome.status == 0, outcome.err
    return file


@pytest.fixture(scope="session")
def drawn_model(shared_folder, drawn, small_recipe, drawn_cache) -> Path:
    """A model of all three types, trained on `drawn` with `small_recipe`."""
    return train_once(
        shared_folder / "small.leafid",
        drawn,
        "--recipe",
        small_recipe,
        "--cache",
        drawn_cache,
    )


@pytest.fixture(scope="session")
def model(drawn_model):
    """A model with records of its species."""
    return Model.read(drawn_model)


@pytest.fixture(scope="session")
def light_model(shared_folder, drawn, light_recipe, drawn_cache, drawn_model) -> Path:
    """A model of `drawn` with `light_recipe`.

    It finds most features where `drawn_model` left them.
    """
    return train_once(
        shared_folder / "light.leafid",
        drawn,
        "--recipe",
        light_recipe,
        "--cache",
        drawn_cache,
    )


@pytest.fixture
def draw() -> Callable[..., Path]:
    """Write a small picture; its shade makes its content differ from others'."""

    def write(file: Path, shade: int = 0) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        assert cv2.imwrite(str(file), np.full((20, 24, 3), shade, np.uint8))
        return file

    return write


@pytest.fixture
def add(draw) -> Callable[..., Path]:
    """Write ``folder/N.xml`` of ImageCLEF 2011 and, by default, ``folder/N.jpg``.

    Elements may have other texts than those of `_XML_FIELDS`; one of None is left out.
    """

    def write(
        folder: Path, number: int, picture: bool = True, **changes: str | None
    ) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{number}.xml"
        fields = {**_XML_FIELDS, "FileName": f"{number}.jpg", **changes}
        elements = "".join(
            f"<{tag}>{text}</{tag}>\n"
            for tag, text in fields.items()
            if text is not None
        )
        file.write_text(f"<Image>\n{elements}</Image>\n", encoding="utf-8")
        if picture:
            draw(folder / f"{number}.jpg", number)
        return file

    return write


@pytest.fixture
def name_in_latin_1(tmp_path) -> str:
    """A file name whose bytes are no UTF-8, as old disks and archives have them."""
    name = os.fsdecode(b"\xe9rable.jpg")
    try:
        (tmp_path / name).touch()
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    (tmp_path / name).unlink()
    return name


@pytest.fixture
def loose(drawn, tmp_path):
    """Three test pictures without their metadata."""
    folder = tmp_path / "loose"
    folder.mkdir()
    for file in sorted((drawn / "Test").glob("*.jpg"))[:3]:
        shutil.copy(file, folder)
    return folder


@pytest.fixture(scope="session")
def training(drawn):
    """The 27 labelled training pictures of the drawn collection."""
    return [
        picture
        for picture in read_collection(drawn).pictures
        if picture.part == "train"
    ]


@pytest.fixture(scope="session")
def queries(drawn):
    """The 9 test pictures, without labels."""
    pictures = [
        picture for picture in read_collection(drawn).pictures if picture.part == "test"
    ]
    return [replace(picture, taxon=None, plant=None) for picture in pictures]


@pytest.fixture(scope="session")
def recipes(small_recipe):
    return {type_: load_recipe(str(small_recipe), type_) for type_ in TYPES}


@pytest.fixture
def store(tmp_path):
    opened = FeatureCache(tmp_path / "store")
    yield opened
    opened.close()


@pytest.fixture
def loader(drawn_cache, drawn_model):
    """With a store that knows the drawn pictures already."""
    store = FeatureCache(drawn_cache)
    yield FeatureLoader(store)
    store.close()


@pytest.fixture(scope="session")
def trained(training, recipes, drawn_cache, drawn_model):
    """What `drawn_model` was before it was written."""
    store = FeatureCache(drawn_cache)
    model = train(training, recipes, FeatureLoader(store))
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


@pytest.fixture(scope="session")
def sample_leaves():
    """Scans of different species of the sample with their masks."""
    scans = {
        p.species: p.file
        for p in read_collection(SAMPLE).pictures
        if p.type is AcquisitionType.SCAN
    }
    images = [read_image(file) for _, file in sorted(scans.items())]
    return [
        (image, segment(image, AcquisitionType.SCAN, petiole=False).mask)
        for image in images
    ]
