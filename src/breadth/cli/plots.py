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
    """Draw relevance against redundancy, with a curve for each method. Up and to the left is better."""
    pyplot = _import_pyplot()
    figure, axes = pyplot.subplots(figsize=(7, 5))
    for name, selections in curves.items():
        x, y = [s.redundancy for s in selections], [s.relevance for s in selections]
        strong = name == "certified"
        axes.plot(x, y, marker="o", markersize=5 if strong else 4, linewidth=2.2 if strong else 1, label=name)
    axes.set(xlabel="redundancy (less is better)", ylabel="mean relevance", title=title)
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    _save(pyplot, figure, path)


def draw_diagnosis(found: Diagnosis, path: Path) -> None:
    """Draw what is wrong with the sets of each setting, as bars, and the recall if it is known."""
    pyplot = _import_pyplot()
    measures = {
        "repeats": [profile.redundant for profile in found.profiles],
        "off-topic": [profile.off_topic for profile in found.profiles],
        "best hit dropped": [profile.best_dropped for profile in found.profiles],
    }
    if found.judged:
        measures["recall"] = [p.judgement.recall.mean for p in found.profiles if p.judgement is not None]
    figure, panels = pyplot.subplots(1, len(measures), figsize=(2.6 * len(measures) + 1.4, 3.2), sharey=True)
    for axes, (name, values) in zip(panels, measures.items(), strict=True):
        bars = axes.barh([profile.name for profile in found.profiles], [100 * value for value in values])
        axes.bar_label(bars, fmt="%.1f", padding=2, fontsize=8)
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("%")
        axes.set_xlim(0, max(1.0, 130 * max(values)))
    panels[0].invert_yaxis()
    figure.suptitle(f"k = {found.k}, {found.queries} queries", fontsize=10)
    _save(pyplot, figure, path)
