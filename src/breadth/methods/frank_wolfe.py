"""Algorithm 1 of the paper: Frank-Wolfe with exact line search on the tight relaxation, by searches alone.

Each iteration is one search with the vector w(v): the k best raw scores, re-scored together with the rows that
already carry weight, hold the exact top-k of the gradient, because the correction 2(1-θ)λx_i is never negative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from breadth.arrays import Array, Ids, Positions, Vector
from breadth.checks import check_choice, check_count, check_number
from breadth.clock import NO_LIMIT, Clock
from breadth.methods.frank_wolfe_on_pool import Step, climb_on_pool
from breadth.methods.topk import take_most_relevant
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.relaxation import Relaxation
from breadth.requests import Asking, Mean, Rows, Top
from breadth.selection import Selection, conclude

ZERO_GAP = 1e-7
"""Δ/(k(k-1)) at or below this counts as the paper's Δ = 0.

At an integral x the test is combinatorial (the top-k of the gradient is the set itself) and exact. Elsewhere, and
between exact ties at θ = 1, float32 searches leave a gap of about this size that no iteration can remove.
"""


def frank_wolfe(
    problem: Problem,
    facts: Facts,
    *,
    clock: Clock = NO_LIMIT,
    init: str = "uniform",
    step: str = "exact",
    penalty: float = 2.0,
    max_iterations: int = 200,
    lipschitz: float | None = None,
) -> Asking[Selection]:
    """Algorithm 1. `init`: "uniform" (x = k/n, as in the paper's experiments) or "topk".

    `step`: "exact" line search, or the rules the paper argues against: "lipschitz", γ = min(1, Δ/(L‖d‖²)), and
    "open_loop", γ = 2/(t+2). `lipschitz` is the largest eigenvalue of E E' if you know it; n, its trace, is
    always safe and the default. `penalty` is the paper's λ. Every iterate also bounds the optimum, so the
    certificate costs nothing. With a sharpness above 1 or constraints it runs on a pool of the most relevant
    rows, from x = k/m on its m rows.

    stats: iterations, converged (the gap reached zero), integral (x was a set; otherwise its k heaviest rows
    are returned), and stopped = "time_limit" if the time was up.
    """
    start = _STARTS[check_choice(init, "init", _STARTS)]
    rule = _STEPS[check_choice(step, "step", _STEPS)]
    check_count(max_iterations, "max_iterations")
    check_number(penalty, "penalty", 0.0)
    eigenvalue = float(facts.size) if lipschitz is None else check_number(lipschitz, "lipschitz", 0.0)
    if not problem.is_plain:
        relaxation = Relaxation(problem, penalty)
        return (
            yield from climb_on_pool(
                problem, facts, clock, penalty, init == "topk", lambda move, t: rule(move, t, relaxation, eigenvalue),
                max_iterations, ZERO_GAP,
            )
        )  # fmt: skip
    if problem.k == 1:  # no pairs: the relaxation is linear, and its maximiser the most relevant row
        stats: dict[str, Any] = {"iterations": 0, "converged": True, "integral": True}
        return (yield from take_most_relevant(problem, facts, "frank_wolfe", stats))
    x = yield from start(problem, facts)
    relaxation = Relaxation(problem, penalty)
    run = yield from climb(relaxation, facts, x, lambda move, t: rule(move, t, relaxation, eigenvalue),
                           max_iterations, clock)  # fmt: skip
    chosen = problem.allowed.best(x.weights, x.ids)
    stats = {"iterations": run.iterations, "converged": run.converged, "integral": x.is_set(problem.k)}
    if not run.converged and clock.is_over():
        stats["stopped"] = "time_limit"
    return conclude(
        problem, x.ids[chosen], x.rows[chosen], "frank_wolfe", bound=run.bound, exact=facts.exact, stats=stats
    )


@dataclass(frozen=True)
class Climb:
    """How a run of Frank-Wolfe went: the best bound on F that an iterate gave, and why it ended."""

    bound: float
    converged: bool
    iterations: int


def climb(
    relaxation: Relaxation,
    facts: Facts,
    x: Iterate,
    step_size: Callable[[Move, int], float],
    max_iterations: int,
    clock: Clock = NO_LIMIT,
) -> Asking[Climb]:
    """Move x, in place, until the gap is zero, or no iteration or no time is left."""
    problem = relaxation.problem
    bound, iterations = np.inf, 0
    for t in range(max_iterations):
        if t and clock.is_over():
            break
        w = problem.direction(x.v)
        ids = (yield from Top(w[None], problem.k, least=problem.k)).ids[0]
        yield from x.admit(ids)
        inner = x.rows @ w
        best_sum = problem.allowed.best_sum(inner[x.find(ids)])
        bound = min(bound, problem.dual_bound(x.v, best_sum, facts.max_squared_norm))
        gradient = relaxation.gradient(inner, x.weights)
        vertex = problem.allowed.best(gradient, x.ids)
        move = Move.towards(vertex, x, float(gradient[vertex].sum()), relaxation)
        if move.stays or move.gap <= ZERO_GAP * problem.scale:
            return Climb(bound, True, iterations)
        x.step(vertex, move.image, step_size(move, t))
        iterations += 1
    return Climb(bound, False, iterations)


@dataclass
class Iterate:
    """x = `uniform` on every row plus `weights` on a few whose rows are held; v = E'x."""

    uniform: float
    size: int
    ids: Ids
    rows: Array
    weights: Vector
    v: Vector

    @property
    def squared(self) -> float:
        """‖x‖²."""
        spread = self.size * self.uniform**2 + 2.0 * self.uniform * float(self.weights.sum())
        return spread + float(self.weights @ self.weights)

    def find(self, ids: Ids) -> Positions:
        """Where these ids, all held, stand."""
        order = np.argsort(self.ids)
        return order[np.searchsorted(self.ids, ids, sorter=order)]

    def admit(self, ids: Ids) -> Asking[None]:
        """Hold the rows of these ids too, with weight 0."""
        new = np.setdiff1d(ids, self.ids)
        if len(new):
            rows = yield from Rows(new)
            self.ids = np.concatenate((self.ids, new))
            self.rows = np.concatenate((self.rows, rows))
            self.weights = np.concatenate((self.weights, np.zeros(len(new))))

    def step(self, vertex: Positions, image: Vector, gamma: float) -> None:
        """x ← x + γ(s - x). A full step makes x exactly the set s: no rounding survives it."""
        if gamma == 1.0:
            self.ids, self.rows = self.ids[vertex], self.rows[vertex]
            self.uniform, self.weights, self.v = 0.0, np.ones(len(vertex)), image
            return
        self.uniform *= 1.0 - gamma
        self.weights *= 1.0 - gamma
        self.weights[vertex] += gamma
        self.v = self.v + gamma * (image - self.v)

    def is_set(self, k: int) -> bool:
        """Whether x is the indicator of k rows."""
        if self.uniform > 0.0:
            return self.size == k
        return np.count_nonzero(self.weights) == k and bool((self.weights[self.weights > 0.0] == 1.0).all())


@dataclass(frozen=True)
class Move(Step):
    """From x towards the vertex s: gap Δ, curvature C, ‖s - x‖² and E's; `stays` if s = x."""

    image: Vector
    stays: bool

    @classmethod
    def towards(cls, vertex: Positions, x: Iterate, held_gradient: float, relaxation: Relaxation) -> Move:
        # The gradient held leaves out what the uniform part adds to every row alike.
        k = relaxation.problem.k
        common = relaxation.problem.coupling * relaxation.penalty * x.uniform
        gap = relaxation.gap(held_gradient + k * common, x.v, x.squared)
        image = x.rows[vertex].sum(axis=0)
        weight_on_vertex = float(x.weights[vertex].sum()) + k * x.uniform
        squared = max(k - 2.0 * weight_on_vertex + x.squared, 0.0)
        stays = x.is_set(k) and bool((x.weights[vertex] == 1.0).all())
        return cls(gap, relaxation.curvature(squared, image - x.v), squared, image, stays)


def _start_uniform(problem: Problem, facts: Facts) -> Asking[Iterate]:
    mean = yield from Mean()
    nothing: Vector = np.empty((0, facts.dim))
    v = problem.k * np.asarray(mean, dtype=np.float64)
    return Iterate(problem.k / facts.size, facts.size, np.empty(0, dtype=np.int64), nothing, np.empty(0), v)


def _start_at_topk(problem: Problem, facts: Facts) -> Asking[Iterate]:
    ids = (yield from Top(problem.query[None], problem.k, least=problem.k)).ids[0]
    rows = np.asarray((yield from Rows(ids)), dtype=np.float64)
    return Iterate(0.0, facts.size, ids, rows, np.ones(problem.k), rows.sum(axis=0))


def exact_step(move: Step, t: int, relaxation: Relaxation, eigenvalue: float) -> float:
    """argmax over [0, 1] of f(x + γd) = f(x) + γΔ + γ²C/2."""
    if move.curvature >= 0.0:
        return 1.0
    return min(1.0, move.gap / -move.curvature)


def _lipschitz_step(move: Step, t: int, relaxation: Relaxation, eigenvalue: float) -> float:
    """min(1, Δ/(L‖d‖²)) with L = 2(1-θ)·max(λ, |λ - λ_max|), the spectral norm of the Hessian."""
    penalty = relaxation.penalty
    constant = relaxation.problem.coupling * max(penalty, abs(penalty - eigenvalue))
    if constant * move.squared <= move.gap:
        return 1.0
    return move.gap / (constant * move.squared)


def _open_loop_step(move: Step, t: int, relaxation: Relaxation, eigenvalue: float) -> float:
    return 2.0 / (t + 2.0)


_STARTS: dict[str, Callable[[Problem, Facts], Asking[Iterate]]] = {
    "uniform": _start_uniform,
    "topk": _start_at_topk,
}
_STEPS: dict[str, Callable[[Step, int, Relaxation, float], float]] = {
    "exact": exact_step,
    "lipschitz": _lipschitz_step,
    "open_loop": _open_loop_step,
}
