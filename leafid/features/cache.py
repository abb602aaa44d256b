"""The feature cache: vectors that were computed once are kept on disk and never computed again."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from leafid.errors import LeafidError

T = TypeVar("T")
DEFAULT_LIMIT = 4 * 2**30
_CHECKSUM_SIZE = 4
# Seconds for which a database that another process keeps locked is waited for.
_PATIENCE = 60.0
# When an entry was used last is known to so many seconds.
_USED_WITHIN = 3600
_LARGEST_HALF = float(np.finfo(np.float16).max)
# Keys stand in an index of their own: looked up beside the long values, they would be spread over as many pages.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, value BLOB NOT NULL, used INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS vectors_used ON vectors (used);
"""
# SQLite quotes a damaged schema, and Python then can't decode the message.
_DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
_log = logging.getLogger(__name__)


class FeatureCache:
    """Keeps arrays by key, shared between commands and processes.

    It is an SQLite database with a write-ahead log: a process that is killed, or two that write at once, leave it
    whole. A key says everything that decides about a value (content of the picture, code version, parameters), so
    that a value is never stale. Every value has a checksum: a damaged one counts as missing. Nothing that goes wrong
    once the store is open stops the work: it is said once, and the work goes on without.

    Parameters
    ----------
    folder : path-like
        Where the database lives; made where it is missing.
    limit : int, default 4 GiB
        Bytes of values kept; beyond it the least recently used go.

    Raises
    ------
    LeafidError
        When the folder can't be used.
    """

    def __init__(self, folder: str | os.PathLike[str], limit: int = DEFAULT_LIMIT) -> None:
        self.folder = Path(folder)
        self.file = locate_database(self.folder)
        self.limit = limit
        self._complained = False
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._connection = self._open()
        except (OSError, sqlite3.Error) as error:
            raise LeafidError(
                f"{self.folder}: the feature cache can't be used: {error}; name another with --cache, or use --no-cache"
            ) from error

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except _DAMAGE as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            return self._anew(error)

    def _anew(self, error: Exception) -> sqlite3.Connection:
        """Replace a damaged database: it holds nothing that can't be computed again."""
        _log.warning("%s: the feature cache is damaged (%s); it starts anew", self.file, error)
        for suffix in ("", "-wal", "-shm"):
            self.file.with_name(self.file.name + suffix).unlink(missing_ok=True)
        return self._connect()

    def _connect(self) -> sqlite3.Connection:
        patient_until = time.monotonic() + _PATIENCE
        while True:
            connection = sqlite3.connect(self.file, timeout=_PATIENCE)
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.executescript(_SCHEMA)
                return connection
            except (sqlite3.Error, UnicodeDecodeError) as error:
                connection.close()
                # SQLite waits for other locks by itself, but not where two make a new database theirs at once.
                busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
                if not busy or time.monotonic() > patient_until:
                    raise
            time.sleep(0.01)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Look several keys up; what isn't there, or is damaged, is left out."""
        found: dict[bytes, bytes] = {}
        old: list[tuple[int, bytes]] = []
        now = int(time.time())
        with self._tolerant("read"):
            for chunk in split_into_chunks(keys, 500):
                marks = ",".join("?" * len(chunk))
                query = f"SELECT key, value, used FROM vectors WHERE key IN ({marks})"
                for key, value, used in self._connection.execute(query, chunk):
                    content = _verified(value)
                    if content is not None:
                        found[key] = content
                        # The whole entry is written anew for it.
                        if not isinstance(used, int) or not now - _USED_WITHIN < used <= now:
                            old.append((now, key))
        if old:
            self._change("UPDATE vectors SET used = ? WHERE key = ?", old)
        return found

    def find_keys(self, keys: Sequence[bytes]) -> set[bytes]:
        """Find which keys there are, without reading the values: damage is only found when a value is read."""
        found: set[bytes] = set()
        with self._tolerant("read"):
            for chunk in split_into_chunks(keys, 500):
                marks = ",".join("?" * len(chunk))
                found.update(
                    key for (key,) in self._connection.execute(f"SELECT key FROM vectors WHERE key IN ({marks})", chunk)
                )
        return found

    def put(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep several values; all of them or none."""
        now = int(time.time())
        self._change(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
            [(key, _checksum(value) + value, now) for key, value in items],
        )

    def size(self) -> int:
        """Bytes of the values kept."""
        return self._number("SELECT COALESCE(SUM(LENGTH(value)), 0) FROM vectors")

    def count(self) -> int:
        """How many values are kept."""
        return self._number("SELECT COUNT(*) FROM vectors")

    def clear(self) -> int:
        """Forget everything, and give the room on the disk back; returns how many values that were."""
        forgotten = self._change("DELETE FROM vectors", [()])
        with self._tolerant("written"):
            self._connection.execute("VACUUM")
        return forgotten

    def shrink(self) -> int:
        """Forget the least recently used values until the limit is kept; returns how many."""
        excess = self.size() - self.limit
        if excess <= 0:
            return 0
        forgotten: list[tuple[bytes]] = []
        with self._tolerant("read"):
            for key, length in self._connection.execute("SELECT key, LENGTH(value) FROM vectors ORDER BY used, key"):
                forgotten.append((key,))
                excess -= length
                if excess <= 0:
                    break
        return self._change("DELETE FROM vectors WHERE key = ?", forgotten)

    def close(self) -> None:
        """Keep the limit and close the database."""
        self.shrink()
        self._connection.close()

    def _number(self, query: str) -> int:
        """Ask for one number; 0 of a store that can't be read."""
        with self._tolerant("read"):
            return int(self._connection.execute(query).fetchone()[0])
        return 0

    def _change(self, statement: str, rows: Sequence[tuple]) -> int:
        """Change entries, all or none of them; returns how many were."""
        with self._tolerant("written"), self._connection:
            return self._connection.executemany(statement, rows).rowcount
        return 0

    @contextlib.contextmanager
    def _tolerant(self, what: str) -> Iterator[None]:
        """Let an error of the database cost the cache, and not the work."""
        try:
            yield
        except (sqlite3.OperationalError, sqlite3.ProgrammingError) as error:
            self._complain(what, error)
        except _DAMAGE as error:
            self._connection.close()
            try:
                self._connection = self._anew(error)
            except (OSError, sqlite3.Error) as second:
                self._complain(what, second)

    def _complain(self, what: str, error: Exception) -> None:
        if not self._complained:
            _log.warning("%s: the feature cache can't be %s: %s", self.folder, what, error)
        self._complained = True


def default_cache_folder() -> Path:
    """Where the store is unless said otherwise: ``$LEAFID_CACHE``, else ``leafid`` in the user's cache folder."""
    named = os.environ.get("LEAFID_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "leafid"


def locate_database(folder: Path) -> Path:
    """Name the database of the store in a folder; raise `LeafidError` where that is a file."""
    if folder.exists() and not folder.is_dir():
        raise LeafidError(f"{folder}: expected a folder for the feature cache, found a file; name another --cache")
    return folder / "vectors.sqlite"


def measure_cache(folder: Path) -> tuple[int, int]:
    """Count the values of a store that is there, and their bytes, without any change to it.

    Raises
    ------
    LeafidError
        When it can't be read.
    """
    file = locate_database(folder)
    try:
        # A database that may be written to is left without the files beside it that reading makes.
        address = f"{file.resolve().as_uri()}?mode=rw"
        with contextlib.closing(sqlite3.connect(address, timeout=_PATIENCE, uri=True)) as connection:
            count, size = connection.execute("SELECT COUNT(*), TOTAL(LENGTH(value)) FROM vectors").fetchone()
    except _DAMAGE as error:
        raise LeafidError(
            f"{file}: the feature cache can't be read: {error}; a damaged one is made anew by --clear"
        ) from error
    return count, int(size)


def pack(arrays: Sequence[np.ndarray]) -> bytes:
    """Put arrays of numbers into bytes, as `unpack` reads them; values are kept in half precision."""
    lengths = np.array([len(arrays), *(array.size for array in arrays)], np.int64)
    halves = (np.clip(array, -_LARGEST_HALF, _LARGEST_HALF).astype(np.float16) for array in arrays)
    return lengths.tobytes() + b"".join(array.tobytes() for array in halves)


def unpack(value: bytes) -> list[np.ndarray]:
    """Read what `pack` wrote, as float16 arrays of one axis."""
    count = int(np.frombuffer(value, np.int64, 1)[0])
    lengths = np.frombuffer(value, np.int64, count, offset=8)
    numbers = np.frombuffer(value, np.float16, offset=8 * (count + 1))
    return np.split(numbers, np.cumsum(lengths)[:-1])


def _checksum(value: bytes) -> bytes:
    return zlib.crc32(value).to_bytes(_CHECKSUM_SIZE, "big")


def _verified(stored: object) -> bytes | None:
    """Give what was put under a checksum, or None where it isn't that any more."""
    if not isinstance(stored, bytes) or stored[:_CHECKSUM_SIZE] != _checksum(stored[_CHECKSUM_SIZE:]):
        return None
    return stored[_CHECKSUM_SIZE:]


def split_into_chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Part a sequence into pieces of a size, the last of which may be shorter."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
