"""The paper's two-panel figure: recall against ILAD by θ, and latency against θ; and recall against redundancy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from breadth.errors import MissingExtraError
from breadth.experiments.comparison import Point

STYLES = {
    "topk": ("black", "*"),
    "mmr": ("tab:orange", "s"),
    "dpp": ("tab:purple", "D"),
    "greedy": ("tab:brown", "v"),
    "msd": ("tab:pink", "<"),
    "vrsd": ("tab:gray", "P"),
    "muss": ("tab:olive", ">"),
    "frank_wolfe": ("tab:blue", "o"),
    "certified": ("tab:red", "^"),
}
_ENDINGS = (".png", ".svg")


def retrieval(points: Sequence[Point], title: str, target: Path) -> list[Path]:
    """One row of two panels for each k; written as PNG and SVG, `target` being the name without ending."""
    figure, ks = _figure(), sorted({p.k for p in points})
    figure.set_size_inches(11, 4 * len(ks))
    axes = figure.subplots(len(ks), 2, squeeze=False)
    for (left, right), k in zip(axes, ks, strict=True):
        for method in dict.fromkeys(p.method for p in points):
            curve = [p for p in points if (p.method, p.k) == (method, k)]
            curve.sort(key=lambda p: -1.0 if p.theta is None else p.theta)
            _tradeoff(left, method, curve)
            _latency(right, method, curve, [p.theta for p in points if p.theta is not None])
        left.set(xlabel="diversity (ILAD)", ylabel=f"recall@{k}", title=f"{title}, k = {k}")
        right.set(xlabel="θ", ylabel="ms per query", yscale="log", title="latency, one query at a time")
        left.grid(alpha=0.3)
        right.grid(alpha=0.3)
        left.legend(fontsize=7)
    return _written(figure, target)


def _tradeoff(axis: Any, method: str, curve: Sequence[Point]) -> None:
    colour, mark = STYLES.get(method, ("tab:cyan", "x"))
    axis.errorbar(
        [p.ilad.mean for p in curve],
        [p.recall.mean for p in curve],
        yerr=[
            [max(0.0, p.recall.mean - p.recall.low) for p in curve],
            [max(0.0, p.recall.high - p.recall.mean) for p in curve],
        ],
        color=colour,
        marker=mark,
        markersize=4,
        linewidth=1,
        elinewidth=0.4,
        label=method,
    )


def _latency(axis: Any, method: str, curve: Sequence[Point], thetas: Sequence[float]) -> None:
    colour, mark = STYLES.get(method, ("tab:cyan", "x"))
    timed = [p for p in curve if p.milliseconds is not None]
    if len(timed) == 1 and timed[0].theta is None and thetas:
        axis.plot([min(thetas), max(thetas)], [timed[0].milliseconds] * 2, color=colour, linestyle=":", label=method)
    elif timed:
        times = [p.milliseconds for p in timed]
        axis.plot([p.theta for p in timed], times, color=colour, marker=mark, markersize=4, linewidth=1, label=method)


def redundancy(curves: dict[str, list[tuple[float, float]]], title: str, label: str, target: Path) -> list[Path]:
    """Recall of each method against the number of near-copies."""
    figure = _figure()
    figure.set_size_inches(6.5, 4.5)
    axis = figure.subplots()
    for method, points in curves.items():
        colour, mark = STYLES.get(method, ("tab:cyan", "x"))
        axis.plot(*zip(*points, strict=True), color=colour, marker=mark, markersize=5, linewidth=1.2, label=method)
    axis.set(xlabel="near-copies of each passage", ylabel=label, title=title)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    return _written(figure, target)


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None
    return Figure(layout="constrained")


def _written(figure: Any, target: Path) -> list[Path]:
    target.parent.mkdir(parents=True, exist_ok=True)
    paths = [target.with_name(target.name + ending) for ending in _ENDINGS]
    for path in paths:
        kept = {"Date": None} if path.suffix == ".svg" else {"Software": None}
        figure.savefig(path, dpi=130, metadata=kept)
    return paths
