"""Where the processes of one service tell each other what they have counted: a folder with a file for each of them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from breadth.service.metrics import Counted

PERIOD = 1.0
"""Seconds after which a process writes its file again."""
_STALE = 5.0
"""Seconds after which a process that has written nothing does not run any more."""
_RUNNING = "breadth_requests_running"
"""What counts only while its process runs. The other numbers of a process that has ended still count."""


class Board:
    """The folder, as one process sees it."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._own = self._folder / f"{os.getpid()}.json"
        self._written = 0.0

    def post(self, counted: Counted) -> None:
        """Write what this process has counted."""
        fresh = self._own.with_suffix(".new")
        fresh.write_text(json.dumps(counted), encoding="utf-8")
        fresh.replace(self._own)
        self._written = time.monotonic()

    def is_due(self) -> bool:
        """Whether the file is to be written again."""
        return time.monotonic() - self._written >= PERIOD

    def read_others(self) -> list[Counted]:
        """What the other processes have counted."""
        found: list[Counted] = []
        for path in sorted(self._folder.glob("*.json")):
            if path != self._own:
                counted: Counted = json.loads(path.read_text(encoding="utf-8"))
                if time.time() - path.stat().st_mtime > _STALE:
                    counted.pop(_RUNNING, None)
                found.append(counted)
        return found
