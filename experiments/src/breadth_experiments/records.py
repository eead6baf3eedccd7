"""Files of JSON lines that grow while a stage works, so that a stopped stage can resume where it was."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from breadth.errors import InputError
from breadth_experiments import shapes


class Records:
    """An append-only file of JSON objects, each identified by the values of its key fields.

    Opening the file cuts off a last line that a crash left unfinished. A broken line further up is an error. Several
    threads may call `append`.
    """

    def __init__(self, path: Path, key: tuple[str, ...]) -> None:
        self._path, self._key = path, key
        path.parent.mkdir(parents=True, exist_ok=True)
        _cut_torn_line(path)
        self._shape = path.name if path.name in shapes.SHAPES else None
        self._seen = {self._key_of(record) for record in read(path, shape=self._shape)} if path.exists() else set()
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def __contains__(self, key: tuple[Any, ...]) -> bool:
        return key in self._seen

    def __len__(self) -> int:
        return len(self._seen)

    def append(self, record: dict[str, Any]) -> None:
        """Write a record. The file must not have one with the same key yet."""
        key = self._key_of(record)
        with self._lock:
            if key in self._seen:
                raise InputError(f"{self._path.name} already has a record for {key}")
            self._file.write(json.dumps(record, ensure_ascii=False) + "\n")
            self._seen.add(key)

    def flush(self) -> None:
        """Make sure that the appended records are on the disk."""
        with self._lock:
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        self.flush()
        self._file.close()

    def __enter__(self) -> Records:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _key_of(self, record: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(record.get(name) for name in self._key)


def read(path: Path, growing: bool = False, shape: str | None = None) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines. A line that is not a JSON object is an error that names the line.

    `growing`: a stage that was stopped may have left the last line unfinished; such a line is skipped. `shape`: the
    name of the file of a run that this is; its records must have the fields that `shapes.SHAPES` says.
    """
    with path.open("rb") as lines:
        for number, raw in enumerate(lines, start=1):
            if not raw.strip() or (growing and not raw.endswith(b"\n")):
                continue
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{path.name}:{number} is not JSON ({error}); is the file complete?") from None
            if not isinstance(record, dict):
                raise InputError(f"{path.name}:{number} is not a JSON object but {type(record).__name__}")
            if shape is not None:
                shapes.check(record, shape, f"{path.name}:{number}")
            yield record


def write(path: Path, records: Iterable[dict[str, Any]]) -> int:
    """Write a whole file, under another name first so that a half-written one is never read; return the count."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    count = 0
    with partial.open("w", encoding="utf-8") as out:
        for record in records:
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            count += 1
        out.flush()
        os.fsync(out.fileno())
    partial.replace(path)
    return count


def _cut_torn_line(path: Path) -> None:
    """Cut off a last line that does not end with a new line."""
    if not path.exists() or path.stat().st_size == 0:
        return
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(size - 1)
        if file.read(1) == b"\n":
            return
        at = size
        while at > 0:
            step = min(65536, at)
            file.seek(at - step)
            block = file.read(step)
            found = block.rfind(b"\n")
            if found >= 0:
                file.truncate(at - step + found + 1)
                return
            at -= step
        file.truncate(0)
