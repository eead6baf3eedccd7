"""How long the page takes to answer a slider, measured in the browser: from the key to the next picture.

`python -m benchmarks page` needs Chromium and the extra `dev`.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import asqa, report
from benchmarks.collections import clustered_chunks, tiled_chunks
from benchmarks.page_worker import Questions
from benchmarks.timing import machine, progress
from breadth.index import Document, Index
from tests.service.browsing import Visitor, browsing
from tests.synthetic import query_near

ROWS, DIM = 100_000, 384
_QUESTIONS = 6
_UNWATCHED = 150.0
"""Milliseconds after a key in which the page is left alone: whoever waits for it makes it work in every frame."""
_PATIENCE = 300_000.0
"""Milliseconds that the page may take for anything: the machine may be halted meanwhile."""
_COLLECTIONS = ("clustered", "tiled")
_WAYS = {
    "θ, key by key": ("theta", ["Home", *["ArrowRight"] * 20]),
    "distinct, key by key": ("distinct", ["End", *["PageDown"] * 10]),
}
_DRAGS = {"θ, dragged": "theta", "distinct, dragged": "distinct"}
_PLAIN = """async (query) => {
  const body = JSON.stringify({ query, k: 10, method: "topk" });
  const begin = performance.now();
  const answer = await fetch("v1/select", { method: "POST", headers: { "Content-Type": "application/json" }, body });
  await answer.json();
  return performance.now() - begin;
}"""


def main(rounds: int, folder: Path) -> None:
    """Measure, and write the page."""
    results: dict[str, Any] = {"machine": machine(), "page": _read_haste(), "collections": {}}
    with browsing() as browser:
        results["machine"]["browser"] = browser.version
        for name in progress(list(_COLLECTIONS), "page"):
            place = folder / f"page-{name}"
            if not place.exists():
                _make(name, place)
            with _serving(place) as url:
                visitor = Visitor(browser.new_page(viewport={"width": 1280, "height": 900}), url)
                results["collections"][name] = _measure(visitor, rounds)
    report.save("page", results)
    render()


def _read_haste() -> dict[str, float]:
    """What the page allows the service while a slider moves."""
    script = (files("breadth.service") / "page" / "page.js").read_text(encoding="utf-8")
    found = re.search(r"HASTE = ([\d.]+), POOL = (\d+)", script)
    assert found is not None
    return {"haste_ms": round(1000 * float(found[1])), "pool": int(found[2])}


def _make(name: str, place: Path) -> None:
    """An index with the vectors of a collection, and questions for it."""
    rng = np.random.default_rng(ROWS + DIM)
    _, passages, questions = asqa.load(None)
    texts = [json.loads(line)["text"] for line in (asqa.SHIPPED / "passages.jsonl").read_text().splitlines()]
    chunks = tiled_chunks(rng, ROWS, passages) if name == "tiled" else clustered_chunks(rng, ROWS, DIM)
    rows = np.concatenate(list(chunks))
    if name == "clustered":
        questions = np.stack([query_near(rng, rows) for _ in range(_QUESTIONS)])
    partial = place.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    np.save(partial / "questions.npy", questions)
    documents = [Document(str(n), f"{texts[n % len(texts)]} ({n})") for n in range(ROWS)]
    with Index.create(partial / "rows.index", Questions(questions)) as index:
        index.add(documents, rows)
        index.optimize()
    partial.rename(place)


@contextmanager
def _serving(place: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.page_worker", str(place / "rows.index"), str(place / "questions.npy")]
    log = place / "log"
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stderr=stream)
    try:
        while b'"listening"' not in log.read_bytes():
            if process.poll() is not None:
                raise RuntimeError(log.read_text())
            time.sleep(0.1)
        found = re.search(r'"port": (\d+)', log.read_text())
        assert found is not None
        yield f"http://127.0.0.1:{found[1]}"
    finally:
        process.terminate()
        process.wait()


def _measure(visitor: Visitor, rounds: int) -> dict[str, Any]:
    page = visitor.page
    page.set_default_timeout(_PATIENCE)
    moves: dict[str, list[dict[str, Any]]] = {name: [] for name in (*_WAYS, *_DRAGS)}
    plain: list[float] = []
    first: list[float] = []
    for number in range(min(rounds, _QUESTIONS) + 1):  # the first question warms everything up
        query = f"question {number}"
        _reset(visitor)
        begin = time.perf_counter()
        visitor.page.fill("#query", query)
        visitor.page.press("#query", "Enter")
        page.wait_for_function("(query) => document.getElementById('results').dataset.query === query", arg=query)
        first += [1000 * (time.perf_counter() - begin)] if number else []
        visitor.wait()
        times = [page.evaluate(_PLAIN, query) for _ in range(7)]
        plain += times if number else []
        for name, (slider, keys) in _WAYS.items():
            seen = [move for key in keys for move in _press(visitor, slider, key)]
            moves[name] += seen if number else []
        for name, slider in _DRAGS.items():
            seen = _drag(visitor, slider)
            moves[name] += seen if number else []
    return {"plain": plain, "first": first, "moves": moves}


def _reset(visitor: Visitor) -> None:
    """The settings that the page begins with."""
    for name, value in (("theta", 0.7), ("distinct", 0.95)):
        visitor.page.eval_on_selector(f"#{name}", "(slider, value) => { slider.value = value; }", value)


def _press(visitor: Visitor, slider: str, key: str) -> list[dict[str, Any]]:
    """Press a key, and wait until the page has settled: the times of the first picture and of the last."""
    page = visitor.page
    before = visitor.value(slider)
    page.evaluate("() => { window.drawn.length = 0; }")
    page.press(f"#{slider}", key)
    if visitor.value(slider) == before:
        return []
    page.wait_for_timeout(_UNWATCHED)
    page.wait_for_function("() => window.drawn.length")
    visitor.wait()
    seen = page.evaluate("() => window.drawn")
    return [{"first": seen[0]["milliseconds"], "full": seen[-1]["milliseconds"], "at_once": seen[0]["final"]}]


def _drag(visitor: Visitor, slider: str) -> list[dict[str, Any]]:
    """Drag a slider from one end to the other and back, as a hand does, and time every picture on the way."""
    page = visitor.page
    box = page.locator(f"#{slider}").bounding_box()
    assert box is not None
    middle, left, right = box["y"] + box["height"] / 2, box["x"] + 8, box["x"] + box["width"] - 8
    page.press(f"#{slider}", "End")
    page.wait_for_timeout(500)
    visitor.wait()
    page.evaluate("() => { window.drawn.length = 0; }")
    page.mouse.move(right, middle)
    page.mouse.down()
    for step in [*range(30, -1, -1), *range(31)]:
        page.mouse.move(left + step / 30 * (right - left), middle)
        page.wait_for_timeout(25)
    page.mouse.up()
    page.wait_for_timeout(500)
    visitor.wait()
    seen = page.evaluate("() => window.drawn")
    hasty = [move for place, move in enumerate(seen) if place == 0 or seen[place - 1]["final"] or not move["final"]]
    return [{"first": move["milliseconds"], "full": None, "at_once": move["final"]} for move in hasty]


def render() -> None:
    """Write docs/benchmarks/page.md."""
    found = report.load("page")
    parts = [_OPENING.format(rows=ROWS, dim=DIM, **found["machine"])]
    for name, seen in found["collections"].items():
        plain = float(np.median(seen["plain"]))
        rows = [_row(way, moves, plain) for way, moves in seen["moves"].items()]
        parts += [f"## {_TITLES[name]}", "", _ABOUT[name].format(**found["page"]), "", report.table(_HEAD, rows), ""]
        every = [move["first"] for moves in seen["moves"].values() for move in moves]
        parts += [
            f"A plain search of the same service, asked from the same page, takes {plain:.1f} ms (median). The first "
            f"answer to a new query takes {np.median(seen['first']):.0f} ms. Of all {len(every)} moves, "
            f"{np.mean(np.array(every) < 50.0):.1%} are answered within 50 ms.",
            "",
        ]
    report.page("page", "\n".join(parts))


def _row(way: str, moves: list[dict[str, Any]], plain: float) -> list[str]:
    first = np.array([move["first"] for move in moves])
    full = [move["full"] for move in moves if move["full"] is not None]
    return [
        way,
        str(len(first)),
        *(f"{value:.0f}" for value in np.quantile(first, [0.5, 0.95, 1.0])),
        f"{np.median(first) / plain:.1f}",
        f"{np.mean(first < 50.0):.1%}",
        f"{np.mean([move['at_once'] for move in moves]):.0%}",
        f"{np.median(full):.0f}" if full else "",
    ]


_HEAD = ["slider", "moves", "median, ms", "95 %, ms", "longest, ms", "median / plain search", "within 50 ms",
         "final at once", "full answer, median ms"]  # fmt: skip
_TITLES = {"clustered": "Topics of about 200 passages", "tiled": "Real passages, each with 200 near-copies"}
_ABOUT = {
    "clustered": "Rows around 500 centres. Questions are rows with noise.",
    "tiled": (
        "Wikipedia passages (all-MiniLM-L6-v2), over and over, perturbed each time. This is as redundant as a "
        "collection gets: the best set for a small θ or `distinct` is spread over thousands of rows, and the solver "
        "takes seconds for it. So the page first shows what is found within {haste_ms} ms among the {pool} most "
        "relevant passages, and then the full answer."
    ),
}
_OPENING = """\
# The page: how soon a slider is answered

`python -m benchmarks page` writes this page from `benchmarks/results/page.json`; do not edit it.

A Chromium shows the page of `breadth serve` on an index with {rows:,} rows of {dim} dimensions, k = 10. It asks a
query, then moves the sliders: key by key from end to end, waiting for the full answer each time, and with the mouse. A
time runs from the event of the slider until the lists, bars, matrices, map and curve show the answer and the browser
has painted it. It includes the way to the service and back. "Final at once" is the share of moves whose first picture
is the full answer of the solver. For the others it follows when the slider has rested for 200 ms; the last column
includes these.

{cpu}, {cores} cores for browser and service, Python {python}, NumPy {numpy}, Chromium {browser}. The machine did other
work meanwhile.
"""
