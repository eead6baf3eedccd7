"""Which files an index consists of, and what each is called."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


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

    def _is_leftover(self, path: Path) -> bool:
        empty_segments = path == self.segments and not any(path.iterdir())
        return empty_segments or path.name.startswith("index.partial")
