"""`breadth search`: the set that an index, or an engine, answers to one query."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import breadth
from breadth.cli import console, show
from breadth.cli.covering import measure_coverage
from breadth.cli.engines import CollectionPath, open_collection
from breadth.cli.inputs import read_options, read_scores, read_vector
from breadth.cli.options import (
    AsJson,
    Cover,
    EncoderOption,
    K,
    Keep,
    Sharpness,
    Theta,
    Where,
    read_theta,
    read_where,
    takes_constraints,
    warn_of_unknown_fields,
)
from breadth.errors import InputError
from breadth.index import Index
from breadth.methods.registry import METHODS

PROVE = 0.1
"""Seconds for closing the gap: often enough to prove a set optimal, and hardly noticed at a terminal."""

Hybrid = Annotated[float, typer.Option("--hybrid", help="weight of BM25 beside the vectors, in [0, 1]")]


@takes_constraints
def search(
    index_path: CollectionPath,
    query: Annotated[str | None, typer.Argument(help="what to search for", metavar="QUERY")] = None,
    k: K = 10,
    theta: Theta = None,
    keep: Keep = None,
    where: Where = None,
    method: Annotated[str, typer.Option(help=", ".join(breadth.methods()))] = "certified",
    pool: Annotated[int | None, typer.Option(help="choose among so many of the most relevant passages")] = None,
    prove: Annotated[
        float | None, typer.Option(help=f"seconds for proving the set optimal, with method certified [{PROVE:g}]")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="seconds after which the best set so far is shown")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="an option of the method, as NAME=VALUE (repeatable): docs/methods.md")
    ] = None,
    hybrid: Hybrid = 0.0,
    scores: Annotated[
        Path | None,
        typer.Option(
            help='relevance from outside, of a reranker say: a JSON file {"id": score, …}; only these passages'
        ),
    ] = None,
    query_vector: Annotated[
        Path | None, typer.Option(help="instead of a text: a unit vector, as .npy or as a JSON list")
    ] = None,
    sharpness: Sharpness = None,
    cover: Cover = None,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
    *,
    allowed: dict[str, Any],
) -> None:
    """Show the set that serves a query best, what each passage adds, and what is proved about the set."""
    options = allowed | read_options(option or [])
    options |= {"sharpness": sharpness, "cover": cover, "pool": pool, "time_limit": time_limit}
    chosen_theta = read_theta(theta)
    if pool is None and method in METHODS and METHODS[method].needs_scores:
        raise InputError(f"method {method} compares all passages it chooses from; say how many these are: --pool 1000")
    if prove is not None:
        options["prove"] = prove
    elif method == "certified" and keep is None and cover is None and chosen_theta != "auto":
        options["prove"] = PROVE
    asked: dict[str, Any] = {"where": read_where(where), "hybrid": hybrid, "scores": read_scores(scores)}
    wanted = _read_query(query, query_vector, asked["scores"] is not None)
    with open_collection(index_path, encoder) as opened:
        if isinstance(opened, Index):
            warn_of_unknown_fields(opened, asked["where"])
        found = opened.search(wanted, k, chosen_theta, keep=keep, method=method, **asked, **options)
        shares = measure_coverage(opened, wanted, found, asked) if isinstance(opened, Index) else None
        adds = None if as_json or not len(found) else [reason.loss for reason in found.selection.explain()]
    if as_json:
        console.print_json({**show.results_data(found), **show.shares_data(shares)})
        return
    if len(found):
        what = "" if query is None else f"{query!r}: "
        console.print_table(f"{what}{len(found)} of {found.searched:,} passages", show.hits_table(found, adds))
        if shares is not None:
            console.print_line(show.coverage_sentence(len(found), *shares))
    show.print_summary(found, k)


def _read_query(query: str | None, vector: Path | None, scored: bool) -> Any:
    """The text or vector to search for; with scores from outside there may be none."""
    if query is not None and vector is not None:
        raise InputError("pass a query or --query-vector, not both")
    if vector is not None:
        return read_vector(vector)
    if query is None and not scored:
        raise InputError('say what to search for: breadth search INDEX "your question"')
    return query
