"""The tables of an index, and how an empty one is made. docs/the-index.md describes the format."""

from __future__ import annotations

import sqlite3
import uuid
from pathlib import Path

from breadth.oracles.compact.writer import sync_folder

FORMAT = 2
TOKENIZER = "porter unicode61"
"""How texts are cut into words."""
_SCHEMA = f"""
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE state (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  generation INTEGER NOT NULL,  -- changes with every transaction
  epoch INTEGER NOT NULL,       -- changes when segments change
  next INTEGER NOT NULL,        -- the number of the next document; numbers are never used twice
  documents INTEGER NOT NULL,   -- how many there are
  waiting INTEGER NOT NULL      -- how many of their vectors are in no segment yet
);
CREATE TABLE segments (  -- vector files; their numbers do not overlap
  first INTEGER PRIMARY KEY, file TEXT NOT NULL UNIQUE, mark TEXT NOT NULL, runs BLOB NOT NULL, crc INTEGER NOT NULL
);
CREATE TABLE pending (number INTEGER PRIMARY KEY, vector BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE deleted (place INTEGER PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE documents (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, parent TEXT, text TEXT NOT NULL, metadata TEXT NOT NULL,
  crc INTEGER NOT NULL
);
CREATE INDEX documents_by_parent ON documents(parent) WHERE parent IS NOT NULL;
CREATE TABLE names (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE entries (  -- what the fields of documents hold: every filter is answered from here
  name INTEGER NOT NULL, kind INTEGER NOT NULL, value NOT NULL, number INTEGER NOT NULL,
  PRIMARY KEY (name, kind, value, number)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(text, content='documents', content_rowid='number', tokenize='{TOKENIZER}');
"""


def create_store(path: Path, facts: dict[str, str]) -> None:
    """Make an empty store. The file gets its name only when it is complete."""
    partial = path.with_name(f"index.{uuid.uuid4().hex}.partial")
    db = sqlite3.connect(partial, isolation_level=None)
    try:
        db.execute("PRAGMA auto_vacuum=INCREMENTAL")
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        recorded = {"format": str(FORMAT), "identity": uuid.uuid4().hex, **facts}
        db.executemany("INSERT INTO facts VALUES (?, ?)", list(recorded.items()))
        db.execute("INSERT INTO state VALUES (1, 0, 0, 0, 0, 0)")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        db.close()
    partial.rename(path)
    sync_folder(path.parent)
