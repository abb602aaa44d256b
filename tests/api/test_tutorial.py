import doctest
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.slow
def test_examples_in_python_do_what_they_say(tmp_path, default_cache, monkeypatch):
    for folder in ("data", "examples"):
        (tmp_path / folder).symlink_to(REPOSITORY / folder)
    # The features of docs/quickstart.md, which uses the same recipe.
    default_cache.mkdir(exist_ok=True)
    (tmp_path / "cache").symlink_to(default_cache)
    monkeypatch.chdir(tmp_path)
    file = str(REPOSITORY / "docs" / "tutorial.md")
    failed, tried = doctest.testfile(
        file, module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert failed == 0
    assert tried > 10
