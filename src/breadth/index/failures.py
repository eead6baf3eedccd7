"""What the disk and SQLite report, in words that say what to do. Nothing else of theirs reaches the caller."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from breadth.errors import DamagedError, StoreError

_FULL = {errno.ENOSPC, errno.EFBIG, *([errno.EDQUOT] if hasattr(errno, "EDQUOT") else [])}
_FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM}
_REBUILD = "restore it from a copy, or make the index again"


@contextmanager
def reported(folder: Path) -> Iterator[None]:
    """Turn errors of the disk and of SQLite into a `StoreError` about the index in this folder."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explain_sqlite(folder, error) from error
    except FileNotFoundError:
        raise  # a file that a writer has removed meanwhile: the reader looks again
    except OSError as error:
        raise _explain_system(folder, error) from error


def _explain_sqlite(folder: Path, error: sqlite3.Error) -> StoreError:
    text = str(error).lower()
    for part, explain in _MESSAGES.items():
        if part in text:
            return explain(folder, error)
    if isinstance(error, sqlite3.OperationalError):
        return StoreError(f"{folder}: the index cannot be used: {error}")
    return _explain_damage(folder, error)


def _explain_system(folder: Path, error: OSError) -> StoreError:
    if error.errno in _FULL:
        return _explain_full(folder, error)
    if error.errno in _FORBIDDEN:
        return _explain_read_only(folder, error)
    return StoreError(f"{folder}: the index cannot be used: {error}")


def _explain_full(folder: Path, error: Exception) -> StoreError:
    return StoreError(
        f"{folder}: the disk is full, or a file may not grow ({error}); what was committed is safe, the rest was not "
        "written: make room and do it again"
    )


def _explain_disk(folder: Path, error: Exception) -> StoreError:
    return StoreError(
        f"{folder}: the disk is full, a file may not grow, or the disk fails ({error}); what was committed is safe, "
        "the rest was not written: see to the disk and do it again"
    )


def _explain_read_only(folder: Path, error: Exception) -> StoreError:
    return StoreError(f"{folder} cannot be written ({error}); it can be searched. Make it writable to change it")


def _explain_lock(folder: Path, error: Exception) -> StoreError:
    return StoreError(f"{folder}: another program keeps the index locked ({error}); end it, or wait")


def _explain_damage(folder: Path, error: Exception) -> DamagedError:
    return DamagedError(f"{folder}: index.sqlite is damaged ({error}); {_REBUILD}")


_MESSAGES = {
    "disk is full": _explain_full,
    "readonly database": _explain_read_only,
    "database is locked": _explain_lock,
    "database table is locked": _explain_lock,
    "malformed": _explain_damage,
    "not a database": _explain_damage,
    "decode to utf-8": _explain_damage,
    "disk i/o error": _explain_disk,
    "no such table": _explain_damage,
    "no such column": _explain_damage,
}
"""What to say for the messages of SQLite that have this part."""
