"""`breadth search`, `compare` and `frontier`: what an index answers to one query."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import breadth
from breadth.cli import plots, show
from breadth.cli.options import (
    AsJson,
    Budget,
    Distinct,
    EncoderOption,
    Exclude,
    Floor,
    GroupBy,
    IndexPath,
    K,
    Keep,
    KeepBest,
    PerGroup,
    Pin,
    Query,
    Sharpness,
    Theta,
    Where,
    gather,
    open_index,
)
from breadth.index import Results
from breadth.index.diagnosis import NEAR_COPY
from breadth.metrics import near_copies

_CURVES = ("mmr", "greedy", "dpp", "frank_wolfe")
"""Methods that `frontier` draws beside the certified one."""
_THETAS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_POOL = 5000
"""How many of the most relevant passages those methods choose from."""

Hybrid = Annotated[float, typer.Option("--hybrid", help="weight of BM25 beside the vectors, in [0, 1]")]


def search(
    index_path: IndexPath,
    query: Query,
    k: K = 10,
    theta: Theta = None,
    keep: Keep = None,
    where: Where = None,
    method: Annotated[str, typer.Option(help=", ".join(breadth.methods()))] = "certified",
    hybrid: Hybrid = 0.0,
    sharpness: Sharpness = None,
    distinct: Distinct = None,
    keep_best: KeepBest = None,
    group_by: GroupBy = None,
    per_group: PerGroup = None,
    pin: Pin = None,
    exclude: Exclude = None,
    floor: Floor = None,
    budget: Budget = None,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the set that serves a query best, what each passage adds, and what is proved about the set."""
    allowed = gather(sharpness, distinct, keep_best, group_by, per_group, pin, exclude, floor, budget)
    with open_index(index_path, encoder) as opened:
        found = opened.search(query, k=k, theta=theta, keep=keep, where=where, method=method, hybrid=hybrid, **allowed)
        adds = None if as_json else [reason.loss for reason in found.selection.explain()]
    if as_json:
        show.print_json(show.results_data(found))
        return
    show.out.print(show.hits_table(found, f"{query!r}: {k} of {found.searched:,} passages", adds))
    _print_summary(found)


def compare(
    index_path: IndexPath,
    query: Query,
    k: K = 10,
    theta: Theta = None,
    keep: Keep = None,
    where: Where = None,
    sharpness: Sharpness = None,
    distinct: Distinct = None,
    keep_best: KeepBest = None,
    group_by: GroupBy = None,
    per_group: PerGroup = None,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
) -> None:
    """Show top-k beside the diverse set: which passages were near-copies, and which came in."""
    allowed = gather(sharpness, distinct, keep_best, group_by, per_group)
    with open_index(index_path, encoder) as opened:
        plain = opened.search(query, k=k, theta=1.0, where=where)
        diverse = opened.search(query, k=k, theta=theta, keep=keep, where=where, **allowed)
        copies = near_copies(opened.oracle(where).rows(plain.selection.ids), NEAR_COPY)
    plain_ids, diverse_ids = {hit.id for hit in plain}, {hit.id for hit in diverse}
    copied = {hit.id for hit, copy in zip(plain, copies, strict=True) if copy}
    left_out, came_in = plain_ids - diverse_ids, diverse_ids - plain_ids
    if as_json:
        data = {"redundant": sorted(copied), "left_out": sorted(left_out), "came_in": sorted(came_in)}
        show.print_json({"top_k": show.results_data(plain), "diverse": show.results_data(diverse), **data})
        return
    title = f"top-{k}: {len(copied)} near-copies of something above them"
    show.out.print(show.hits_table(plain, title, marks=dict.fromkeys(copied, "copy")))
    title = f"diverse: {len(came_in)} passages came in"
    show.out.print(show.hits_table(diverse, title, marks=dict.fromkeys(came_in, "new")))
    for name, found in (("top-k", plain), ("diverse", diverse)):
        chosen = found.selection
        show.out.print(f"{name:8} relevance {chosen.relevance:.3f}, redundancy {chosen.redundancy:.3f}")
    _print_summary(diverse)


def frontier(
    index_path: IndexPath,
    query: Query,
    k: K = 10,
    where: Where = None,
    sharpness: Sharpness = None,
    distinct: Distinct = None,
    keep_best: KeepBest = None,
    plot: Annotated[
        Path | None, typer.Option(help="draw the curve, with the other methods beside it, to this file")
    ] = None,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the relevance and diversity that a query allows, θ by θ, and what other methods reach."""
    curves: show.Curves = {}
    with open_index(index_path, encoder) as opened:
        oracle = opened.oracle(where)
        vector = opened.encode([query])[0]
        pool = min(oracle.size, _POOL)
        allowed = gather(sharpness, distinct, keep_best)
        curve = breadth.frontier(oracle, vector, k=k, thetas=_THETAS, **allowed)
        curves["certified"] = [(s.relevance, s.diversity) for s in curve]
        for method in _CURVES:
            found = [breadth.select(oracle, vector, k=k, theta=t, method=method, pool=pool) for t in _THETAS]
            curves[method] = [(s.relevance, s.diversity) for s in found]
    knee = curve.knee().theta
    if plot is not None:
        plots.draw_frontier(curves, f"{query} (k = {k})", plot)
    if as_json:
        show.print_json({"query": query, "k": k, "knee": knee, "curves": show.curves_data(curves, _THETAS)})
        return
    show.out.print(show.curves_table(curves, _THETAS, knee, f"{query!r}, k = {k}: relevance / diversity"))
    show.out.print(f"the knee of the curve is at θ = {knee:g}" + (f"; plot: {plot}" if plot else ""))


def _print_summary(found: Results) -> None:
    chosen = found.selection
    show.out.print(
        f"{chosen.method}, θ = {chosen.theta:g}, sharpness {chosen.sharpness}: relevance {chosen.relevance:.3f}, "
        f"redundancy {chosen.redundancy:.3f}, diversity {chosen.diversity:.3f}. "
        f"{show.certificate_sentence(chosen)} ({1000 * float(chosen.stats['seconds']):.0f} ms)",
        soft_wrap=True,
    )
