"""The feature cache: values that were computed once are kept on disk and not computed again."""

import contextlib
import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, count
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
#: First bytes of every SQLite database.
_MAGIC = b"SQLite format 3\0"
# SQLite quotes a damaged schema in its message, which Python may then fail to decode.
_DAMAGE_ERRORS = (sqlite3.DatabaseError, UnicodeDecodeError)
_log = logging.getLogger(__name__)


class FeatureCache:
    """A store of values by key, shared between commands and processes.

    It is an SQLite database with a write-ahead log: processes that are killed, or write at the same time, don't damage
    it. A key includes everything that decides about its value (content of the picture, code version, parameters), so
    that no value is ever outdated. Every value has a checksum; a damaged value counts as missing. Once the cache is
    open, its errors don't stop the work: the first is logged, and the work continues without the cache.

    The folder is created if it is missing; if it can't be used, a `LeafidError` is raised. Beyond `limit` bytes of
    values, the least recently used are removed.
    """

    def __init__(self, folder: str | os.PathLike[str], limit: int = DEFAULT_LIMIT) -> None:
        self.folder = Path(folder)
        self.file = locate_database(self.folder)
        self.limit = limit
        self._has_warned = False
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._connection = self._open()
        except (OSError, sqlite3.Error) as error:
            raise LeafidError(
                f"{self.folder}: the feature cache can't be used: {error}; name another with --cache, or use --no-cache"
            ) from error

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Read the values of keys; missing and damaged ones are left out."""
        found: dict[bytes, bytes] = {}
        outdated: list[tuple[int, bytes]] = []
        now = int(time.time())
        for key, stored, used in self._select("key, value, used", keys):
            value = _verify(stored)
            if value is not None:
                found[key] = value
                # Noting the use rewrites the whole entry, so it is done once a day.
                if not isinstance(used, int) or not now - _USAGE_RESOLUTION < used <= now:
                    outdated.append((now, key))
        if outdated:
            self._execute("UPDATE vectors SET used = ? WHERE key = ?", outdated)
        return found

    def put(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Store several values; all of them or none."""
        now = int(time.time())
        self._execute(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
            [(key, _compute_checksum(value) + value, now) for key, value in items],
        )

    def clear(self) -> int:
        """Remove all values, and free the space on disk; returns the number of values removed."""
        n_removed = self._execute("DELETE FROM vectors", [()])
        with self._tolerate_errors("written"):
            self._connection.execute("VACUUM")
        return n_removed

    def shrink(self) -> int:
        """Remove the least recently used values until the limit is met; returns their number."""
        excess = -self.limit
        with self._tolerate_errors("read"):
            # The values don't exceed the pages, which are counted in no time.
            [size] = self._connection.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
            if size[0] <= self.limit:
                return 0
            excess += int(self._connection.execute("SELECT TOTAL(LENGTH(value)) FROM vectors").fetchone()[0])
        if excess <= 0:
            return 0
        removed: list[tuple[bytes]] = []
        with self._tolerate_errors("read"):
            for key, size in self._connection.execute("SELECT key, LENGTH(value) FROM vectors ORDER BY used, key"):
                removed.append((key,))
                excess -= size
                if excess <= 0:
                    break
        return self._execute("DELETE FROM vectors WHERE key = ?", removed)

    def close(self) -> None:
        """Shrink to the limit and close the database."""
        self.shrink()
        self._connection.close()

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except _DAMAGE_ERRORS as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            return self._replace_damaged(error)

    def _replace_damaged(self, error: Exception) -> sqlite3.Connection:
        """Replace a damaged database by an empty one: everything in it can be computed again.

        What is no database may be a file of the user's, and is kept under another name.
        """
        kept = ""
        with contextlib.suppress(OSError):
            with self.file.open("rb") as stream:
                is_database = stream.read(len(_MAGIC)) == _MAGIC
            if not is_database:
                aside = next(name for n in count(1) if not os.path.lexists(name := f"{self.file}.{n}"))
                self.file.rename(aside)
                kept = f"it is kept as {aside}, and "
        _log.warning("%s: the feature cache is damaged (%s); %san empty one replaces it", self.file, error, kept)
        for suffix in ("", "-wal", "-shm"):
            self.file.with_name(self.file.name + suffix).unlink(missing_ok=True)
        return self._connect()

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
            except (sqlite3.Error, UnicodeDecodeError) as error:
                connection.close()
                # SQLite waits for other locks, but not where two processes switch a new database to the log at once.
                is_busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
                if not is_busy or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)

    def _select(self, columns: str, keys: Sequence[bytes]) -> list[tuple]:
        rows: list[tuple] = []
        with self._tolerate_errors("read"):
            for chunk in split_into_chunks(keys, _KEYS_PER_QUERY):
                marks = ",".join("?" * len(chunk))
                rows += self._connection.execute(f"SELECT {columns} FROM vectors WHERE key IN ({marks})", chunk)
        return rows

    def _execute(self, statement: str, rows: Sequence[tuple]) -> int:
        """Change rows, all or none of them; returns the number of changed rows."""
        with self._tolerate_errors("written"), self._connection:
            return self._connection.executemany(statement, rows).rowcount
        return 0

    @contextlib.contextmanager
    def _tolerate_errors(self, verb: str) -> Iterator[None]:
        """Continue without the cache after an error of the database; `verb` says what the block does with it."""
        try:
            yield
        except (sqlite3.OperationalError, sqlite3.ProgrammingError) as error:
            self._warn_once(verb, error)
        except _DAMAGE_ERRORS as error:
            self._connection.close()
            try:
                self._connection = self._replace_damaged(error)
            except (OSError, sqlite3.Error) as second:
                self._warn_once(verb, second)

    def _warn_once(self, verb: str, error: Exception) -> None:
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
        with contextlib.closing(sqlite3.connect(address, timeout=_LOCK_TIMEOUT, uri=True)) as connection:
            count, size = connection.execute("SELECT COUNT(*), TOTAL(LENGTH(value)) FROM vectors").fetchone()
    except _DAMAGE_ERRORS as error:
        raise LeafidError(
            f"{file}: the feature cache can't be read: {error}; --clear replaces a damaged one"
        ) from error
    return count, int(size)


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


def _verify(stored: object) -> bytes | None:
    """Return the value that was stored with its checksum; None where they don't match."""
    if not isinstance(stored, bytes) or stored[:_CHECKSUM_SIZE] != _compute_checksum(stored[_CHECKSUM_SIZE:]):
        return None
    return stored[_CHECKSUM_SIZE:]
