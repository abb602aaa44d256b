import shutil
from importlib.util import find_spec

import pytest

from leafid.pictures.picture import AcquisitionType
from leafid.pictures.reading import read_collection
from tests.web.browsing import serve, start_worker

# Without these, Chromium waits for hosts that a machine without a network cannot reach.
_OFFLINE = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)

# Without the extras 'web' and 'test' there is nothing to test.
if find_spec("starlette") is None or find_spec("httpx") is None:
    collect_ignore = [
        "test_after_an_answer.py",
        "test_api.py",
        "test_browser.py",
        "test_languages.py",
        "test_load.py",
        "test_site.py",
    ]


@pytest.fixture(scope="session")
def pool(drawn_model):
    with start_worker(drawn_model) as workers:
        yield workers


@pytest.fixture
def make_client(pool):
    """Make a client at some address of an application with some limits."""
    from starlette.testclient import TestClient

    from leafid.web.site import make_app
    from leafid.web.uploads import Limits

    def make(host="127.0.0.1", address="127.0.0.1", language=None, **limits):
        app = make_app(*pool, host, Limits(**limits), language)
        return TestClient(
            app, base_url="http://127.0.0.1:8000", client=(address, 50000)
        )

    return make


@pytest.fixture
def client(make_client):
    return make_client()


@pytest.fixture
def leaves(drawn):
    """Three scans: so small a model may take photos of leaves for none."""
    return [
        picture.file
        for picture in read_collection(drawn).pictures
        if picture.part == "test" and picture.type is AcquisitionType.SCAN
    ]


@pytest.fixture
def leaf(leaves):
    return [("pictures", (leaves[0].name, leaves[0].read_bytes()))]


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="the extra 'test' is not installed"
    )
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip(
            "there is no chromium with its chromedriver (Debian: apt-get install "
            "chromium chromium-driver)"
        )
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for word in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        *_OFFLINE,
    ):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options, webdriver.ChromeService(driver))
    yield opened
    opened.quit()


@pytest.fixture(scope="module")
def site(pool):
    """The address of a server in this process."""
    with serve(pool) as address:
        yield address


@pytest.fixture
def page(browser, site):
    """The page for pictures, without answers, on a wide screen."""
    size = {"width": 1200, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.get(site)
    browser.execute_script("sessionStorage.clear(); localStorage.clear()")
    browser.refresh()
    return browser
