"""Is an index whole? Everything is read and compared, the checksums of vectors and documents first of all."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from breadth.errors import BreadthError, DamagedError
from breadth.index.collection import Collection
from breadth.index.entries import list_entries
from breadth.index.schema import TOKENIZER
from breadth.index.snapshot import Snapshot
from breadth.index.store import View
from breadth.oracles.compact import CompactOracle

_DOCUMENTS = 2000
"""Documents that are read at a time."""


@dataclass(frozen=True)
class Check:
    """What a check of an index found.

    documents, segments   how many documents and vector files were read
    problems              what is wrong; empty if the index is whole
    notes                 what is not wrong but worth knowing
    """

    documents: int
    segments: int
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the index is whole."""
        return not self.problems


def check(collection: Collection) -> Check:
    """Read the whole index, and compare everything that can be compared."""
    notes = tuple(_list_notes(collection))
    try:
        return replace(collection.read(lambda view: _examine(collection, view)), notes=notes)
    except (BreadthError, FileNotFoundError) as error:
        return Check(0, 0, (str(error),), notes)


def _examine(collection: Collection, view: View) -> Check:
    documents, segments = view.state().documents, len(view.segments())
    problems: list[str] = []
    for examine in (_check_tables, _check_documents, _check_words, _check_vectors):
        problems += _collect(examine, collection, view)
    return Check(documents, segments, tuple(problems))


def _collect(examine: Callable[[Collection, View], Iterator[str]], collection: Collection, view: View) -> list[str]:
    """The problems that one examination finds. An error ends it, and is one of them."""
    found: list[str] = []
    try:
        found.extend(examine(collection, view))
    except (BreadthError, FileNotFoundError, sqlite3.Error) as error:
        found.append(str(error))
    return found


def _check_tables(collection: Collection, view: View) -> Iterator[str]:
    """Let SQLite compare its pages and indexes with each other."""
    for (line,) in view.db.execute("PRAGMA integrity_check(20)"):
        if line != "ok":
            yield f"index.sqlite: {line}"


def _check_documents(collection: Collection, view: View) -> Iterator[str]:
    """Read all documents with their checksums, and compare what filters see with their metadata."""
    names = dict(view.db.execute("SELECT number, name FROM names").fetchall())
    after, count, entries = -1, 0, 0
    while some := view.all_documents(after, _DOCUMENTS):
        first, after = some[0][0], some[-1][0]
        count += len(some)
        sql = "SELECT number, name, kind, value FROM entries WHERE number BETWEEN ? AND ?"
        kept: dict[int, set[tuple[str, int, object]]] = {}
        for number, name, kind, value in view.db.execute(sql, (first, after)):
            kept.setdefault(number, set()).add((names.get(name, ""), kind, value))
        for number, document in some:
            wanted = list_entries(document.metadata)
            entries += len(wanted)
            if kept.get(number, set()) != wanted:
                yield f"index.sqlite: filters do not see the metadata of document {document.id!r} as they are"
    state = view.state()
    if count != state.documents:
        yield f"index.sqlite: it should hold {state.documents} documents, and holds {count}"
    (stored,) = view.db.execute("SELECT count(*) FROM entries").fetchone()
    if stored != entries:
        yield f"index.sqlite: filters see {stored} entries, and there are {entries}"


def _check_words(collection: Collection, view: View) -> Iterator[str]:
    """Make the full text anew, in a temporary table, and compare which words it has how often."""
    db, tables = view.db, ("terms", "terms_anew", "words_anew")
    for name in tables:
        db.execute(f"DROP TABLE IF EXISTS temp.{name}")
    db.execute(f"CREATE VIRTUAL TABLE temp.words_anew USING fts5(text, content='', tokenize='{TOKENIZER}')")
    db.execute("INSERT INTO temp.words_anew(rowid, text) SELECT number, text FROM main.documents")
    db.execute("CREATE VIRTUAL TABLE temp.terms_anew USING fts5vocab('temp', 'words_anew', 'row')")
    db.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'words', 'row')")
    for one, other in (("terms", "terms_anew"), ("terms_anew", "terms")):
        differ = f"SELECT term, doc, cnt FROM temp.{one} EXCEPT SELECT term, doc, cnt FROM temp.{other}"
        (count,) = db.execute(f"SELECT count(*) FROM ({differ})").fetchone()
        if count:
            yield f"index.sqlite: in the full text, {count} words stand more or less often than in the documents"
    for name in tables:
        db.execute(f"DROP TABLE temp.{name}")


def _check_vectors(collection: Collection, view: View) -> Iterator[str]:
    """Read all vectors, and make sure that each document has one."""
    snapshot = collection.snapshot(view)
    yield from _verify_files(snapshot)
    numbers = np.array(view.db.execute("SELECT number FROM documents ORDER BY number").fetchall(), dtype=np.int64)
    missing = np.setdiff1d(numbers.reshape(-1), snapshot.oracle.numbers)
    extra = np.setdiff1d(snapshot.oracle.numbers, numbers.reshape(-1))
    if len(missing):
        yield f"{len(missing)} documents have no vector, the first is in row {missing[0]}"
    if len(extra):
        yield f"{len(extra)} vectors have no document, the first is row {extra[0]}"
    if np.any(np.diff(snapshot.oracle.numbers) <= 0):
        yield "two vector files hold the same rows"


def _verify_files(snapshot: Snapshot) -> Iterator[str]:
    for _, whole in snapshot.segments:
        problem = _verify(whole)
        if problem is not None:
            yield problem


def _verify(whole: CompactOracle) -> str | None:
    try:
        whole.verify()
    except DamagedError as error:
        return str(error)
    return None


def _list_notes(collection: Collection) -> Iterator[str]:
    """Files that do not belong to the index, and what an interrupted writer left behind."""
    layout = collection.layout
    if layout.segments.is_symlink():
        yield f"{layout.segments} is a link; leftover files in it are never removed"
    try:
        with collection.reading() as view:
            named = {segment.file for segment in view.segments()}
        there = sorted(path.name for path in layout.segments.iterdir())
    except (BreadthError, OSError):
        return
    left = [name for name in there if name not in named]
    if left:
        yield f"{len(left)} files in {layout.segments} belong to no document, such as {left[0]}"
