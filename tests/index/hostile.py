"""Filters that somebody might send to see other tenants' documents, or to keep a machine busy."""

from __future__ import annotations

import numpy as np

_SQL = [
    "' or '1'='1",
    "x') UNION SELECT number FROM documents --",
    "x' OR tenant = 'theirs",
    "'; DROP TABLE documents; --",
    "1); DELETE FROM entries; --",
    "(select text from documents limit 1)",
    "randomblob(900000000)",
    "instr(printf('%.*c',100000000,'a'),'b')",
    "%",
    "_" * 50,
    "*",
    '" OR ""="',
    "theirs\0",
    "\\' OR 1=1 --",
    "x' AND sleep(100) --",
    "with recursive c(x) as (select 1 union all select x from c) select x from c",
]
_NAMES = [
    "number",
    "rowid",
    "metadata",
    "tenant' or '1'='1",
    'tenant" or "1"="1',
    "tenant) OR (1=1",
    "$.tenant",
    "tenant.length",
    "entries.value",
    "__class__",
    "tenant\0",
    "Tenant",
    "documents.text",
    "..",
    "",
    "a" * 100_000,
]


def _nest(levels):
    data = {"year": 1}
    for _ in range(levels):
        data = {"$not": data}
    return data


def _wide(depth):
    return {"year": 1} if depth == 0 else {"$or": [_wide(depth - 1)] * 8}


_LOOP: dict = {}
_LOOP["$or"] = [_LOOP]

HOSTILE: dict[str, object] = {
    **{f"value {i}": {"tenant": text} for i, text in enumerate(_SQL)},
    **{f"value of another field {i}": {"secret": {"$ne": text}} for i, text in enumerate(_SQL)},
    **{f"name {i}": {name: "theirs"} for i, name in enumerate(_NAMES)},
    **{f"negated name {i}": {"$not": {name: "theirs"}} for i, name in enumerate(_NAMES)},
    "or with the other tenant": {"$or": [{"tenant": "theirs"}, {"tenant": {"$ne": "nobody"}}]},
    "always true": {"$not": {"$and": [{"tenant": "x"}, {"tenant": "y"}]}},
    "exists": {"secret": {"$exists": True}},
    "text instead of a dict": "tenant = 'mine' or '1'='1'",
    "a list": [{"tenant": "theirs"}],
    "regular expression": {"tenant": {"$regex": "(a+)+$"}},
    "where in javascript": {"$where": "sleep(100000)"},
    "expression": {"$expr": {"$eq": ["$tenant", "theirs"]}},
    "deep": _nest(5000),
    "holds itself": _LOOP,
    "wide": _wide(5),
    "many values": {"secret": {"$in": [f"theirs {i}" for i in range(10_001)]}},
    "ten thousand values": {"secret": {"$in": [f"theirs {i}" for i in range(10_000)]}},
    "a very long text": {"secret": {"$lt": "z" * 5_000_000}},
    "a very large number": {"year": {"$lt": 10**5000}},
    "not a number": {"year": float("nan")},
    "infinity": {"year": {"$lt": float("inf")}},
    "complex": {"year": 1j},
    "bytes": {"tenant": b"theirs"},
    "an array": {"tenant": np.array(["theirs"])},
    "an object": {"tenant": object()},
    "a surrogate": {"tenant": "\ud800"},
    "a number as a name": {1: 1},
    "none as a name": {None: 1},
}
"""More than seventy, by name."""

TEXTS = [
    *(f"tenant = '{text}'" for text in _SQL),
    *(f"secret != {text}" for text in _SQL),
    "tenant = 'x' or '1'='1'",
    "(" * 5000,
    "not " * 20_000 + "a = 1",
    "a = " + "9" * 50_000,
    "a in (" + ", ".join(["1"] * 12_000) + ")",
    " or ".join(["year = 1"] * 300),
    "\x00",
    "",
]
"""The same for the form that is typed in a shell."""
