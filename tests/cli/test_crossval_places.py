import pytest


@pytest.fixture
def crossval(cli, small_recipe, drawn, drawn_cache):
    def run(*words):
        always = (
            "--recipe",
            small_recipe,
            "--cache",
            drawn_cache,
            "--jobs",
            1,
            "--only-type",
            "scan-like",
            "--repeats",
            1,
        )
        return cli("crossval", drawn, *always, *words)

    return run


def test_too_few_places(crossval):
    found = crossval("--folds", 9, "--by", "place")
    assert found.status == 1
    assert "expected at least 9 places, 5 km apart, for 9 folds" in found.err
    assert found.out == ""
