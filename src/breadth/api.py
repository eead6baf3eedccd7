"""The public functions: check the input, state the problem, run a solver."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

from breadth import drivers
from breadth.checks import check_choice, check_k, check_number, check_query, check_relevance
from breadth.errors import InputError, OracleError
from breadth.oracles.array import ArrayOracle
from breadth.oracles.protocol import Facts, Oracle, RelevanceOracle, facts
from breadth.oracles.requests import Asking
from breadth.problem import Problem
from breadth.selection import Selection
from breadth.solvers import SOLVERS
from breadth.solvers.pooled import pooled


def methods() -> tuple[str, ...]:
    """The names `select(method=…)` takes."""
    return tuple(SOLVERS)


def select(
    vectors: Any,
    query: Any = None,
    *,
    k: int,
    theta: float = 0.7,
    scores: Any = None,
    method: str = "frank_wolfe",
    penalty: float = 2.0,
    pool: int | None = None,
    **options: Any,
) -> Selection:
    """Pick the k rows that are together relevant to the query and different from each other.

    vectors   (n, d) array of unit rows, or an oracle. An array is checked at every call: whoever asks often
              makes an `ArrayOracle` once and passes it.
    query     unit vector (d,). Exactly one of `query` and `scores` is given.
    scores    relevance of every row from outside (a reranker, hybrid search), instead of a query.
    k         how many rows.
    theta     weight of relevance in [0, 1]: 1 is plain top-k, 0 is diversity alone.
    method    one of `methods()`.
    penalty   λ of the relaxation (`frank_wolfe`); 2 is the smallest value for which it is tight.
    pool      restrict the method to this many most relevant rows.
    options   of the method: see the docstring of `breadth.solvers.<method>`.

    maximises θ·relevance + (1-θ)(ILAD - 1), see `Selection`.
    """
    oracle = vectors if isinstance(vectors, Oracle) else ArrayOracle(vectors)
    oracle, problem = _state(oracle, query, scores, k, theta, penalty)
    return drivers.run(_solver(problem, facts(oracle), method, pool, options), oracle)


def _state(oracle: Oracle, query: Any, scores: Any, k: Any, theta: Any, penalty: Any) -> tuple[Oracle, Problem]:
    """The checked problem, and the oracle that carries its relevance."""
    if (query is None) == (scores is None):
        seen = "neither" if query is None else "both"
        raise InputError(f"pass exactly one of query and scores, got {seen}")
    k = check_k(k, oracle.size)
    theta = check_number(theta, "theta", 0.0, 1.0)
    penalty = check_number(penalty, "penalty", 0.0)
    if query is not None:
        return oracle, Problem(check_query(query, oracle.dim), k, theta, penalty)
    if not isinstance(oracle, RelevanceOracle):
        raise OracleError(f"scores need an array or an oracle with with_scores(), got {type(oracle).__name__}")
    scored = oracle.with_scores(check_relevance(scores, oracle.size))
    return scored, Problem.from_scores(oracle.dim, k, theta, penalty)


def _solver(problem: Problem, known: Facts, method: Any, pool: Any, options: dict[str, Any]) -> Asking:
    """The generator of the method, on the whole collection or on a pool of it."""
    solve = SOLVERS[check_choice(method, "method", SOLVERS)]
    allowed = [p.name for p in inspect.signature(solve).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for name in options:
        if name not in allowed:
            has = f"its options are {', '.join(allowed)}" if allowed else "it has no options"
            raise InputError(f"method {method!r} has no option {name!r}; {has}")
    if pool is None:
        return solve(problem, known, **options)
    return pooled(partial(solve, **options), problem, known, pool)
