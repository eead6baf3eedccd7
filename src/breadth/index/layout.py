"""Which files an index consists of, and what each is called."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from pathlib import Path

_SEGMENT = re.compile(r"[0-9a-f]{32}\.compact")
_UNFINISHED = re.compile(r"\.[0-9a-f]{32}\.compact\.[0-9a-f]{32}\.partial")


@dataclass(frozen=True)
class Layout:
    """The paths inside the folder of an index."""

    folder: Path

    @property
    def store(self) -> Path:
        """The SQLite file with documents, metadata and the list of segments. An index exists if this file does."""
        return self.folder / "index.sqlite"

    @property
    def segments(self) -> Path:
        """The folder with the vector files."""
        return self.folder / "segments"

    @property
    def lock(self) -> Path:
        """The file that the process that writes holds locked."""
        return self.folder / "writer.lock"

    def is_free(self) -> bool:
        """Whether an index can be made here: nothing is in the way but what an interrupted creation left behind."""
        if not self.folder.exists():
            return True
        return self.folder.is_dir() and all(self._is_leftover(path) for path in self.folder.iterdir())

    def remove_leftovers(self) -> None:
        """Remove what an interrupted creation left behind. The caller holds the lock."""
        for path in self.folder.iterdir():
            if _is_partial_store(path):
                path.unlink(missing_ok=True)

    def unfinished_files(self) -> list[Path]:
        """List vector files whose writing was interrupted. A folder that is a link is not looked into."""
        return [path for path in self._own_files() if _UNFINISHED.fullmatch(path.name)]

    def segment_files(self) -> list[Path]:
        """List the files that are named as vector files are. A folder that is a link is not looked into."""
        return [path for path in self._own_files() if _SEGMENT.fullmatch(path.name)]

    def _own_files(self) -> list[Path]:
        if self.segments.is_symlink() or not self.segments.is_dir():
            return []
        return [path for path in self.segments.iterdir() if path.is_file() and not path.is_symlink()]

    def _is_leftover(self, path: Path) -> bool:
        empty_segments = path == self.segments and not path.is_symlink() and path.is_dir() and not any(path.iterdir())
        return empty_segments or path == self.lock or _is_partial_store(path)


def new_segment_name() -> str:
    """A name that no vector file had before."""
    return f"{uuid.uuid4().hex}.compact"


def _is_partial_store(path: Path) -> bool:
    return path.name.startswith("index.") and ".partial" in path.name and not path.is_symlink() and path.is_file()
