"""Scores of the generated answers in the layout of the paper's Tables 1 and 2: methods and θ down, k across."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from breadth.errors import InputError
from breadth_experiments.run import LIST, PARAGRAPH, Run
from breadth_experiments.statistics import Estimate, estimate, resamples

Key = tuple[str, float | None]
"""Method and θ: what a line of a table is about."""


@dataclass(frozen=True)
class Measure:
    """A column: the mean of a score or, with `least`, the share of questions whose score is at least that."""

    name: str
    score: str
    least: float | None = None


@dataclass(frozen=True)
class Row:
    """The scores of a model on the sets of one method at one θ and k, over all questions that it answered."""

    model: str
    kind: str
    method: str
    theta: float | None
    k: int
    questions: int
    measures: dict[str, Estimate]


MEASURES: dict[str, tuple[Measure, ...]] = {
    LIST: (
        Measure("P", "precision"),
        Measure("R", "recall"),
        Measure("F1", "f1"),
        Measure("R≥0.8", "recall", 0.8),
        Measure("F1≥0.5", "f1", 0.5),
    ),
    PARAGRAPH: (Measure("Recall", "recall"), Measure("Recall=1.0", "recall", 1.0)),
}
LABELS = {"topk": "Top-k", "mmr": "MMR", "dpp": "DPP", "frank_wolfe": "FW"}
"""The paper's names of the methods, in the order of its tables. Other methods keep their names and come last."""

_ROUNDING = 1e-9  # a recall of 4/5 may be a hair below 0.8
_PLACES = 4


def load_rows(run: Run) -> list[Row]:
    """The rows of the answers that a run has generated so far."""
    return table_rows(run.records("generated.jsonl", "generate", growing=True))


def table_rows(generated: Iterable[dict[str, Any]]) -> list[Row]:
    """One row for each model, kind, method, θ and k of the records, in the order of the paper's tables.

    The mean of a score s over questions q is (1/n) Σ s(q), a share is the mean of [s(q) ≥ bound]. The bootstrap draws
    the same questions for rows over the same questions, and a row does not change when others are added.
    """
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for record in generated:
        wanted = {one.score for one in MEASURES.get(record["kind"], ())}
        if not wanted <= set(record) or not wanted:
            raise InputError(
                f"generated.jsonl: a record of kind {record['kind']!r} lacks its scores; the kinds are "
                f"{', '.join(MEASURES)}"
            )
        key = tuple(record[name] for name in ("model", "kind", "method", "theta", "k"))
        groups.setdefault(key, []).append(record)
    rows = []
    for (model, kind, method, theta, k), found in groups.items():
        found.sort(key=lambda record: str(record["question"]))
        weights = resamples(len(found))
        named = {
            one.name: estimate(np.array([_value(record, one) for record in found]), weights) for one in MEASURES[kind]
        }
        rows.append(Row(model, kind, method, theta, k, len(found), named))
    return sorted(rows, key=lambda row: (row.model, row.kind, _sort_key((row.method, row.theta)), row.k))


def markdown(rows: Sequence[Row], *, intervals: bool = False) -> str:
    """A table in Markdown for each model and kind, under a line with its name and the number of questions."""
    parts = []
    for block in _blocks(rows):
        names = [one.name for one in MEASURES[block[0].kind]]
        ks = sorted({row.k for row in block})
        heads = ["Method", "θ", *(f"{name} (k={k})" for k in ks for name in names)]
        lines = [_markdown_line(heads), _markdown_line(["---"] * 2 + ["---:"] * (len(heads) - 2))]
        before = None
        for (method, theta), cells in _table_lines(block, lambda text: f"**{text}**", intervals):
            label = LABELS.get(method, method) if method != before else ""
            lines.append(_markdown_line([label, _theta_cell(theta), *cells]))
            before = method
        parts.append(f"**{block[0].model}**, {_question_count(block)}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def latex(rows: Sequence[Row], *, intervals: bool = False) -> str:
    """The same tables in LaTeX (packages booktabs and multirow)."""
    return "\n".join(_latex_table(block, intervals) for block in _blocks(rows))


def _latex_table(block: Sequence[Row], intervals: bool) -> str:
    names = [_escape_latex(one.name) for one in MEASURES[block[0].kind]]
    ks = sorted({row.k for row in block})
    width = len(names)
    starts = [3 + width * number for number in range(len(ks))]
    groups = [rf"\multicolumn{{{width}}}{{c{'' if k == ks[-1] else '|'}}}{{$\boldsymbol{{k = {k}}}$}}" for k in ks]
    rules = " ".join(rf"\cmidrule(lr){{{start}-{start + width - 1}}}" for start in starts)
    lines = [
        r"\begin{table*}[t]",
        r"\centering",
        r"\begin{tabular}{@{}ll | " + " | ".join(["c" * width] * len(ks)) + "@{}}",
        r"\toprule",
        r"\multirow{2}{*}{\textbf{Method}} & \multirow{2}{*}{$\boldsymbol{\theta}$} & " + " & ".join(groups) + r" \\",
        rules,
        " & ".join(["", "", *names * len(ks)]).strip() + r" \\",
    ]
    cells = list(_table_lines(block, lambda text: rf"\textbf{{{text}}}", intervals))
    before = None
    for (method, theta), found in cells:
        label = ""
        if method != before:
            lines.append(r"\midrule")
            height = sum(one == method for (one, _), _ in cells)
            label = _escape_latex(LABELS.get(method, method))
            label = rf"\multirow{{{height}}}{{*}}{{{label}}}" if height > 1 else label
        lines.append(" & ".join([label, _theta_cell(theta), *found]).replace("—", "---").strip() + r" \\")
        before = method
    caption = f"{_escape_latex(block[0].model)}, {_question_count(block)}."
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}", r"\end{table*}", ""])


def _blocks(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each model and kind."""
    if not rows:
        raise InputError("rows must hold at least one row, got none; run `breadth experiment generate` first")
    blocks: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        blocks.setdefault((row.model, row.kind), []).append(row)
    return list(blocks.values())


def _table_lines(block: Sequence[Row], bold: Callable[[str], str], intervals: bool) -> Iterable[tuple[Key, list[str]]]:
    """The lines of a table: for each method and θ the cells of all k. The best of each column is bold, ties too."""
    measures = MEASURES[block[0].kind]
    known = {(row.method, row.theta, row.k): row for row in block}
    ks = sorted({row.k for row in block})
    best = {
        (k, one.name): max(round(row.measures[one.name].mean, _PLACES) for row in block if row.k == k)
        for k in ks
        for one in measures
    }
    for method, theta in sorted({(row.method, row.theta) for row in block}, key=_sort_key):
        cells = []
        for k in ks:
            row = known.get((method, theta, k))
            for one in measures:
                if row is None:
                    cells.append("—")
                    continue
                found = row.measures[one.name]
                text = f"{found.mean:.{_PLACES}f}"
                text = bold(text) if round(found.mean, _PLACES) == best[k, one.name] else text
                cells.append(f"{text} [{found.low:.3f}, {found.high:.3f}]" if intervals else text)
        yield (method, theta), cells


def _value(record: dict[str, Any], measure: Measure) -> float:
    score = float(record[measure.score])
    return score if measure.least is None else float(score >= measure.least - _ROUNDING)


def _sort_key(key: Key) -> tuple[int, str, float]:
    """The order of lines: methods as in the paper, then by name; θ rising."""
    method, theta = key
    known = list(LABELS)
    return known.index(method) if method in LABELS else len(known), method, -1.0 if theta is None else theta


def _question_count(block: Sequence[Row]) -> str:
    """The number of questions, with a warning if it differs between rows: these do not compare."""
    counts = sorted({row.questions for row in block})
    if len(counts) == 1:
        return f"{counts[0]} questions"
    return f"{counts[0]} to {counts[-1]} questions: lines over different questions do not compare"


def _markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _theta_cell(theta: float | None) -> str:
    return "—" if theta is None else f"{theta:g}"


def _escape_latex(text: str) -> str:
    """Text as LaTeX wants it."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "≥": r"$\geq$"}
    text = "".join(special.get(char, "\\" + char if char in "&%$#_{}" else char) for char in text)
    return "Top-$k$" if text == "Top-k" else text
