import pytest


@pytest.fixture
def predict(cli, drawn_model, drawn_cache):
    """Run ``leafid predict`` with the model of the drawn collection."""

    def run(*words, model=drawn_model, cache=drawn_cache):
        kept = ["--cache", cache] if cache else ["--no-cache"]
        jobs = [] if "--jobs" in words else ["--jobs", 1]
        return cli("predict", *words, "--model", model, *kept, *jobs)

    return run
