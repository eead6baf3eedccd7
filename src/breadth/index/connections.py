"""Connections to the SQLite file of an index: many for reading, each used by one thread at a time, and one for writing.

No lock is held while a connection reads, and SQLite never calls back into Python.

Reading writes nothing. While no writer is at work there is no write-ahead log, and the file is read as it is
("immutable" in SQLite's words): no lock, no file beside it, so a read-only disk will do. Such a connection is used only
as long as the file is the same; otherwise the reader begins again.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from breadth.errors import DamagedError, StoreError
from breadth.index.failures import reported

_WAIT = 30.0
"""Seconds to wait for another program that keeps the file locked."""
_IDLE = 16
"""Connections that are kept for the next reader."""
_SETTLED = 0.02
"""A file that was changed in the last so many seconds may change again without a new time stamp."""
_WAL_BYTES = 1 << 22
"""The size to which the write-ahead log is cut back."""

Stamp = tuple[int, int, int]


class StaleError(StoreError):
    """What was read before has changed since: read it again."""


@dataclass
class _Connection:
    db: sqlite3.Connection
    stamp: Stamp | None
    """The time and size of the file as it was opened, if it is read as a file that does not change."""


class Connections:
    """The connections of one `Index`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._log = path.with_name(path.name + "-wal")
        self._mutex = threading.Lock()
        self._idle: list[_Connection] = []
        self._inherited: list[_Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._process = os.getpid()
        self.closed = False

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a read transaction: everything that is read inside shows the same moment."""
        connection = self._take()
        try:
            with reported(self.path.parent):
                connection.db.execute("BEGIN")
                yield connection.db
                connection.db.execute("COMMIT")
        except BaseException as error:
            connection.db.close()
            if isinstance(error, DamagedError) and self._has_changed(connection):
                raise StaleError(f"{self.path.parent} was changed while it was read; try again") from error
            raise
        if self._has_changed(connection):
            connection.db.close()
            raise StaleError(f"{self.path.parent} was changed while it was read; try again")
        self._give_back(connection)

    def writer(self) -> sqlite3.Connection:
        """Return the connection for writing. One thread uses it at a time, and holds the writer's lock."""
        self._check_open()
        with reported(self.path.parent):
            self._forget_other_process()
            if self._writer is None:
                self._writer = self._connect("mode=rw")
                self._writer.execute("PRAGMA synchronous=FULL")
                self._writer.execute(f"PRAGMA journal_size_limit={_WAL_BYTES}")
            return self._writer

    def close(self) -> None:
        """Close everything that is not in use; what is in use is closed when it is given back."""
        with self._mutex:
            self.closed = True
            idle, self._idle = self._idle, []
            writer, self._writer = self._writer, None
        if self._process != os.getpid():
            return
        for connection in idle:
            connection.db.close()
        if writer is not None:
            writer.close()

    def _take(self) -> _Connection:
        self._check_open()
        self._forget_other_process()
        while True:
            with self._mutex:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                with reported(self.path.parent):
                    return self._open_reader()
            if not self._has_changed(connection) and self._fits(connection):
                return connection
            connection.db.close()

    def _give_back(self, connection: _Connection) -> None:
        with self._mutex:
            if not self.closed and len(self._idle) < _IDLE:
                self._idle.append(connection)
                return
        connection.db.close()

    def _open_reader(self) -> _Connection:
        while True:
            stamp = self._read_stamp()
            if self._log.exists():
                db = self._connect_beside_writer()
                if db is not None:
                    return _Connection(db, None)
            if abs(time.time() - stamp[0] / 1e9) > _SETTLED:
                return _Connection(self._connect("mode=ro&immutable=1"), stamp)
            time.sleep(_SETTLED / 10)

    def _connect_beside_writer(self) -> sqlite3.Connection | None:
        """Connect where there is a log, or return None if the log is empty and this process must not touch it."""
        db = self._connect("mode=ro")
        try:
            db.execute("SELECT count(*) FROM facts").fetchone()
        except sqlite3.OperationalError as error:
            db.close()
            if not self._log.exists() or self._log.stat().st_size == 0:
                return None
            if os.access(self.path.parent, os.W_OK):
                raise
            raise StoreError(
                f"{self.path.parent} was not closed by its last writer and cannot be written here ({error}); open it "
                "once where it can be written, and close it"
            ) from error
        return db

    def _fits(self, connection: _Connection) -> bool:
        """Whether this way of reading is still right: a log has the newest state."""
        return connection.stamp is None or not self._log.exists()

    def _has_changed(self, connection: _Connection) -> bool:
        return connection.stamp is not None and connection.stamp != self._read_stamp()

    def _read_stamp(self) -> Stamp:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            raise StoreError(f"{self.path.parent} is not a breadth index: it has no {self.path.name}") from None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _connect(self, mode: str) -> sqlite3.Connection:
        db = sqlite3.connect(
            f"file:{quote(str(self.path.absolute()))}?{mode}",
            uri=True,
            isolation_level=None,
            timeout=_WAIT,
            check_same_thread=False,
        )
        try:
            db.execute("PRAGMA trusted_schema=OFF")
            db.execute("PRAGMA cell_size_check=ON")
            db.execute("PRAGMA mmap_size=0")
        except sqlite3.Error:
            db.close()
            raise
        return db

    def _check_open(self) -> None:
        if self.closed:
            raise StoreError(f"the index {self.path.parent} is closed; open it again with Index.open")

    def _forget_other_process(self) -> None:
        """Leave the connections of the parent process alone after a fork: they are not ours to use or close."""
        if self._process != os.getpid():
            self._mutex = threading.Lock()
            self._inherited += self._idle
            if self._writer is not None:
                self._inherited.append(_Connection(self._writer, None))
            self._idle, self._writer, self._process = [], None, os.getpid()
