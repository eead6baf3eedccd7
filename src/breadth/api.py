"""The public functions: check the input, state the problem, run a solver."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from breadth import drivers
from breadth.certified import tradeoff
from breadth.checks import check_choice, check_count, check_k, check_number, check_query, check_relevance
from breadth.errors import InputError, OracleError
from breadth.explanation import Explanation
from breadth.frontier import Frontier
from breadth.methods.explain import explain
from breadth.methods.pooled import pooled
from breadth.methods.registry import SOLVERS
from breadth.oracles.array import ArrayOracle
from breadth.oracles.protocol import AsyncOracle, Oracle, facts
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.selection import Selection

_DEFAULT_THETA = 0.7
_TOGETHER = 32
"""Queries that `select_many` runs in lockstep: each holds some thousand rows and a few scores for every row."""


def methods() -> tuple[str, ...]:
    """The names `select(method=…)` takes."""
    return tuple(SOLVERS)


def select(
    vectors: Any,
    query: Any = None,
    *,
    k: int,
    theta: float | str | None = None,
    scores: Any = None,
    keep: float | None = None,
    choose: Callable[[Selection], float] | None = None,
    method: str = "certified",
    pool: int | None = None,
    **options: Any,
) -> Selection:
    """Pick the k rows that are together relevant to the query and different from each other.

    vectors   (n, d) array of unit rows, or an oracle. An array is checked at every call: whoever asks often
              makes an `ArrayOracle` once and passes it.
    query     unit vector (d,). Exactly one of `query` and `scores` is given.
    scores    relevance of every row from outside (a reranker, hybrid search), instead of a query.
    k         how many rows.
    theta     weight of relevance in [0, 1], 0.7 by default: 1 is plain top-k, 0 diversity alone; or "auto", the
              frontier's knee.
    keep      instead of theta: the set of the smallest theta that keeps this share (0.95, say) of top-k's relevance.
    choose    with theta="auto": a function that scores a candidate `Selection`; the best scored one is returned.
    method    one of `methods()`.
    pool      restrict the method to this many most relevant rows.
    options   of the method: see the docstring of `breadth.methods.<method>`.

    maximises θ·relevance + (1-θ)(ILAD - 1), see `Selection`.
    """
    oracle, problem, solver = _prepare(vectors, query, scores, k, theta, keep, choose, method, pool, options)
    return _explainable(drivers.run(solver, oracle), problem, oracle)


async def aselect(
    oracle: AsyncOracle | Oracle,
    query: Any,
    *,
    k: int,
    theta: float | str | None = None,
    keep: float | None = None,
    choose: Callable[[Selection], float] | None = None,
    method: str = "certified",
    pool: int | None = None,
    **options: Any,
) -> Selection:
    """`select` on an oracle whose methods are coroutines. `explain` is not available on what it returns."""
    asked, _, solver = _prepare(oracle, query, None, k, theta, keep, choose, method, pool, options)
    found: Selection = await drivers.arun(solver, asked)
    return found


def select_many(
    vectors: Any,
    queries: Any = None,
    *,
    k: int,
    theta: float | str | None = None,
    scores: Any = None,
    keep: float | None = None,
    method: str = "certified",
    pool: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> list[Selection]:
    """`select` for many queries (b, d) or score rows (b, n): each round's searches share one scan of the collection.

    `progress(done, total)` is called after every batch of queries. A `time_limit` counts from the start of the batch a
    query is in, since the queries of a batch take turns.
    """
    if (queries is None) == (scores is None):
        seen = "neither" if queries is None else "both"
        raise InputError(f"pass exactly one of queries and scores, got {seen}")
    oracle = _oracle(vectors)
    name, many = ("queries", queries) if scores is None else ("scores", scores)
    many = np.asarray(many)
    if many.ndim != 2:
        raise InputError(f"{name} must have two dimensions, one row for each query, got shape {many.shape}")
    found: list[Selection] = []
    if scores is not None:  # every query has a collection of its own, so nothing can be shared
        for row in many:
            found.append(select(oracle, scores=row, k=k, theta=theta, keep=keep, method=method, pool=pool, **options))
            if progress is not None:
                progress(len(found), len(many))
        return found
    for start in range(0, len(many), _TOGETHER):
        batch = [
            _prepare(oracle, q, None, k, theta, keep, None, method, pool, options)
            for q in many[start : start + _TOGETHER]
        ]
        results = drivers.run_many([solver for _, _, solver in batch], oracle)
        found += [_explainable(s, problem, oracle) for s, (_, problem, _) in zip(results, batch, strict=True)]
        if progress is not None:
            progress(len(found), len(many))
    return found


def frontier(
    vectors: Any,
    query: Any = None,
    *,
    k: int,
    thetas: Sequence[float] = tradeoff.DEFAULT_THETAS,
    scores: Any = None,
) -> Frontier:
    """Selections for several θ at little more than the cost of one: the relevance-diversity curve of the query."""
    if len(thetas) == 0:
        raise InputError("thetas must hold at least one value")
    checked = [check_number(theta, "thetas", 0.0, 1.0) for theta in thetas]
    if len(set(checked)) != len(checked):
        raise InputError(f"thetas must differ from each other, got {list(thetas)}")
    oracle, problem = _state(_oracle(vectors), query, scores, k, 1.0, 2.0)
    curve: Frontier = drivers.run(tradeoff.frontier(problem, facts(oracle), thetas=checked), oracle)
    return replace(curve, selections=tuple(_explainable(s, problem, oracle) for s in curve))


def _oracle(vectors: Any) -> Any:
    """The oracle given, or one over the array given."""
    if isinstance(vectors, type):
        raise InputError(f"vectors must be an array or an oracle, got the class {vectors.__name__}; make one of it")
    if hasattr(vectors, "top"):
        missing = [name for name in ("size", "dim", "exact", "rows", "mean") if not hasattr(vectors, name)]
        if not missing:
            return vectors
        raise OracleError(f"{type(vectors).__name__} is not an oracle: it lacks {', '.join(missing)}")
    return ArrayOracle(vectors)


def _prepare(
    vectors: Any,
    query: Any,
    scores: Any,
    k: Any,
    theta: Any,
    keep: Any,
    choose: Any,
    method: Any,
    pool: Any,
    options: dict[str, Any],
) -> tuple[Any, Problem, Asking]:
    """The oracle, the checked problem and the generator that solves it."""
    options = dict(options)
    if keep is not None and theta is not None:
        raise InputError(f"pass theta or keep, not both; got theta={theta!r} and keep={keep!r}")
    theta = _DEFAULT_THETA if theta is None else theta
    automatic = isinstance(theta, str) and theta == "auto"
    if isinstance(theta, str) and not automatic:
        raise InputError(f"theta must be a number in [0, 1] or 'auto', got {theta!r}")
    if choose is not None and not (automatic and callable(choose)):
        raise InputError("choose takes a function and goes with theta='auto'")
    chosen_penalty = options.pop("penalty", 2.0) if method == "frank_wolfe" else 2.0
    weight = 1.0 if automatic or keep is not None else theta
    oracle, problem = _state(_oracle(vectors), query, scores, k, weight, chosen_penalty)
    solve = SOLVERS[check_choice(method, "method", SOLVERS)]
    if keep is not None or automatic:
        if method != "certified" or pool is not None or options:
            raise InputError("keep and theta='auto' work with method='certified' without options or pool")
        if keep is not None:
            share = check_number(keep, "keep", 0.0, 1.0)
            return oracle, problem, tradeoff.keep(problem, facts(oracle), share=share)
        return oracle, problem, tradeoff.automatic(problem, facts(oracle), judge=choose)
    _check_options(method, solve, options)
    if pool is None:
        return oracle, problem, solve(problem, facts(oracle), **options)
    return oracle, problem, pooled(partial(solve, **options), problem, facts(oracle), check_count(pool, "pool"))


def _state(oracle: Any, query: Any, scores: Any, k: Any, theta: Any, penalty: Any) -> tuple[Any, Problem]:
    """The checked problem, and the oracle that carries its relevance."""
    if (query is None) == (scores is None):
        seen = "neither" if query is None else "both"
        raise InputError(f"pass exactly one of query and scores, got {seen}")
    k = check_k(k, oracle.size)
    theta = check_number(theta, "theta", 0.0, 1.0)
    penalty = check_number(penalty, "penalty", 0.0)
    if query is not None:
        return oracle, Problem(check_query(query, oracle.dim), k, theta, penalty)
    if not hasattr(oracle, "with_scores"):
        raise OracleError(f"scores need an array or an oracle with with_scores(), got {type(oracle).__name__}")
    scored = oracle.with_scores(check_relevance(scores, oracle.size))
    return scored, Problem.from_scores(oracle.dim, k, theta, penalty)


def _check_options(method: str, solve: Callable[..., Asking], options: dict[str, Any]) -> None:
    if not options:
        return
    allowed = [p.name for p in inspect.signature(solve).parameters.values() if p.kind is p.KEYWORD_ONLY]
    if method == "frank_wolfe":
        allowed.append("penalty")
    for name in options:
        if name not in allowed:
            has = f"its options are {', '.join(allowed)}" if allowed else "it has no options"
            raise InputError(f"method {method!r} has no option {name!r}; {has}")


def _explainable(selection: Selection, problem: Problem, oracle: Oracle) -> Selection:
    """The selection, able to explain itself."""
    at_theta = replace(problem, theta=selection.theta)

    def reasons() -> Explanation:
        found: Explanation = drivers.run(explain(at_theta, facts(oracle), selection.ids), oracle)
        return found

    return replace(selection, explainer=reasons)
