"""The fields of documents as rows of a table, from which every filter is answered.

A row says: the field `name` of document `number` has this value. The table is ordered by name, kind and value, so each
comparison of a filter is one range of it, on any field. Values are bound; no text of a filter becomes SQL.

Long texts and large whole numbers are kept shortened. Where that leaves a comparison open, the metadata decide.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from breadth.arrays import Ids
from breadth.filters import And, Compare, Condition, Contains, Exists, In, Not, Or, Scalar, matches
from breadth.filters.values import find_kind

_KINDS = {"null": 0, "truth": 1, "number": 2, "text": 3, "list": 4, "dict": 5}
_ELEMENT = 8
"""Added to the kind of a value that is an entry of a list."""
_TEXT = 200
"""Characters of a text that are kept here."""
_WHOLE = 1 << 63
"""Whole numbers of at least this size do not fit into SQLite's, and become floats."""
_SIGNS = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}

Entry = tuple[str, int, Any]
"""The name of a field, the kind of its value, and the value, shortened."""


def list_entries(metadata: Mapping[str, Any]) -> set[Entry]:
    """The rows of one document. Names are those that `breadth.filters.look_up` finds."""
    found: set[Entry] = set()
    for name, value in _walk(metadata):
        kind = find_kind(value)
        found.add((name, _KINDS[kind], _shorten(value)))
        if kind == "list":
            plain = (entry for entry in value if find_kind(entry) not in ("list", "dict"))
            found |= {(name, _KINDS[find_kind(entry)] + _ELEMENT, _shorten(entry)) for entry in plain}
    return found


def write_entries(db: sqlite3.Connection, documents: Sequence[tuple[int, Mapping[str, Any]]]) -> None:
    """Add the rows of documents, given with their numbers."""
    rows = [(entry, number) for number, metadata in documents for entry in list_entries(metadata)]
    names = sorted({entry[0] for entry, _ in rows})
    db.executemany("INSERT OR IGNORE INTO names(name) VALUES (?)", [(name,) for name in names])
    known = {name: find_name(db, name) for name in names}
    ordered = sorted((known[name], kind, _sortable(value), number, value) for (name, kind, value), number in rows)
    db.executemany(
        "INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?)", [(n, kind, value, at) for n, kind, _, at, value in ordered]
    )


def remove_entries(db: sqlite3.Connection, number: int, metadata: Mapping[str, Any]) -> None:
    """Remove the rows of a document."""
    sql = "DELETE FROM entries WHERE name = ? AND kind = ? AND value = ? AND number = ?"
    for name, kind, value in list_entries(metadata):
        db.execute(sql, (find_name(db, name), kind, value, number))


def list_names(db: sqlite3.Connection) -> list[str]:
    """The fields that any document has."""
    sql = "SELECT name FROM names WHERE EXISTS (SELECT 1 FROM entries WHERE entries.name = names.number) ORDER BY name"
    return [str(row[0]) for row in db.execute(sql)]


def find_name(db: sqlite3.Connection, name: str) -> int:
    """The number of a name, or -1 if no document ever had such a field."""
    row = db.execute("SELECT number FROM names WHERE name = ?", (name,)).fetchone()
    return -1 if row is None else int(row[0])


def evaluate(db: sqlite3.Connection, condition: Condition, every: Ids) -> Ids:
    """The numbers of the documents for which a condition holds, among `every`, in increasing order."""
    if isinstance(condition, Not):
        return np.setdiff1d(every, evaluate(db, condition.part, every), assume_unique=True)
    if isinstance(condition, And):
        left = every
        for part in condition.parts:
            left = evaluate(db, part, left)
        return left
    if isinstance(condition, Or):
        found = [evaluate(db, part, every) for part in condition.parts]
        return np.unique(np.concatenate(found))
    return np.intersect1d(every, _find(db, condition), assume_unique=True)


def _find(db: sqlite3.Connection, condition: Compare | In | Contains | Exists) -> Ids:
    """The numbers of the documents for which a comparison holds."""
    name = find_name(db, condition.field)
    if name < 0:
        return np.empty(0, dtype=np.int64)
    if isinstance(condition, Exists):
        return _fetch(db, "name = ? AND kind < ?", (name, _ELEMENT))
    if isinstance(condition, In):
        each = [_find(db, Compare(condition.field, "eq", value)) for value in condition.values]
        return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *each]))
    order = "eq" if isinstance(condition, Contains) else condition.order
    kind = _KINDS[find_kind(condition.value)] + (_ELEMENT if isinstance(condition, Contains) else 0)
    short = _shorten(condition.value)
    inside = f"name = ? AND kind = ? AND value {_SIGNS[order]} ?"
    if not _is_rough(short):
        return _fetch(db, inside, (name, kind, short))
    equal = _fetch(db, "name = ? AND kind = ? AND value = ?", (name, kind, short))
    sure = np.setdiff1d(_fetch(db, inside, (name, kind, short)), equal)
    return np.union1d(sure, _confirm(db, condition, equal))


def _confirm(db: sqlite3.Connection, condition: Condition, numbers: Ids) -> Ids:
    """Those of the documents whose metadata say that the condition holds."""
    held = []
    for number in numbers.tolist():
        row = db.execute("SELECT metadata FROM documents WHERE number = ?", (number,)).fetchone()
        if row is not None and matches(condition, json.loads(row[0])):
            held.append(number)
    return np.array(held, dtype=np.int64)


def _fetch(db: sqlite3.Connection, condition: str, values: tuple[Any, ...]) -> Ids:
    """The numbers of the entries with a condition, each once, in increasing order.

    They come as one text: SQLite then makes it in one step, in which other threads can work.
    """
    (text,) = db.execute(f"SELECT group_concat(number) FROM entries WHERE {condition}", values).fetchone()
    return np.unique(np.fromstring(text, dtype=np.int64, sep=",")) if text else np.empty(0, dtype=np.int64)


def _walk(metadata: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields that can be named, with their values: exact keys first, then dotted paths that no key hides."""
    for key, value in metadata.items():
        yield key, value
        if isinstance(value, Mapping) and "." not in key:
            for path, inner in _walk_inside(key, value):
                if path not in metadata:
                    yield path, inner


def _walk_inside(path: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if "." not in key:
            yield f"{path}.{key}", value
            if isinstance(value, Mapping):
                yield from _walk_inside(f"{path}.{key}", value)


def _shorten(value: Any) -> Any:
    """What the table keeps of a value. The order of values is kept, but different ones may become equal."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        return value[:_TEXT]
    if isinstance(value, int) and not -_WHOLE <= value < _WHOLE:
        try:
            return float(value)
        except OverflowError:
            return float("inf") if value > 0 else -float("inf")
    return value if isinstance(value, (int, float)) else 0


def _is_rough(short: Scalar) -> bool:
    """Whether different values may have become this one."""
    if isinstance(short, str):
        return len(short) == _TEXT
    return isinstance(short, float) and abs(short) >= _WHOLE


def _sortable(value: Any) -> tuple[bool, Any]:
    return isinstance(value, str), value
