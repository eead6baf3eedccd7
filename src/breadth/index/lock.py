"""One writer at a time: a lock on a file, which the system releases when the process ends, however it ends."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import TracebackType

from breadth.errors import StoreError

try:
    import fcntl

    def _lock_file(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

except ImportError:  # Windows
    import msvcrt

    def _lock_file(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]


_PAUSE = 0.01


class Lock:
    """Hold the lock inside a `with` block. A second writer gets an error, at once or after `wait` seconds."""

    def __init__(self, path: Path, wait: float = 0.0) -> None:
        self._path = path
        self._wait = wait

    def __enter__(self) -> Lock:
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        until = time.monotonic() + self._wait
        while True:
            try:
                _lock_file(self._file)
            except OSError:
                if time.monotonic() < until:
                    time.sleep(_PAUSE)
                    continue
                os.close(self._file)
                raise StoreError(f"another process is writing to {self._path.parent}; wait until it is done") from None
            return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)
