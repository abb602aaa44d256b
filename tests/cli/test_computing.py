import os
import tempfile

import pytest

from leafid.cli.computing import _open_temporary_folder
from leafid.files import lock


@pytest.mark.skipif(os.name != "posix", reason="needs locks")
def test_folders_of_killed_processes_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("leafid-killed", "leafid-alive", "leafid-new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lock").touch()
    for name in ("leafid-killed", "leafid-alive"):
        os.utime(tmp_path / name / "lock", (1, 1))
    (tmp_path / "leafid-foreign").mkdir()
    with (tmp_path / "leafid-alive" / "lock").open("rb") as stream:
        assert lock(stream.fileno()) == "held"
        with _open_temporary_folder() as folder:
            assert folder.is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["leafid-alive", "leafid-foreign", "leafid-new"]
