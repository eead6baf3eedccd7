"""From text to an answer: the speed and memory of indexing, the time of a search, and 200 kills while indexing."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import load, page, save, table
from benchmarks.timing import machine, progress
from breadth.index import Index
from tests.index.letters import Letters
from tests.index.test_index import kill_while_adding

PARTS = ("ingest", "search", "kills")
_QUERIES = ("What are the symptoms of asthma?", "How is diabetes treated?", "kidney stones causes", "rare skin disease")


def main(part: str | None, kills: int = 200) -> None:
    """Measure, and write results/text.json and docs/benchmarks/text.md. `part`: measure only this part."""
    data = {} if part is None else load("text")
    data["machine"] = machine()
    with tempfile.TemporaryDirectory() as folder:
        for name in PARTS if part is None else [part]:
            if name == "ingest":
                data[name] = ingest(Path(folder), 200_000)
            elif name == "search":
                data[name] = search(Path(folder), 100_000)
            else:
                data[name] = killed(Path(folder), kills)
            save("text", data)
    render()


def passages(path: Path, count: int) -> None:
    """Write the real passages over and over. Every copy leaves out different words."""
    packed = files("breadth.cli") / "data" / "medquad.jsonl.gz"
    real = [json.loads(line) for line in gzip.decompress(packed.read_bytes()).splitlines()]
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as out:
        for number in range(count):
            record = real[number % len(real)]
            words = record["text"].split()
            keep = rng.random(len(words)) > 0.1
            text = " ".join(w for w, k in zip(words, keep, strict=True) if k) or record["text"]
            out.write(json.dumps({**record, "id": f"{record['id']}/{number}", "text": text}) + "\n")


def ingest(folder: Path, count: int) -> dict[str, Any]:
    """Run `breadth index` and watch its memory from outside."""
    passages(folder / "many.jsonl", count)
    command = [sys.executable, "-m", "breadth", "index", folder / "many.jsonl", "-o", folder / "many.index", "--json"]
    started = time.perf_counter()
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True)
    memory = []
    while process.poll() is None:
        time.sleep(0.5)
        memory.append((time.perf_counter() - started, _resident(process.pid)))
    assert process.stdout is not None
    report = json.loads(process.stdout.read())
    process.stdout.close()
    seconds = time.perf_counter() - started
    quarter = [m for t, m in memory if m and 0.2 * seconds < t < 0.4 * seconds]
    late = [m for t, m in memory if m and t > 0.8 * seconds]
    return {
        "passages": report["added"],
        "seconds": report["seconds"],
        "whole_seconds": seconds,
        "early_mb": float(np.median(quarter)),
        "late_mb": float(np.median(late)),
        "peak_mb": max(m for _, m in memory),
    }


def search(folder: Path, count: int) -> dict[str, Any]:
    """Run `breadth search` in a new process for every query."""
    passages(folder / "some.jsonl", count)
    index = folder / "some.index"
    subprocess.run(
        [sys.executable, "-m", "breadth", "index", str(folder / "some.jsonl"), "-o", str(index), "--json"],
        check=True,
        capture_output=True,
    )
    whole, chosen = [], []
    for query in progress([*_QUERIES, *_QUERIES], "search"):
        started = time.perf_counter()
        command = [sys.executable, "-m", "breadth", "search", str(index), query, "--json"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        whole.append(time.perf_counter() - started)
        chosen.append(json.loads(done.stdout)["stats"]["seconds"])
    return {"passages": count, "whole": sorted(whole[1:]), "selection": sorted(chosen[1:])}


def killed(folder: Path, count: int) -> dict[str, Any]:
    """Kill a process (kill -9) during `add`, again and again, on one growing index."""
    path = folder / "killed.index"
    Index.create(path, Letters()).close()
    rng = np.random.default_rng(1)
    good = 0
    for _ in progress(list(range(count)), "kill"):
        good += bool(kill_while_adding(path, float(rng.uniform(0.0, 0.1))))
    with Index.open(path, Letters()) as index:
        return {"kills": count, "good": good, "documents": len(index)}


def _resident(pid: int) -> float:
    """Return the megabytes of a process, or 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), 0.0)


def render() -> None:
    """Write docs/benchmarks/text.md from results/text.json."""
    data = load("text")
    at = data["machine"]
    lines = [
        "# From text to an answer",
        "",
        "`python -m benchmarks text` writes this page from `benchmarks/results/text.json`.",
        "",
    ]
    lines += [
        f"{at['cpu']}, {at['cores']} cores, Python {at['python']}. Built-in encoder, passages from MedQuAD.",
        "",
    ]
    rows = []
    if "ingest" in data:
        i = data["ingest"]
        rate = i["passages"] / i["seconds"]
        rows.append([f"`breadth index`, {i['passages']:,} passages", f"{rate:,.0f} passages/s"])
        rows.append(["memory, a third of the way through / at the end", f"{i['early_mb']:.0f} / {i['late_mb']:.0f} MB"])
    if "search" in data:
        s = data["search"]
        rows.append(
            [
                f"`breadth search`, {s['passages']:,} passages, including the start of the process",
                f"{np.median(s['whole']):.2f} s ({s['whole'][0]:.2f}–{s['whole'][-1]:.2f})",
            ]
        )
        low, high = (1000 * s["selection"][j] for j in (0, -1))
        rows.append(["… of which selection", f"{1000 * np.median(s['selection']):.0f} ms ({low:.0f}–{high:.0f})"])
    if "kills" in data:
        k = data["kills"]
        what = f"{k['good']} times the index opened with everything committed, in whole batches"
        rows.append([f"`kill -9` during `add`, {k['kills']} times", what])
    page("text", "\n".join([*lines, table(["", ""], rows), ""]))
