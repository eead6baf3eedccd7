"""What `breadth diagnose` shows: tables and sentences for people, data for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from breadth.bootstrap import Estimate
from breadth.cli.show import SHOWN
from breadth.display import shorten
from breadth.index.diagnosis import Diagnosis
from breadth.index.profiles import Profile

_EXAMPLES = 3
"""How many passages an example of a repetition shows."""


def diagnosis_title(found: Diagnosis) -> str:
    """Say what was asked."""
    kind = "beginnings of passages as queries" if found.sampled else "questions" if found.judged else "queries"
    return f"{found.queries} {kind}, k = {found.k}, {found.documents:,} passages"


def diagnosis_table(found: Diagnosis) -> Table:
    """Make a table of what the sets of each setting are like; the suggested setting stands out."""
    rows = [
        [
            f"{profile.redundant:.1%} ({profile.affected:.0%})",
            f"{profile.lost:.2f}",
            f"{profile.off_topic:.1%} ({profile.strayed:.0%})",
            f"{profile.best_dropped:.0%}",
            f"{profile.kept:.1%}",
        ]
        for profile in found.profiles
    ]
    return _settings_table(found, ("repeats", "lost", "off-topic", "best hit dropped", "relevance kept"), rows)


def recall_table(found: Diagnosis) -> Table:
    """Make a table of the recall of each setting, with its differences from top-k and from the best setting."""
    rows = []
    for judgement in (profile.judgement for profile in found.profiles if profile.judgement is not None):
        gaps = (judgement.over_top_k, judgement.behind_best)
        rows.append([_percent_cell(judgement.recall), *(_percent_cell(gap, "+") for gap in gaps)])
    heads = ("recall", "minus top-k's", "minus the best")
    return _settings_table(found, heads, rows)


def _percent_cell(value: Estimate, sign: str = "") -> str:
    mean, low, high = (f"{100.0 * number:{sign}.1f}" for number in (value.mean, value.low, value.high))
    return mean if low == high else f"{mean} ({low}, {high})"


def _settings_table(found: Diagnosis, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table()
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
        "repeats: passages that another one of the set says all of (in brackets: queries with one)",
        f"lost: passages of top-{found.k}, per query, with facts that no one passage of the set has",
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
    lines = ["What is said more than once, for example:"]
    for repeat in found.repeats:
        query, copies = shorten(repeat.query, SHOWN // 3), len(repeat.documents) - 1
        lines.append(f"  {query!r} gets a passage, and {copies} that {'says' if copies == 1 else 'say'} no more:")
        lines += [f"    {one.id}  {shorten(one.text, SHOWN // 2)}" for one in repeat.documents[:_EXAMPLES]]
    return "\n".join(lines)


def diagnosis_data(found: Diagnosis) -> dict[str, Any]:
    """Describe a diagnosis as plain data."""
    return {
        "queries": found.queries,
        "skipped": found.skipped,
        "k": found.k,
        "documents": found.documents,
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
    options = {name: value for name, value in trial["options"].items() if not callable(value)}
    return {"setting": trial["name"], "options": options, **data, **(judgement or {})}
