import io
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from leafid.cli.environment import Environment
from leafid.cli.main import main

# A deadline would fail tests for how busy the machine is; the same examples every time make a failure one to trust.
settings.register_profile("leafid", deadline=None, derandomize=True)
settings.load_profile("leafid")


@dataclass
class Outcome:
    status: int
    out: str
    err: str


@pytest.fixture
def cli():
    """Run a command in-process: ``cli("info", path)``."""

    def run(*words: object) -> Outcome:
        environment = Environment(stdout=io.StringIO(), stderr=io.StringIO())
        status = main([str(word) for word in words], environment)
        return Outcome(status, environment.stdout.getvalue(), environment.stderr.getvalue())

    return run


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with the real collections (``imageclef2011/``, ``uci-leaf/``, ``golden/``)."""
    folder = os.environ.get("LEAFID_REAL_DATA")
    if not folder:
        pytest.skip("LEAFID_REAL_DATA is not set: the real collections are not in the repository")
    return Path(folder)
