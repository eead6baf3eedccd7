"""The documents and vectors of an index as they are on disk: what its reader and its writer share."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from breadth.errors import DamagedError, InputError, StoreError
from breadth.filters import Condition
from breadth.index.connections import Connections, StaleError
from breadth.index.entries import evaluate
from breadth.index.layout import Layout
from breadth.index.schema import FORMAT
from breadth.index.snapshot import Snapshot, advance, take_snapshot
from breadth.index.store import Segment, View
from breadth.oracles.compact import CompactOracle
from breadth.oracles.segmented import SegmentedOracle

Answer = TypeVar("Answer")

ATTEMPTS = 6
"""How often a reader starts anew because a writer has just changed or removed what it was reading."""
_FILTERS, _FILTERED_ROWS = 32, 20_000_000
"""How many filtered collections are kept for the next search, and how many rows they may have together."""


class Collection:
    """The store with its vector files. It keeps files open, and the newest snapshot as long as nothing changes.

    Any number of threads may use it. No lock is held while anything is read or computed.
    """

    def __init__(self, layout: Layout) -> None:
        if not layout.store.is_file():
            raise StoreError(f"{layout.folder} is not a breadth index: it has no {layout.store.name}")
        self.layout = layout
        self.connections = Connections(layout.store)
        self._mutex = threading.Lock()
        self._files: dict[str, CompactOracle] = {}
        self._newest: Snapshot | None = None
        self._filtered: OrderedDict[tuple[int, str], SegmentedOracle] = OrderedDict()
        try:
            self.facts = self.read(self._read_facts)
        except BaseException:
            self.close()
            raise
        self.dim = int(self.facts["dim"])

    @contextmanager
    def reading(self) -> Iterator[View]:
        """Open a view: everything that is read inside shows the same moment. What it holds, no writer waits for."""
        with self.connections.reading() as db:
            yield View(db)

    def read(self, work: Callable[[View], Answer]) -> Answer:
        """Call `work` with a view, again if a writer has just removed what it was reading."""
        for attempt in range(ATTEMPTS):
            try:
                with self.reading() as view:
                    return work(view)
            except (StaleError, FileNotFoundError) as error:
                if attempt == ATTEMPTS - 1:
                    raise self.explain_missing(error) from error
        raise AssertionError("unreachable")

    def snapshot(self, view: View) -> Snapshot:
        """Return the vectors of the state that the view shows."""
        state, before = view.state(), self._newest
        if before is not None and before.state.generation == state.generation:
            return before
        if before is not None and before.state.epoch == state.epoch and before.state.generation < state.generation:
            made = advance(before, view, state)
        else:
            made = take_snapshot(view, state, self.dim, self._open_file)
        with self._mutex:
            newest = self._newest
            if newest is None or newest.state.generation < state.generation:
                self._newest = made
                self._release_all_but({segment.file for segment, _ in made.segments})
        return made

    def rows(self, view: View, condition: Condition | None) -> SegmentedOracle:
        """Return the rows of all documents, or of those for which the condition holds, as one oracle."""
        snapshot = self.snapshot(view)
        if condition is None or snapshot.oracle.size == 0:
            return snapshot.oracle
        key = (snapshot.state.generation, repr(condition))  # not the condition itself: in Python, True == 1
        with self._mutex:
            if key in self._filtered:
                self._filtered.move_to_end(key)
                return self._filtered[key]
        found = snapshot.restricted(evaluate(view.db, condition, snapshot.oracle.numbers))
        with self._mutex:
            self._filtered[key] = found
            self._drop_old_filters()
        return found

    def explain_missing(self, error: Exception) -> StoreError:
        """What to say if what the index names cannot be found, again and again."""
        if isinstance(error, FileNotFoundError):
            return DamagedError(
                f"{self.layout.folder} lacks the file {error.filename}, which it names; restore it from a copy, or "
                "make the index again"
            )
        return error if isinstance(error, StoreError) else StoreError(str(error))

    def close(self) -> None:
        """Let go of all files."""
        self.connections.close()
        with self._mutex:
            self._files.clear()
            self._filtered.clear()
            self._newest = None

    def _read_facts(self, view: View) -> dict[str, str]:
        facts = dict(view.db.execute("SELECT name, value FROM facts").fetchall())
        if facts.get("format") != str(FORMAT):
            raise StoreError(
                f"{self.layout.folder} has format {facts.get('format')}, this program reads format {FORMAT}; make the "
                "index again from its documents: breadth index SOURCE -o NEW"
            )
        if not {"identity", "dim", "encoder"} <= set(facts) or not facts["dim"].isdigit():
            raise DamagedError(f"{self.layout.folder}: index.sqlite does not say what it is; make the index again")
        return facts

    def _open_file(self, segment: Segment) -> CompactOracle:
        """Open a vector file, and make sure that it is the one that the index names."""
        with self._mutex:
            known = self._files.get(segment.file)
        if known is not None and known.mark == segment.mark:
            return known
        path = self.layout.segments / segment.file
        path.stat()  # raises an error if a writer has removed it
        try:
            opened = CompactOracle.open(path)
        except InputError as error:
            raise DamagedError(f"{error}; restore it from a copy, or make the index again") from error
        if opened.mark != segment.mark or opened.size != len(segment.numbers) or opened.dim != self.dim:
            raise DamagedError(
                f"{path} is not the file that the index wrote there; restore it from a copy, or make the index again"
            )
        with self._mutex:
            self._files[segment.file] = opened
        return opened

    def _release_all_but(self, named: set[str]) -> None:
        """Let go of the files and the filtered rows of earlier states."""
        for file in [file for file in self._files if file not in named]:
            del self._files[file]
        self._filtered.clear()

    def _drop_old_filters(self) -> None:
        while len(self._filtered) > _FILTERS or (
            len(self._filtered) > 1 and sum(one.size for one in self._filtered.values()) > _FILTERED_ROWS
        ):
            self._filtered.popitem(last=False)
