"""MUSS (Nguyen and Kan, 2025): multilevel subset selection through clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from breadth.arrays import Array, Ids, Positions, Vector
from breadth.checks import check_count
from breadth.clock import NO_LIMIT, Clock
from breadth.constraints import NO_CONSTRAINTS
from breadth.drivers import run
from breadth.errors import InputError
from breadth.oracles.protocol import Facts, Oracle, describe
from breadth.problem import Problem
from breadth.ranking import best
from breadth.requests import Asking, Rows, Scores
from breadth.selection import Selection, conclude
from breadth.solve.block import Block
from breadth.solve.conclude import conclude_on_block
from breadth.solve.pick import first_count
from breadth.solve.pool import Pool
from breadth.solve.starts import pick_one

_SAMPLE_PER_CLUSTER = 64
_ROUNDS = 10
_CENTRES_AT_ONCE = 16


@dataclass(frozen=True, eq=False)
class Clusters:
    """Unit centres, and for every row of the collection the number of its nearest one."""

    centres: Array
    label: Positions


def cluster(oracle: Oracle, clusters: int | None = None, seed: int = 0) -> Clusters:
    """The clusters of a collection, for many calls with `clustering=`: they do not depend on the query."""
    nothing = Problem(np.zeros(oracle.dim), 2, 0.5)
    return run(_make_clusters(nothing, describe(oracle), clusters, seed), oracle)


def muss(
    problem: Problem,
    facts: Facts,
    *,
    clock: Clock = NO_LIMIT,
    clusters: int | None = None,
    chosen_clusters: int | None = None,
    seed: int = 0,
    clustering: Clusters | None = None,
) -> Asking[Selection]:
    """Cluster the rows, choose clusters by greedy, choose k rows by greedy inside each, then k of their union.

    A cluster stands as its centre (unit length) with the median relevance of its members; the union also holds
    the k most relevant rows. "Greedy" is greedy on F each time. Default: √n clusters, at most 500, a fifth of
    them chosen (the proportions of the publication). Spherical k-means on a sample of the rows, from `seed`.
    `clustering`: clusters from `cluster`, made once for many queries.
    """
    if clustering is None:
        clustering = yield from _make_clusters(problem, facts, clusters, seed, clock)
    elif len(clustering.label) != facts.size:
        raise InputError(f"clustering is of {len(clustering.label)} rows, the collection has {facts.size}")
    centres, label = clustering.centres, clustering.label
    count = len(centres)
    wanted = math.ceil(count / 5) if chosen_clusters is None else check_count(chosen_clusters, "chosen_clusters")
    if wanted > count:
        raise InputError(f"chosen_clusters must be at most the number of clusters ({count}), got {wanted}")
    relevance = (yield from Scores(problem.query[None]))[0]
    within = not problem.constraints.is_free
    present = np.unique(label)
    picked = _choose_clusters(problem, centres, relevance, label, present, min(wanted, len(present)))
    union = [best(relevance, min(first_count(problem), facts.size) if within else problem.k)]
    looked_at = 0
    for cluster in picked:
        if clock.is_over():
            break
        looked_at += 1
        members = np.flatnonzero(label == cluster)
        if len(members) > problem.k:
            rows = yield from Rows(members.astype(np.int64))
            members = members[_pick(replace(problem, constraints=NO_CONSTRAINTS), rows)]
        union.append(members)
    ids = np.unique(np.concatenate(union)).astype(np.int64)
    stats: dict[str, object] = {"clusters": len(present), "chosen_clusters": len(picked), "union": len(ids)}
    if looked_at < len(picked):
        stats["stopped"] = "time_limit"
    if within:
        return (yield from _conclude_within(problem, relevance, ids, stats))
    rows = np.asarray((yield from Rows(ids)), dtype=np.float64)
    final = _pick(problem, rows)
    return conclude(problem, ids[final], rows[final], "muss", picked_in_order=True, stats=stats)


def _conclude_within(problem: Problem, relevance: Array, union: Ids, stats: dict[str, object]) -> Asking[Selection]:
    """Greedy on F over the union, under constraints."""
    kth = float(np.partition(relevance, len(relevance) - problem.k)[len(relevance) - problem.k])
    problem = replace(problem, constraints=problem.constraints.fix(kth))
    pins = problem.constraints.pinned
    others = union[problem.constraints.admit(union, relevance[union]) & np.isin(union, pins, invert=True)]
    ids = np.concatenate((pins, others[np.argsort(-relevance[others], kind="stable")]))
    if len(ids) == 0:
        raise problem.constraints.say_nothing_fits(len(union))
    rows = yield from Rows(ids)
    pool = Pool(problem, ids, rows, relevance[ids].astype(np.float64), len(pins), -np.inf)
    block = Block(pool, np.arange(len(ids)))
    picks = block.pick()
    if len(picks) == 0:
        raise problem.constraints.say_nothing_fits(len(union))
    return conclude_on_block(block, picks, "muss", stats)


def _pick(problem: Problem, rows: Array) -> Positions:
    """Greedy on F over some rows, from the most relevant one."""
    scores = np.asarray(rows @ problem.query, dtype=np.float64)
    everyone = np.arange(len(rows))
    return pick_one(Block(Pool(problem, everyone, rows, scores, 0, -np.inf), everyone[:1]), NO_LIMIT)


def _make_clusters(
    problem: Problem, facts: Facts, clusters: int | None, seed: int, clock: Clock = NO_LIMIT
) -> Asking[Clusters]:
    """Centres, and for every row the nearest of them, or of those there was time for."""
    count = min(500, math.isqrt(facts.size)) if clusters is None else check_count(clusters, "clusters")
    if count > facts.size:
        raise InputError(f"clusters must be at most the number of rows ({facts.size}), got {count}")
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0, got {seed!r}")
    centres = yield from _find_centres(problem, facts, count, np.random.default_rng(seed), clock)
    return Clusters(centres, (yield from _label_rows(problem, centres, facts, clock)))


def _find_centres(problem: Problem, facts: Facts, count: int, rng: np.random.Generator, clock: Clock) -> Asking[Array]:
    """Unit centres of spherical k-means (Lloyd's rounds) on a sample of the rows."""
    size = min(facts.size, count * _SAMPLE_PER_CLUSTER)
    sample = np.sort(rng.choice(facts.size, size, replace=False)).astype(np.int64)
    rows = problem.similar((yield from Rows(sample)))
    centres = rows[rng.choice(size, count, replace=False)]
    for _ in range(_ROUNDS):
        label = np.argmax(rows @ centres.T, axis=1)
        order = np.argsort(label, kind="stable")
        starts = np.flatnonzero(np.diff(label[order], prepend=-1))
        sums = np.add.reduceat(rows[order], starts, axis=0)
        lengths = np.linalg.norm(sums, axis=1)
        moved = centres.copy()  # a centre without members, or whose members cancel, stays where it is
        alive = lengths > 0
        moved[label[order][starts[alive]]] = sums[alive] / lengths[alive, None]
        if np.array_equal(moved, centres) or clock.is_over():
            break
        centres = moved
    return centres


def _label_rows(problem: Problem, centres: Array, facts: Facts, clock: Clock) -> Asking[Positions]:
    """For every row its nearest centre; O(n) memory."""
    label = np.zeros(facts.size, dtype=np.int64)
    closest = np.full(facts.size, -np.inf)
    for first in range(0, len(centres), _CENTRES_AT_ONCE):
        if first and clock.is_over():
            break
        directions = np.zeros((len(centres[first : first + _CENTRES_AT_ONCE]), len(problem.query)))
        problem.similar(directions)[:] = centres[first : first + _CENTRES_AT_ONCE]
        scores = yield from Scores(directions)
        nearest = np.argmax(scores, axis=0)
        value = np.take_along_axis(scores, nearest[None], axis=0)[0]
        closer = value > closest
        label[closer], closest[closer] = first + nearest[closer], value[closer]
    return label


def _choose_clusters(
    problem: Problem, centres: Array, relevance: Array, label: Positions, present: Positions, wanted: int
) -> Positions:
    """Greedy on F over the clusters, each a row (centre, median relevance of its members)."""
    order = np.argsort(label, kind="stable")
    groups = np.split(relevance[order], np.flatnonzero(np.diff(label[order])) + 1)
    medians: Vector = np.array([np.median(group) for group in groups])
    rows = np.column_stack((centres[present], medians))
    outer = replace(Problem.from_scores(centres.shape[1], wanted, problem.theta), sharpness=problem.sharpness)
    return present[_pick(outer, rows)]
