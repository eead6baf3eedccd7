"""Finding good sets on a block: starts (greedy, Frank-Wolfe, rounding) and the swap local search they all end in."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from breadth import kernels
from breadth.certified.block import Block
from breadth.problem import Array, Problem, Vector
from breadth.ranking import Positions, best

GAIN = 1e-7
"""A swap must gain more than this times ‖w‖-sized scores, or float32 rounding could run in circles."""


def greedy_rows(problem: Problem, rows: Array, count: int) -> Positions:
    """Greedy on F over rows without a Gram matrix: positions in the order of the picks."""
    gains = np.asarray(rows @ (problem.relevance_weight * problem.query), dtype=np.float64)
    similar = problem.similar(rows)
    picks = np.empty(count, dtype=np.intp)
    picks[0] = np.argmax(rows @ problem.query)
    for size in range(1, count + 1):
        last = picks[size - 1]
        gains[last] = -np.inf
        if size == count:
            break
        gains -= 2.0 * (1.0 - problem.theta) * (similar @ similar[last])
        picks[size] = np.argmax(gains)
    return picks


def greedy_many(
    problem: Problem, rows: Array, firsts: Positions, shares: Vector, count: int | None = None
) -> npt.NDArray[np.intp]:
    """Greedy from several first rows at once, each with its own share of the relevance: (starts, count) positions.

    A share of 1 is greedy on F, ½ is max-sum dispersion, 0 looks at distances alone. `count` is k by default.
    """
    count = problem.k if count is None else count
    similar = problem.similar(rows)
    a = similar.dtype.type(2.0 * (1.0 - problem.theta))
    linear = rows @ (problem.relevance_weight * problem.query).astype(rows.dtype)
    gains = shares.astype(rows.dtype)[:, None] * linear
    picks = np.empty((len(firsts), count), dtype=np.intp)
    picks[:, 0] = firsts
    every = np.arange(len(firsts))
    for size in range(1, count):
        last = picks[:, size - 1]
        gains -= a * (similar[last] @ similar.T)
        gains[every, last] = -np.inf
        picks[:, size] = np.argmax(gains, axis=1)
    return picks


def greedy(block: Block, first: int) -> Positions:
    """Greedy on F over the block, from a given first row."""
    k, a = block.problem.k, np.float32(block.coupling)
    fast = kernels.pool()
    if fast is not None:
        chosen = np.empty(k, dtype=np.int64)
        fast.greedy(block.linear, block.storage, block.coupling, first, chosen)
        return chosen
    gains = block.linear.astype(np.float32)
    picks = np.empty(k, dtype=np.intp)
    pick = first
    for size in range(k):
        picks[size] = pick
        gains -= a * block.gram[pick]
        gains[pick] = -np.inf
        pick = int(np.argmax(gains))
    return picks


def frank_wolfe(block: Block, x: Vector, max_iterations: int = 60) -> Positions:
    """Algorithm 1 on the block from x, as `breadth.methods.frank_wolfe` on a collection; the heaviest k of its x."""
    k, a, penalty = block.problem.k, block.coupling, block.problem.penalty
    linear, gram = block.linear, block.gram
    image = np.asarray(gram @ x.astype(np.float32), dtype=np.float64)
    for _ in range(max_iterations):
        gradient = linear + a * (penalty * x - image)
        vertex = best(gradient, k)
        gap = float(gradient[vertex].sum() - gradient @ x)
        if gap <= 1e-7 * block.problem.scale:
            break
        towards = gram[vertex].sum(axis=0, dtype=np.float64)
        squared = k - 2.0 * float(x[vertex].sum()) + float(x @ x)
        length = float(towards[vertex].sum() - 2.0 * image[vertex].sum() + x @ image)
        curvature = a * (penalty * squared - length)
        gamma = 1.0 if curvature >= 0.0 else min(1.0, gap / -curvature)
        x = (1.0 - gamma) * x
        x[vertex] += gamma
        image = (1.0 - gamma) * image + gamma * towards
        if gamma == 1.0:
            x = (x > 0.5).astype(np.float64)
    return best(x, k)


def swaps(block: Block, chosen: Positions, max_swaps: int = 10_000) -> tuple[Positions, int]:
    """Exchange one row for another as long as F grows, best exchange first.

    gain(i in, j out) = e_i·w - e_j·w - 2(1-θ)(‖e_j‖² - e_i·e_j): only rows that score above the lowest member can gain.
    """
    threshold = GAIN * (1.0 + block.problem.k)
    fast = kernels.pool()
    if fast is not None:
        chosen = chosen.astype(np.int64)
        done = fast.swaps(block.linear, block.storage, block.coupling, chosen, threshold, max_swaps)
        return chosen, done
    own = block.gram.diagonal().astype(np.float64)
    shorter = block.coupling * np.sqrt(own) * (np.sqrt(own.max()) - np.sqrt(own))
    a = np.float32(block.coupling)
    gram = block.gram
    chosen = chosen.copy()
    scores = block.linear - block.coupling * gram[chosen].sum(axis=0, dtype=np.float64)
    outside = np.ones(len(block), dtype=bool)
    outside[chosen] = False
    done = 0
    while done < max_swaps:
        members = scores[chosen]
        candidates = np.flatnonzero(outside & (scores > (members - shorter[chosen]).min()))
        if len(candidates) == 0:
            break
        gains = a * gram[candidates[:, None], chosen]
        gains += (scores[candidates, None] - (members + block.coupling * own[chosen])).astype(np.float32)
        where = int(np.argmax(gains))
        if gains.flat[where] <= threshold:
            break
        row, column = divmod(where, len(chosen))
        new, old = int(candidates[row]), int(chosen[column])
        scores += block.coupling * (gram[old].astype(np.float64) - gram[new])
        chosen[column] = new
        outside[new], outside[old] = False, True
        done += 1
    return chosen, done


def tabu(block: Block, chosen: Positions, iterations: int, most_candidates: int = 96) -> Positions:
    """Tabu search: the best exchange every time, gaining or not, with rows kept from moving back at once.

    It leaves local optima that swaps alone cannot leave. Returns the best set met, at least as good as `chosen`.
    """
    k, a, gram = block.problem.k, block.coupling, block.gram
    fast = kernels.pool()
    if fast is not None:
        found = chosen.astype(np.int64)
        fast.tabu(block.linear, block.storage, a, found, iterations, GAIN * (1.0 + k))
        return found
    own = gram.diagonal().astype(np.float64)
    inside_for, outside_for = 1 + min(k // 2, 5), 8
    free_at = np.zeros(len(block), dtype=np.int64)  # the iteration from which a row may move again
    scores = block.linear - a * gram[chosen].sum(axis=0, dtype=np.float64)
    is_member = np.zeros(len(block), dtype=bool)
    is_member[chosen] = True
    current, total, best_total, best_set = chosen.copy(), 0.0, 0.0, chosen
    for now in range(1, iterations + 1):
        merit = np.where(is_member, -np.inf, scores)
        count = min(most_candidates, len(block) - k)
        candidates = np.argpartition(merit, len(merit) - count)[len(merit) - count :]
        gains = np.float32(a) * gram[candidates[:, None], current]
        gains += (scores[candidates, None] - (scores[current] + a * own[current])).astype(np.float32)
        held = (free_at[candidates] > now)[:, None] | (free_at[current] > now)
        gains[held & (gains <= best_total - total + GAIN * (1 + k))] = -np.inf
        where = int(np.argmax(gains))
        if gains.flat[where] == -np.inf:
            continue
        row, column = divmod(where, k)
        new, old = int(candidates[row]), int(current[column])
        total += float(gains.flat[where])
        scores += a * (gram[old].astype(np.float64) - gram[new])
        current[column] = new
        is_member[new], is_member[old] = True, False
        free_at[old], free_at[new] = now + outside_for, now + inside_for
        if total > best_total + GAIN * (1 + k):
            best_total, best_set = total, current.copy()
    return best_set


def best_pair(block: Block) -> Positions:
    """The best two rows of the block, by looking at every pair."""
    linear = block.linear.astype(np.float32)
    values = linear[:, None] + linear - np.float32(block.coupling) * block.gram
    np.fill_diagonal(values, -np.inf)
    return np.array(divmod(int(np.argmax(values)), len(block)), dtype=np.intp)
