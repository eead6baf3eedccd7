"""Do you need diversity? How redundant top-k is on a collection, and what a diverse set would change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from breadth import api
from breadth.checks import check_k
from breadth.errors import InputError
from breadth.index.index import Index
from breadth.metrics.distance import mean_pairwise_distance

THETAS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
NEAR_COPY = 0.9
_SELDOM = 0.02
_QUERY_WORDS = 12


@dataclass(frozen=True)
class At:
    """Means over all queries at one θ."""

    theta: float
    relevance: float
    diversity: float
    redundant: float
    affected: float


@dataclass(frozen=True)
class Diagnosis:
    """What was seen. `redundant` is the share of members that are near-copies of a more relevant member; `affected` the
    share of queries with at least one such member."""

    queries: int
    k: int
    near_copy: float
    documents: int
    curve: tuple[At, ...]
    suggested_theta: float | None
    keep: float | None

    @property
    def top_k(self) -> At:
        return self.curve[-1]

    def verdict(self) -> str:
        """In words."""
        plain = self.top_k
        if self.suggested_theta is None:
            return (
                f"You hardly need it: {plain.redundant:.1%} of what top-{self.k} returns are near-copies "
                f"(cosine ≥ {self.near_copy:g}) of something more relevant, in {plain.affected:.0%} of the queries."
            )
        chosen = next(at for at in self.curve if at.theta == self.suggested_theta)
        return (
            f"It pays: {plain.redundant:.0%} of what top-{self.k} returns are near-copies "
            f"(cosine ≥ {self.near_copy:g}) "
            f"of something more relevant, and {plain.affected:.0%} of the queries lose a place to one. "
            f"θ = {chosen.theta:g} leaves {chosen.redundant:.1%} and keeps {self.keep:.1%} of the relevance."
        )


def diagnose(
    index: Index,
    queries: Sequence[str] | None = None,
    *,
    k: int = 10,
    sample: int = 100,
    near_copy: float = NEAR_COPY,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Diagnosis:
    """Compare top-k with diverse sets on some queries; without any, on the beginnings of some documents.

    The suggested θ is the largest one that removes half of the near-copies.
    """
    oracle = index.oracle()
    check_k(k, oracle.size)
    rng = np.random.default_rng(seed)
    if queries is None:
        picked = np.sort(rng.choice(oracle.size, min(sample, oracle.size), replace=False))
        texts = [" ".join(d.text.split()[:_QUERY_WORDS]) for d in index.documents(oracle.numbers[picked])]
    else:
        texts = [text for text in queries if text.strip()]
        if not texts:
            raise InputError("queries holds no text")
    vectors = index.encode(texts, "query")
    vectors = vectors[vectors.any(axis=1)]
    if len(vectors) == 0:
        raise InputError("queries: the encoder knows no word of any of them")
    sums = np.zeros((len(THETAS), 4))
    for done, vector in enumerate(vectors, start=1):
        curve = api.frontier(oracle, vector, k=k, thetas=THETAS)
        sums += [_measures(oracle, found, near_copy) for found in curve]
        if progress is not None:
            progress(done, len(vectors))
    curve_ = tuple(At(theta, *map(float, row / len(vectors))) for theta, row in zip(THETAS, sums, strict=True))
    plain = curve_[-1]
    suggested = None
    if plain.redundant > _SELDOM:
        fitting = [at for at in curve_[:-1] if at.redundant <= plain.redundant / 2.0]
        suggested = max(fitting, key=lambda at: at.theta) if fitting else min(curve_[:-1], key=lambda at: at.redundant)
    return Diagnosis(
        len(vectors),
        k,
        near_copy,
        oracle.size,
        curve_,
        None if suggested is None else suggested.theta,
        None if suggested is None else suggested.relevance / plain.relevance,
    )


def _measures(oracle: Any, found: Any, near_copy: float) -> tuple[float, float, float, float]:
    rows = np.asarray(oracle.rows(found.ids), dtype=np.float64)  # most relevant first
    copies = redundant(rows, near_copy)
    return found.relevance, mean_pairwise_distance(rows), float(np.mean(copies)), float(copies.any())


def redundant(rows: Any, near_copy: float) -> Any:
    """For each row, whether an earlier one is a near-copy of it."""
    return np.tril(rows @ rows.T >= near_copy, k=-1).any(axis=1)
