"""docs/benchmarks/shards.md, from results/shards.json."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.report import load, page, table
from benchmarks.shards.simulate import LINK_BYTES_PER_MS, ROUND_TRIP_MS, fit
from benchmarks.shards.workers import LARGE, SMALL

_NAMES = {"alone": "no cluster", "ray": "Ray", "dask": "Dask actors"}


def render() -> None:
    """Write the page."""
    data = load("shards")
    page("shards", "\n".join((_introduce(data), _show_rounds(data), _show_scans(data), _show_simulation(data))))


def _introduce(data: dict[str, Any]) -> str:
    seen, asked, dim = data["machine"], data["scans"]["asked"], data["scans"]["dim"]
    return f"""# A matrix over several workers

Written by `python -m benchmarks shards`. Machine: {seen["cpu"]}, {seen["cores"]} cores, Python {seen["python"]}.
Driver and workers share its cores, so 4 workers are more than it can run at a time. Rows have {dim} dimensions. A
*round* puts one search for {asked} rows to all shards, which is what the default asks for in its first request for
k = 10 and 25; on nearly all queries of the [other benchmarks](engines.md) that one round is the whole search. The round
ends when the {asked} best rows of all, with their vectors, are there.
"""


def _show_rounds(data: dict[str, Any]) -> str:
    rounds = data["rounds"]
    head = ["workers", *(f"{_NAMES[kind]}, {size}" for size in ("overhead", "round") for kind in rounds)]
    lines = [
        [count, *(_show(rounds[kind][count][size]) for size in ("small", "large") for kind in rounds)]
        for count in rounds["ray"]
    ]
    return f"""## One machine

Milliseconds, median (95th percentile). *Overhead*: shards of {SMALL:,} rows, whose scan takes next to nothing.
*Round*: {LARGE:,} rows in all. A worker scans with one thread; without a cluster, one process scans with as many
threads as there would be workers.

{table(head, lines)}

On one machine a cluster only costs: threads do the same without it. It pays where the rows do not fit one machine, or
where its cores are not enough.
"""


def _show(cell: dict[str, float]) -> str:
    return f"{cell['ms']:.1f} ({cell['p95']:.1f})"


def _show_scans(data: dict[str, Any]) -> str:
    scans, line = data["scans"], fit(data["scans"]["scans"])
    lines = [
        [
            f"{int(size):,}",
            f"{np.median(scan['ms']):.2f}",
            f"{np.quantile(scan['ms'], 0.95):.2f}",
            f"{line.milliseconds(int(size)):.2f}",
            f"{scan['batch_ms']:.2f}",
        ]
        for size, scan in scans["scans"].items()
    ]
    messages = [
        [shards, f"{message['vectors']}", f"{message['question'] / 1e3:.1f}", f"{message['answer'] / 1e3:.1f}",
         f"{int(shards) * message['answer'] / 1e6:.2f}", _show(data["drivers"][shards])]
        for shards, message in scans["messages"].items()
    ]  # fmt: skip
    return f"""## One shard

A scan with one thread, in milliseconds; the line that the simulation uses; and a batch of 16 searches, for each of
them.

{table(["rows", "median", "95th percentile", "line", "in a batch"], lines)}

Messages of a round in kB, and all answers in MB. A shard sends the vectors of twice its share of the best rows, and 16
more. *Driver* is what it takes to ask so many shards, to hear them and to join their answers, in milliseconds: four
workers that answer at once stand for all shards. They share the driver's cores, so this is more than it takes.

{table(["shards", "vectors", "question", "answer", "all answers, MB", "driver, ms"], messages)}
"""


def _show_simulation(data: dict[str, Any]) -> str:
    line, link = fit(data["scans"]["scans"]), LINK_BYTES_PER_MS * 8e3 / 1e9
    lines = [
        [
            f"{cell['total'] / 1e6:,.0f} million",
            str(cell["shards"]),
            f"{cell['rows'] / 1e6:.2f} million",
            f"{cell['codes_gb']:.1f} + {cell['rows_gb']:.1f}",
            f"{cell['scan']:.0f}",
            f"{cell['slowest']:.0f}",
            f"{cell['driver']:.1f}",
            f"{cell['network']:.1f}",
            f"{cell['median']:.0f} ({cell['p95']:.0f})",
        ]
        for cell in data["simulated"]
    ]
    head = [
        "rows", "shards", "rows of a shard", "GB of a shard, codes + rows", "scan, ms", "slowest scan, ms",
        "driver, ms", "network, ms", "round, ms",
    ]  # fmt: skip
    return f"""## Many machines, simulated

**Nobody has run this.** It follows from the figures above and these assumptions:

- A shard is one core that has its memory to itself, and scans its codes from memory at the speed of this machine: a
  start of {line.start:.2f} ms and {1e6 * line.row:.1f} ms for a million rows. Cores that share a memory bus are slower;
  with t threads for each shard, expect up to t times less, as long as the bus can feed them.
- A scan varies as the scans above did around their median. The round waits for the slowest of all shards.
- The driver takes what it took above. A real cluster has more hops, but its workers do not take the driver's cores.
- A round trip takes {ROUND_TRIP_MS} ms, and all answers come through one link of {link:.0f} Gbit/s.
- One round is enough, no worker dies, and the rows are divided at random, so that no shard has to be asked again.
- Full-precision rows are read for {data["scans"]["asked"]} candidates and a few more; they may lie in a file.

Median (95th percentile) of a round. Where the driver takes most of it, drivers in the middle, one for some shards
each, would help; there are none.

{table(head, lines)}
"""
