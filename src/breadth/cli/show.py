"""What commands show of sets and curves: tables for people, data for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from breadth.cli.console import is_wide, print_line
from breadth.display import escape_controls, shorten
from breadth.index import Hit, Results
from breadth.index.documents import HitVariant
from breadth.selection import Selection

Curves = dict[str, list[Selection]]
"""What each method selects, θ by θ."""

NEW = "new"
"""The mark of a passage that is not in top-k."""
_COPIES = 3
"""How many copies of a passage a table names."""
_VARIANTS, _SIDE = 2, 40
"""How many variants, and differences of each, and how many characters of what differs."""
SHOWN = 220
"""How many characters of a passage a table shows."""


def selection_data(found: Selection) -> dict[str, Any]:
    """Describe a selection as plain data, without its rows: documents have names of their own."""
    return {
        name: value for name, value in found.to_dict().items() if name not in ("ids", "scores", "copies", "variants")
    }


def results_data(results: Results) -> dict[str, Any]:
    """Describe results as plain data, with the metadata of copies: a reader may want to cite them all."""
    data = results.to_dict()
    for entry, hit in zip(data["hits"], results, strict=True):
        for told, copy in zip(entry["copies"], hit.copies, strict=True):
            told["metadata"] = dict(copy.metadata)
    return {**data, **selection_data(results.selection)}


def shares_data(shares: tuple[float, float | None] | None) -> dict[str, float | None]:
    """Describe the coverage of a set, and of as many of the most relevant passages, as plain data."""
    if shares is None:
        return {"coverage": None, "top_k_coverage": None}
    share, plain = shares
    return {"coverage": share, "top_k_coverage": share if plain is None else plain}


def counted(number: int, one: str, several: str) -> str:
    """A number with its noun: "1 passage", "2 passages", "no passages"."""
    return f"{f'{number:,}' if number else 'no'} {one if number == 1 else several}"


def coverage_sentence(size: int, share: float, plain_share: float | None) -> str:
    """Say how much of the relevant material a set stands for, beside as many of the most relevant passages.

    `plain_share` is None if the set is these passages.
    """
    one = size == 1
    if plain_share is None:
        who = "This is the best hit. It stands" if one else f"These are the top {size}. They stand"
        return f"{who} for {share:.0%} of the relevant material."
    who = "This passage stands" if one else f"These {size} passages stand"
    return f"{who} for {share:.0%} of the relevant material, the top {size} for {plain_share:.0%}."


def hits_table(results: Results, adds: Any = None, marks: dict[str, str] | None = None) -> Table:
    """Make a table of passages with their relevance, what each adds, and a mark before some of them."""
    table = Table(expand=is_wide())
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
        text.append(f"{escape_controls(mark)}  ", style="bold green" if mark == NEW else "bold red")
    text.append(escape_controls(hit.id), style="bold")
    text.append("  " + escape_controls(shorten(hit.text, SHOWN)))
    if hit.copies:
        names = ", ".join(escape_controls(copy.id) for copy in hit.copies[:_COPIES])
        names += ", …" if len(hit.copies) > _COPIES else ""
        text.append(f"  (says all of {counted(len(hit.copies), 'copy', 'copies')}: {names})", style="italic")
    for other in hit.variants[:_VARIANTS]:
        text.append("\n  ")
        text.append(escape_controls(f"differs from {other.id}: {_describe_differences(other)}"), style="yellow")
    return text


def _describe_differences(variant: HitVariant) -> str:
    sides = [
        (shorten(one.left, _SIDE) or "(nothing)", shorten(one.right, _SIDE) or "(nothing)")
        for one in variant.differences
    ]
    return "; ".join(f"{left} → {right}" for left, right in sides[:_VARIANTS])


def curves_table(curves: Curves, thetas: Sequence[float], knee: float) -> Table:
    """Make a table of what each method reaches at each θ; the knee stands out."""
    table = Table()
    table.add_column("θ", justify="right")
    for method in curves:
        table.add_column(method, justify="right")
    for place, theta in enumerate(thetas):
        cells = [f"{curve[place].relevance:.3f} / {curve[place].redundancy:.3f}" for curve in curves.values()]
        table.add_row(f"{theta:g}", *cells, style="bold green" if theta == knee else None)
    return table


def curves_data(curves: Curves, thetas: Sequence[float]) -> dict[str, list[dict[str, float]]]:
    """Describe what each method reaches at each θ as plain data."""
    return {
        method: [
            {"theta": theta, "relevance": s.relevance, "redundancy": s.redundancy, "diversity": s.diversity}
            for theta, s in zip(thetas, curve, strict=True)
        ]
        for method, curve in curves.items()
    }


def few_sentence(k: int, there: int) -> str:
    """Say that there are fewer passages than were asked for."""
    return f"You asked for {k} passages. There {'is' if there == 1 else 'are'} {there:,} to choose from."


def print_summary(found: Results, k: int) -> None:
    """Say how many passages there are if there are fewer than k, how they were chosen, and what is proved."""
    if not len(found):
        print_line("No passage fits." if found.searched else "There is no passage to choose from.")
        return
    chosen = found.selection
    if found.searched < k:
        print_line(few_sentence(k, found.searched))
    if len(found) < min(k, found.searched):
        print_line(f"You asked for {k} passages. The rules allow {len(found)} together.")
    among = f" among the {chosen.stats['pool']:,} most relevant" if "pool" in chosen.stats else ""
    if chosen.stats.get("judged_by") == "vectors":
        print_line("There are no texts to compare: by vectors alone, a copy cannot be told from a contradiction.")
    if found.given_up:
        print_line(_describe_given_up(found, k))
    print_line(
        f"{chosen.method}{among}, θ = {chosen.theta:g}, sharpness {chosen.sharpness}: "
        f"relevance {chosen.relevance:.3f}, redundancy {chosen.redundancy:.3f}, diversity {chosen.diversity:.3f}. "
        f"{chosen.describe_proof()} ({1000 * float(chosen.stats['seconds']):.0f} ms)"
    )


def _describe_given_up(found: Results, k: int) -> str:
    names = ", ".join(map(escape_controls, found.given_up[:_COPIES]))
    names += ", …" if len(found.given_up) > _COPIES else ""
    return f"Given up of the top {k}: {counted(len(found.given_up), 'passage', 'passages')} ({names})."
