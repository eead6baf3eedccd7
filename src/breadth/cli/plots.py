"""The plots that commands draw (extra `plot`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from breadth.cli.show import Curves
from breadth.errors import InputError, MissingExtraError
from breadth.index.diagnosis import Diagnosis


def _import_pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def _save(pyplot: Any, figure: Any, path: Path) -> None:
    figure.tight_layout()
    try:
        figure.savefig(path, dpi=130)
    except (OSError, ValueError) as error:
        raise InputError(f"the plot cannot be written to {str(path)!r}: {error}") from error
    finally:
        pyplot.close(figure)


def draw_frontier(curves: Curves, title: str, path: Path) -> None:
    """Draw relevance against diversity, with a curve for each method."""
    pyplot = _import_pyplot()
    figure, axes = pyplot.subplots(figsize=(7, 5))
    for name, points in curves.items():
        x, y = [p[1] for p in points], [p[0] for p in points]
        strong = name == "certified"
        axes.plot(x, y, marker="o", markersize=5 if strong else 4, linewidth=2.2 if strong else 1, label=name)
    axes.set(xlabel="diversity (ILAD)", ylabel="mean relevance", title=title)
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    _save(pyplot, figure, path)


def draw_diagnosis(found: Diagnosis, path: Path) -> None:
    """Draw the share of near-copies and the relevance over θ."""
    pyplot = _import_pyplot()
    figure, axes = pyplot.subplots(figsize=(7, 4.2))
    thetas = [point.theta for point in found.curve]
    axes.plot(thetas, [100 * point.redundant for point in found.curve], marker="o", color="tab:red")
    axes.set(
        xlabel="θ (1 is plain top-k)", title=f"Near-copies among the chosen, k = {found.k}, {found.queries} queries"
    )
    axes.set_ylabel("near-copies, %", color="tab:red")
    other = axes.twinx()
    other.plot(thetas, [point.relevance for point in found.curve], marker="s", color="tab:blue")
    other.set_ylabel("mean relevance", color="tab:blue")
    if found.suggested_theta is not None:
        axes.axvline(found.suggested_theta, color="grey", linestyle="--")
    _save(pyplot, figure, path)
