"""What a query returns: the chosen rows, what they are worth, and how good they provably are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.errors import OracleError
from breadth.explanation import Explanation
from breadth.metrics.distance import mean_pairwise_distance
from breadth.problem import Problem
from breadth.products import multiply_exactly


@dataclass(frozen=True)
class Certificate:
    """A proof of quality on the reported scale: no set of k rows has an objective above `bound`.

    bound          an upper limit on the objective of every set of k rows of the collection
    gap            bound - objective, at least 0
    exact          whether the engine searches exactly; otherwise bound and `swap_optimal` are estimates
    swap_optimal   whether it was also seen that no exchange of one member for any row of the collection gains

    Numbers are computed to the resolution of the engine's scores (about 1e-6 in float32).
    """

    bound: float
    gap: float
    exact: bool
    swap_optimal: bool = False

    @property
    def optimal(self) -> bool:
        """Whether it is proved that no set is better (to the resolution of the scores)."""
        return self.exact and self.gap <= 1e-7

    @classmethod
    def certify(cls, bound: float, objective: float, exact: bool, swap_optimal: bool) -> Certificate:
        """The certificate of a set with this objective.

        A bound just below a value that was reached is rounding: the reached value is then the bound. A little more
        counts as a gap of that size; one that is clearly below proves that an engine that calls itself exact is not,
        or that its rows are not of unit length."""
        unit = 1.0 + abs(objective)
        if exact and bound < objective - 1e-4 * unit:
            raise OracleError(
                f"the oracle contradicts itself: a set reached {objective:.6g}, above the bound {bound:.6g}; "
                "are its rows of unit length, and its searches exact as it says?"
            )
        if bound < objective:
            bound = objective if bound >= objective - 2e-6 * unit else 2.0 * objective - bound
        return cls(bound=bound, gap=bound - objective, exact=exact, swap_optimal=swap_optimal)


@dataclass(frozen=True, eq=False)
class Selection:
    """k chosen rows.

    ids            rows of the array, or the engine's ids (int64)
    scores         relevance of each, in the same order
    relevance      mean of the scores
    diversity      ILAD, the mean of 1 - e_i·e_j over all pairs (0 for a single row)
    objective      θ·relevance + (1-θ)(diversity - 1)
    certificate    a proof of quality, or None where the method gives none
    stats          how it was found: scans (searches of the whole collection), rows fetched, seconds, …
    """

    ids: Ids
    scores: Vector
    relevance: float
    diversity: float
    objective: float
    certificate: Certificate | None
    method: str
    theta: float
    k: int
    stats: Mapping[str, Any] = field(default_factory=dict)
    explainer: Callable[[], Explanation] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        gap = "" if self.certificate is None else f", gap={self.certificate.gap:.4g}"
        return (
            f"Selection(method={self.method!r}, k={self.k}, theta={self.theta:g}, "
            f"objective={self.objective:.4f}, relevance={self.relevance:.4f}, diversity={self.diversity:.4f}{gap})"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Pickled without its collection: it can then no longer explain itself."""
        return {**self.__dict__, "explainer": None}

    def explain(self) -> Explanation:
        """Per passage: its relevance, its closest chosen neighbour, what the set would lose without it and what would
        replace it. One batched search of the collection the selection came from; `print` shows a table."""
        if self.explainer is None:
            raise OracleError("this selection does not know its collection; use one that select returned")
        return self.explainer()

    def with_stats(self, **more: Any) -> Selection:
        """The same selection with further entries in `stats`."""
        return replace(self, stats={**self.stats, **more})


def conclude(
    problem: Problem,
    ids: Ids,
    rows: Array,
    method: str,
    *,
    picked_in_order: bool = False,
    bound: float | None = None,
    exact: bool = True,
    swap_optimal: bool = False,
    stats: Mapping[str, Any] | None = None,
) -> Selection:
    """Build the `Selection` of a finished solver from its set and the set's rows, in float64.

    `bound` is on the scale of F. A set method is listed by relevance (ties: lowest id first), a sequential one
    in the order of its picks.
    """
    rows = np.asarray(rows, dtype=np.float64)
    ids = np.asarray(ids, dtype=np.int64)
    scores = multiply_exactly(rows, problem.query)
    if not picked_in_order:
        order = np.lexsort((ids, -scores))
        ids, scores, rows = ids[order], scores[order], rows[order]
    objective = problem.objective(rows)
    certificate = None
    if bound is not None:
        certificate = Certificate.certify(problem.report(bound), objective, exact, swap_optimal)
    return Selection(
        ids=ids,
        scores=scores,
        relevance=float(scores.mean()),
        diversity=mean_pairwise_distance(problem.similar(rows)),
        objective=objective,
        certificate=certificate,
        method=method,
        theta=problem.theta,
        k=problem.k,
        stats=dict(stats or {}),
    )
