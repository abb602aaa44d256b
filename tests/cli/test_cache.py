import pytest

from leafid.features.feature_cache import FeatureCache


@pytest.fixture
def folder(tmp_path):
    store = FeatureCache(tmp_path / "cache")
    store.put([(bytes([number]), bytes(2**19)) for number in range(4)])
    store.close()
    return tmp_path / "cache"


@pytest.mark.parametrize("damage", [b"", b"\xff" * 2**20])
def test_clearing_removes_a_cache_that_may_be_damaged(cli, folder, damage):
    file = folder / "features.sqlite"
    file.write_bytes(damage or file.read_bytes())
    done = cli("cache", "--cache", folder, "--clear")
    assert (done.status, done.out, done.err) == (0, "", f"leafid: {file} removed\n")
    assert not list(folder.iterdir())


@pytest.mark.parametrize("words", [[], ["--clear"]])
def test_a_missing_cache_is_not_created(cli, tmp_path, words):
    done = cli("cache", "--cache", tmp_path / "typo", *words)
    assert (done.status, done.err) == (0, "")
    assert done.out == f"{tmp_path / 'typo'}: no feature cache there\n"
    assert not (tmp_path / "typo").exists()
