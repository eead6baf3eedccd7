"""Draw docs/sets.png, the picture of the README: top-k beside the set that `breadth` chooses, for one question.

    python scripts/draw_sets.py

The question is the first one of `breadth demo`, whose docstring has the rule. Needs the extras `text` and `plot`.
"""

from __future__ import annotations

import gzip
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import matplotlib

from breadth import Document, Index
from breadth.cli.demo import choose_questions, list_diseases
from breadth.index import Results
from breadth.metrics import near_copies
from breadth.sources import open_source

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "sets.png"
K, WIDTH, LINES = 6, 86, 3
PLAIN, COPY, NEW = ("#f4f5f7", "#c9ced6"), ("#fdeaea", "#d9534f"), ("#e9f6ec", "#3c9a56")
"""Fill and edge of a passage that is in both sets, of a near-copy or one left out, and of one that came in."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        passages = Path(folder) / "medquad.jsonl"
        packed = ROOT / "src" / "breadth" / "cli" / "data" / "medquad.jsonl.gz"
        passages.write_bytes(gzip.decompress(packed.read_bytes()))
        path = Path(folder) / "medquad.index"
        with Index.create(path) as index:
            index.add(read_documents(passages))
            question = choose_questions(index, list_diseases(passages)).questions[0]
            plain, chosen = index.search(question, k=K, theta=1.0), index.search(question, k=K)
            copies = near_copies(index.oracle().rows(plain.selection.ids), 0.95)
    draw(question, plain, chosen, copies)


def read_documents(passages: Path) -> list[Document]:
    """The documents, the first one of each id."""
    first: dict[str, Document] = {}
    for document in open_source(passages).documents():
        first.setdefault(document.id, document)
    return list(first.values())


def draw(question: str, plain: Results, chosen: Results, copies: Any) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(12, 5.6))
    kept, before = {hit.id for hit in chosen}, {hit.id for hit in plain}
    names = {True: "near-copy", False: "left out"}
    gone = [None if hit.id in kept else (names[bool(copy)], COPY) for hit, copy in zip(plain, copies, strict=True)]
    came = [None if hit.id in before else ("new", NEW) for hit in chosen]
    draw_set(axes[0], f"top {K}", plain, gone)
    draw_set(axes[1], "breadth.select", chosen, came)
    figure.suptitle(question, fontsize=14, fontweight="bold")
    figure.subplots_adjust(left=0.01, right=0.99, top=0.86, bottom=0.01, wspace=0.02)
    figure.savefig(TARGET, dpi=110, metadata={"Software": None})


def draw_set(axes: Any, title: str, found: Results, marks: list[Any]) -> None:
    from matplotlib.patches import FancyBboxPatch

    axes.set(xlim=(0, 1), ylim=(-K, 0))
    axes.axis("off")
    figures = found.selection
    axes.set_title(f"{title}: relevance {figures.relevance:.2f}, redundancy {figures.redundancy:.2f}", fontsize=11)
    for place, (hit, mark) in enumerate(zip(found, marks, strict=True)):
        fill, edge = PLAIN if mark is None else mark[1]
        box = FancyBboxPatch(
            (0.01, -place - 0.93), 0.98, 0.86, boxstyle="round,pad=0,rounding_size=0.03", fc=fill, ec=edge
        )
        axes.add_patch(box)
        lines = textwrap.wrap(" ".join(hit.text.split()), WIDTH, max_lines=LINES, placeholder=" …")
        axes.text(0.03, -place - 0.14, "\n".join(lines), fontsize=8.6, va="top", ha="left", linespacing=1.25)
        notes = [] if mark is None else [mark[0]]
        if hit.copies:
            notes.append(f"stands for {len(hit.copies)} near-cop{'y' if len(hit.copies) == 1 else 'ies'}")
        colour = edge if mark else "#555555"
        axes.text(0.97, -place - 0.86, ", ".join(notes), fontsize=8.6, va="bottom", ha="right", color=colour)


if __name__ == "__main__":
    main()
