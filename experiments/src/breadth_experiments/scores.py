"""The scores of a sweep, question by question: in memory, and as one small file to keep and compare."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from breadth.errors import InputError
from breadth_experiments.grid import METHODS, Cell
from breadth_experiments.run import Run, read_json
from breadth_experiments.statistics import Values

Found = dict[Cell, dict[str, dict[str, float]]]
"""The measures of every set, by cell and question."""
MEASURES = ("recall", "ilad", "relevance", "bound")


@dataclass(frozen=True)
class Scores:
    """The values of every cell, for the same questions in the same order; the seconds of the timed queries."""

    facts: dict[str, Any]
    questions: tuple[str, ...]
    cells: dict[Cell, dict[str, Values]]
    seconds: dict[Cell, Values] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.cells:
            raise InputError("the run has no retrieved sets; run `breadth experiment retrieve` first")

    @property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(method for method, _, _ in self.cells))

    @property
    def ks(self) -> list[int]:
        return sorted({k for _, k, _ in self.cells})

    @property
    def thetas(self) -> list[float]:
        return sorted({theta for _, _, theta in self.cells if theta is not None})

    def cell(self, method: str, k: int, theta: float) -> dict[str, Values]:
        """The values of a method at θ. A method without θ has the same values at every θ."""
        key = (method, k, theta)
        return self.cells[key if key in self.cells else (method, k, None)]

    def has(self, method: str, k: int, theta: float) -> bool:
        return (method, k, theta) in self.cells or (method, k, None) in self.cells

    def objective(self, method: str, k: int, theta: float) -> Values:
        """θ·relevance + (1-θ)(ILAD - 1) of every question's set."""
        values = self.cell(method, k, theta)
        return theta * values["relevance"] + (1.0 - theta) * (values["ilad"] - 1.0)

    def curve(self, method: str, k: int) -> list[float | None]:
        """The θ of a method's points, in increasing order."""
        thetas = [theta for m, size, theta in self.cells if (m, size) == (method, k)]
        return sorted(thetas, key=lambda theta: -1.0 if theta is None else theta)


def read_run(run: Run) -> Scores:
    """The scores of a run folder, on the questions that all cells have.

    A stopped sweep may have left cells with fewer than half the questions of the others. They are left out and named in
    `facts["incomplete"]`.
    """
    origin = read_json(run.path("retrieved.json")).get("vectors", {})
    for part, mark in origin.items():
        if read_json(run.path(f"{part}.vectors.json")) != mark:
            raise InputError(
                f"retrieved.jsonl was made with other {part} or vectors than the run has now; retrieve again"
            )
    found = _read_sets(run)
    most = max((len(values) for values in found.values()), default=0)
    complete = {cell: values for cell, values in found.items() if 2 * len(values) >= most}
    order = [question.id for question in run.questions()]
    asked = [i for i in order if all(i in values for values in complete.values())] if complete else []
    if found and not asked:
        raise InputError("no question has all its sets yet; let `breadth experiment retrieve` run to the end")
    cells = {
        cell: {name: np.array([values[i][name] for i in asked]) for name in values[asked[0]]}
        for cell, values in sorted(complete.items(), key=lambda item: _sort_key(item[0]))
    }
    facts = {**run.facts, "asked": len(order)}
    if origin:
        facts["encoder"] = origin["passages"]["encoder"]
    if len(complete) < len(found):
        facts["incomplete"] = [list(cell) for cell in found if cell not in complete]
    return Scores(facts, tuple(asked), cells, _read_seconds(run))


def _read_sets(run: Run) -> Found:
    found: Found = defaultdict(dict)
    for record in run.records("retrieved.jsonl", "retrieve", growing=True):
        cell = (record["method"], record["k"], record["theta"])
        missing = [name for name in MEASURES[:3] if name not in record]
        if missing:
            raise InputError(f"retrieved.jsonl has no {missing[0]} for {cell}; it has {sorted(record)}")
        found[cell][record["question"]] = {name: record[name] for name in MEASURES if name in record}
    return found


def _read_seconds(run: Run) -> dict[Cell, Values]:
    seconds: dict[Cell, list[float]] = defaultdict(list)
    if run.path("latency.jsonl").is_file():
        for record in run.records("latency.jsonl", "retrieve", growing=True):
            seconds[record["method"], record["k"], record["theta"]].append(record["seconds"])
    return {cell: np.array(times) for cell, times in seconds.items()}


def _sort_key(cell: Cell) -> tuple[int, str, int, float]:
    """The order of cells: methods as in a sweep, then k, then θ."""
    method, k, theta = cell
    known = METHODS.index(method) if method in METHODS else len(METHODS)
    return known, method, k, -1.0 if theta is None else theta


def save(scores: Scores, path: Path) -> None:
    """Write the scores to one compressed JSON file. The same scores give the same bytes."""
    data = {
        "facts": scores.facts,
        "questions": scores.questions,
        "cells": [
            {
                "method": m,
                "k": k,
                "theta": theta,
                **{name: [round(float(v), 8) for v in values] for name, values in measured.items()},
            }
            for (m, k, theta), measured in scores.cells.items()
        ],
        "seconds": [
            {"method": m, "k": k, "theta": theta, "seconds": [round(float(v), 6) for v in values]}
            for (m, k, theta), values in scores.seconds.items()
        ],
    }
    write_compressed(path, data)


def write_compressed(path: Path, data: Any) -> None:
    """Write a compressed JSON file, under another name first. The same data gives the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as out:
        out.write(json.dumps(data, ensure_ascii=False).encode())
    partial.replace(path)


def load(path: Path) -> Scores:
    """Read the scores that `save` wrote."""
    try:
        data = json.loads(gzip.decompress(path.read_bytes()))
        cells = {
            (c["method"], c["k"], c["theta"]): {name: np.array(c[name]) for name in MEASURES if name in c}
            for c in data["cells"]
        }
        seconds = {(c["method"], c["k"], c["theta"]): np.array(c["seconds"]) for c in data["seconds"]}
        return Scores(data["facts"], tuple(data["questions"]), cells, seconds)
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} does not hold scores ({error}); is the file complete?") from error
