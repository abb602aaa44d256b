"""Files that tests of scoring write."""

import pytest


@pytest.fixture
def file(tmp_path):
    """Return a function that writes a file."""

    def write(content, name="run.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
