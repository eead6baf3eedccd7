"""The certified method: does it ever lose? How many scans, how much time, how large a gap? What does sharing save?"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import asqa
from benchmarks.report import load, page, save, table
from benchmarks.timing import in_turn, machine, progress
from breadth import ArrayOracle, frontier, select, select_many
from tests.synthetic import SHAPES, clustered, query_near

OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "frank_wolfe": ("frank_wolfe", {}),
    "frank_wolfe, top-k start": ("frank_wolfe", {"init": "topk"}),
    **{name: (name, {}) for name in ("greedy", "mmr", "dpp", "msd", "vrsd", "muss", "topk")},
}
THETAS = tuple(i / 10 for i in range(11))
KS = (2, 3, 5, 10, 25, 50, 100, 200)
MORE_KS = {"isotropic 1500": (60,)}
TIE = 1e-7


def main(rounds: int = 5, n: int = 200_000, asqa_folder: Path | None = None, part: str | None = None) -> None:
    """Measure, and write results/certified.json and docs/benchmarks/certified.md. `part`: measure only this part."""
    name, passages, questions = asqa.load(asqa_folder)
    parts: dict[str, Callable[[np.random.Generator], Any]] = {
        "cost": lambda rng: cost(rng, n, rounds),
        "sharing": lambda rng: sharing(rng, n, rounds),
        "gaps": lambda _: gaps(passages, questions),
        "duels": lambda rng: duels(rng, passages, questions),
    }
    data = {} if part is None else load("certified")
    data |= {"n": n, "rounds": rounds, "machine": machine(), "real": name}
    for number, (key, measure) in enumerate(parts.items()):
        if part in (None, key):
            data[key] = measure(np.random.default_rng(number))
    save("certified", data)
    render()


def duels(rng: np.random.Generator, passages: np.ndarray, questions: np.ndarray) -> dict[str, Any]:
    """Count wins, ties (to 1e-7) and losses against every other method, on every instance of a grid."""
    collections = [(f"{shape} {n}", SHAPES[shape](rng, n, d)) for shape in SHAPES for n, d in ((300, 16), (3000, 64))]
    score = {method: Counter[str]() for method in OTHERS}
    lost = []
    instances = 0
    todo = [(label, E, query_near(rng, E).astype(np.float32)) for label, E in collections for _ in range(2)]
    todo += [("real", passages, q) for q in questions[rng.choice(len(questions), 3, replace=False)]]
    todo.append(_lost_before())
    for place in progress(list(range(len(todo))), "duels"):
        label, E, q = todo[place]
        oracle = ArrayOracle(E)
        for k in (k for k in (*KS, *MORE_KS.get(label, ())) if k < len(E)):
            for theta in THETAS:
                instances += 1
                ours = select(oracle, q, k=k, theta=theta, sharpness=1)
                for method, (solver, options) in OTHERS.items():
                    theirs = select(oracle, q, k=k, theta=theta, method=solver, **options, sharpness=1)
                    margin = ours.objective - theirs.objective
                    outcome = "won" if margin > TIE else "tied" if margin >= -TIE else "lost"
                    score[method][outcome] += 1
                    if outcome == "lost":
                        lost.append([label, k, theta, method, margin])
    return {"instances": instances, "score": {m: dict(s) for m, s in score.items()}, "lost": lost}


def _lost_before() -> tuple[str, np.ndarray, np.ndarray]:
    """An instance on which an earlier version lost to VRSD, at k = 60 and θ = 0.2."""
    rng = np.random.default_rng(3)
    rows = SHAPES["isotropic"](rng, 1500, 48)
    return "isotropic 1500", rows, query_near(rng, rows).astype(np.float32)


def cost(rng: np.random.Generator, n: int, rounds: int) -> list[dict[str, Any]]:
    """Count scans on a large clustered collection, and measure time as a ratio to one plain top-k."""
    E = clustered(rng, n, 384)
    oracle = ArrayOracle(E)
    oracle.mean()
    queries = [query_near(rng, E).astype(np.float32) for _ in range(5)]
    out = []
    for k, theta in progress([(k, t) for k in (10, 25, 100) for t in (0.3, 0.5, 0.7, 0.8, 0.9)], "cost"):
        found = [select(oracle, q, k=k, theta=theta, sharpness=1) for q in queries]
        turn = iter(range(10**9))

        def one(k: int = k, theta: float = theta, turn: Any = turn) -> Any:
            return select(oracle, queries[next(turn) % len(queries)], k=k, theta=theta, sharpness=1)

        others: dict[str, Callable[[], Any]] = {"certified": one}
        others["frank_wolfe"] = lambda k=k, theta=theta: select(
            oracle, queries[0], k=k, theta=theta, method="frank_wolfe"
        )
        if theta == 0.7:  # the time of MMR does not depend on θ
            others["mmr"] = lambda k=k: select(oracle, queries[0], k=k, theta=0.7, method="mmr")
        times = in_turn(lambda k=k: np.argpartition(E @ queries[0], -k)[-k:], others, rounds)
        out.append(
            {
                "k": k,
                "theta": theta,
                "scans": [f.stats["scans"] for f in found],
                "gap": float(np.mean([f.certificate.gap for f in found if f.certificate])),
                "frank_wolfe_scans": select(oracle, queries[0], k=k, theta=theta, method="frank_wolfe").stats["scans"],
                "times": {m: t.as_dict() for m, t in times.items()},
            }
        )
    return out


def gaps(passages: np.ndarray, questions: np.ndarray, count: int = 40) -> list[dict[str, Any]]:
    """Measure the gap on real passages: of the bound that comes with the set, and after one more second of proving."""
    oracle = ArrayOracle(passages)
    chosen = questions[:: max(1, len(questions) // count)][:count]
    out = []
    for k, theta in progress([(k, t) for k in (5, 10, 25) for t in (0.5, 0.7, 0.8, 0.9)], "gaps"):
        rows = []
        for q in chosen:
            start = time.perf_counter()
            plain = select(oracle, q, k=k, theta=theta, sharpness=1)
            middle = time.perf_counter()
            proved = select(oracle, q, k=k, theta=theta, prove=1.0, sharpness=1)
            assert plain.certificate is not None
            assert proved.certificate is not None
            rows.append(
                (
                    plain.certificate.gap,
                    proved.certificate.gap,
                    proved.certificate.optimal,
                    proved.objective - plain.objective,
                    middle - start,
                    time.perf_counter() - middle - (middle - start),
                )
            )
        columns = list(zip(*rows, strict=True))
        out.append(
            {
                "k": k,
                "theta": theta,
                "questions": len(rows),
                "gap": float(np.mean(columns[0])),
                "worst": float(np.max(columns[0])),
                "proved": float(np.mean(columns[1])),
                "optimal": int(np.sum(columns[2])),
                "improved": int(np.sum(np.array(columns[3]) > TIE)),
                "seconds": float(np.median(columns[4])),
                "extra": float(np.median(columns[5])),
            }
        )
    return out


def sharing(rng: np.random.Generator, n: int, rounds: int) -> dict[str, Any]:
    """Compare 64 queries at once with 64 single ones, and a frontier of nine θ with one query."""
    E = clustered(rng, n, 384)
    oracle = ArrayOracle(E)
    queries = np.array([query_near(rng, E) for _ in range(64)], dtype=np.float32)
    out: dict[str, Any] = {}
    for theta in progress([0.7, 0.9], "sharing"):
        times = in_turn(
            lambda theta=theta: [select(oracle, q, k=10, theta=theta, sharpness=1) for q in queries],
            {"together": lambda theta=theta: select_many(oracle, queries, k=10, theta=theta, sharpness=1)},
            max(2, rounds // 2),
        )
        out[f"many {theta}"] = times["together"].as_dict()
    for k in (10, 25):
        times = in_turn(
            lambda k=k: select(oracle, queries[0], k=k, theta=0.7, sharpness=1),
            {"frontier": lambda k=k: frontier(oracle, queries[0], k=k, sharpness=1)},
            rounds,
        )
        out[f"frontier {k}"] = times["frontier"].as_dict()
    return out


def render() -> None:
    """Write the page from results/certified.json."""
    data = load("certified")
    info = data["machine"]
    score = data["duels"]["score"]
    duel_rows = [[m, *(str(score[m].get(o, 0)) for o in ("won", "tied", "lost"))] for m in score]
    cost_rows = [
        [
            str(c["k"]),
            str(c["theta"]),
            ", ".join(map(str, c["scans"])),
            str(c["frank_wolfe_scans"]),
            f"{c['gap']:.5f}",
            *(_ratio(c["times"].get(m)) for m in ("certified", "frank_wolfe", "mmr")),
        ]
        for c in data["cost"]
    ]
    gap_rows = [
        [
            str(g["k"]),
            str(g["theta"]),
            f"{g['gap']:.5f}",
            f"{g['worst']:.5f}",
            f"{g['proved']:.5f}",
            f"{g['optimal']}/{g['questions']}",
            str(g["improved"]),
            f"{1000 * g['seconds']:.0f} ms",
            f"{1000 * g['extra']:.0f} ms",
        ]
        for g in data["gaps"]
    ]
    sharing_rows = [[name, _ratio(cell)] for name, cell in data["sharing"].items()]
    lost = "; ".join(f"{c}, k={k}, θ={t}: {m} by {-d:.1e}" for c, k, t, m, d in data["duels"]["lost"]) or "none"
    page(
        "certified",
        f"""# The certified method

`python -m benchmarks certified` writes this page; do not edit it. {info["cpu"]}, {info["cores"]} cores,
Python {info["python"]}, NumPy {info["numpy"]}. Ratios are medians of {data["rounds"]} rounds, with quartiles in
brackets.

## Against every other method

Which set has the larger objective? We compared them on {
            data["duels"]["instances"]:,} instances: isotropic, clustered, duplicated and
narrow-cone rows (300 × 16 and 3,000 × 64, two queries each) and {data["real"]} (three questions), and
isotropic rows (1,500 × 48) on which an earlier version lost at k = 60, with
k ∈ {{{", ".join(map(str, KS))}}} and θ from 0 to 1 in steps of 0.1. A difference of at most 1e-7 is a tie.

{table(["against", "won", "tied", "lost"], duel_rows)}

Lost: {lost}.

## Scans and time

{data["n"]:,} × 384 clustered float32 rows, five queries. A scan is a search of the whole collection; several directions
in one search count once. The last three columns are times, divided by the time of one plain top-k
(`np.argpartition(E @ q, -k)[-k:]`) in the same round.

{table(["k", "θ", "scans", "frank_wolfe scans", "gap", "certified", "frank_wolfe", "mmr"], cost_rows)}

## The gap on real passages

{data["real"]}, {
            data["gaps"][0]["questions"]
        } questions, on the scale that `breadth` reports. "Proved gap" is the gap with
`prove=1.0`: up to one more second for excluding rows, a tighter relaxation, and branch and bound. "Optimal" counts the
sets that were proved optimal. "Improved" counts the cases in which proving found a better set.

{
            table(
                ["k", "θ", "gap", "largest", "proved gap", "optimal", "improved", "time", "time to prove"],
                gap_rows,
            )
        }

## What sharing saves

`many θ`: the time of `select_many` for 64 queries, divided by that of 64 single calls (k = 10). `frontier k`: the time
of a frontier of nine θ from 0.1 to 0.9, divided by that of one `select` at θ = 0.7. The rows are the same {
            data["n"]:,}.

{table(["", "ratio"], sharing_rows)}
""",
    )


def _ratio(cell: dict[str, float] | None) -> str:
    return "" if cell is None else f"{cell['ratio']:.2f} ({cell['low']:.2f}–{cell['high']:.2f})"
