import pytest

from leafid.model.model import Model


@pytest.fixture(scope="session")
def model(drawn_model):
    """A model with records of its species."""
    return Model.read(drawn_model)
