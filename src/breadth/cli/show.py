"""What commands print: tables for people, JSON for programs."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from breadth.bootstrap import Estimate
from breadth.display import shorten
from breadth.index import Hit, Results
from breadth.index.diagnosis import Diagnosis
from breadth.index.profiles import Profile
from breadth.selection import Selection

out = Console(highlight=False, markup=False, emoji=False)
err = Console(stderr=True, highlight=False, markup=False, emoji=False)

Curves = dict[str, list[Selection]]
"""What each method selects, θ by θ."""

NEW = "new"
"""The mark of a passage that is not in top-k."""
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
    """Describe a selection as plain data, without its rows: documents have names of their own."""
    return {name: value for name, value in found.to_dict().items() if name not in ("ids", "scores", "copies")}


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


def counted(number: int, one: str, several: str) -> str:
    """A number with its noun: "1 passage", "2 passages", "no passages"."""
    return f"{number or 'no'} {one if number == 1 else several}"


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
        text.append(f"{mark}  ", style="bold green" if mark == NEW else "bold red")
    text.append(hit.id, style="bold")
    text.append("  " + shorten(hit.text, _SHOWN))
    if hit.copies:
        names = ", ".join(copy.id for copy in hit.copies[:_COPIES]) + (", …" if len(hit.copies) > _COPIES else "")
        stands_for = counted(len(hit.copies), "near-copy", "near-copies")
        text.append(f"  (stands for {stands_for}: {names})", style="italic")
    return text


def curves_table(curves: Curves, thetas: Sequence[float], knee: float, title: str) -> Table:
    """Make a table of what each method reaches at each θ; the knee stands out."""
    table = Table(title=title, title_justify="left")
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


def diagnosis_table(found: Diagnosis) -> Table:
    """Make a table of what the sets of each setting are like; the suggested setting stands out."""
    kind = "beginnings of passages as queries" if found.sampled else "questions" if found.judged else "queries"
    title = f"{found.queries} {kind}, k = {found.k}, {found.documents:,} passages"
    rows = [
        [
            f"{profile.redundant:.1%} ({profile.affected:.0%})",
            f"{profile.off_topic:.1%} ({profile.strayed:.0%})",
            f"{profile.best_dropped:.0%}",
            f"{profile.kept:.1%}",
        ]
        for profile in found.profiles
    ]
    return _settings_table(found, title, ("near-copies", "off-topic", "best hit dropped", "relevance kept"), rows)


def recall_table(found: Diagnosis) -> Table:
    """Make a table of the recall of each setting, with its differences from top-k and from the best setting."""
    rows = []
    for judgement in (profile.judgement for profile in found.profiles if profile.judgement is not None):
        gaps = (judgement.over_top_k, judgement.behind_best)
        rows.append([_percent_cell(judgement.recall), *(_percent_cell(gap, "+") for gap in gaps)])
    heads = ("recall", "minus top-k's", "minus the best")
    return _settings_table(found, "recall in %, with 95% intervals", heads, rows)


def _percent_cell(value: Estimate, sign: str = "") -> str:
    mean, low, high = (f"{100.0 * number:{sign}.1f}" for number in (value.mean, value.low, value.high))
    return mean if low == high else f"{mean} ({low}, {high})"


def _settings_table(found: Diagnosis, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("setting", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right")
    suggested = found.suggested
    for profile, cells in zip(found.profiles, rows, strict=True):
        chosen = suggested is not None and profile.name == suggested.name
        table.add_row(profile.name, *cells, style="bold green" if chosen else None)
    return table


def diagnosis_legend(found: Diagnosis) -> str:
    """Explain the columns and the settings of the tables."""
    lines = [
        f"near-copies: passages that the encoder hardly tells from a more relevant one in the set, cosine "
        f"{found.near_copy:g} or more (in brackets: queries with one)",
        f"off-topic: passages with less than half the relevance of the last one of top-{found.k} "
        "(in brackets: queries with one)",
    ]
    if found.judged:
        lines.append(
            "recall: the share of the answers, aspects or relevant passages of a question that the set finds; "
            "differences are in points, and their intervals hold for all settings together"
        )
    lines += [f"{one.name}: {one.trial.describe()}" for one in found.profiles[1:]]
    short = [f"{one.name} ({one.size:.1f})" for one in found.profiles if one.size < found.k]
    if short:
        lines.append(f"fewer than {found.k} passages on average, as no more are distinct: {', '.join(short)}")
    if found.skipped:
        lines.append(f"queries left out, because the encoder knows no word of them: {found.skipped}")
    return "\n".join(lines)


def repeats_text(found: Diagnosis) -> str:
    """Show examples of what top-k repeats, so that a reader can say whether they are copies."""
    lines = [f"What top-{found.k} repeats, for example (if these are not copies to you, raise --near-copy):"]
    for repeat in found.repeats:
        query, copies = shorten(repeat.query, _SHOWN // 3), len(repeat.documents) - 1
        lines.append(f"  {query!r} gets a passage and {copies} near-cop{'y' if copies == 1 else 'ies'} of it:")
        lines += [f"    {one.id}  {shorten(one.text, _SHOWN // 2)}" for one in repeat.documents[:_COPIES]]
    return "\n".join(lines)


def diagnosis_data(found: Diagnosis) -> dict[str, Any]:
    """Describe a diagnosis as plain data."""
    return {
        "queries": found.queries,
        "skipped": found.skipped,
        "k": found.k,
        "documents": found.documents,
        "near_copy": found.near_copy,
        "suggested": None if found.suggested is None else found.suggested.name,
        "verdict": found.verdict(),
        "settings": [_profile_data(profile) for profile in found.profiles],
        "repeats": [
            {"query": repeat.query, "passages": [{"id": one.id, "text": one.text} for one in repeat.documents]}
            for repeat in found.repeats
        ],
    }


def _profile_data(profile: Profile) -> dict[str, Any]:
    data = asdict(profile)
    trial, judgement = data.pop("trial"), data.pop("judgement")
    return {"setting": trial["name"], "options": dict(trial["options"]), **data, **(judgement or {})}
