"""Draw the paper's two-panel figure (recall against ILAD, latency against θ), and recall against redundancy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from breadth.errors import MissingExtraError
from breadth_experiments.comparison import Point

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


def draw_retrieval(points: Sequence[Point], title: str, target: Path) -> list[Path]:
    """Draw a row of two panels for each k, and write it as PNG and SVG. `target` is the file's name without ending."""
    figure, ks = _new_figure(), sorted({p.k for p in points})
    timed = any(p.milliseconds is not None for p in points)  # else the second panel would be empty
    figure.set_size_inches(11 if timed else 6.5, 4 * len(ks))
    axes = figure.subplots(len(ks), 1 + timed, squeeze=False)
    for row, k in zip(axes, ks, strict=True):
        for method in dict.fromkeys(p.method for p in points):
            curve = [p for p in points if (p.method, p.k) == (method, k)]
            curve.sort(key=lambda p: -1.0 if p.theta is None else p.theta)
            _draw_tradeoff(row[0], method, curve)
            if timed:
                _draw_latency(row[1], method, curve, [p.theta for p in points if p.theta is not None])
        row[0].set(xlabel="diversity (ILAD)", ylabel=f"recall@{k}", title=f"{title}, k = {k}")
        row[0].legend(fontsize=7)
        if timed:
            row[1].set(xlabel="θ", ylabel="ms per query", yscale="log", title="latency, one query at a time")
        for axis in row:
            axis.grid(alpha=0.3)
    return _write(figure, target)


def _draw_tradeoff(axis: Any, method: str, curve: Sequence[Point]) -> None:
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


def _draw_latency(axis: Any, method: str, curve: Sequence[Point], thetas: Sequence[float]) -> None:
    colour, mark = STYLES.get(method, ("tab:cyan", "x"))
    timed = [p for p in curve if p.milliseconds is not None]
    if len(timed) == 1 and timed[0].theta is None and thetas:
        axis.plot([min(thetas), max(thetas)], [timed[0].milliseconds] * 2, color=colour, linestyle=":", label=method)
    elif timed:
        times = [p.milliseconds for p in timed]
        axis.plot([p.theta for p in timed], times, color=colour, marker=mark, markersize=4, linewidth=1, label=method)


def draw_redundancy(
    panels: dict[str, dict[str, list[tuple[float, float]]]], title: str, label: str, target: Path
) -> list[Path]:
    """Draw the recall of each method against the number of near-copies, a panel for each θ."""
    figure = _new_figure()
    figure.set_size_inches(4.5 * len(panels), 4)
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axis, (name, curves) in zip(axes, panels.items(), strict=True):
        for method, points in curves.items():
            colour, mark = STYLES.get(method, ("tab:cyan", "x"))
            axis.plot(*zip(*points, strict=True), color=colour, marker=mark, markersize=5, linewidth=1.2, label=method)
        axis.set(xlabel="near-copies of each passage", ylabel=label, title=f"{title}, {name}")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    return _write(figure, target)


def _new_figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None
    return Figure(layout="constrained")


def _save(figure: Any, path: Path) -> None:
    """Write one file. The same figure gives the same bytes."""
    from matplotlib import rc_context

    kept = {"Date": None} if path.suffix == ".svg" else {"Software": None}
    with rc_context({"svg.hashsalt": "breadth"}):
        figure.savefig(path, dpi=130, metadata=kept)


def _write(figure: Any, target: Path) -> list[Path]:
    """Write the figure in all formats."""
    target.parent.mkdir(parents=True, exist_ok=True)
    paths = [target.with_name(target.name + ending) for ending in _ENDINGS]
    for path in paths:
        _save(figure, path)
    return paths
