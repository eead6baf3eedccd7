"""One engine on one collection: requests, rows, bytes, time and objective of selections, and of MMR beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np

import breadth
from benchmarks import peers
from benchmarks.timing import in_turn
from breadth import ArrayOracle, Problem
from breadth.settings import DEFAULT
from tests.engines.stores import Store

KS = (10, 25, 100)
AUDITED, PAPER_QUERIES, MMR_QUERIES = 2, 3, 5
"""Queries whose searches are audited, for which the paper's objective is solved, and for which MMR's set is rated."""
FETCHED = 5
"""LangChain's MMR fetches so many times k: its defaults are k = 4 and fetch_k = 20."""
LAMBDA = 0.5
"""LangChain's default weight of relevance."""


@dataclass(frozen=True, eq=False)
class Collection:
    """Rows with queries, and the sets that an exact scan of the array finds."""

    name: str
    rows: np.ndarray
    queries: np.ndarray
    references: dict[tuple[int, int | None], list[breadth.Selection]]

    @classmethod
    def build(cls, name: str, rows: np.ndarray, queries: np.ndarray) -> Collection:
        """Find the references: for each k at the default, and for sharpness 1."""
        oracle = ArrayOracle(rows)
        references: dict[tuple[int, int | None], list[breadth.Selection]] = {}
        for k in KS:
            references[k, None] = [breadth.select(oracle, q, k=k) for q in queries]
            references[k, 1] = [breadth.select(oracle, q, k=k, sharpness=1) for q in queries[:PAPER_QUERIES]]
        return cls(name, rows, queries, references)


def measure(store: Store, oracle: Any, collection: Collection, rounds: int) -> list[dict[str, Any]]:
    """A cell for each k."""
    return [_measure_k(store, oracle, collection, k, rounds) for k in KS]


def audit(oracle: Any, collection: Collection, cells: list[dict[str, Any]]) -> None:
    """Add to each cell what share of the best rows the searches of some queries found."""
    if oracle.exact or not hasattr(oracle, "exact_top"):
        return
    for cell in cells:
        audited = [breadth.select(oracle, q, k=cell["k"], audit=True) for q in collection.queries[:AUDITED]]
        cell["recall"] = float(np.mean([s.stats["recall"] for s in audited]))


def _measure_k(store: Store, oracle: Any, collection: Collection, k: int, rounds: int) -> dict[str, Any]:
    queries = collection.queries
    ours = [breadth.select(oracle, q, k=k) for q in queries]
    cell: dict[str, Any] = {"k": k, **describe_cost(ours), **_compare(ours, collection.references[k, None])}
    cell["proved"] = float(np.mean([s.certificate.exact and s.certificate.swap_optimal for s in ours]))
    others: dict[str, Callable[[], Any]] = {"select": _repeat(queries, lambda q: breadth.select(oracle, q, k=k))}
    others["MMR"] = _repeat(queries, lambda q: choose_by_mmr(oracle, q, k))
    cell["MMR objective"] = _lose(collection, k, [choose_by_mmr(oracle, q, k)[1] for q in queries[:MMR_QUERIES]])
    if store.mmr is not None:
        own = store.mmr
        others["own MMR"] = _repeat(queries, lambda q: own(oracle, q, k, FETCHED * k))
        sets = [own(oracle, q, k, FETCHED * k) for q in queries[:MMR_QUERIES]]
        cell["own MMR objective"] = _lose(collection, k, [fetch_rows(oracle, ids) for ids in sets])
    plain = store.plain_top or (lambda opened, q, count: opened.top(q[None], count))
    times = in_turn(_repeat(queries, lambda q: plain(oracle, q, k)), others, rounds)
    cell["times"] = {name: measured.as_dict() for name, measured in times.items()}
    if oracle.exact:
        cell["paper"] = _measure_paper(oracle, collection, k, plain)
    return cell


def _measure_paper(
    oracle: Any, collection: Collection, k: int, plain: Callable[[Any, np.ndarray, int], Any]
) -> dict[str, Any]:
    """The paper's objective, whose directions are no queries."""
    queries = collection.queries[:PAPER_QUERIES]
    ours = [breadth.select(oracle, q, k=k, sharpness=1) for q in queries]
    solve = _repeat(queries, lambda q: breadth.select(oracle, q, k=k, sharpness=1))
    times = in_turn(_repeat(queries, lambda q: plain(oracle, q, k)), {"select": solve}, PAPER_QUERIES)
    return {
        **describe_cost(ours),
        **_compare(ours, collection.references[k, 1]),
        "times": {name: measured.as_dict() for name, measured in times.items()},
    }


def choose_by_mmr(oracle: Any, query: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """What LangChain does for `search_type="mmr"`: fetch rows with one request, and choose among them."""
    count = min(FETCHED * k, oracle.size)
    if hasattr(oracle, "top_rows"):
        ids, _, rows = (array[0] for array in oracle.top_rows(query[None], count))
    else:
        ids = oracle.top(query[None], count)[0][0]
        rows = oracle.rows(ids)
    there = ids >= 0
    chosen = peers.langchain_mmr(rows[there], query, k, LAMBDA)
    return ids[there][chosen], rows[there][chosen]


def fetch_rows(oracle: Any, names: Sequence[Any]) -> np.ndarray:
    """The rows with these ids of the engine."""
    ids = oracle.handles(names) if hasattr(oracle, "handles") else np.array(names, dtype=np.int64)
    return np.asarray(oracle.rows(ids))


def describe_cost(found: Sequence[breadth.Selection]) -> dict[str, float]:
    """Requests, rows and bytes of a selection on average."""
    return {name: float(np.mean([s.stats[name] for s in found])) for name in ("requests", "rows", "bytes")}


def _compare(ours: Sequence[breadth.Selection], references: Sequence[breadth.Selection]) -> dict[str, float]:
    losses = np.array([r.objective - s.objective for s, r in zip(ours, references, strict=True)])
    return {"loss": float(losses.mean()), "largest loss": float(losses.max())}


def _lose(collection: Collection, k: int, sets: Sequence[np.ndarray]) -> float:
    """How far the default objective of other sets, those of the first queries, is below that of ours on average."""
    own = [
        Problem(np.asarray(q, dtype=np.float64), len(rows), DEFAULT.theta, sharpness=DEFAULT.sharpness).objective(rows)
        for q, rows in zip(collection.queries, sets, strict=False)
    ]
    return float(np.mean([r.objective - v for v, r in zip(own, collection.references[k, None], strict=False)]))


def _repeat(queries: np.ndarray, ask: Callable[[np.ndarray], Any]) -> Callable[[], Any]:
    """Ask about the next query at every call."""
    following: Iterator[np.ndarray] = cycle(queries)
    return lambda: ask(next(following))
