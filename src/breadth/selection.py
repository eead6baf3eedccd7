"""What a query returns: the chosen rows, what they are worth, and what is proved about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from breadth.altering import alter
from breadth.arrays import Array, Ids, Vector
from breadth.display import list_briefly, make_html_table
from breadth.errors import OracleError
from breadth.explanation import Explanation
from breadth.frames import Columns, make_pandas, make_polars
from breadth.metrics.distance import mean_pairwise_distance
from breadth.near import NOTHING_NEAR, Copies, Near, Variants
from breadth.problem import Problem
from breadth.products import multiply_exactly


@dataclass(frozen=True)
class Certificate:
    """What is proved about a set, on the scale of `Selection.objective`.

    bound          no allowed set of k rows of the collection has an objective above this
    gap            bound - objective, at least 0
    exact          whether the engine searches exactly; if not, `bound` and `swap_optimal` are estimates
    swap_optimal   whether it was also shown that no exchange of one member for any row of the collection gains

    Numbers have the resolution of the engine's scores (about 1e-6 in float32).
    """

    bound: float
    gap: float
    exact: bool
    swap_optimal: bool = False

    @property
    def optimal(self) -> bool:
        """Whether it is proved that no set of k rows has a larger objective, to the resolution of float32 cosines."""
        return self.exact and self.gap <= 2e-7

    @classmethod
    def certify(cls, bound: float, objective: float, exact: bool, swap_optimal: bool) -> Certificate:
        """Return the certificate of a set with this objective.

        A bound just below the objective is rounding: the objective is then the bound. If the bound is a little lower
        than that, the difference is reported as the gap. If it is clearly lower, the engine is not exact although it
        says so, or its rows are not of unit length: that is an error.
        """
        bound, objective = float(bound), float(objective)
        unit = 1.0 + abs(objective)
        if exact and bound < objective - 1e-4 * unit:
            raise OracleError(
                f"the oracle contradicts itself: a set reached {objective:.6g}, above the bound {bound:.6g}; "
                "check that its rows have unit length and that its searches are exact, or set its `exact` to False"
            )
        if abs(bound - objective) <= 1e-14 * unit:  # the same number, summed in another order
            bound = objective
        if bound < objective:
            bound = objective if bound >= objective - 2e-6 * unit else 2.0 * objective - bound
        return cls(bound=bound, gap=bound - objective, exact=exact, swap_optimal=swap_optimal)


@dataclass(frozen=True, eq=False)
class Selection:
    """The chosen rows of one query.

    ids            the chosen rows: their numbers in the array, or the engine's ids. They are int64, or objects where
                   the engine's ids are texts or UUIDs
    scores         the relevance of each, in the same order
    relevance      the mean of the scores
    redundancy     the mean of (e_i·e_j)^sharpness over all pairs. A single row has none: 0 (but 1 for sharpness 1)
    diversity      ILAD, the mean of 1 - e_i·e_j over all pairs (0 for a single row)
    objective      θ·relevance - (1-θ)·redundancy
    certificate    what is proved about the set, or None if the method proves nothing
    method         the method that found the set
    theta          θ, the weight of relevance
    k              the number of rows: fewer than asked for where the constraints leave no more
    sharpness      the power of the cosine that counts as redundancy; 1 is the paper's
    near           what the set has to do with rows outside it: `copies`, `variants` and `given_up`, see there
    stats          how the set was found: `scans` (searches of the whole collection), `requests` (questions put to the
                   oracle), `rows` fetched, `bytes` (of the arrays that were sent and received), `seconds`, …
    """

    ids: Ids
    scores: Vector
    relevance: float
    redundancy: float
    diversity: float
    objective: float
    certificate: Certificate | None
    method: str
    theta: float
    k: int
    sharpness: int = 1
    near: Near = NOTHING_NEAR
    stats: Mapping[str, Any] = field(default_factory=dict)
    explainer: Callable[[], Explanation] | None = field(default=None, repr=False)

    @property
    def copies(self) -> Copies:
        """For each chosen row, the rows it stands for: those among the most relevant ones that were left out because it
        says all of them (`texts`), or because their cosine is above `distinct`."""
        return self.near.copies

    @property
    def variants(self) -> Variants:
        """With `texts`: for each chosen row, rows in nearly its words that say something else, and what differs."""
        return self.near.variants

    @property
    def given_up(self) -> tuple[Any, ...]:
        """The rows of plain top-k that the set neither holds nor has a copy of. With `texts` and θ = 1 there are none,
        unless the constraints keep them out. Empty where no copies are looked for."""
        return self.near.given_up

    def __repr__(self) -> str:
        gap = "" if self.certificate is None else f", gap={self.certificate.gap:.4g}"
        return (
            f"Selection(ids={list_briefly(self.ids.tolist())}, method={self.method!r}, theta={self.theta:g}, "
            f"objective={self.objective:.4f}, relevance={self.relevance:.4f}, redundancy={self.redundancy:.4f}{gap})"
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[int]:
        """Iterate over the ids of the chosen rows."""
        return iter(self.ids.tolist())

    def _repr_html_(self) -> str:
        """Show the selection as a table in a notebook."""
        caption = (
            f"{self.method}, θ = {self.theta:g}: relevance {self.relevance:.3f}, redundancy {self.redundancy:.3f}. "
            f"{self.describe_proof()}"
        )
        columns = self._columns()
        rows = ((*cells[:2], list_briefly(cells[2])) for cells in zip(*columns.values(), strict=True))
        return make_html_table(list(columns), rows, caption)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the selection without its collection. The copy can no longer explain itself."""
        return {**self.__dict__, "explainer": None}

    def explain(self) -> Explanation:
        """Explain why each passage was chosen, with one batched search of the collection.

        The explanation gives, for each passage, its relevance, its closest chosen neighbour, what the set would lose
        without it, and what would replace it. Print it to see a table.
        """
        if self.explainer is None:
            raise OracleError(
                "this selection does not know its collection; call explain on the one that select returned, before "
                "it is pickled"
            )
        return self.explainer()

    def describe_proof(self) -> str:
        """Say in a sentence what is proved about the set."""
        c = self.certificate
        if c is None and "coverage_bound" in self.stats:
            return _describe_coverage_proof(self.k, self.stats)
        if c is None:
            return f"{self.method} gives no certificate."
        if not c.exact:
            return f"Estimated to be within {c.gap:.4f} of the best objective (the engine searches approximately)."
        if c.optimal:
            return "Proved optimal: no other allowed set of this size has a larger objective."
        return (
            f"Proved: no allowed set of {self.k} has an objective above {c.bound:.4f}; "
            f"this one has {self.objective:.4f}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the selection as plain data, fit for JSON."""
        certificate = None
        if self.certificate is not None:
            certificate = {**asdict(self.certificate), "optimal": self.certificate.optimal}
        columns = self._columns()
        return {
            "ids": columns["id"],
            "scores": columns["relevance"],
            "copies": [[copy.to_dict() for copy in some] for some in self.copies] or [[] for _ in self.ids],
            "variants": [[one.to_dict() for one in some] for some in self.variants] or [[] for _ in self.ids],
            "given_up": list(self.given_up),
            "method": self.method,
            "theta": self.theta,
            "k": self.k,
            "sharpness": self.sharpness,
            "relevance": self.relevance,
            "redundancy": self.redundancy,
            "diversity": self.diversity,
            "objective": self.objective,
            "certificate": certificate,
            "stats": dict(self.stats),
        }

    def to_pandas(self) -> Any:
        """Return the chosen rows as a pandas DataFrame (extra `pandas`)."""
        return make_pandas(self._columns())

    def to_polars(self) -> Any:
        """Return the chosen rows as a polars DataFrame (extra `polars`)."""
        return make_polars(self._columns())

    def _columns(self) -> Columns:
        copies = [[copy.id for copy in some] for some in self.copies] or [[] for _ in self.ids]
        return {"id": self.ids.tolist(), "relevance": self.scores.tolist(), "stands for": copies}

    def with_stats(self, **more: Any) -> Selection:
        """Return the same selection with further entries in `stats`."""
        return alter(self, stats={**self.stats, **more})

    def after_lacking_rows(self, count: int) -> Selection:
        """Return the same selection, found on an engine that returned so many rows fewer than it was asked for.

        What is proved then holds for the rows that it did return: `certificate.exact` is False.
        """
        certificate = None if self.certificate is None else replace(self.certificate, exact=False)
        return replace(self, certificate=certificate).with_stats(rows_lacking=count)


def _describe_coverage_proof(k: int, stats: Mapping[str, Any]) -> str:
    """Say what is proved about the coverage of a set that was chosen for it."""
    if stats.get("minimal"):
        return f"Proved: no {'smaller set' if stats['reached'] else 'set of k'} covers that share."
    return (
        f"Proved: no {k} of the {stats['targets']} most relevant passages stand for more than "
        f"{stats['coverage_bound']:.1%}; these stand for {stats['coverage']:.1%}."
    )


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
    near: Near = NOTHING_NEAR,
    least: Vector | None = None,
) -> Selection:
    """Build the `Selection` that a method returns, from the ids of its set and their rows.

    problem           the query; its k becomes the number of rows there are
    picked_in_order   keep the order of `ids`; otherwise the most relevant row comes first, of equal ones the lower id
    bound             an upper bound on F for all allowed sets, or None for no certificate
    exact             whether the engine searches exactly
    swap_optimal      whether it was shown that no exchange of one member for any row of the collection gains
    near              its copies and variants are in the order of `ids`, which is then kept
    least             the relevance that each row has at least, because it stands for a row with that relevance

    Everything that is reported is computed in float64.
    """
    rows = np.asarray(rows, dtype=np.float64)
    ids = np.asarray(ids, dtype=np.int64)
    scores = multiply_exactly(rows, problem.query)
    if least is not None:
        scores = np.maximum(scores, least)
    if not (picked_in_order or near.copies):
        order = np.lexsort((ids, -scores))
        ids, scores, rows = ids[order], scores[order], rows[order]
    problem.constraints.check_needs(ids)
    noticed = dict(stats or {})
    if problem.k != len(ids):
        noticed["asked"] = problem.k
        problem = replace(problem, k=len(ids))
    relevance, redundancy = float(scores.sum()) / len(scores), problem.redundancy(rows, ids)
    objective = problem.weigh(relevance, redundancy)
    certificate = None
    if bound is not None:
        certificate = Certificate.certify(problem.report(bound), objective, exact, swap_optimal)
    return Selection(
        ids=ids,
        scores=scores,
        relevance=relevance,
        redundancy=redundancy,
        diversity=mean_pairwise_distance(problem.similar(rows)),
        objective=objective,
        certificate=certificate,
        method=method,
        theta=problem.theta,
        k=problem.k,
        sharpness=problem.sharpness,
        near=near,
        stats=noticed,
    )
