"""The main benchmark: time, as a ratio to a plain top-k of the same rows in the same run, and memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import asqa, memory, peers, report
from benchmarks.collections import prepared
from benchmarks.report import load, page, save, table
from benchmarks.timing import LONG_PAUSE, LOOP, Measured, in_turn, machine, progress
from breadth import ArrayOracle, select, select_many
from breadth.oracles import CompactOracle
from breadth.settings import DEFAULT
from tests.synthetic import clustered, query_near, unit

PARTS = ("pools", "collections", "batch", "growth", "memory")
COLLECTIONS = (("clustered", 100_000, 384), ("clustered", 1_000_000, 384), ("tiled", 1_000_000, 384))
LARGEST = ("clustered", 2_000_000, 1024)
PAPER = {f"`sharpness=1`, θ = {theta:g}": {"sharpness": 1, "theta": theta} for theta in (0.9, 0.8, 0.7, 0.5)}
SETTINGS: dict[str, dict[str, Any]] = {"the default": {}, **PAPER}
"""What is asked for: keywords of `breadth.select` by their name on the page."""
POOLS, POOL_KS, KS = (20, 100, 1_000, 10_000), (5, 10, 50), (10, 100)


def main(rounds: int, folder: Path, asqa_folder: Path | None, part: str | None) -> None:
    """Measure, and write results/speed.json, docs/benchmarks/speed.md and its plot. `part`: measure only this part."""
    data = {} if part is None else load("speed")
    data |= {"rounds": rounds, "machine": machine(), "real": asqa.load(asqa_folder)[0]}
    sizes = (*COLLECTIONS, LARGEST)
    for name in PARTS if part is None else [part]:
        if name == "pools":
            data[name] = pools(rounds)
        elif name == "collections":
            data[name] = [collection(*size, folder, asqa_folder, rounds) for size in progress(list(sizes), name)]
        elif name == "batch":
            data[name] = batch(prepared(folder, *COLLECTIONS[1], asqa_folder)[1], rounds)
        elif name == "growth":
            data[name] = growth(folder, asqa_folder, rounds)
        else:
            data[name] = memory.of_queries(prepared(folder, *LARGEST, asqa_folder)[1])
        save("speed", data)
    render()


def pools(rounds: int) -> list[dict[str, Any]]:
    """Compare with what users run on small pools today. The baseline is DPP, the default of pyversity."""
    rng = np.random.default_rng(1)
    out = []
    for n, k in progress([(n, k) for n in POOLS for k in POOL_KS if k < n], "pools"):
        E = clustered(rng, n, 384)
        q = query_near(rng, E).astype(np.float32)
        oracle = ArrayOracle(E)
        others: dict[str, Callable[[], Any]] = {
            "the default": partial(select, E, q, k=k),
            "the default, `ArrayOracle`": partial(select, oracle, q, k=k),
        }
        others |= {name: partial(select, oracle, q, k=k, **PAPER[name]) for name in PAPER}
        others["pyversity MMR"] = partial(peers.pyversity, "mmr", E, q, k, 0.3)
        if n <= 1_000:
            others["LangChain MMR"] = partial(peers.langchain_mmr, E, q, k, 0.7)
        others["top-k"] = partial(peers.plain_top_k, E, q, k)
        dpp = partial(peers.pyversity, "dpp", E, q, k, 0.3)
        again = in_turn(dpp, others, max(rounds, 5), least=LOOP)
        once = in_turn(dpp, others, max(rounds, 15))
        named = {"times": _named(again, "pyversity DPP"), "once": _named(once, "pyversity DPP")}
        out.append({"n": n, "k": k, **named})
    return out


def collection(name: str, n: int, d: int, folder: Path, asqa_folder: Path | None, rounds: int) -> dict[str, Any]:
    """Compare our method, compact and on an array, and the other libraries with a plain top-k on a large collection."""
    rows, compact_file = prepared(folder, name, n, d, asqa_folder)
    E = np.load(rows)
    compact, array = CompactOracle.open(compact_file), ArrayOracle(E)
    queries = _queries(name, E, asqa_folder)
    huge = E.size > 1 << 30
    queries = queries[:3] if huge else queries
    cells = []
    for k in KS:
        for title, setting in SETTINGS.items():
            cells.append({"k": k, "name": title, **_compare(E, compact, array, queries, k, setting, rounds)})
            print(f"{name} {n}x{d} k={k} {title}: {cells[-1]['ratio']:.2f}", flush=True)
    q, k, theta = queries[0], 100, 0.7
    solve = peers.algorithm_1_torch(E, theta, k)
    others: dict[str, Callable[[], Any]] = {
        "the default, float32 array": partial(select, array, q, k=k),
        "`sharpness=1`, float32 array": partial(select, array, q, k=k, theta=theta, sharpness=1),
        "Algorithm 1 (ours)": partial(select, array, q, k=k, theta=theta, method="frank_wolfe"),
        "Algorithm 1 (torch)": lambda: solve(q),
        "MMR (ours)": partial(select, array, q, k=k, theta=theta, method="mmr"),
        "MMR (pyversity)": partial(peers.pyversity, "mmr", E, q, k, 1 - theta),
        "DPP (pyversity)": partial(peers.pyversity, "dpp", E, q, k, 1 - theta),
    }
    if not huge:
        others["the default, compact"] = partial(select, compact, q, k=k)
        others["`sharpness=1`, compact"] = partial(select, compact, q, k=k, theta=theta, sharpness=1)
        others["DPP (ours)"] = partial(select, array, q, k=k, theta=theta, method="dpp")
        search = peers.faiss_top_k(E)
        others["top-k (faiss IndexFlatIP)"] = lambda: search(q, k)
    found = in_turn(partial(peers.plain_top_k, E, q, k), others, 1 if huge else 2, warm=not huge, pause=LONG_PAUSE)
    return {"name": name, "n": n, "d": d, "cells": cells, "peers": _named(found, "plain top-k")}


def _compare(
    E: np.ndarray,
    compact: CompactOracle,
    array: ArrayOracle,
    queries: list[np.ndarray],
    k: int,
    setting: dict[str, Any],
    rounds: int,
) -> dict[str, Any]:
    """One setting on a compact oracle, over a plain top-k; and how far its objective is from that of the array."""
    ours, plain = [], []
    for q in queries:
        work = {"compact": partial(select, compact, q, k=k, **setting)}
        found = in_turn(partial(peers.plain_top_k, E, q, k), work, rounds, pause=LONG_PAUSE)
        ours.append(found["compact"].milliseconds)
        plain.append(found["plain top-k"].milliseconds)
    same = [(select(compact, q, k=k, **setting), select(array, q, k=k, **setting)) for q in queries[:3]]
    ratios = np.array(ours) / np.array(plain)
    return {
        "ratio": float(np.median(ratios)),
        "low": float(ratios.min()),
        "high": float(ratios.max()),
        "ms": float(np.median(ours)),
        "plain_ms": float(np.median(plain)),
        "scans": [int(a.stats["scans"]) for a, _ in same],
        "array_ms": [1000 * b.stats["seconds"] for _, b in same],
        "differs": max(abs(a.objective - b.objective) for a, b in same),
        "gap": float(np.median([a.certificate.gap for a, _ in same if a.certificate is not None])),
    }


def batch(compact_file: Path, rounds: int) -> list[dict[str, Any]]:
    """Compare 64 queries in one call with one call each."""
    compact = CompactOracle.open(compact_file)
    rng = np.random.default_rng(2)
    picked = compact.rows(np.sort(rng.choice(compact.size, 64, replace=False)))
    Q = unit(picked + 0.8 * unit(rng.standard_normal(picked.shape))).astype(np.float32)
    out = []
    names = [name for name, setting in SETTINGS.items() if setting.get("theta", 1.0) > 0.5]  # 0.5 takes minutes
    for name, k in progress([(name, k) for name in names for k in KS], "batch"):
        setting = SETTINGS[name]

        def one_by_one(k: int = k, setting: dict[str, Any] = setting) -> None:
            for q in Q:
                select(compact, q, k=k, **setting)

        found = in_turn(one_by_one, {"batch": partial(select_many, compact, Q, k=k, **setting)}, min(rounds, 3))
        out.append({"k": k, "name": name, **found["batch"].as_dict(), "one_ms": found["plain top-k"].milliseconds})
    return out


def growth(folder: Path, asqa_folder: Path | None, rounds: int) -> list[dict[str, Any]]:
    """Compare 1,000,000 rows with 500,000."""
    small = CompactOracle.open(prepared(folder, "clustered", 500_000, 384, asqa_folder)[1])
    large = CompactOracle.open(prepared(folder, *COLLECTIONS[1], asqa_folder)[1])
    rng = np.random.default_rng(3)
    out = []
    for name in progress(list(SETTINGS), "growth"):
        ratios = []
        for _ in range(5):
            asked = [_near(rng, oracle) for oracle in (small, large)]
            first, second = (
                partial(select, oracle, q, k=100, **SETTINGS[name])
                for oracle, q in zip((small, large), asked, strict=True)
            )
            ratios.append(in_turn(first, {"large": second}, rounds)["large"].ratio)
        out.append({"name": name, "ratio": float(np.median(ratios)), "low": min(ratios), "high": max(ratios)})
    return out


def _near(rng: np.random.Generator, oracle: CompactOracle) -> np.ndarray:
    row = oracle.rows(rng.integers(oracle.size, size=1))[0]
    return unit(row + 0.8 * unit(rng.standard_normal(oracle.dim))).astype(np.float32)


def _queries(name: str, E: np.ndarray, asqa_folder: Path | None) -> list[np.ndarray]:
    if name == "tiled":
        return list(asqa.load(asqa_folder)[2][[0, 7, 19, 11, 23]])
    rng = np.random.default_rng(4)
    return [query_near(rng, E).astype(np.float32) for _ in range(5)]


def _named(found: dict[str, Measured], baseline: str) -> dict[str, dict[str, float]]:
    """Return the times as dictionaries, with the baseline under its own name."""
    return {baseline if name == "plain top-k" else name: one.as_dict() for name, one in found.items()}


def render() -> None:
    """Write docs/benchmarks/speed.md and speed.png from results/speed.json."""
    data = load("speed")
    at = data["machine"]
    text = [
        "# Speed",
        "",
        "`python -m benchmarks speed` writes this page from `benchmarks/results/speed.json`. Ratios compare a time "
        "with a baseline that was measured in turn with it, in the same run. They are medians, with the spread in "
        "parentheses.",
        "",
        f"{at['cpu']}, {at['cores']} cores, Python {at['python']}, NumPy {at['numpy']}; rounds: {data['rounds']}. "
        "The core is compiled C++. The vectors of real text are those of " + data["real"] + ".",
        "",
        "## Large collections",
        "",
        "The time of a certified set from a `CompactOracle`, divided by the time of a plain top-k (NumPy, float32, one "
        "product and one partition) of the same rows. There are five queries (three at 2,000,000 × 1024), and a figure "
        "is the median (lowest–highest). We wait a quarter of a second before each measurement, because the threads of "
        "a BLAS keep spinning after a product. A plain top-k does little but read the rows, so a ratio depends on how "
        "fast this machine reads them, which is said for each collection: what is computed weighs more where memory is "
        "fast.",
        "",
    ]
    for one in data.get("collections", []):
        text += [f"### {one['name']}, {one['n']:,} × {one['d']}", ""]
        rows = [
            [
                cell["name"],
                str(cell["k"]),
                f"**{cell['ratio']:.2f}** ({cell['low']:.2f}–{cell['high']:.2f})",
                f"{cell['ms']:.0f}",
                f"{cell['plain_ms']:.0f}",
                "/".join(map(str, cell["scans"])),
                f"{cell['gap']:.1e}",
                f"{cell['differs']:.0e}",
            ]
            for cell in sorted(one["cells"], key=lambda cell: list(SETTINGS).index(cell["name"]))
        ]
        head = [
            "objective",
            "k",
            "over plain top-k",
            "ms",
            "plain ms",
            "scans",
            "gap",
            "objective: compact - float32 path",
        ]
        speed = 4e-6 * one["n"] * one["d"] / float(np.median([cell["plain_ms"] for cell in one["cells"]]))
        text += [f"The plain top-k read {speed:.0f} GB a second.", ""]
        text += [table(head, rows), "", "All libraries at k = 100, θ = 0.7, divided by the same plain top-k:", ""]
        ordered = sorted(one["peers"].items(), key=lambda item: float(item[1]["ratio"]))
        text += [
            table(["", "over plain top-k", "ms"], [[n, f"{m['ratio']:.2f}", f"{m['ms']:.0f}"] for n, m in ordered]),
            "",
        ]
    if "pools" in data:
        text += [
            "## Small pools",
            "",
            "Time divided by that of pyversity's default, DPP, which gives no certificate. The first column checks the "
            f"array at every call. Each call is repeated for {1000 * LOOP:.0f} ms.",
            "",
            _pool_table(data["pools"], "times"),
            "",
            "The same for a single call after a pause of 20 ms. Caches and clocks are cold then, which costs more than "
            "the work itself.",
            "",
            _pool_table(data["pools"], "once"),
            "",
        ]
    if "batch" in data:
        text += [
            "## Batches",
            "",
            "64 queries on 1,000,000 × 384: `select_many`, and `select` one by one.",
            "",
        ]
        rows = [
            [b["name"], str(b["k"]), f"{b['one_ms'] / 64:.1f}", f"{b['ms'] / 64:.1f}", f"{1 / b['ratio']:.2f}"]
            for b in data["batch"]
        ]
        names = ["objective", "k", "one by one, ms per query", "batch, ms per query", "gain in throughput"]
        text += [table(names, rows), ""]
    if "growth" in data:
        text += ["## Growth", "", "The time at 1,000,000 × 384, divided by the time at 500,000 × 384, k = 100.", ""]
        rows = [[g["name"], f"{g['ratio']:.2f} ({g['low']:.2f}–{g['high']:.2f})"] for g in data["growth"]]
        text += [table(["objective", "n doubled"], rows), ""]
    if "memory" in data:
        m = data["memory"]
        text += [
            "## Memory",
            "",
            "A separate process opened 2,000,000 × 1024 rows from their file "
            f"({m['open_ms']:.1f} ms) and asked 20 queries (k = 100, θ = 0.7). At most "
            f"{m['resident'] / 2**30:.2f} GiB were resident during the queries. That is "
            f"{m['resident'] / m['numbers']:.3f} bytes for each of the n·d numbers, or "
            f"{(m['resident'] - m['before']) / m['numbers']:.3f} without the program and its libraries. "
            f"The peak was {m['peak'] / 2**30:.2f} GiB.",
            "",
        ]
    if "collections" in data:
        text += ["![Time over a plain top-k](speed.png)", ""]
        _plot(data)
    page("speed", "\n".join(text))


def _pool_table(pools: list[dict[str, Any]], kind: str) -> str:
    names = [n for n in pools[0][kind] if n != "pyversity DPP"]
    rows = [
        [f"{p['n']:,}", str(p["k"]), f"{p[kind]['pyversity DPP']['ms']:.3f}"]
        + [f"{p[kind][n]['ratio']:.2f}" if n in p[kind] else "" for n in names]
        for p in pools
    ]
    return table(["n", "k", "pyversity DPP, ms", *names], rows)


def _plot(data: dict[str, Any]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.5))
    for one in data["collections"]:
        label = f"{one['name']}, {one['n']:,} × {one['d']}"
        found = {c["name"]: c["ratio"] for c in one["cells"] if c["k"] == 100}
        (line,) = axes.plot([PAPER[n]["theta"] for n in PAPER], [found[n] for n in PAPER], marker="o", label=label)
        axes.plot([DEFAULT.theta], [found["the default"]], marker="*", markersize=12, color=line.get_color())
    axes.axhline(1.0, color="grey", linestyle="--", linewidth=1)
    axes.set(xlabel="θ (weight of relevance)", ylabel="time over a plain float32 top-k", yscale="log")
    axes.set_title("A certified set of 100, compact oracle: sharpness 1 (lines), the default (stars)")
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(report.DOCS / "speed.png", dpi=120, metadata={"Software": None})
    pyplot.close(figure)
