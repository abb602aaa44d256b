import sqlite3
import threading
import time

import pytest

from leafid.errors import LeafidError
from leafid.features import feature_cache as cache_module
from leafid.features.feature_cache import (
    FeatureCache,
    choose_cache_folder,
    remove_cache,
)

FILE = "features.sqlite"


def test_the_last_stored_values_are_returned(tmp_path):
    items = {bytes([n]): bytes(n) for n in range(200)}
    store = FeatureCache(tmp_path)
    store.put([(bytes([7]), b"old")])
    store.put(items.items())
    store.close()
    assert FeatureCache(tmp_path).get([*items, b"missing"]) == items
    assert FeatureCache(tmp_path).get([]) == {}


def test_the_oldest_beyond_the_limit_are_removed_at_the_end(tmp_path, monkeypatch):
    now = [1000]
    monkeypatch.setattr(cache_module.time, "time", lambda: now[0])
    store = FeatureCache(tmp_path, limit=35_000)
    for name in (b"a", b"b", b"c", b"d", b"a"):
        store.put([(name, b"x" * 9_996)])  # with the checksum of 4 bytes it is 10,000
        now[0] += 100
    store.close()
    assert set(FeatureCache(tmp_path).get([b"a", b"b", b"c", b"d"])) == {
        b"a",
        b"c",
        b"d",
    }


def filled(folder):
    store = FeatureCache(folder)
    items = {n.to_bytes(32, "big"): bytes([n % 256]) * 2000 for n in range(300)}
    store.put(items.items())
    store.close()
    return items


@pytest.mark.parametrize(
    "content", [b"no database at all", b"SQLite format 3\0" + bytes(range(256)) * 20]
)
def test_a_damaged_cache_is_named_and_can_be_removed(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(
        LeafidError,
        match=r"can't be used: .*; name another with --cache, .* remove a damaged one",
    ):
        FeatureCache(tmp_path)
    assert (tmp_path / FILE).read_bytes() == content
    remove_cache(tmp_path)
    store = FeatureCache(tmp_path)
    store.put([(b"key", b"value")])
    assert store.get([b"key"]) == {b"key": b"value"}


@pytest.mark.parametrize("keep", [slice(0, 4096), slice(0, 300_000)])
def test_a_cache_damaged_behind_the_first_page_costs_only_time(tmp_path, caplog, keep):
    items = filled(tmp_path)
    file = tmp_path / FILE
    content = file.read_bytes()
    file.write_bytes(content[keep] + b"\xff" * (len(content) - keep.stop))
    store = FeatureCache(tmp_path, limit=1000)
    assert store.get(list(items)).items() <= items.items()
    store.put([(b"key", b"value")])
    store.close()
    assert caplog.text.count("the feature cache can't be") == 1


def test_a_damaged_value_counts_as_missing(tmp_path):
    items = filled(tmp_path)
    file = tmp_path / FILE
    content = file.read_bytes()
    assert bytes([7]) * 1000 in content
    file.write_bytes(content.replace(bytes([7]) * 1000, bytes([7]) * 999 + b"?"))
    del items[(7).to_bytes(32, "big")]
    damaged = {key for key, value in items.items() if value[:1] == bytes([7])}
    stored = FeatureCache(tmp_path).get([*items, (7).to_bytes(32, "big")])
    assert stored == {key: value for key, value in items.items() if key not in damaged}


def test_a_full_disk_costs_the_cache_and_not_the_work(store, caplog):
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    store.put([(b"small", b"x")])
    for n in range(3):
        store.put([(bytes([n]), b"x" * 100_000)])
    assert store.get([b"small", b"\0"]) == {b"small": b"x"}
    # The message comes once, not with every batch of a long training.
    assert caplog.text.count("can't be written: database or disk is full") == 1


@pytest.fixture(params=["IMMEDIATE", "EXCLUSIVE"])
def held(request, tmp_path):
    """A connection that has locked a database, as a process does that makes a cache."""
    connection = sqlite3.connect(
        tmp_path / FILE, isolation_level=None, check_same_thread=False
    )
    connection.execute(f"BEGIN {request.param}")
    yield connection
    connection.close()


def test_another_that_makes_the_store_is_waited_for(held, tmp_path):
    timer = threading.Timer(0.2, held.rollback)
    timer.start()
    store = FeatureCache(tmp_path)
    store.put([(b"key", b"value")])
    assert store.get([b"key"]) == {b"key": b"value"}
    store.close()
    timer.join()


def test_waiting_for_a_locked_cache_ends(held, tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "_LOCK_TIMEOUT", 0.1)
    with pytest.raises(
        LeafidError,
        match="the feature cache can't be used: database is locked; name another",
    ):
        FeatureCache(tmp_path)


def test_a_cache_that_stays_locked_is_waited_for_once(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(cache_module, "_LOCK_TIMEOUT", 0.3)
    store = FeatureCache(tmp_path)
    holder = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    start = time.monotonic()
    for _ in range(100):
        assert store.get([b"key"]) == {}
        store.put([(b"key", b"value")])
    # 200 times the limit would be a minute.
    assert time.monotonic() - start < 30
    assert caplog.text.count("database is locked") == 1
    holder.rollback()
    store.put([(b"key", b"value")])
    assert store.get([b"key"]) == {b"key": b"value"}
    store.close()
    holder.close()


def test_a_folder_that_can_not_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        LeafidError,
        match=r"can't be used: .*; name another with --cache, use --no-cache",
    ) as caught:
        FeatureCache(tmp_path / "file" / "store")
    assert "\n" not in str(caught.value)
    (tmp_path / FILE).mkdir()
    with pytest.raises(LeafidError, match="can't be used"):
        FeatureCache(tmp_path)


def test_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("LEAFID_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert choose_cache_folder() == tmp_path / ".cache" / "leafid"
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert str(choose_cache_folder()) == "/x/leafid"
    monkeypatch.setenv("LEAFID_CACHE", "/y")
    assert str(choose_cache_folder()) == "/y"
