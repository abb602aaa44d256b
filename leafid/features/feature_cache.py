"""The feature cache: values that were computed once are kept on disk and not computed again."""

import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

import numpy as np

from leafid.errors import LeafidError

T = TypeVar("T")
DEFAULT_LIMIT = 4 * 2**30
_CHECKSUM_SIZE = 4
# Seconds to wait for a database that another process has locked.
_LOCK_TIMEOUT = 60.0
# Resolution in seconds of the time at which a value was last used: a day.
_USAGE_RESOLUTION = 86_400
_KEYS_PER_QUERY = 500
_MAX_FLOAT16 = float(np.finfo(np.float16).max)
# The index on `used` also holds the keys: beside the long values, they would be spread over as many pages.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, value BLOB NOT NULL, used INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS vectors_used ON vectors (used);
"""
_SHRINK = """
DELETE FROM vectors WHERE key IN (
    SELECT key FROM (SELECT key, SUM(LENGTH(value)) OVER (ORDER BY used DESC, key DESC) AS total FROM vectors)
    WHERE total > ?
)
"""
# SQLite quotes a damaged schema in its message, which Python may then fail to decode.
_ERRORS = (sqlite3.Error, UnicodeDecodeError)
_log = logging.getLogger(__name__)


class FeatureCache:
    """A store of values by key, shared between commands and processes.

    It is an SQLite database with a write-ahead log: processes that are killed, or write at the same time, don't damage
    it. A key includes everything that decides about its value (content of the picture, code version, parameters), so
    that no value is ever outdated. Every value has a checksum; a damaged value counts as missing. Once the cache is
    open, its errors don't stop the work: the first is logged, and the work continues without the cache.

    The folder is created if it is missing; if the cache can't be used, a `LeafidError` is raised. Beyond `limit` bytes
    of values, the least recently used are removed.
    """

    def __init__(self, folder: str | os.PathLike[str], limit: int = DEFAULT_LIMIT) -> None:
        self.folder = Path(folder)
        self.file = locate_database(self.folder)
        self.limit = limit
        self._has_warned = False
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._connection = self._connect()
        except (OSError, *_ERRORS) as error:
            raise LeafidError(
                f"{self.folder}: the feature cache can't be used: {error}; name another with --cache, use --no-cache, "
                "or remove a damaged one with 'leafid cache --clear'"
            ) from error

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Read the values of keys; missing and damaged ones are left out."""
        found: dict[bytes, bytes] = {}
        outdated: list[tuple[int, bytes]] = []
        now = int(time.time())
        with self._tolerating_errors("read"):
            for chunk in split_into_chunks(keys, _KEYS_PER_QUERY):
                query = f"SELECT key, value, used FROM vectors WHERE key IN ({','.join('?' * len(chunk))})"
                for key, stored, used in self._connection.execute(query, chunk):
                    value = stored[_CHECKSUM_SIZE:] if isinstance(stored, bytes) else b""
                    if stored != _compute_checksum(value) + value:
                        continue
                    found[key] = value
                    # Noting the use rewrites the whole entry, so it is done once a day.
                    if not isinstance(used, int) or not now - _USAGE_RESOLUTION < used <= now:
                        outdated.append((now, key))
        self._execute("UPDATE vectors SET used = ? WHERE key = ?", outdated)
        return found

    def put(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Store several values; all of them or none."""
        now = int(time.time())
        self._execute(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
            [(key, _compute_checksum(value) + value, now) for key, value in items],
        )

    def shrink(self) -> int:
        """Remove the least recently used values until the limit is met; returns their number."""
        with self._tolerating_errors("read"):
            # The values don't exceed the pages, which are counted in no time.
            [pages] = self._connection.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
            if pages[0] > self.limit:
                return self._execute(_SHRINK, [(self.limit,)])
        return 0

    def close(self) -> None:
        """Shrink to the limit and close the database."""
        self.shrink()
        self._connection.close()

    def _connect(self) -> sqlite3.Connection:
        deadline = time.monotonic() + _LOCK_TIMEOUT
        while True:
            connection = sqlite3.connect(self.file, timeout=_LOCK_TIMEOUT)
            try:
                tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
                if tables and "vectors" not in tables:
                    raise sqlite3.OperationalError(f"{self.file.name} is a database of another program")
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.executescript(_SCHEMA)
                return connection
            except _ERRORS as error:
                connection.close()
                # SQLite waits for other locks, but not where two processes switch a new database to the log at once.
                is_busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
                if not is_busy or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)

    def _execute(self, statement: str, rows: Sequence[tuple]) -> int:
        """Change rows, all or none of them; returns the number of changed rows."""
        if not rows:
            return 0
        with self._tolerating_errors("written"), self._connection:
            return self._connection.executemany(statement, rows).rowcount
        return 0

    @contextmanager
    def _tolerating_errors(self, verb: str) -> Iterator[None]:
        """Continue without the cache after an error of the database; `verb` says what the block does with it."""
        try:
            yield
        except _ERRORS as error:
            if not self._has_warned:
                _log.warning("%s: the feature cache can't be %s: %s", self.folder, verb, error)
            self._has_warned = True


def choose_cache_folder() -> Path:
    """Choose the default folder: ``$LEAFID_CACHE``, else ``leafid`` in the user's cache folder."""
    named = os.environ.get("LEAFID_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "leafid"


def locate_database(folder: Path) -> Path:
    """Return the path of the database in a cache folder; raise `LeafidError` where the folder is a file."""
    if folder.exists() and not folder.is_dir():
        raise LeafidError(f"{folder}: expected a folder for the feature cache, found a file; name another --cache")
    return folder / "vectors.sqlite"


def measure_cache(folder: Path) -> tuple[int, int]:
    """Count the values of an existing cache, and their bytes, without changing it."""
    file = locate_database(folder)
    try:
        # Opened for reading and writing, SQLite removes the files beside it that reading creates.
        address = f"{file.resolve().as_uri()}?mode=rw"
        with closing(sqlite3.connect(address, timeout=_LOCK_TIMEOUT, uri=True)) as connection:
            count, size = connection.execute("SELECT COUNT(*), TOTAL(LENGTH(value)) FROM vectors").fetchone()
    except _ERRORS as error:
        raise LeafidError(f"{file}: the feature cache can't be read: {error}; --clear removes a damaged one") from error
    return count, int(size)


def remove_cache(folder: Path) -> None:
    """Remove an existing cache, which may be damaged, and free its space on disk."""
    file = locate_database(folder)
    try:
        for suffix in ("", "-wal", "-shm"):
            file.with_name(file.name + suffix).unlink(missing_ok=True)
    except OSError as error:
        raise LeafidError(f"{file}: the feature cache can't be removed: {error}") from error


def pack(arrays: Sequence[np.ndarray]) -> bytes:
    """Serialise arrays of numbers in half precision, as `unpack` reads them."""
    sizes = np.array([len(arrays), *(array.size for array in arrays)], np.int64)
    halves = (np.clip(array, -_MAX_FLOAT16, _MAX_FLOAT16).astype(np.float16) for array in arrays)
    return sizes.tobytes() + b"".join(array.tobytes() for array in halves)


def unpack(value: bytes) -> list[np.ndarray]:
    """Read what `pack` wrote, as float16 arrays with one axis; raise `ValueError` if the value is anything else."""
    n_arrays = int(np.frombuffer(value, np.int64, 1)[0])
    if not 0 <= n_arrays < len(value) // 8:
        raise ValueError(f"expected a number of arrays, found {n_arrays}")
    sizes = np.frombuffer(value, np.int64, n_arrays, offset=8).tolist()
    if min(sizes, default=0) < 0 or len(value) != 8 * (n_arrays + 1) + 2 * sum(sizes):
        raise ValueError(f"expected arrays of {len(value)} bytes, found sizes {sizes}")
    offsets = accumulate(sizes, lambda offset, size: offset + 2 * size, initial=8 * (n_arrays + 1))
    return [np.frombuffer(value, np.float16, size, offset) for size, offset in zip(sizes, offsets, strict=False)]


def split_into_chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Split a sequence into chunks of a size; the last may be shorter."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _compute_checksum(value: bytes) -> bytes:
    return zlib.crc32(value).to_bytes(_CHECKSUM_SIZE, "big")
