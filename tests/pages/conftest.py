from importlib.util import find_spec

import pytest

from leafid.model.model import Model

# Without the extras 'web' and 'test' there is nothing to test.
if find_spec("starlette") is None or find_spec("httpx") is None:
    collect_ignore = ["test_api.py", "test_browser.py", "test_load.py", "test_site.py"]


@pytest.fixture(scope="session")
def model(drawn_model):
    """A model with records of its species."""
    return Model.read(drawn_model)


@pytest.fixture(scope="session")
def pool(drawn_model):
    from tests.pages.workers import start_worker

    with start_worker(drawn_model) as workers:
        yield workers


@pytest.fixture
def make_client(pool):
    """Make a client at some address of an application with some limits."""
    from starlette.testclient import TestClient

    from leafid.pages.site import make_app
    from leafid.pages.uploads import Limits

    def make(host="127.0.0.1", address="127.0.0.1", **limits):
        app = make_app(*pool, host, Limits(**limits))
        return TestClient(app, base_url="http://127.0.0.1:8000", client=(address, 50000))

    return make


@pytest.fixture
def client(make_client):
    return make_client()


@pytest.fixture
def leaves(drawn):
    return sorted((drawn / "Test").glob("*.jpg"))[:3]


@pytest.fixture
def leaf(leaves):
    return [("pictures", (leaves[0].name, leaves[0].read_bytes()))]
