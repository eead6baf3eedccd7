"""Do you need diversity? How redundant top-k is on a collection, and what a diverse set would change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from breadth import api
from breadth.checks import check_k, check_number
from breadth.errors import InputError
from breadth.index.index import Index
from breadth.metrics.distance import mean_pairwise_distance
from breadth.metrics.redundancy import near_copies
from breadth.oracles.segmented import SegmentedOracle
from breadth.selection import Selection

THETAS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
NEAR_COPY = 0.9
"""The cosine from which two passages count as near-copies."""
_RARE = 0.02
"""Up to this share of near-copies in top-k, diversity is not worth it."""
_QUERY_WORDS = 12
"""How many words from the beginning of a document make a query."""


@dataclass(frozen=True)
class CurvePoint:
    """Means over all queries at one θ.

    `redundant` is the share of members that are near-copies of a more relevant member; `affected` is the share of
    queries with at least one such member.
    """

    theta: float
    relevance: float
    diversity: float
    redundant: float
    affected: float


@dataclass(frozen=True)
class Diagnosis:
    """How redundant top-k is, and what diverse sets change: a curve over θ whose last point is plain top-k.

    `suggested_theta` is None if top-k is hardly redundant. Otherwise `keep` is the share of top-k's relevance that
    the suggested θ keeps.
    """

    queries: int
    k: int
    near_copy: float
    documents: int
    curve: tuple[CurvePoint, ...]
    suggested_theta: float | None
    keep: float | None

    @property
    def top_k(self) -> CurvePoint:
        """Plain top-k: the point at θ = 1."""
        return self.curve[-1]

    def verdict(self) -> str:
        """Put the diagnosis into words."""
        plain = self.top_k
        copies = f"near-copies (cosine ≥ {self.near_copy:g}) of something more relevant"
        if self.suggested_theta is None:
            return (
                f"You hardly need diversity: {plain.redundant:.1%} of what top-{self.k} returns are {copies}, "
                f"in {plain.affected:.0%} of the queries."
            )
        chosen = next(point for point in self.curve if point.theta == self.suggested_theta)
        return (
            f"Diversity pays: {plain.redundant:.0%} of what top-{self.k} returns are {copies}, and "
            f"{plain.affected:.0%} of the queries lose a place to one. "
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
    """Compare top-k with diverse sets on the given queries, or on the beginnings of some documents.

    queries    texts. Without them, the first words of `sample` documents, drawn with `seed`, are the queries.
    near_copy  the cosine from which two passages count as near-copies.
    progress   called after every query with the number done and the number in all.

    The suggested θ is the largest one that removes at least half of the near-copies, or, if none does, the one that
    leaves the fewest.
    """
    oracle = index.oracle()
    check_k(k, oracle.size)
    check_number(near_copy, "near_copy", -1.0, 1.0)
    texts = _sample_queries(index, oracle, sample, seed) if queries is None else _check_queries(queries)
    vectors = index.encode(texts, "query")
    vectors = vectors[vectors.any(axis=1)]
    if len(vectors) == 0:
        raise InputError("queries: the encoder knows no word of any of them")
    sums = np.zeros((len(THETAS), 4))
    for done, vector in enumerate(vectors, start=1):
        selections = api.frontier(oracle, vector, k=k, thetas=THETAS)
        sums += [_measure(oracle, selection, near_copy) for selection in selections]
        if progress is not None:
            progress(done, len(vectors))
    curve = tuple(CurvePoint(theta, *map(float, row / len(vectors))) for theta, row in zip(THETAS, sums, strict=True))
    suggested = _suggest(curve)
    return Diagnosis(
        queries=len(vectors),
        k=k,
        near_copy=near_copy,
        documents=oracle.size,
        curve=curve,
        suggested_theta=None if suggested is None else suggested.theta,
        keep=None if suggested is None else suggested.relevance / curve[-1].relevance,
    )


def _sample_queries(index: Index, oracle: SegmentedOracle, sample: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    picked = np.sort(rng.choice(oracle.size, min(sample, oracle.size), replace=False))
    return [" ".join(d.text.split()[:_QUERY_WORDS]) for d in index.documents(oracle.numbers[picked])]


def _check_queries(queries: Sequence[str]) -> list[str]:
    if isinstance(queries, str):
        raise InputError("queries must be a list of texts, got one text; pass [text]")
    texts = [text for text in queries if text.strip()]
    if not texts:
        raise InputError("queries holds no text")
    return texts


def _measure(oracle: SegmentedOracle, selection: Selection, near_copy: float) -> tuple[float, float, float, float]:
    rows = np.asarray(oracle.rows(selection.ids), dtype=np.float64)  # most relevant first
    copies = near_copies(rows, near_copy)
    return selection.relevance, mean_pairwise_distance(rows), float(np.mean(copies)), float(copies.any())


def _suggest(curve: tuple[CurvePoint, ...]) -> CurvePoint | None:
    *diverse, plain = curve
    if plain.redundant <= _RARE:
        return None
    halved = [point for point in diverse if point.redundant <= plain.redundant / 2.0]
    if halved:
        return max(halved, key=lambda point: point.theta)
    return min(diverse, key=lambda point: point.redundant)
