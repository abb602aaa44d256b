import pytest

from leafid.features.feature_cache import FeatureCache


@pytest.fixture
def folder(tmp_path):
    store = FeatureCache(tmp_path / "cache")
    store.put([(bytes([number]), bytes(2**19)) for number in range(4)])
    store.close()
    return tmp_path / "cache"


def lines(done):
    return dict(line.split(None, 1) for line in done.out.splitlines())


def test_the_cache_file_and_its_size_are_shown(cli, folder):
    done = cli("cache", "--cache", folder)
    assert done.status == 0
    assert lines(done) == {"cache": str(folder / "features.sqlite"), "values": "4", "size": "2.0 MiB of at most 4 GiB"}


@pytest.mark.parametrize("damage", [b"", b"\xff" * 2**20])
def test_clearing_removes_a_cache_that_may_be_damaged(cli, folder, damage):
    file = folder / "features.sqlite"
    file.write_bytes(damage or file.read_bytes())
    done = cli("cache", "--cache", folder, "--clear")
    assert (done.status, done.out, done.err) == (0, "", f"leafid: {file} removed\n")
    assert not list(folder.iterdir())


def test_a_smaller_limit_removes_the_least_recently_used(cli, folder):
    done = cli("cache", "--cache", folder, "--cache-limit", 1 / 2**10)
    assert done.status == 0
    assert lines(done)["values"] == "1"


@pytest.mark.parametrize("limit", ["0", "-1", "much", "nan", "inf", "1_0"])
def test_invalid_limits(cli, folder, limit):
    done = cli("cache", "--cache", folder, f"--cache-limit={limit}")
    assert done.status == 2
    assert f"expected a number of GiB above 0, found '{limit}'" in done.err


@pytest.mark.parametrize("words", [[], ["--clear"], ["--cache-limit", 1]])
def test_a_missing_cache_is_not_created(cli, tmp_path, words):
    done = cli("cache", "--cache", tmp_path / "typo", *words)
    assert (done.status, done.err) == (0, "")
    assert done.out == f"{tmp_path / 'typo'}: no feature cache there\n"
    assert not (tmp_path / "typo").exists()


def test_showing_the_cache_changes_nothing(cli, folder, monkeypatch):
    """Neither a cache that was filled with a larger limit, nor a damaged one."""
    monkeypatch.setattr("leafid.cli.cache.DEFAULT_LIMIT", 2**20)
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    done = cli("cache", "--cache", folder)
    assert (done.status, done.err) == (0, "")
    assert lines(done)["values"] == "4"
    assert lines(done)["size"] == "2.0 MiB"
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == files
    (folder / "features.sqlite").write_bytes(b"\xff" * 2**12)
    done = cli("cache", "--cache", folder)
    assert done.status == 1
    assert "the feature cache can't be read: file is not a database; --clear removes a damaged one" in done.err
    assert (folder / "features.sqlite").read_bytes() == b"\xff" * 2**12
