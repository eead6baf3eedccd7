"""Write docs/benchmarks/load.md from results/load.json."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from benchmarks.load.collection import DIM, ROWS
from benchmarks.report import load, page, table

_WIDTH = 120
Figures = dict[str, Any]


def render() -> None:
    """Write the page, with a section for each part that was measured."""
    data = load("load")
    at = data["machine"]
    parts = [
        "# The service under load",
        _fill(
            "`python -m benchmarks load` measures this and writes the page from `benchmarks/results/load.json`;",
            f"`--part NAME` measures one part. {at['cpu']}, {at['cores']} cores, Python {at['python']}.",
            "Service and clients run on these cores.",
            f"The index has {ROWS:,} passages with vectors of {DIM} dimensions.",
            "A request is `POST /v1/select` with a vector and k = 10 in the default settings; its answer holds texts.",
        ),
    ]
    for title, name, write in _SECTIONS:
        if name in data:
            parts += [f"## {title}", *write(data[name])]
    page("load", "\n\n".join(parts) + "\n")


def _fill(*sentences: str) -> str:
    return textwrap.fill(" ".join(sentences), _WIDTH, break_long_words=False, break_on_hyphens=False)


_HEAD = ["clients", "requests/s", "p50", "p99", "processor time for each answer"]


def _list_rows(by_count: Figures) -> list[list[str]]:
    return [
        [
            count,
            f"{seen['per_second']:.0f}",
            f"{seen['p50_ms']:.0f} ms",
            f"{seen['p99_ms']:.0f} ms",
            f"{seen['processor_ms']:.1f} ms",
        ]
        for count, seen in by_count.items()
    ]


def _list_failures(*groups: Figures) -> str:
    outcomes: dict[str, int] = {}
    for by_count in groups:
        for seen in by_count.values():
            for name, count in seen["outcomes"].items():
                outcomes[name] = outcomes.get(name, 0) + count
    failures = sum(count for name, count in outcomes.items() if name != "200")
    return f"Answers: {outcomes.get('200', 0):,}. Failures: {failures}."


def _write_clients(figures: Figures) -> list[str]:
    ratio = figures["ratio"]
    named = {name: by_count for name, by_count in figures.items() if name != "ratio"}
    parts = [
        _fill(
            "Each client sends its next request when it has its answer. Medians of several rounds of three seconds.",
            f"With batching, 32 clients get **{ratio['median']:.1f}** times ({ratio['low']:.1f}–{ratio['high']:.1f})",
            "the answers of one client in the same time.",
            _list_failures(*named.values()),
        )
    ]
    for name, by_count in named.items():
        parts += [f"### {name.capitalize()}", table(_HEAD, _list_rows(by_count))]
    return parts


def _write_workers(figures: Figures) -> list[str]:
    parts = []
    for workers, seen in figures.items():
        ratio = seen["ratio"]
        parts += [
            f"### `--workers {workers}`",
            _fill(
                f"32 clients over one: **{ratio['median']:.1f}** ({ratio['low']:.1f}–{ratio['high']:.1f}). The service",
                f"uses {seen['megabytes']:.0f} MB in all. {_list_failures(seen['clients'])}",
            ),
            table(_HEAD, _list_rows(seen["clients"])),
        ]
    return parts


def _write_memory(figures: Figures) -> list[str]:
    first, *later = figures["megabytes"]
    steps = ", ".join(f"{size:.0f}" for size in later)
    return [
        _fill(
            f"After a thousand requests the service uses {first:.0f} MB of memory. {figures['requests']:,} further",
            f"requests of 32 clients change that to {later[-1]:.0f} MB (after each quarter of them: {steps} MB).",
        )
    ]


def _write_stop(figures: Figures) -> list[str]:
    head = ["workers", "stops", "answered", "lost", "refused: it no longer listened", "other", "longest stop"]
    rows = [
        [
            workers,
            *(f"{seen[name]:,}" for name in ("stops", "answered", "lost", "refused", "other")),
            f"{seen['longest_seconds']:.1f} s",
        ]
        for workers, seen in figures.items()
    ]
    return ["32 clients ask all the time. After two seconds the service gets SIGTERM.", table(head, rows)]


def _write_schema(figures: Figures) -> list[str]:
    statuses = ", ".join(f"{count:,} × {status}" for status, count in figures["statuses"].items())
    worst = sum(count for status, count in figures["statuses"].items() if status >= "500")
    return [
        _fill(
            "schemathesis reads `/openapi.json` and asks a service with a small index of texts what it allows, and",
            f"what it does not. Cases: {figures['cases']:,}. Passed: {figures['passed']:,}. Answers: {statuses};",
            f"5xx: {worst}.",
        )
    ]


_SECTIONS: list[tuple[str, str, Callable[[Figures], list[str]]]] = [
    ("Clients", "clients", _write_clients),
    ("Processes", "workers", _write_workers),
    ("Memory", "memory", _write_memory),
    ("Stopping", "stop", _write_stop),
    ("The OpenAPI description", "schema", _write_schema),
]
"""The title of each section, the part it shows, and what writes it."""
