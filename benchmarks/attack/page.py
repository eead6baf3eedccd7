"""Write docs/benchmarks/attack.md from results/attack.json."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from benchmarks.report import load, page, table

_WIDTH = 120


def render() -> None:
    """Write the page, with a section for each attack that was run."""
    data = load("attack")
    at = data["machine"]
    parts = [
        "# Attacks on an index",
        _fill(
            "`python -m benchmarks attack` runs them and writes this page from `benchmarks/results/attack.json`;",
            f"`--part NAME` runs one. {at['cpu']}, {at['cores']} cores, Python {at['python']}.",
        ),
    ]
    for title, names, write in _SECTIONS:
        if all(name in data for name in names):
            parts += [f"## {title}", *write(*(data[name] for name in names))]
    page("attack", "\n\n".join(parts) + "\n")


def _fill(*sentences: str) -> str:
    return textwrap.fill(" ".join(sentences), _WIDTH, break_long_words=False, break_on_hyphens=False)


def _write_threads(figures: dict[str, Any]) -> list[str]:
    if figures.get("frozen"):
        return [_report_freeze(figures)]
    rows = []
    for name, seen in figures["filters"].items():
        rates = [f"{seen['rates'][count]:,.0f}" for count in ("1", "2", "8")]
        rows.append([name, *rates, f"{seen['ratio']:.2f} ({seen['low']:.2f}–{seen['high']:.2f})"])
    return [
        _fill(
            f"Searches in a second on {figures['rows']:,} documents of 256 dimensions, k = 10, one core for each",
            f"search (`BREADTH_NUM_THREADS=1`): medians of {figures['rounds']} rounds of {figures['searches']}",
            f"searches. Two threads that only scan the codes do {figures['machine']:.2f} times the work of one on this",
            "machine.",
        ),
        table(["", "1 thread", "2 threads", "8 threads", "2 threads over 1"], rows),
    ]


def _write_soak(figures: dict[str, Any]) -> list[str]:
    if figures.get("frozen"):
        return [_report_freeze(figures)]
    calls, longest = figures["calls"], figures["longest_seconds"]
    return [
        _fill(
            f"{figures['threads']} threads make {figures['searches']:,} searches, two of three with a filter, on",
            f"{figures['rows']:,} documents. Beside them one thread updates, deletes and optimizes, and others call",
            "`len`, `get`, `lookup`, `oracle` and `documents` all the time.",
            f"Freezes: {figures['frozen']}. Errors: {figures['errors']}.",
            f"The index is whole afterwards: {_say(figures['whole'])}. {figures['seconds']:.0f} s.",
        ),
        table(
            ["call", "calls", "the longest one took"],
            [[name, f"{calls[name]:,}", f"{1000 * longest[name]:,.0f} ms"] for name in calls],
        ),
    ]


def _write_damage(figures: dict[str, Any], costs: dict[str, Any]) -> list[str]:
    rows = [
        _count_outcomes("vector files, 4 KiB blocks", figures["blocks"]),
        _count_outcomes("index.sqlite, 4 KiB pages", figures["pages"]),
        _count_outcomes("vector files exchanged", figures["exchanged"]),
    ]
    head = ["damaged", "tried", "error of breadth", "right answers", "wrong answers", "other errors", "`check` found"]
    return [
        _fill(
            f"An index of {figures['rows']:,} documents in {figures['files']} vector files. A block is zeroed,",
            "overwritten at random, changed in one bit, replaced by another block, or cut off with all that follows;",
            "then 12 searches are compared with those before. Answers are right where no search needs the block.",
            "What is only padding is not damage, and `check` does not call it so.",
        ),
        table(head, rows),
        _fill(
            f"What the checksums cost, on {costs['rows']:,} rows ({costs['megabytes']:.0f} MB of codes): opening takes",
            f"{costs['open_ms']:.1f} ms, the first search {costs['first_ms']:.0f} ms, later ones",
            f"{costs['later_ms']:.1f} ms. Of the difference, reading the codes takes {costs['reading_ms']:.0f} ms and",
            f"their checksums {costs['checksum_ms']:.0f} ms. The file is {100 * costs['overhead_bytes']:.2f} % larger.",
        ),
    ]


def _count_outcomes(what: str, figures: dict[str, Any]) -> list[str]:
    seen = figures["outcomes"]
    known = ("an error of breadth", "right answers", "wrong answers", "nothing changed")
    other = sum(count for name, count in seen.items() if name not in known)
    right = seen.get("right answers", 0) + seen.get("nothing changed", 0)
    counts = (figures["tried"], seen.get("an error of breadth", 0), right, seen.get("wrong answers", 0), other)
    return [what, *map(str, counts), str(figures.get("found_by_check", "–"))]


def _write_writers(kills: dict[str, Any], creation: dict[str, Any]) -> list[str]:
    during = ", ".join(f"{count} during {name}" for name, count in kills["kills"].items())
    made, told = (creation["outcomes"].get(name, 0) for name in ("made it", "told that it is there"))
    return [
        _fill(
            f"`kill -9`, {sum(kills['kills'].values())} times ({during}): batches that were lost, mixed or half there,",
            f"or problems that `check` found: {kills['problems']}.",
        ),
        _fill(
            f"{creation['processes']} processes make an index in the same folder at the same moment,",
            f"{creation['rounds']} times: {made} made it, {told} were told that it is there, and {creation['usable']}",
            f"of {creation['rounds']} indexes are whole and hold what was added.",
        ),
    ]


def _write_histories(figures: dict[str, Any]) -> list[str]:
    return [
        _fill(
            f"{figures['histories']} random histories of {figures['steps']} changes (add, update, new vectors, delete,",
            "pieces, optimize, reopen, wrong calls), each compared with a model after every change: documents,",
            f"vectors, numbers, a filter, the best hit, and `check` at the end. Differences: {figures['problems']}.",
        )
    ]


def _write_filters(figures: dict[str, Any]) -> list[str]:
    return [
        _fill(
            f"{figures['tried']} hostile filters on {figures['rows']:,} documents of ten tenants, each within one",
            f"tenant: {figures['refused']} were refused, {figures['answered']} answered. Documents of other tenants:",
            f"{figures['foreign']}. Other errors: {len(figures['other_errors'])}. The longest took",
            f"{figures['longest_seconds']:.2f} s; over {figures['limit_seconds']:g} s: {figures['over_limit']}.",
            f"The index is whole afterwards: {_say(figures['whole'])}.",
        )
    ]


def _write_adds(figures: dict[str, Any]) -> list[str]:
    rows = []
    for name in ("first", "last"):
        numbers = [f"{figures[name][key]:.2f} ms" for key in ("mean_ms", "median_ms", "p999_ms", "longest_ms")]
        rows.append([f"the {name} {figures['window']:,}", *numbers])
    searches = [
        [name, f"{seen['single_ms']:.1f} ms", f"{seen['bulk_ms']:.1f} ms", f"{seen['ratio']:.2f}"]
        for name, seen in figures["searches"].items()
    ]
    before, after = figures["sync_ms"]
    return [
        _fill(
            f"{figures['adds']:,} documents of 40 words with vectors of 256 dimensions, each added by its own call",
            "and on the disk when the call returns. Writing 4 KiB to this disk takes",
            f"{before:.2f} ms before and {after:.2f} ms after.",
        ),
        table(["adds", "mean", "median", "99.9th percentile", "longest"], rows),
        _fill(
            f"Adds of more than 0.1 s: {figures['over_100_ms']}; the longest took {figures['longest_ms']:.0f} ms.",
            f"Afterwards there are {figures['files']} vector files, {figures['megabytes']:.0f} MB in all. One bulk add",
            f"of the same documents takes {figures['bulk_seconds']:.1f} s. A search, in turn in both indexes:",
        ),
        table(["", "added one by one", "added at once", "ratio"], searches),
    ]


def _report_freeze(figures: dict[str, Any]) -> str:
    return f"The process froze and was ended after {figures['after_seconds']:.0f} s."


def _say(good: bool) -> str:
    return "yes" if good else "no"


_SECTIONS: list[tuple[str, tuple[str, ...], Callable[..., list[str]]]] = [
    ("Threads", ("threads",), _write_threads),
    ("Searches beside a writer and other calls", ("soak",), _write_soak),
    ("Damaged files", ("damage", "checksums"), _write_damage),
    ("Killed writers, simultaneous creation", ("kills", "creation"), _write_writers),
    ("Random histories", ("histories",), _write_histories),
    ("Hostile filters", ("filters",), _write_filters),
    ("Documents that come one by one", ("adds",), _write_adds),
]
"""The title of each section, the parts it shows, and what writes it."""
