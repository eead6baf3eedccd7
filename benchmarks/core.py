"""The time of every method as a ratio to one plain exact top-k, beside the paper's pseudo-code and pyversity."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pyversity

from benchmarks.report import load, page, save, table
from benchmarks.timing import in_turn, machine, progress
from breadth import ArrayOracle, select
from tests.dense import algorithm1
from tests.synthetic import clustered, query_near

N, D = 200_000, 384
KS = (25, 50, 100)
THETAS = (0.5, 0.7, 0.9)
STEPS = ("exact", "lipschitz", "open_loop")


def main(rounds: int = 5, n: int = N) -> None:
    """Measure, and write results/core.json and docs/benchmarks/core.md."""
    rng = np.random.default_rng(0)
    E = clustered(rng, n, D)
    oracle = ArrayOracle(E)
    oracle.mean()
    queries = [query_near(rng, E).astype(np.float32) for _ in range(3)]
    eigenvalue = float(np.linalg.eigvalsh((E.T @ E).astype(np.float64))[-1])
    cells = [(k, theta) for k in KS for theta in THETAS]
    data: dict[str, Any] = {"n": n, "d": D, "rounds": rounds, "machine": machine(), "times": [], "steps": []}
    for k, theta in progress(cells, "times"):
        q = queries[0]
        others = ours(oracle, q, k, theta) | peers(E, q, k, theta)
        times = in_turn(lambda E=E, q=q, k=k: np.argpartition(E @ q, -k)[-k:], others, rounds)
        data["times"].append({"k": k, "theta": theta, "methods": {m: t.as_dict() for m, t in times.items()}})
    for k, theta in progress(cells, "step rules"):
        for step in STEPS:
            found = [
                select(oracle, q, k=k, theta=theta, method="frank_wolfe", step=step, lipschitz=eigenvalue)
                for q in queries
            ]
            data["steps"].append(
                {
                    "k": k,
                    "theta": theta,
                    "step": step,
                    "iterations": float(np.mean([f.stats["iterations"] for f in found])),
                    "converged": sum(f.stats["converged"] for f in found),
                    "objective": float(np.mean([f.objective for f in found])),
                }
            )
    data["eigenvalue"] = eigenvalue
    save("core", data)
    render()


def ours(oracle: ArrayOracle, q: np.ndarray, k: int, theta: float) -> dict[str, Callable[[], Any]]:
    def one(method: str, **options: Any) -> Callable[[], Any]:
        return lambda: select(oracle, q, k=k, theta=theta, method=method, **options, sharpness=1)

    work = {m: one(m) for m in ("topk", "frank_wolfe", "greedy", "msd", "mmr", "dpp", "vrsd", "muss")}
    work["frank_wolfe, top-k start"] = one("frank_wolfe", init="topk")
    return work


def peers(E: np.ndarray, q: np.ndarray, k: int, theta: float) -> dict[str, Callable[[], Any]]:
    """Return the paper's pseudo-code in NumPy, and pyversity.

    We leave out the passes in which pyversity normalises the rows. Ours are checked once, when the oracle is built, so
    both then do the same work.
    """
    pyversity_dpp: Any = import_module("pyversity.strategies.dpp")
    pyversity_dpp.normalize_rows = lambda rows: rows
    zero = 1e-7 * k * (k - 1)

    def strategy(run: Callable[..., Any], **options: Any) -> Callable[[], Any]:
        return lambda: run(E, E @ q, k, diversity=1 - theta, **options)

    return {
        "Algorithm 1, direct NumPy": lambda: algorithm1(E, E @ q, k, theta, zero=zero),
        "pyversity MMR": strategy(pyversity.mmr, normalize=False),
        "pyversity DPP": strategy(pyversity_dpp.dpp),
    }


def render() -> None:
    """Write the page from results/core.json."""
    data = load("core")
    methods = sorted(data["times"][0]["methods"], key=lambda m: data["times"][0]["methods"][m]["ratio"])
    cells = {(c["k"], c["theta"]): c["methods"] for c in data["times"]}
    head = ["method", *(f"k={k} θ={t}" for k, t in cells)]
    rows = [[m, *(_show(cells[key][m]) for key in cells)] for m in methods]
    middle = THETAS[1]
    growth = [
        [m, *(f"{cells[KS[-1], t][m]['ms'] / cells[KS[0], t][m]['ms']:.2f}" for t in THETAS)]
        for m in methods
        if m != "plain top-k"
    ]
    steps = [
        [
            str(s["k"]),
            str(s["theta"]),
            s["step"],
            f"{s['iterations']:.1f}",
            f"{s['converged']}/3",
            f"{s['objective']:.5f}",
        ]
        for s in data["steps"]
    ]
    info = data["machine"]
    base = cells[KS[0], middle]["plain top-k"]["ms"]
    page(
        "core",
        f"""# Every method compared with one plain top-k

`python -m benchmarks core` writes this page; do not edit it. {data["n"]:,} × {data["d"]} clustered float32 rows;
{info["cpu"]}, {info["cores"]} cores, Python {info["python"]}, NumPy {info["numpy"]}. A figure is the time of a method,
divided by the time of one plain exact top-k (`np.argpartition(E @ q, -k)[-k:]`, {base:.1f} ms) in the same round. It is
the median of {data["rounds"]} rounds after a warm-up, with quartiles in brackets.

{table(head, rows)}

## Growth with k

The time at k = {KS[-1]}, divided by the time at k = {KS[0]}. k itself grows 4-fold.

{table(["method", *(f"θ={t}" for t in THETAS)], growth)}

## Step rules of Frank–Wolfe

Means over three queries, with at most 200 iterations. We give `lipschitz` the true largest eigenvalue of E E', which is
{data["eigenvalue"]:,.0f} (n = {data["n"]:,}).

{table(["k", "θ", "step", "iterations", "converged", "objective"], steps)}
""",
    )


def _show(cell: dict[str, float]) -> str:
    return f"{cell['ratio']:.2f} ({cell['low']:.2f}–{cell['high']:.2f})"
