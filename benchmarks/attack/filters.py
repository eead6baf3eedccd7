"""Hostile filters: does any of them see a document of another tenant, or take long?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attack.collection import build, make_rows
from breadth.errors import InputError
from breadth.filters import parse_filter
from breadth.index import Index
from tests.index.hostile import HOSTILE, TEXTS

ROWS, LIMIT = 50_000, 2.0


def ask_hostile(folder: Path) -> dict[str, Any]:
    """Ask every hostile filter within one tenant, as data, and every hostile text through the parser of the shell."""
    rows = make_rows(np.random.default_rng(5), ROWS)
    build(folder / "hostile.index", rows)
    figures: dict[str, Any] = {"rows": ROWS, "limit_seconds": LIMIT, "refused": 0, "answered": 0, "foreign": 0}
    slow: list[float] = []
    others: list[str] = []
    with Index.open(folder / "hostile.index") as index:
        index.search(rows[0], k=10)
        for name, data in [*HOSTILE.items(), *((text, text) for text in TEXTS)]:
            started = time.perf_counter()
            try:
                where = parse_filter(name) if name in TEXTS else data
                found = index.search(rows[0], k=10, where={"$and": [{"tenant": "t3"}, where]})
                figures["answered"] += 1
                figures["foreign"] += sum(hit.metadata["tenant"] != "t3" for hit in found)
            except InputError:
                figures["refused"] += 1
            except Exception as error:  # any other error is a finding
                others.append(f"{name}: {error!r}")
            slow.append(time.perf_counter() - started)
        figures["documents"] = len(index)
        figures["whole"] = index.check().ok
    figures |= {"tried": len(slow), "other_errors": others, "longest_seconds": max(slow)}
    figures["over_limit"] = sum(seconds > LIMIT for seconds in slow)
    return figures
