"""What commands print: tables for people, JSON for programs."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from breadth.index import Hit, Results
from breadth.index.diagnosis import Diagnosis
from breadth.selection import Selection

out = Console(highlight=False, markup=False, emoji=False)
err = Console(stderr=True, highlight=False, markup=False, emoji=False)

Curves = dict[str, list[tuple[float, float]]]
"""Relevance and diversity of each method, θ by θ."""

_COPIES = 3
"""How many near-copies of a passage a table names."""
_SHOWN = 220
"""How many characters of a passage a table shows."""


def print_json(data: Any) -> None:
    """Print one JSON document on the standard output, always in UTF-8."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    print(json.dumps(data, ensure_ascii=False, indent=1))  # noqa: T201


def rate_progress(quiet: bool) -> Progress:
    """Make a progress bar that shows the field `rate` of its task, on terminals only."""
    return _progress(TextColumn("{task.fields[rate]}"), quiet)


def count_progress(quiet: bool) -> Progress:
    """Make a progress bar that shows how many are done, on terminals only."""
    return _progress(MofNCompleteColumn(), quiet)


def _progress(column: ProgressColumn, quiet: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), column, TimeRemainingColumn())
    return Progress(*columns, console=err, disable=quiet or not err.is_terminal)


def selection_data(found: Selection) -> dict[str, Any]:
    """Describe a selection as plain data."""
    certificate = None
    if found.certificate is not None:
        c = found.certificate
        certificate = {"bound": c.bound, "gap": c.gap, "exact": c.exact, "optimal": c.optimal}
    return {
        "method": found.method,
        "theta": found.theta,
        "k": found.k,
        "sharpness": found.sharpness,
        "relevance": found.relevance,
        "redundancy": found.redundancy,
        "diversity": found.diversity,
        "objective": found.objective,
        "certificate": certificate,
        "stats": dict(found.stats),
    }


def results_data(results: Results) -> dict[str, Any]:
    """Describe results as plain data."""
    hits = [
        {
            "id": h.id,
            "score": h.score,
            "text": h.text,
            "metadata": dict(h.metadata),
            "copies": [{"id": c.id, "metadata": dict(c.metadata)} for c in h.copies],
        }
        for h in results
    ]
    return {"query": results.query, "searched": results.searched, "hits": hits, **selection_data(results.selection)}


def certificate_sentence(found: Selection) -> str:
    """Say in a sentence what is proved about a set."""
    c = found.certificate
    if c is None:
        return f"{found.method} gives no certificate."
    if not c.exact:
        return f"Estimated to be within {c.gap:.4f} of the best objective there is (the engine searches approximately)."
    if c.optimal:
        return "Proved optimal: no other allowed set of this size has a larger objective."
    return (
        f"Proved: no allowed set of {found.k} has an objective above {c.bound:.4f}; this one has {found.objective:.4f}."
    )


def hits_table(results: Results, title: str, adds: Any = None, marks: dict[str, str] | None = None) -> Table:
    """Make a table of passages with their relevance, what each adds, and a mark before some of them."""
    table = Table(title=title, title_justify="left", show_lines=False, expand=True)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("relevance", justify="right", no_wrap=True)
    if adds is not None:
        table.add_column("adds", justify="right", no_wrap=True)
    table.add_column("passage", ratio=1)
    for place, hit in enumerate(results, start=1):
        cells: list[Any] = [str(place), f"{hit.score:.3f}"]
        if adds is not None:
            cells.append("" if adds[place - 1] is None else f"{adds[place - 1]:.4f}")
        table.add_row(*cells, _passage_text(hit, (marks or {}).get(hit.id, "")))
    return table


def _passage_text(hit: Hit, mark: str) -> Text:
    text = Text(overflow="fold")
    if mark:
        text.append(f"{mark} ", style="bold red" if mark.startswith("copy") else "bold green")
    text.append(hit.id, style="bold")
    words = " ".join(hit.text.split())
    text.append("  " + (words if len(words) <= _SHOWN else words[: _SHOWN - 1] + "…"))
    if hit.copies:
        names = ", ".join(copy.id for copy in hit.copies[:_COPIES]) + (", …" if len(hit.copies) > _COPIES else "")
        text.append(f"  (stands for {len(hit.copies)} near-copies: {names})", style="dim")
    return text


def curves_table(curves: Curves, thetas: Sequence[float], knee: float, title: str) -> Table:
    """Make a table of what each method reaches at each θ; the knee stands out."""
    table = Table(title=title, title_justify="left")
    table.add_column("θ", justify="right")
    for method in curves:
        table.add_column(method, justify="right")
    for place, theta in enumerate(thetas):
        cells = [f"{curve[place][0]:.3f} / {curve[place][1]:.3f}" for curve in curves.values()]
        table.add_row(f"{theta:g}", *cells, style="bold green" if theta == knee else None)
    return table


def curves_data(curves: Curves, thetas: Sequence[float]) -> dict[str, list[dict[str, float]]]:
    """Describe what each method reaches at each θ as plain data."""
    return {
        method: [{"theta": t, "relevance": r, "diversity": d} for t, (r, d) in zip(thetas, curve, strict=True)]
        for method, curve in curves.items()
    }


def diagnosis_table(found: Diagnosis) -> Table:
    """Make a table of the curve over θ."""
    title = f"{found.queries} queries, k = {found.k}, {found.documents:,} passages"
    table = Table(title=title, title_justify="left")
    for name in ("θ", "relevance", "ILAD", "near-copies", "queries affected"):
        table.add_column(name, justify="right")
    for point in found.curve:
        label = "1 (top-k)" if point.theta == 1.0 else f"{point.theta:g}"
        style = "bold green" if point.theta == found.suggested_theta else None
        qualities = (f"{point.relevance:.3f}", f"{point.diversity:.3f}")
        cells = (label, *qualities, f"{point.redundant:.1%}", f"{point.affected:.0%}")
        table.add_row(*cells, style=style)
    return table


def diagnosis_data(found: Diagnosis) -> dict[str, Any]:
    """Describe a diagnosis as plain data."""
    return {
        "queries": found.queries,
        "k": found.k,
        "documents": found.documents,
        "near_copy": found.near_copy,
        "suggested_theta": found.suggested_theta,
        "keep": found.keep,
        "verdict": found.verdict(),
        "curve": [vars(point) for point in found.curve],
    }
