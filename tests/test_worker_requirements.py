import pytest

from leafid.errors import LeafidError
from leafid.worker_requirements import WorkerRequirements, check_worker, collect_versions


def test_worker_with_different_versions_or_files_is_refused(tmp_path):
    versions = collect_versions()
    different = tuple((name, "0.1" if name == "numpy" else own) for name, own in versions)
    check_worker(WorkerRequirements(1, tmp_path, (tmp_path,), versions))
    with pytest.raises(
        LeafidError, match=r"the worker on \S+ has numpy \d\S+ instead of 0\.1; results would depend on"
    ):
        check_worker(WorkerRequirements(1, tmp_path, (tmp_path,), different))
    with pytest.raises(LeafidError, match=r"the worker on \S+ can't see .*missing; share it with all machines"):
        check_worker(WorkerRequirements(1, tmp_path, (tmp_path / "missing",), versions))
