"""The default settings of `breadth.select`: time, rows fetched and gaps, and what constraints cost.

large         1,000,000 x 384 rows, certified, over a plain float32 top-k; the frontier over one selection
pools         pools of 100, 1,000 and 10,000 rows, through the public call with its checks, over pyversity's DPP
gaps          what is left open on the judged collections of `serve`, with and without `prove`
constraints   time under each constraint over that without
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import breadth
from benchmarks.collections import prepared
from benchmarks.peers import plain_top_k, pyversity
from benchmarks.report import load, page, save, table
from benchmarks.serve.collection import SOURCES, load_collection
from benchmarks.timing import LONG_PAUSE, LOOP, in_turn, machine
from breadth.settings import DEFAULT
from tests.synthetic import clustered, query_near

PARTS = ("large", "pools", "default-gaps", "constraints")
LARGE, LARGE_KS = 1_000_000, (10, 100)
POOLS, POOL_KS = (100, 1_000, 10_000), (10, 50)
PROVE = 0.1
_QUERIES, _ASKED = 5, 60


def main(rounds: int, folder: Path, data: Path | None, part: str | None) -> None:
    """Measure, and write results/default.json and docs/benchmarks/default.md."""
    try:
        found = load("default")
    except FileNotFoundError:
        found = {}
    found["machine"] = machine()
    if part in (None, "large"):
        found["large"] = measure_large(rounds, folder)
        save("default", found)
    if part in (None, "pools"):
        found["pools"] = measure_pools(rounds)
        save("default", found)
    if part in (None, "constraints"):
        found["constraints"] = measure_constraints(rounds)
        save("default", found)
    if part in (None, "default-gaps") and data is not None:
        found["gaps"] = measure_gaps(data, folder)
        save("default", found)
    render()


def measure_large(rounds: int, folder: Path) -> list[dict[str, Any]]:
    """One line for each engine and k."""
    array, compact = prepared(folder, "clustered", LARGE, 384, None)
    rows = np.load(array)
    oracles = {"array": breadth.ArrayOracle(rows), "compact": breadth.CompactOracle.open(compact)}
    rng = np.random.default_rng(3)
    queries = [query_near(rng, rows).astype(np.float32) for _ in range(_QUERIES)]
    lines = []
    for k in LARGE_KS:
        for name, oracle in oracles.items():
            ratios, frontiers, asked = [], [], []
            for query in queries:
                works = {
                    "select": lambda o=oracle, q=query, k=k: breadth.select(o, q, k=k),
                    "frontier": lambda o=oracle, q=query, k=k: breadth.frontier(o, q, k=k),
                }
                timed = in_turn(lambda q=query, k=k: plain_top_k(rows, q, k), works, rounds, pause=LONG_PAUSE)
                ratios.append(timed["select"].ratio)
                frontiers.append(timed["frontier"].milliseconds / timed["select"].milliseconds)
                asked.append(breadth.select(oracle, query, k=k))
            lines.append(
                {
                    "oracle": name,
                    "k": k,
                    "ratio": _spread(ratios),
                    "frontier": _spread(frontiers),
                    "one_search": float(np.mean([s.stats["scans"] == 1 for s in asked])),
                    "rows": int(max(s.stats["rows"] for s in asked)),
                    "block": int(max(s.stats["block"] for s in asked)),
                    "gap": float(max(s.certificate.gap for s in asked if s.certificate)),
                }
            )
            print(lines[-1], flush=True)
    return lines


def _spread(values: list[float]) -> dict[str, float]:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return {"median": float(middle), "low": float(low), "high": float(high)}


def measure_pools(rounds: int) -> list[dict[str, Any]]:
    """One line for each pool and k: time over that of pyversity's DPP, scores included."""
    rng = np.random.default_rng(4)
    lines = []
    for n in POOLS:
        rows = clustered(rng, n, 384)
        queries = [query_near(rng, rows).astype(np.float32) for _ in range(2 * _QUERIES)]
        for k in POOL_KS:
            ratios, times = [], []
            for query in queries:
                timed = in_turn(
                    lambda q=query, k=k, E=rows: pyversity("dpp", E, q, k, 0.5),
                    {"select": lambda q=query, k=k, E=rows: breadth.select(E, q, k=k)},
                    rounds,
                    least=LOOP,
                )
                ratios.append(timed["select"].ratio)
                times.append(timed["select"].milliseconds)
            lines.append({"n": n, "k": k, "ratio": _spread(ratios), "ms": float(np.median(times))})
            print(lines[-1], flush=True)
    return lines


def measure_constraints(rounds: int) -> list[dict[str, Any]]:
    """Time under each constraint over the time with none of them, at the default's sharpness and θ."""
    rng = np.random.default_rng(5)
    rows = clustered(rng, 100_000, 384)
    oracle = breadth.ArrayOracle(rows)
    words = rng.integers(20, 200, len(rows)).astype(float)
    plain = {"sharpness": DEFAULT.sharpness, "theta": DEFAULT.theta}
    wishes: dict[str, dict[str, Any]] = {
        "distinct=0.9": {"distinct": 0.9},
        "two of each of 500 groups": {"groups": (np.arange(len(rows)) % 500).tolist(), "per_group": 2},
        "two pinned rows": {"pinned": [17, 4711]},
        "floor=0.2": {"floor": 0.2},
        "keep_best": {"keep_best": True},
        "budget of 800 words": {"costs": lambda ids: words[ids], "budget": 800},
        "the default: distinct and keep_best": {"distinct": DEFAULT.distinct, "keep_best": DEFAULT.keep_best},
    }
    lines = []
    for name, wish in wishes.items():
        ratios = []
        for query in [query_near(rng, rows).astype(np.float32) for _ in range(_QUERIES)]:
            timed = in_turn(
                lambda q=query: breadth.select(oracle, q, k=10, **plain),
                {"with": lambda q=query, wish=wish: breadth.select(oracle, q, k=10, **plain, **wish)},
                rounds,
            )
            ratios.append(timed["with"].ratio)
        lines.append({"constraint": name, "ratio": _spread(ratios)})
        print(lines[-1], flush=True)
    return lines


def measure_gaps(data: Path, folder: Path) -> list[dict[str, Any]]:
    """One line for each judged collection and k: what is left open without and with `prove`."""
    lines = []
    for source in SOURCES:
        collection = load_collection(data, folder / "serve", source)
        if collection is None or source.copies == 2:
            continue
        queries = collection.queries[:: max(1, len(collection.queries) // _ASKED)]
        for k in (5, 10, 20):
            line: dict[str, Any] = {"collection": source.name, "k": k, "queries": len(queries)}
            for name, prove in (("plain", 0.0), ("proved", PROVE)):
                certificates = [
                    breadth.select(collection.oracle, query, k=k, prove=prove).certificate for query in queries
                ]
                gaps = [c.gap for c in certificates if c]
                line[name] = {
                    "median": float(np.median(gaps)),
                    "largest": float(max(gaps)),
                    "optimal": float(np.mean([c.optimal for c in certificates if c])),
                }
            lines.append(line)
            print(lines[-1], flush=True)
    return lines


def render() -> None:
    """Write the page from results/default.json."""
    data = load("default")
    setting = f"sharpness {DEFAULT.sharpness}, θ = {DEFAULT.theta:g}, distinct = {DEFAULT.distinct}, keep_best"
    parts: dict[str, Callable[[list[dict[str, Any]]], str]] = {
        "large": _render_large,
        "pools": _render_pools,
        "constraints": _render_constraints,
        "gaps": _render_gaps,
    }
    texts = [
        "# The default settings: time, rows and proofs\n",
        f"Written by `python -m benchmarks default` on {data['machine']['cpu']}, {data['machine']['cores']} cores. "
        f"The default is {setting}. Ratios are medians over queries of the median of several rounds, with quartiles; "
        "below 1 is faster.\n",
        *(render_part(data[name]) for name, render_part in parts.items() if name in data),
    ]
    page("default", "\n".join(texts))


def _say(spread: dict[str, float]) -> str:
    return f"{spread['median']:.2f} ({spread['low']:.2f}–{spread['high']:.2f})"


def _render_large(lines: list[dict[str, Any]]) -> str:
    head = [
        "engine",
        "k",
        "time / plain top-k",
        "nine θ / one",
        "one search",
        "rows fetched",
        "rows in the table",
        "gap",
    ]
    rows = [
        [
            line["oracle"],
            str(line["k"]),
            _say(line["ratio"]),
            _say(line["frontier"]),
            f"{line['one_search']:.0%}",
            str(line["rows"]),
            str(line["block"]),
            f"{line['gap']:.1e}",
        ]
        for line in lines
    ]
    return (
        f"## {LARGE:,} × 384, clustered\n\nA certified set over a plain NumPy float32 top-k on the same rows, and the "
        f"frontier of nine θ over one selection.\n\n{table(head, rows)}\n"
    )


def _render_pools(lines: list[dict[str, Any]]) -> str:
    rows = [[f"{line['n']:,}", str(line["k"]), f"{line['ms']:.2f}", _say(line["ratio"])] for line in lines]
    return (
        "## Pools\n\n`breadth.select(array, query, k=k)`, the check of the array included, over pyversity's DPP with "
        f"its scores; each is repeated for {1000 * LOOP:.0f} ms.\n\n{table(['rows', 'k', 'ms', 'time / DPP'], rows)}\n"
    )


def _render_constraints(lines: list[dict[str, Any]]) -> str:
    rows = [[line["constraint"], _say(line["ratio"])] for line in lines]
    return (
        "## What constraints cost\n\n100,000 × 384, k = 10, over the same call without constraints.\n\n"
        f"{table(['constraint', 'time / without'], rows)}\n"
    )


def _render_gaps(lines: list[dict[str, Any]]) -> str:
    head = ["collection", "k", "queries", "gap, median", "largest", "proved optimal"]
    head += [f"with prove={PROVE}: median", "largest", "proved optimal"]
    rows = [
        [
            line["collection"],
            str(line["k"]),
            str(line["queries"]),
            *(
                text
                for name in ("plain", "proved")
                for text in (
                    f"{line[name]['median']:.1e}",
                    f"{line[name]['largest']:.1e}",
                    f"{line[name]['optimal']:.0%}",
                )
            ),
        ]
        for line in lines
    ]
    return (
        "## What is proved\n\nOn the collections of [serve](serve.md). Gaps on the scale of the objective.\n\n"
        f"{table(head, rows)}\n"
    )
