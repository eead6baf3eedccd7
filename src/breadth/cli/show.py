"""What commands print: tables for people, JSON for programs."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from breadth.index import Hit, Results
from breadth.index.diagnosis import Diagnosis
from breadth.selection import Selection

out = Console(highlight=False, markup=False, emoji=False)
err = Console(stderr=True, highlight=False, markup=False, emoji=False)


def dump(data: Any) -> None:
    """One JSON document on the standard output, always UTF-8."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    print(json.dumps(data, ensure_ascii=False, indent=1))  # noqa: T201


def selection_data(found: Selection) -> dict[str, Any]:
    """A selection as plain data."""
    certificate = None
    if found.certificate is not None:
        c = found.certificate
        certificate = {"bound": c.bound, "gap": c.gap, "exact": c.exact, "optimal": c.optimal}
    return {
        "method": found.method,
        "theta": found.theta,
        "k": found.k,
        "relevance": found.relevance,
        "diversity": found.diversity,
        "objective": found.objective,
        "certificate": certificate,
        "stats": dict(found.stats),
    }


def results_data(results: Results) -> dict[str, Any]:
    """Results as plain data."""
    hits = [{"id": h.id, "score": h.score, "text": h.text, "metadata": dict(h.metadata)} for h in results]
    return {"query": results.query, "searched": results.searched, "hits": hits, **selection_data(results.selection)}


def in_words(found: Selection) -> str:
    """The certificate as a sentence."""
    c = found.certificate
    if c is None:
        return f"{found.method} gives no certificate."
    if not c.exact:
        return f"Estimated to be within {c.gap:.4f} of the best objective there is (the engine searches approximately)."
    if c.optimal:
        return "Proved optimal: no other set of this size has a larger objective."
    return f"Proved: no set of {found.k} has an objective above {c.bound:.4f}; this one has {found.objective:.4f}."


def hits_table(results: Results, title: str, adds: Any = None, marks: dict[str, str] | None = None) -> Table:
    """Passages with their relevance and what each adds."""
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
        table.add_row(*cells, _passage(hit, (marks or {}).get(hit.id, "")))
    return table


def _passage(hit: Hit, mark: str) -> Text:
    text = Text(overflow="fold")
    if mark:
        text.append(f"{mark} ", style="bold red" if mark.startswith("copy") else "bold green")
    text.append(hit.id, style="bold")
    words = " ".join(hit.text.split())
    text.append("  " + (words if len(words) <= 220 else words[:219] + "…"))
    return text


def diagnosis_table(found: Diagnosis) -> Table:
    """The curve over θ."""
    title = f"{found.queries} queries, k = {found.k}, {found.documents:,} passages"
    table = Table(title=title, title_justify="left")
    for name in ("θ", "relevance", "ILAD", "near-copies", "queries affected"):
        table.add_column(name, justify="right")
    for at in found.curve:
        label = "1 (top-k)" if at.theta == 1.0 else f"{at.theta:g}"
        style = "bold green" if at.theta == found.suggested_theta else None
        cells = (label, f"{at.relevance:.3f}", f"{at.diversity:.3f}", f"{at.redundant:.1%}", f"{at.affected:.0%}")
        table.add_row(*cells, style=style)
    return table


def diagnosis_data(found: Diagnosis) -> dict[str, Any]:
    """A diagnosis as plain data."""
    return {
        "queries": found.queries,
        "k": found.k,
        "documents": found.documents,
        "near_copy": found.near_copy,
        "suggested_theta": found.suggested_theta,
        "keep": found.keep,
        "verdict": found.verdict(),
        "curve": [vars(at) for at in found.curve],
    }
