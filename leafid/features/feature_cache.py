"""The feature cache keeps computed values on disk, so that they are computed once."""

import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from leafid.errors import LeafidError
from leafid.files import StrPath

#: Name of the database in a cache folder.
DATABASE = "features.sqlite"
# Seconds to wait for a database that another process has locked.
_LOCK_TIMEOUT = 5.0
# The index on `written`, a time in seconds, also holds the keys: beside the long
# values, they would be spread over as many pages.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    key BLOB PRIMARY KEY, value BLOB NOT NULL, written INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS vectors_written ON vectors (written);
"""
_SHRINK = """
DELETE FROM vectors WHERE key IN (
    SELECT key FROM (
        SELECT key,
            SUM(LENGTH(value)) OVER (ORDER BY written DESC, key DESC) AS total
        FROM vectors
    ) WHERE total > ?
)
"""
# SQLite quotes a damaged schema in its message, which Python may then fail to decode.
_ERRORS = (sqlite3.Error, UnicodeDecodeError)
_log = logging.getLogger(__name__)


class FeatureCache:
    """A store of values by key, shared between commands and processes.

    It is an SQLite database: processes that are killed, or write at the same time,
    don't damage it. A key includes everything that decides about its value (content of
    the picture, code version, parameters), so that no value is ever outdated. Every
    value has a checksum; a damaged value counts as missing. Once the cache is open, its
    errors don't stop the work: the first is logged, and the work continues without the
    cache.

    The folder is created if it is missing; if the cache can't be used, a `LeafidError`
    is raised. Beyond `limit` bytes of values, the oldest are removed.
    """

    def __init__(self, folder: StrPath, limit: int = 4 << 30) -> None:
        self.folder = Path(folder)
        self.file = self.folder / DATABASE
        self.limit = limit
        self._has_warned = False
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.file, timeout=_LOCK_TIMEOUT)
            self._connection.executescript(_SCHEMA)
        except (OSError, *_ERRORS) as error:
            raise LeafidError(
                f"{self.folder}: the feature cache can't be used: {error}; name "
                "another with --cache, use --no-cache, or remove a damaged one with "
                "'leafid cache --clear'"
            ) from error

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Read the values of at most 32,000 keys.

        Missing and damaged ones are left out.
        """
        values: dict[bytes, bytes] = {}
        with self._tolerating_errors("read"):
            query = (
                "SELECT key, CAST(value AS BLOB) FROM vectors WHERE key IN "
                f"({','.join('?' * len(keys))})"
            )
            for key, stored in self._connection.execute(query, keys):
                value = stored[4:]
                if stored == _add_checksum(value):
                    values[key] = value
        return values

    def put(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Store several values; all of them or none."""
        now = int(time.time())
        rows = [(key, _add_checksum(value), now) for key, value in items]
        with self._tolerating_errors("written"), self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows
            )

    def close(self) -> None:
        """Remove the oldest values beyond the limit and close the database."""
        with self._tolerating_errors("written"), self._connection:
            if self.file.stat().st_size > self.limit:
                self._connection.execute(_SHRINK, (self.limit,))
        self._connection.close()

    @contextmanager
    def _tolerating_errors(self, verb: str) -> Iterator[None]:
        """Continue without the cache after an error of the database.

        `verb` says what the block does with it.
        """
        try:
            yield
        except _ERRORS as error:
            if not self._has_warned:
                _log.warning(
                    "%s: the feature cache can't be %s: %s", self.folder, verb, error
                )
            self._has_warned = True
            # A database that is locked for so long is waited for only once.
            self._connection.execute("PRAGMA busy_timeout = 0")


def choose_cache_folder() -> Path:
    """Choose the default folder: ``$LEAFID_CACHE``, else one in the user's caches."""
    if named := os.environ.get("LEAFID_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "leafid"


def remove_cache(folder: Path) -> None:
    """Remove an existing cache, which may be damaged, and free its space on disk."""
    file = folder / DATABASE
    try:
        file.unlink()
        # A killed process leaves this file beside it.
        file.with_name(f"{file.name}-journal").unlink(missing_ok=True)
    except OSError as error:
        raise LeafidError(
            f"{file}: the feature cache can't be removed: {error}"
        ) from error


def _add_checksum(value: bytes) -> bytes:
    return zlib.crc32(value).to_bytes(4, "big") + value
