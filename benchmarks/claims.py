"""The paper's empirical claims, one by one, decided by what was measured here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from breadth.experiments import comparison
from breadth.experiments.generation_tables import Row
from breadth.experiments.scores import Scores
from breadth.experiments.statistics import difference, resamples

REPRODUCED, NOT, OPEN, UNTESTABLE = "reproduced", "not reproduced", "undecided", "not testable here"
FW = "frank_wolfe"
_MODERATE, _LARGE, _SMALL = (0.5, 0.6, 0.7), (0.8, 0.9), (0.1, 0.2, 0.3)
_CLOSE = 0.03
"""Recall this near to top-k's counts as converged to it."""


@dataclass(frozen=True)
class Claim:
    """What the paper says and where; what was found."""

    where: str
    says: str
    verdict: str
    found: str


def frontier(found: Scores, name: str, other: str) -> Claim:
    """The paper's method has the better frontier than another."""
    says = f"{name}: Frank–Wolfe's frontier is above {other.upper()}'s at every k"
    gaps = []
    for k in found.ks:
        gaps.append((k, comparison.areas(found, k, [FW])[other].ahead[FW]))
    told = "; ".join(f"k = {k}: {gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})" for k, gap in gaps)
    if all(gap.low > 0 for _, gap in gaps):
        verdict = REPRODUCED
    else:
        verdict = NOT if any(gap.high < 0 for _, gap in gaps) else OPEN
    return Claim("Fig. 2, left", says, verdict, f"difference of the areas under the frontiers: {told}")


def moderate(found: Scores, name: str) -> Claim:
    """At θ from 0.5 to 0.7 the paper's method dominates."""
    says = f"{name}: at moderate θ (0.5 … 0.7) Frank–Wolfe dominates the trade-off"
    gaps = []
    for k in found.ks:
        areas = comparison.areas(found, k, [FW], (FW, min(_MODERATE)))
        gaps += [areas[other].ahead[FW] for other in ("mmr", "dpp")]
    ahead, behind = sum(gap.low > 0 for gap in gaps), sum(gap.high < 0 for gap in gaps)
    duels = comparison.duels(found, FW, ("mmr", "dpp"), _MODERATE)
    higher = sum(d.recall.mean > 0 and d.recall.significant() for d in duels)
    less = sum(d.ilad.mean < 0 and d.ilad.significant() for d in duels)
    text = (
        f"up to the ILAD that Frank–Wolfe has at θ = {min(_MODERATE):g} its area is significantly above MMR's and "
        f"DPP's in {ahead} of {len(gaps)} cases, below in {behind}; at the same θ ({len(duels)} cases) its recall "
        f"is significantly higher in {higher} and its diversity lower in {less}: one θ, other trade-offs"
    )
    verdict = REPRODUCED if ahead == len(gaps) else (NOT if behind else OPEN)
    return Claim("Fig. 2, left", says, verdict, text)


def converges(found: Scores, name: str) -> Claim:
    """At large θ all methods come close to top-k."""
    says = f"{name}: at θ = 0.8 … 0.9 all methods converge towards top-k"
    worst: dict[str, float] = {}
    for k in found.ks:
        plain = found.cell("topk", k, 1.0)["recall"].mean()
        for method in ("mmr", "dpp", FW):
            gap = abs(found.cell(method, k, 0.9)["recall"].mean() - plain)
            worst[method] = max(worst.get(method, 0.0), float(gap))
    told = ", ".join(f"{method} {gap:.3f}" for method, gap in worst.items())
    verdict = REPRODUCED if max(worst.values()) <= _CLOSE else NOT
    return Claim(
        "Fig. 2, left", says, verdict, f"largest difference of the mean recall from top-k's at θ = 0.9: {told}"
    )


def lower_at_small_theta(found: Scores, name: str) -> Claim:
    """At small θ the paper's method has the lower recall."""
    says = f"{name}: at small θ Frank–Wolfe's recall is below MMR's and DPP's"
    duels = comparison.duels(found, FW, ("mmr", "dpp"), _SMALL)
    lower = sum(d.recall.mean < 0 and d.recall.significant() for d in duels)
    higher = sum(d.recall.mean > 0 and d.recall.significant() for d in duels)
    verdict = REPRODUCED if lower > len(duels) / 2 else (NOT if higher >= lower else OPEN)
    text = f"of {len(duels)} comparisons at θ = 0.1 … 0.3: significantly lower in {lower}, higher in {higher}"
    return Claim("Fig. 2, left", says, verdict, text)


def _seconds(found: Scores, method: str, k: int) -> float:
    """The median over θ of the median time."""
    return float(np.median([np.median(found.seconds[cell]) for cell in found.seconds if cell[:2] == (method, k)]))


def growth(found: Scores, name: str) -> Claim:
    """Time grows linearly with k for MMR, faster for DPP, slower for the paper's method."""
    says = f"{name}: time grows linearly with k for MMR, slightly faster for DPP, more slowly for Frank–Wolfe"
    low, high = min(found.ks), max(found.ks)
    ratio = {m: _seconds(found, m, high) / _seconds(found, m, low) for m in ("mmr", "dpp", FW)}
    linear = high / low
    good = 0.75 * linear <= ratio["mmr"] <= 1.25 * linear and ratio["dpp"] >= ratio["mmr"] and ratio[FW] < 0.75 * linear
    told = ", ".join(f"{method} {value:.1f}" for method, value in ratio.items())
    text = f"time at k = {high} over time at k = {low} (linear would be {linear:g}): {told}"
    return Claim("Fig. 2, right", says, REPRODUCED if good else NOT, text)


def faster(found: Scores, name: str) -> Claim:
    """The paper's method is faster than MMR and DPP."""
    k = max(found.ks)
    says = f"{name}: at k = {k} Frank–Wolfe is several times faster than MMR and DPP (on 2 million passages, GPU)"
    ratio = {m: _seconds(found, m, k) / _seconds(found, FW, k) for m in ("mmr", "dpp")}
    told = ", ".join(f"{method} takes {value:.1f} times as long" for method, value in ratio.items())
    verdict = REPRODUCED if min(ratio.values()) > 1.5 else NOT
    text = f"on {found.facts['passages']:,} passages, CPU: {told}; on millions: [speed](benchmarks/speed.md)"
    return Claim("Fig. 2, right", says, verdict, text)


def redundancy(runs: Sequence[tuple[int, Scores]], k: int) -> Claim:
    """The more redundant the collection, the more diversity is worth."""
    says = "Wikipedia's low redundancy limits what diversity can gain"
    gains = []
    for copies, found in runs:
        plain = found.cell("topk", k, 1.0)["recall"]
        best = max(found.thetas, key=lambda t: float(found.cell(FW, k, t)["recall"].mean()))
        gap = difference(found.cell(FW, k, best)["recall"], plain, resamples(len(plain)))
        gains.append((copies, gap))
    told = ", ".join(f"{copies} copies {gap.mean:+.3f}" for copies, gap in gains)
    grows = gains[-1][1].mean > gains[0][1].mean and gains[-1][1].low > 0
    text = f"Frank–Wolfe's recall@{k} over top-k's, at its best θ: {told}"
    return Claim("Limitations", says, REPRODUCED if grows else NOT, text)


def generated(rows: Sequence[Row]) -> list[Claim]:
    """The claims of Table 2, on the answers of a small local model."""
    return [_beats_top_k(rows), _robust(rows)]


def _beats_top_k(rows: Sequence[Row]) -> Claim:
    says = "ASQA, generation: Frank–Wolfe at θ = 0.8 has a slightly higher recall than top-k"
    known = {(r.method, r.theta, r.k): r.measures["Recall"] for r in rows}
    told, signs = [], []
    for k in sorted({r.k for r in rows}):
        plain, ours = known["topk", None, k], known[FW, 0.8, k]
        told.append(f"k = {k}: {ours.mean:.3f} against {plain.mean:.3f} ({plain.low:.3f}–{plain.high:.3f})")
        signs.append(plain.low <= ours.mean <= plain.high)
    verdict = OPEN if all(signs) else NOT
    return Claim(
        "Table 2", says, verdict, f"{_reader(rows)}: {'; '.join(told)}: within the interval, no difference shown"
    )


def _robust(rows: Sequence[Row]) -> Claim:
    says = "ASQA, generation: at θ = 0.6 MMR and DPP lose much more than Frank–Wolfe"
    known = {(r.method, r.theta, r.k): r.measures["Recall"] for r in rows}
    told, order = [], []
    for k in sorted({r.k for r in rows}):
        values = {m: known[m, 0.6, k].mean for m in ("dpp", "mmr", FW)}
        order.append(values[FW] > values["mmr"] and values[FW] > values["dpp"])
        told.append(f"k = {k}: " + ", ".join(f"{m} {v:.3f}" for m, v in values.items()))
    verdict = REPRODUCED if all(order) else (OPEN if any(order) else NOT)
    return Claim("Table 2", says, verdict, f"{_reader(rows)}: {'; '.join(told)}")


def _reader(rows: Sequence[Row]) -> str:
    return f"{rows[0].model}, {rows[0].questions} questions"


UNTESTED = (
    Claim(
        "Fig. 2",
        "pools of more than 2 million passages, BGE-M3",
        UNTESTABLE,
        "neither the 21 million passages nor BGE-M3's weights are at hand; `breadth experiment` takes them",
    ),
    Claim(
        "Table 1",
        "QAMPARI, generation: best F1 with Frank–Wolfe at θ = 0.9; precision falls and recall rises from k = 25 to 50",
        UNTESTABLE,
        "three quarters of QAMPARI's answers occur in none of the passages at hand, and an 8-billion model needs a GPU",
    ),
)


def retrieval(found: Scores, name: str) -> list[Claim]:
    """All claims about one data set's retrieval."""
    tests: list[Callable[[Scores, str], Claim]] = [moderate, converges, lower_at_small_theta]
    if found.seconds:
        tests += [growth, faster]
    return [frontier(found, name, "mmr"), frontier(found, name, "dpp"), *(test(found, name) for test in tests)]
