"""docs/benchmarks/engines.md, from results/engines.json."""

from __future__ import annotations

from typing import Any

from benchmarks.engines.measure import FETCHED, LAMBDA
from benchmarks.report import load, page, table

_INTRO = """# Selections inside vector engines

Written by `python -m benchmarks engines --asqa FOLDER --data FOLDER`. Machine: {cpu}, {cores} cores, Python {python}.
Servers and clients share its cores. Each cell is the mean or the median over {queries} queries.

- **plain** is the time of one plain top-k request of the same engine, in ms.
- **select** is the time of `breadth.select` at its defaults, in ms, and over the plain request: median (quartiles).
- **requests, rows, MB** are those of one selection, on average.
- **loss** is how far the objective is below that of an exact scan of the array: mean (largest). 0 is the same set, or
  one that is as good; a negative number is rounding in rows that the engine stores in fewer bits.
- **recall** is what `audit=True` measured: the share of the best rows that the selection's own searches found.
- **MMR** is LangChain's (`lambda_mult={weight}`, `fetch_k` = {fetched} k) on rows that the engine sends with one
  request: its time over the plain request, and its loss. **own** MMR is the engine's, where it has one.

The sets of MMR keep no promise about copies or off-topic rows; the objective is the one that `select` maximises by
default, so the loss says how far the two aims are apart, not which one a reader prefers. For that, see the last table.
"""


def render() -> None:
    """Write the page."""
    data = load("engines")
    parts = [
        _INTRO.format(**data["machine"], queries=data["queries"], weight=LAMBDA, fetched=FETCHED),
        *(_show_collection(data, name) for name in data["collections"]),
        _show_paper(data),
        _show_news(data),
    ]
    page("engines", "\n".join(part for part in parts if part) + "")


def _show_collection(data: dict[str, Any], name: str) -> str:
    rows, dim = data["collections"][name]
    head = [
        "engine",
        "k",
        "plain",
        "select",
        "over plain",
        "requests",
        "rows",
        "MB",
        "loss",
        "recall",
        "MMR over plain",
        "MMR loss",
    ]
    lines = []
    for store, found in data["stores"].items():
        for cell in found["cells"].get(name, []):
            lines.append(_show_cell(store, found["exact"], cell))
    return f"## {name}, {rows:,} × {dim}\n\n{table(head, lines)}\n"


def _show_cell(store: str, exact: bool, cell: dict[str, Any]) -> list[str]:
    times = cell["times"]
    mmr, loss = _show_ratio(times["MMR"]), f"{cell['MMR objective']:.4f}"
    if "own MMR" in times:
        mmr += f"; own {times['own MMR']['ratio']:.2f}"
        loss += f"; own {cell['own MMR objective']:.4f}"
    return [
        store,
        str(cell["k"]),
        f"{times['plain top-k']['ms']:.2f}",
        f"{times['select']['ms']:.2f}",
        _show_ratio(times["select"]),
        f"{cell['requests']:.1f}",
        f"{cell['rows']:.0f}",
        f"{cell['bytes'] / 1e6:.2f}",
        f"{_round(cell['loss'])} ({_round(cell['largest loss'])})",
        "exact" if exact else f"{cell['recall']:.3f}" if "recall" in cell else "–",
        mmr,
        loss,
    ]


def _show_ratio(time: dict[str, float]) -> str:
    return f"{time['ratio']:.2f} ({time['low']:.2f}–{time['high']:.2f})"


def _round(loss: float) -> str:
    return f"{loss + 0.0:.1e}" if abs(loss) >= 1e-6 else "0"


def _show_paper(data: dict[str, Any]) -> str:
    """The paper's objective, for exact engines."""
    head = ["engine", "collection", "k", "over plain", "requests", "rows", "MB", "loss"]
    lines = []
    for store, found in data["stores"].items():
        for name, cells in found["cells"].items():
            for cell in cells:
                own = cell.get("paper")
                if own is not None:
                    lines.append(
                        [
                            store,
                            name,
                            str(cell["k"]),
                            _show_ratio(own["times"]["select"]),
                            f"{own['requests']:.0f}",
                            f"{own['rows']:.0f}",
                            f"{own['bytes'] / 1e6:.1f}",
                            f"{_round(own['loss'])} ({_round(own['largest loss'])})",
                        ]
                    )
    text = "`sharpness=1` asks for directions that are no queries, and for more rows. Exact engines only."
    return f"## The paper's objective\n\n{text}\n\n{table(head, lines)}\n"


def _show_news(data: dict[str, Any]) -> str:
    if "news" not in data:
        return ""
    ks = list(data["news"]["select"])
    ways = ("top-k", "MMR", "own MMR", "select")
    head = ["engine", *(f"{way}, k = {k}" for way in ways for k in ks)]
    lines = [["array", *(_show_recall(data["news"], way, k) for way in ways for k in ks)]]
    for store, found in data["stores"].items():
        if "news" in found:
            lines.append([store, *(_show_recall(found["news"], way, k) for way in ways for k in ks)])
    text = (
        "The share of a news event's nuggets that the chosen sentences hold, over the events of TREC Temporal "
        "Summarization 2015 (57,413 sentences, the built-in encoder)."
    )
    return f"## Aspect recall on news\n\n{text}\n\n{table(head, lines)}\n"


def _show_recall(found: dict[str, Any], way: str, k: str) -> str:
    return f"{found[way][k]:.3f}" if way in found else "–"
