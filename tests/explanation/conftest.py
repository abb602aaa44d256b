import pytest

from leafid.model.modelfile import read_model


@pytest.fixture(scope="session")
def model(drawn_model):
    """A model with records of its species."""
    return read_model(drawn_model)
