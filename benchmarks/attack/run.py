"""`python -m benchmarks attack [--part NAME]`: run the attacks and write docs/benchmarks/attack.md.

A new attack is a function that gets an empty folder and returns its figures, a line in `PARTS`, and a section of the
page, in `page.py`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.attack import adds, damage, filters, histories, threads, writers
from benchmarks.attack.page import render
from benchmarks.report import RESULTS, load, save
from benchmarks.timing import machine, progress

PARTS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "threads": threads.throughput,
    "soak": threads.soak,
    "damage": damage.damage_blocks,
    "checksums": damage.cost_of_checksums,
    "kills": writers.kill,
    "creation": writers.create_at_once,
    "histories": histories.run_histories,
    "filters": filters.ask_hostile,
    "adds": adds.add_one_by_one,
}


def main(part: str | None) -> None:
    """Run all attacks, or one, each in a folder of its own; write the results after each."""
    data = load("attack") if (RESULTS / "attack.json").exists() else {}
    data["machine"] = machine()
    for name in progress(list(PARTS) if part is None else [part], "attack"):
        with tempfile.TemporaryDirectory() as folder:
            data[name] = PARTS[name](Path(folder))
        save("attack", data)
        print(json.dumps({name: data[name]}))
        render()
