"""`breadth compare` and `frontier`: a set beside others."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import breadth
from breadth.arrays import Array
from breadth.cli import console, plots, show
from breadth.cli.covering import find_rows, measure_coverage
from breadth.cli.options import (
    AsJson,
    EncoderOption,
    IndexPath,
    K,
    Keep,
    Query,
    Sharpness,
    Theta,
    Where,
    open_index,
    read_theta,
    read_where,
    takes_constraints,
    warn_of_unknown_fields,
)
from breadth.cli.searching import PROVE
from breadth.errors import InputError
from breadth.index import Index, Results
from breadth.metrics import repeats
from breadth.settings import DEFAULT
from breadth.text import CONTAINED, PARAPHRASE, SAME

_CURVES = ("mmr", "greedy", "dpp", "frank_wolfe")
"""Methods that `frontier` draws beside the certified one."""
_THETAS = "0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"
_POOL = 4000
"""How many of the most relevant passages those methods choose from."""
_HOW = {SAME: "verbatim", CONTAINED: "contained in it", PARAPHRASE: "in other words"}
"""How a passage says all of another one."""

_ATTEMPTS = 5
"""How often both sets are looked for, because another process has just changed the index."""


@dataclass(frozen=True)
class Comparison:
    """Top-k beside the set that serves a query best.

    plain, diverse   the two sets
    shares           how much of the relevant material the latter stands for, and as many of the top
    copied           the ids of passages of top-k that another one of top-k says all of
    marks            what became of passages of top-k, by id
    """

    plain: Results
    diverse: Results
    shares: tuple[float, float | None] | None
    copied: list[str]
    marks: dict[str, str]

    @property
    def left_out(self) -> set[str]:
        return {hit.id for hit in self.plain} - {hit.id for hit in self.diverse}

    @property
    def came_in(self) -> set[str]:
        return {hit.id for hit in self.diverse} - {hit.id for hit in self.plain}

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return {
            "top_k": show.results_data(self.plain),
            "diverse": show.results_data(self.diverse),
            "redundant": sorted(self.copied),
            "left_out": sorted(self.left_out),
            "came_in": sorted(self.came_in),
            **show.shares_data(self.shares),
        }


@takes_constraints
def compare(
    index_path: IndexPath,
    query: Query,
    k: K = 10,
    theta: Theta = None,
    keep: Keep = None,
    where: Where = None,
    sharpness: Sharpness = None,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
    *,
    allowed: dict[str, Any],
) -> None:
    """Show top-k beside the set that serves a query best: which passages went out and why, and which came in."""
    options = allowed | {"sharpness": sharpness, "theta": read_theta(theta), "keep": keep}
    with open_index(index_path, encoder) as opened:
        condition = read_where(where)
        warn_of_unknown_fields(opened, condition)
        found = compare_sets(opened, query, k, condition, options)
    if as_json:
        console.print_json(found.to_dict())
    else:
        print_comparison(found, k)


def compare_sets(
    opened: Index, query: str, k: int, where: dict[str, Any] | None = None, options: dict[str, Any] | None = None
) -> Comparison:
    """Search for top-k and for the set that serves the query best, and say how they differ."""
    chosen = dict(options or {})
    if chosen.get("keep") is None and chosen.get("theta") != "auto":
        chosen.setdefault("prove", PROVE)
    sharpness = chosen.get("sharpness") or DEFAULT.sharpness  # both sets are measured alike
    for _ in range(_ATTEMPTS):
        plain = opened.search(query, k=k, method="topk", sharpness=sharpness, where=where)
        diverse = opened.search(query, k=k, where=where, **chosen)
        rows = find_rows(opened, where, plain, diverse) if len(plain) else None
        if rows is not None or not len(plain):
            break
    if rows is None:
        return Comparison(plain, diverse, None, [], {})
    texts = [hit.text for hit in plain]
    copied = [hit.id for hit, copy in zip(plain, repeats(texts, rows[: len(plain)]), strict=True) if copy]
    marks = _mark_losses(plain, diverse, rows @ rows.T)
    return Comparison(plain, diverse, measure_coverage(opened, query, diverse, {"where": where}), copied, marks)


def print_comparison(found: Comparison, k: int) -> None:
    """Show both sets as tables."""
    plain, diverse = found.plain, found.diverse
    if len(plain):
        title = f"top {len(plain)}, {show.counted(len(found.copied), 'repeat', 'repeats')} among them"
        if not (found.left_out or found.came_in):
            console.print_table(f"{title}; breadth chooses the same passages", show.hits_table(diverse))
        else:
            console.print_table(title, show.hits_table(plain, marks=found.marks))
            came, went = show.counted(len(found.came_in), "passage", "passages"), len(found.left_out)
            marks = dict.fromkeys(found.came_in, show.NEW)
            console.print_table(f"breadth: {came} came in, {went} went out", show.hits_table(diverse, marks=marks))
            for name, results in ((f"top {len(plain)}", plain), ("breadth", diverse)):
                figures = results.selection
                console.print_line(f"{name:8} relevance {figures.relevance:.3f}, redundancy {figures.redundancy:.3f}")
        if found.shares is not None:
            console.print_line(show.coverage_sentence(len(diverse), *found.shares))
    show.print_summary(diverse, k)


def _mark_losses(plain: Results, diverse: Results, cosines: Array) -> dict[str, str]:
    """Say for passages of top-k that are not in the set which one of it says all of them, or resembles them most.

    `cosines` are those of all passages of top-k, then of all chosen ones.
    """
    size, kept = len(plain), {hit.id for hit in diverse}
    said = {
        copy.id: f"said by {hit.id}, {_HOW[copy.relation]}"
        for hit in diverse
        for copy in hit.copies
        if copy.relation in _HOW
    }
    marks = {}
    for place, hit in enumerate(plain):
        if hit.id not in kept:
            nearest = int(np.argmax(cosines[place, size:]))
            cosine = cosines[place, size + nearest]
            marks[hit.id] = said.get(hit.id, f"given up, cosine {cosine:.2f} with {diverse[nearest].id}")
    return marks


@dataclass(frozen=True)
class Curve:
    """What each method reaches for a query, θ by θ, and the knee of the first method's curve."""

    query: str
    k: int
    thetas: tuple[float, ...]
    curves: show.Curves
    knee: float

    def to_dict(self) -> dict[str, Any]:
        """Return the curves as plain data."""
        data = show.curves_data(self.curves, self.thetas)
        return {"query": self.query, "k": self.k, "knee": self.knee, "curves": data}


@partial(takes_constraints, rows_alone=True)
def frontier(
    index_path: IndexPath,
    query: Query,
    k: K = 10,
    where: Where = None,
    thetas: Annotated[str, typer.Option(help="the values of θ, separated by commas")] = _THETAS,
    sharpness: Sharpness = None,
    plot: Annotated[
        Path | None, typer.Option(help="draw the curve, with the other methods beside it, to this file")
    ] = None,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
    *,
    allowed: dict[str, Any],
) -> None:
    """Show the relevance and redundancy that a query allows, θ by θ, and what other methods reach.

    All methods choose under the same rules, and redundancy is measured with the same sharpness.
    """
    if sharpness is not None:
        allowed["sharpness"] = sharpness
    with open_index(index_path, encoder) as opened:
        condition = read_where(where)
        warn_of_unknown_fields(opened, condition)
        found = trace_curves(opened, query, k, condition, _read_thetas(thetas), allowed)
    if plot is not None and found is not None:
        plots.draw_frontier(found.curves, f"{query} (k = {found.k})", plot)
    if as_json:
        nothing = {"query": query, "k": 0, "knee": None, "curves": {}}
        console.print_json(nothing if found is None else found.to_dict())
    elif found is None:
        console.print_line("There is no passage to choose from.")
    else:
        print_curve(found, k, plot)


def trace_curves(
    opened: Index,
    query: str,
    k: int,
    where: dict[str, Any] | None = None,
    thetas: tuple[float, ...] | None = None,
    allowed: dict[str, Any] | None = None,
) -> Curve | None:
    """Choose a set with every method for every θ. None if there is nothing to choose from."""
    thetas = _read_thetas(_THETAS) if thetas is None else thetas
    rules = dict(allowed or {})
    if not opened.search(query, k=1, method="topk", where=where).searched:
        return None
    oracle, vector = opened.oracle(where), opened.encode([query])[0]
    size = min(k, oracle.size)
    if "sharpness" not in rules:
        rules["texts"] = lambda ids: [document.text for document in opened.documents(oracle.numbers[ids])]
    curve = breadth.frontier(oracle, vector, k=size, thetas=thetas, **rules)
    if "sharpness" not in rules:  # the other methods have other settings of their own
        rules = {name: value for name, value in asdict(DEFAULT).items() if name not in ("theta", "distinct")} | rules
    curves = {"certified": list(curve)}
    pool = min(oracle.size, _POOL)
    for method in _CURVES:
        curves[method] = [
            breadth.select(oracle, vector, k=size, theta=t, method=method, pool=pool, **rules) for t in thetas
        ]
    return Curve(query, size, thetas, curves, curve.knee().theta)


def print_curve(found: Curve, k: int, plot: Path | None) -> None:
    """Show the curves as a table."""
    title = f"{found.query!r}, k = {found.k}: relevance / redundancy"
    console.print_table(title, show.curves_table(found.curves, found.thetas, found.knee))
    if found.k < k:
        console.print_line(show.few_sentence(k, found.k))
    console.print_line(f"the knee of the curve is at θ = {found.knee:g}" + (f"; plot: {plot}" if plot else ""))


def _read_thetas(text: str) -> tuple[float, ...]:
    try:
        return tuple(sorted(float(one) for one in text.split(",")))
    except ValueError:
        raise InputError(f"--thetas must be numbers separated by commas, like {_THETAS}; got {text!r}") from None
