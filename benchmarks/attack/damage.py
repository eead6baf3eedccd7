"""Damage files of an index, block by block, and see whether any answer is wrong without an error."""

from __future__ import annotations

import os
import time
import zlib
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attack.collection import DIM, make_documents, make_rows
from breadth.errors import BreadthError
from breadth.index import Index
from breadth.oracles import CompactOracle

PAGE, BLOCKS, PAGES = 4096, 500, 300
ROWS = 6000


def damage_blocks(folder: Path) -> dict[str, Any]:
    """Damage one 4 KiB block of a vector file at a time, then one page of the SQLite file at a time."""
    rng = np.random.default_rng(2)
    rows = make_rows(rng, ROWS)
    path = folder / "damaged.index"
    with Index.create(path, dim=DIM) as index:
        for start in range(0, ROWS, 1500):
            index.add(make_documents(1500, start), vectors=rows[start : start + 1500], batch=1500)
    queries = rows[:: ROWS // 6]
    segments = sorted((path / "segments").iterdir())
    return {
        "rows": ROWS,
        "files": len(segments),
        "blocks": _attack(path, segments, queries, rng, BLOCKS),
        "pages": _attack(path, [path / "index.sqlite"], queries, rng, PAGES),
        "exchanged": _exchange(path, segments, queries),
    }


def _attack(path: Path, files: list[Path], queries: Any, rng: np.random.Generator, count: int) -> dict[str, Any]:
    """Damage a random block in one of several ways; restore it afterwards."""
    right, seen, noticed = _ask(path, queries), Counter[str](), 0
    for number in range(count):
        file = files[int(rng.integers(len(files)))]
        good = file.read_bytes()
        start = int(rng.integers(len(good) // PAGE)) * PAGE
        bad = list(_WAYS.values())[number % len(_WAYS)](good, start, rng)
        if bad == good:
            seen["nothing changed"] += 1
            continue
        file.write_bytes(bad)
        outcome = _judge(path, queries, right)
        seen[outcome] += 1
        noticed += not _check(path)
        file.write_bytes(good)
    return {"tried": count, "outcomes": dict(seen), "found_by_check": noticed}


def _zero(good: bytes, start: int, rng: np.random.Generator) -> bytes:
    return good[:start] + bytes(PAGE) + good[start + PAGE :]


def _scramble(good: bytes, start: int, rng: np.random.Generator) -> bytes:
    return good[:start] + rng.bytes(PAGE) + good[start + PAGE :]


def _flip(good: bytes, start: int, rng: np.random.Generator) -> bytes:
    place = start + int(rng.integers(PAGE))
    return good[:place] + bytes([good[place] ^ (1 << int(rng.integers(8)))]) + good[place + 1 :]


def _copy_other(good: bytes, start: int, rng: np.random.Generator) -> bytes:
    other = int(rng.integers(len(good) // PAGE)) * PAGE
    return good[:start] + good[other : other + PAGE] + good[start + PAGE :]


def _cut(good: bytes, start: int, rng: np.random.Generator) -> bytes:
    return good[: start + PAGE // 2]


_WAYS: dict[str, Callable[[bytes, int, np.random.Generator], bytes]] = {
    "zeros": _zero,
    "random bytes": _scramble,
    "one bit": _flip,
    "another block": _copy_other,
    "cut": _cut,
}


def _ask(path: Path, queries: Any) -> list[Any]:
    with Index.open(path) as index:
        found = [index.search(query, k=8) for query in queries]
        found += [index.search(query, k=8, where={"tenant": "t3"}) for query in queries]
        return [(one.ids, [hit.text for hit in one], round(one.selection.objective, 9)) for one in found]


def _judge(path: Path, queries: Any, right: list[Any]) -> str:
    try:
        return "right answers" if _ask(path, queries) == right else "wrong answers"
    except BreadthError:
        return "an error of breadth"
    except Exception as error:  # any other error is a finding
        return f"another error: {type(error).__name__}"


def _check(path: Path) -> bool:
    try:
        with Index.open(path) as index:
            return index.check().ok
    except BreadthError:
        return False


def _exchange(path: Path, segments: list[Path], queries: Any) -> dict[str, Any]:
    """Exchange every pair of vector files."""
    right, seen = _ask(path, queries), Counter[str]()
    for place, one in enumerate(segments):
        for other in segments[place + 1 :]:
            _swap(one, other)
            seen[_judge(path, queries, right)] += 1
            _swap(one, other)
    return {"tried": sum(seen.values()), "outcomes": dict(seen)}


def _swap(one: Path, other: Path) -> None:
    spare = one.with_name("spare")
    one.rename(spare)
    other.rename(one)
    spare.rename(other)


def cost_of_checksums(folder: Path) -> dict[str, Any]:
    """What the checksums cost: the first search of a file, the later ones, and reading and summing the same bytes."""
    rng = np.random.default_rng(3)
    rows = make_rows(rng, 400_000)
    path = folder / "some.compact"
    CompactOracle.build(rows).save(path)
    first, later = [], []
    for _ in range(3):
        oracle = CompactOracle.open(path)
        ask = partial(oracle.top, rows[:1], 10)
        first.append(_time(ask))
        later.append(float(np.median([_time(ask) for _ in range(9)])))
    codes = np.ascontiguousarray(oracle._arrays.codes)
    checking = _time(lambda: [zlib.crc32(codes[start : start + 256].data) for start in range(0, len(codes), 256)])
    file = os.open(path, os.O_RDONLY)
    reading = _time(lambda: [os.pread(file, 1 << 22, offset) for offset in range(0, codes.nbytes, 1 << 22)])
    os.close(file)
    return {
        "rows": len(rows),
        "megabytes": codes.nbytes / 2**20,
        "first_ms": 1000 * float(np.median(first)),
        "later_ms": 1000 * float(np.median(later)),
        "checksum_ms": 1000 * checking,
        "reading_ms": 1000 * reading,
        "open_ms": 1000 * _time(lambda: CompactOracle.open(path)),
        "overhead_bytes": path.stat().st_size / (len(rows) * (5 * DIM + 8)) - 1.0,
    }


def _time(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
