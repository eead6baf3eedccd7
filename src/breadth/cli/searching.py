"""`breadth search`, `compare` and `frontier`: what an index answers to one query."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import breadth
from breadth.arrays import Array
from breadth.cli import plots, show
from breadth.cli.options import (
    AsJson,
    Budget,
    Cover,
    Distinct,
    EncoderOption,
    Exclude,
    Floor,
    GroupBy,
    IndexPath,
    K,
    Keep,
    KeepBest,
    OnTopic,
    PerGroup,
    Pin,
    Query,
    Sharpness,
    Theta,
    Where,
    gather,
    open_index,
)
from breadth.coverage.worth import TARGETS
from breadth.index import Index, Results
from breadth.metrics import coverage, near_copies
from breadth.settings import DEFAULT

_CURVES = ("mmr", "greedy", "dpp", "frank_wolfe")
"""Methods that `frontier` draws beside the certified one."""
_THETAS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_POOL = 4000
"""How many of the most relevant passages those methods choose from."""
_COPY = 0.95
"""The cosine above which `compare` calls a passage a near-copy of another one."""

_PROVE = 0.1
"""Seconds for closing the gap: often enough to prove a set optimal, and hardly noticed at a terminal."""

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
    on_topic: OnTopic = None,
    cover: Cover = None,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the set that serves a query best, what each passage adds, and what is proved about the set."""
    allowed = gather(sharpness, distinct, keep_best, group_by, per_group, pin, exclude, floor, budget, on_topic, cover)
    if method == "certified" and keep is None and cover is None:
        allowed["prove"] = _PROVE
    with open_index(index_path, encoder) as opened:
        found = opened.search(query, k=k, theta=theta, keep=keep, where=where, method=method, hybrid=hybrid, **allowed)
        share, plain_share = _measure_coverage(opened, query, found, where, hybrid)
        adds = None if as_json else [reason.loss for reason in found.selection.explain()]
    if as_json:
        shares = {"coverage": share, "top_k_coverage": share if plain_share is None else plain_share}
        show.print_json({**show.results_data(found), **shares})
        return
    show.out.print(show.hits_table(found, f"{query!r}: {len(found)} of {found.searched:,} passages", adds))
    show.out.print(show.coverage_sentence(len(found), share, plain_share), soft_wrap=True)
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
    on_topic: OnTopic = None,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
) -> None:
    """Show top-k beside the set that serves a query best: which passages went out and why, and which came in."""
    allowed = gather(sharpness, distinct, keep_best, group_by, per_group, on_topic=on_topic)
    if keep is None:
        allowed["prove"] = _PROVE
    with open_index(index_path, encoder) as opened:
        plain = opened.search(query, k=k, theta=1.0, where=where)
        diverse = opened.search(query, k=k, theta=theta, keep=keep, where=where, **allowed)
        share, plain_share = _measure_coverage(opened, query, diverse, where)
        rows = opened.oracle(where).rows(np.concatenate((plain.selection.ids, diverse.selection.ids)))
    copied = [hit.id for hit, copy in zip(plain, near_copies(rows[: len(plain)], _COPY), strict=True) if copy]
    plain_ids, diverse_ids = {hit.id for hit in plain}, {hit.id for hit in diverse}
    left_out, came_in = plain_ids - diverse_ids, diverse_ids - plain_ids
    if as_json:
        data = {"redundant": sorted(copied), "left_out": sorted(left_out), "came_in": sorted(came_in)}
        shares = {"coverage": share, "top_k_coverage": share if plain_share is None else plain_share}
        sets = {"top_k": show.results_data(plain), "diverse": show.results_data(diverse)}
        show.print_json({**sets, **data, **shares})
        return
    title = f"top {len(plain)}, {show.counted(len(copied), 'near-copy', 'near-copies')} among them"
    if plain_ids == diverse_ids:
        show.out.print(show.hits_table(diverse, f"{title}; breadth chooses the same passages"))
    else:
        show.out.print(show.hits_table(plain, title, marks=_mark_losses(plain, diverse, rows @ rows.T)))
        title = f"breadth: {show.counted(len(came_in), 'passage', 'passages')} came in, {len(left_out)} went out"
        show.out.print(show.hits_table(diverse, title, marks=dict.fromkeys(came_in, show.NEW)))
        for name, found in ((f"top {len(plain)}", plain), ("breadth", diverse)):
            figures = found.selection
            show.out.print(f"{name:8} relevance {figures.relevance:.3f}, redundancy {figures.redundancy:.3f}")
    show.out.print(show.coverage_sentence(len(diverse), share, plain_share), soft_wrap=True)
    _print_summary(diverse)


def _mark_losses(plain: Results, diverse: Results, cosines: Array) -> dict[str, str]:
    """Say for passages of top-k which one above them they copy, or what they resemble most of what was chosen instead.

    `cosines` are those of all passages of top-k, then of all chosen ones.
    """
    size, kept = len(plain), {hit.id for hit in diverse}
    marks = {}
    for place, hit in enumerate(plain):
        above = cosines[place, :place]
        nearest = int(np.argmax(cosines[place, size:]))
        if above.max(initial=-1.0) > _COPY:
            marks[hit.id] = f"copy of {plain[int(np.argmax(above))].id}"
        elif hit.id not in kept:
            marks[hit.id] = f"out, cosine {cosines[place, size + nearest]:.2f} with {diverse[nearest].id}"
    return marks


def _measure_coverage(
    opened: Index, query: str, found: Results, where: str | None, hybrid: float = 0.0
) -> tuple[float, float | None]:
    """The share of the relevant material that a set stands for, and that as many of the most relevant passages do.

    The latter is None if the set is these passages.
    """
    count = max(min(TARGETS, found.searched), len(found))
    pool = opened.search(query, k=count, theta=1.0, method="topk", where=where, hybrid=hybrid).selection
    added = np.isin(found.selection.ids, pool.ids, invert=True)
    ids = np.concatenate((pool.ids, found.selection.ids[added]))
    scores = np.concatenate((pool.scores, found.selection.scores[added]))
    rows = opened.oracle(where).rows(ids)
    chosen = np.flatnonzero(np.isin(ids, found.selection.ids))
    top = np.arange(len(found))
    share = coverage(rows, scores, chosen)
    return share, None if np.array_equal(chosen, top) else coverage(rows, scores, top)


def frontier(
    index_path: IndexPath,
    query: Query,
    k: K = 10,
    where: Where = None,
    sharpness: Sharpness = None,
    distinct: Distinct = None,
    keep_best: KeepBest = None,
    on_topic: OnTopic = None,
    plot: Annotated[
        Path | None, typer.Option(help="draw the curve, with the other methods beside it, to this file")
    ] = None,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the relevance and redundancy that a query allows, θ by θ, and what other methods reach.

    All methods choose under the same rules, and redundancy is measured with the same sharpness.
    """
    curves: show.Curves = {}
    with open_index(index_path, encoder) as opened:
        oracle = opened.oracle(where)
        vector = opened.encode([query])[0]
        pool = min(oracle.size, _POOL)
        allowed = gather(sharpness, distinct, keep_best, on_topic=on_topic)
        curve = breadth.frontier(oracle, vector, k=k, thetas=_THETAS, **allowed)
        if sharpness is None:  # the other methods have other settings of their own
            allowed = {name: value for name, value in asdict(DEFAULT).items() if name != "theta"} | allowed
        curves["certified"] = list(curve)
        for method in _CURVES:
            curves[method] = [
                breadth.select(oracle, vector, k=k, theta=t, method=method, pool=pool, **allowed) for t in _THETAS
            ]
    knee = curve.knee().theta
    if plot is not None:
        plots.draw_frontier(curves, f"{query} (k = {k})", plot)
    if as_json:
        show.print_json({"query": query, "k": k, "knee": knee, "curves": show.curves_data(curves, _THETAS)})
        return
    show.out.print(show.curves_table(curves, _THETAS, knee, f"{query!r}, k = {k}: relevance / redundancy"))
    show.out.print(f"the knee of the curve is at θ = {knee:g}" + (f"; plot: {plot}" if plot else ""))


def _print_summary(found: Results) -> None:
    chosen = found.selection
    if "asked" in chosen.stats:
        show.out.print(f"You asked for {chosen.stats['asked']} passages. The rules allow {chosen.k} together.")
    show.out.print(
        f"{chosen.method}, θ = {chosen.theta:g}, sharpness {chosen.sharpness}: relevance {chosen.relevance:.3f}, "
        f"redundancy {chosen.redundancy:.3f}, diversity {chosen.diversity:.3f}. "
        f"{chosen.describe_proof()} ({1000 * float(chosen.stats['seconds']):.0f} ms)",
        soft_wrap=True,
    )
