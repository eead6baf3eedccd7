"""What NumPy does where the core was not built: greedy, swaps, and the bound of the plain relaxation.

The names and what they promise are those of `_core.pyi`. Every set is allowed and every bound holds; sets may be a
little worse, and bounds are looser, than the core's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from breadth.arrays import Array, Ids, Mask, Matrix, Positions, Vector
from breadth.feasible import Rules, addable, may_exchange
from breadth.problem import exchange_gain, floor, marginal
from breadth.ranking import best

CODED = 0

_STEPS, _BETWEEN_LOOKS = 600, 12
_NEED_TRIES = 2000
_PRICES = 24
_ROWS_AT_ONCE = 16_384


@dataclass
class Effort:
    full: bool = True
    last: bool = False
    starts: int = 4
    rough: float = 0.1
    fine: float = 0.003
    tabu: int = 0
    tight_rows: int = 0
    eigen: float = 0.0
    decided: int = 0
    looks: int = 0
    prove: float = 0.0
    closed: float = 0.0
    least_gain: float = 0.0
    spread: float = 1.0


@dataclass
class Result:
    chosen: Positions
    complete: bool = False
    value: float = -np.inf
    bound: float = np.inf
    outside: bool = False
    needs_more: bool = False
    short_of_budget: bool = False
    can_grow: bool = False
    decided: bool = False
    late: bool = False
    x: Vector = field(default_factory=lambda: np.empty(0))
    slope: Vector = field(default_factory=lambda: np.empty(0))
    threshold: float = -np.inf
    survivors: Any = None
    swaps: int = 0
    nodes: int = 0


class _Judged(NamedTuple):
    """The largest sum of scores of k rows that respect the parts.

    losses     what it loses at least when a row must be chosen; the last entry: a row outside
    weakest    the weakest score that a row of a part with room displaces
    """

    total: float
    losses: Vector
    weakest: float


class Block:
    def __init__(self, linear: Vector, gram: Matrix, k: int, coupling: float, rules: Rules) -> None:
        self.size, self.linear, self.k, self.coupling, self.rules = len(linear), linear, k, coupling, rules
        self.gram = gram[: self.size, : self.size]
        self.own = np.diagonal(self.gram).astype(np.float64)
        self.supply, self.by_direction = -np.inf, False
        self.lift = self.own  # s_ii - d_i, for the diagonal d of `shift`
        self.locked = np.flatnonzero(rules.locked) if rules.locked is not None else np.empty(0, dtype=np.int64)

    @staticmethod
    def make(
        linear: Vector,
        gram: Matrix,
        k: int,
        coupling: float,
        apart: Any = None,
        group: Any = None,
        most: Any = None,
        least: Any = None,
        locked: Any = None,
        cost: Any = None,
        budget: float = np.inf,
        shift: Any = None,
        supply: float = -np.inf,
        plain: bool = False,
        by_direction: bool = False,
    ) -> Block:
        block = Block(linear, gram, k, coupling, Rules(apart, group, most, least, locked, cost, budget))
        block.supply, block.by_direction = supply, by_direction
        if shift is not None:
            block.lift = block.own - shift
        return block

    # Sets

    def may_add(self, chosen: Positions) -> Mask:
        return addable(self.rules, chosen, self.size, self.k)

    def pick(self, merits: Vector, coupling: float, given: Positions) -> Positions:
        chosen = np.asarray(given, dtype=np.int64)
        worth = merits - coupling * self.gram[chosen].sum(axis=0, dtype=np.float64)
        while len(chosen) < self.k:
            allowed = self.may_add(chosen)
            if not allowed.any():
                break
            row = int(np.argmax(np.where(allowed, worth, -np.inf)))
            chosen = np.append(chosen, row)
            worth = worth - coupling * self.gram[row]
        return chosen

    def is_complete(self, chosen: Positions) -> bool:
        if self.rules.least is None or self.rules.group is None:
            return len(chosen) == self.k
        counts = np.bincount(self.rules.group[chosen], minlength=len(self.rules.least))
        return len(chosen) == self.k and bool((counts >= self.rules.least).all())

    def value(self, chosen: Positions) -> float:
        pairs = self.gram[np.ix_(chosen, chosen)].astype(np.float64)
        return float(self.linear[chosen].sum() - 0.5 * self.coupling * (pairs.sum() - pairs.trace()))

    def swap(self, chosen: Positions, least_gain: float, deadline: float) -> tuple[Positions, int]:
        """Make the best exchange of one member for one row, as long as that gains."""
        chosen, swaps = chosen.copy(), 0
        merits = marginal(self.linear, self.gram[chosen].sum(axis=0, dtype=np.float64), self.coupling)
        while time.perf_counter() < deadline:
            floors = floor(merits[chosen], self.own[chosen], self.coupling)
            gains = exchange_gain(merits, self.gram[chosen].astype(np.float64), floors[:, None], self.coupling)
            if self.rules.is_free:
                gains[:, chosen] = -np.inf
            else:
                clash = None if self.rules.apart is None else self.rules.apart[chosen]
                gains[~may_exchange(self.rules, chosen, clash, self.size)] = -np.inf
            place, row = np.unravel_index(int(np.argmax(gains)), gains.shape)
            if gains[place, row] <= least_gain:
                break
            merits = merits + self.coupling * (self.gram[chosen[place]].astype(np.float64) - self.gram[row])
            chosen[place] = row
            swaps += 1
        return chosen, swaps

    # The best set and its bound

    def solve(
        self, effort: Effort, starts: Sequence[Positions], x: Vector | None = None, seconds: float = 1e9
    ) -> Result:
        deadline = time.perf_counter() + seconds
        found = self._find_first(starts, effort, deadline)
        if not found.complete:
            return found
        parts = _Parts(self)
        start = np.zeros(self.size)
        start[found.chosen] = 1.0
        if x is not None and len(x) == self.size and parts.single and len(self.locked) == 0:
            start = x
        share = effort.fine if effort.full and self.by_direction else effort.rough
        self._bound(parts, start, found, share, effort.closed, deadline)
        if effort.full and (effort.last or not found.needs_more) and found.bound - found.value > effort.closed:
            for merits, coupling in self._starts(effort.starts, found.x):
                self._offer(found, self.pick(merits, coupling, self.locked), effort, deadline)
            found.bound = max(found.bound, found.value)
        found.late = time.perf_counter() >= deadline and found.bound - found.value > effort.closed
        longer = Block(self.linear, self.gram, self.k + 1, self.coupling, self.rules)
        found.can_grow = bool(longer.may_add(found.chosen).any())
        return found

    def _find_first(self, starts: Sequence[Positions], effort: Effort, deadline: float) -> Result:
        found = Result(self.locked)
        for start in starts:
            self._offer(found, np.asarray(start), effort, deadline)
        if found.complete:
            return found
        picks = self.pick(self.linear, self.coupling, self.locked)
        self._offer(found, picks, effort, deadline)
        if found.complete:
            return found
        if self.rules.least is not None:
            picks = self._pick_needed()
            self._offer(found, picks, effort, deadline)
            if found.complete:
                return found
        found.chosen = picks
        free = Block(self.linear, self.gram, self.k, self.coupling, self.rules._replace(cost=None))
        found.short_of_budget = self.rules.cost is not None and len(picks) > 0 and bool(free.may_add(picks).any())
        if self.rules.apart is not None and self.rules.least is None and not found.short_of_budget:
            # Rows that conflict with few others first: more of them fit into one set.
            lonely = self.pick(-self.rules.apart.sum(axis=1, dtype=np.float64), 0.0, self.locked)
            self._offer(found, lonely, effort, deadline)
            if not found.complete and len(lonely) > len(picks):
                found.chosen = lonely
        return found

    def _pick_needed(self) -> Positions:
        """First the rows that groups need, then the others by greed; no rows where the needs cannot be met."""
        picks = self._meet_needs(self.locked, [_NEED_TRIES])
        return self.locked[:0] if picks is None else self.pick(self.linear, self.coupling, picks)

    def _meet_needs(self, chosen: Positions, tries: list[int]) -> Positions | None:
        """Try the rows of the group that has the fewest to offer, one after the other, and go on with the next."""
        assert self.rules.group is not None
        assert self.rules.least is not None
        counts = np.bincount(self.rules.group[chosen], minlength=len(self.rules.least))
        short = np.flatnonzero(counts < self.rules.least)
        if len(short) == 0:
            return chosen
        allowed = self.may_add(chosen)
        offers = [np.flatnonzero(allowed & (self.rules.group == group)) for group in short]
        rows = min(offers, key=len)
        for row in rows[np.argsort(-self.linear[rows], kind="stable")].tolist():
            tries[0] -= 1
            if tries[0] < 0:
                return None
            found = self._meet_needs(np.append(chosen, row), tries)
            if found is not None:
                return found
        return None

    def _offer(self, found: Result, start: Positions, effort: Effort, deadline: float) -> None:
        """Swap from a set, and keep what is found if it is better."""
        if not self.is_complete(start):
            return
        chosen, swaps = self.swap(start, effort.least_gain, deadline)
        found.swaps += swaps
        value = self.value(chosen)
        if not found.complete or value > found.value:
            found.chosen, found.value, found.complete = chosen, value, True

    def _starts(self, count: int, x: Vector) -> list[tuple[Vector, float]]:
        """Merits to pick by: the relaxation's, and those of F with another first row each."""
        found = [(x, 0.0)]
        order = best(self.linear, min(count, self.size)).tolist() if count else []
        for number, row in enumerate(order):
            merits = self.linear * (0.5 if number % 2 else 1.0)
            merits[row] = 1e150
            found.append((merits, self.coupling))
        return found

    def _bound(self, parts: _Parts, x: Vector, found: Result, share: float, closed: float, deadline: float) -> None:
        """The bound of the relaxation, and of relevance alone where that says more."""
        x, slope = _climb(self, parts, x, found.value, share, closed, deadline)
        judged, price = _judge_at_best_price(self, parts, slope)
        total = self._half(x, slope) + judged.total + price
        bar = found.value + 0.01 * closed
        found.bound, found.x, found.slope, found.threshold = total, x, slope, judged.weakest
        found.survivors = (total - judged.losses[:-1] > bar).astype(np.uint8)
        found.outside = bool(self.supply > -np.inf and total - judged.losses[-1] > bar)
        if not self.by_direction and self.gram.min() >= 0.0:
            alone, price = _judge_at_best_price(self, parts, self.linear)
            found.bound = min(found.bound, alone.total + price)
        if self.k == 1 and self.rules.is_free and self.supply == -np.inf:
            found.bound = found.value
        found.bound = max(found.bound, found.value)
        found.needs_more = found.outside and self._needs_more(parts, found)

    def _half(self, x: Vector, slope: Vector) -> float:
        return 0.5 * float((self.linear + 0.5 * self.coupling * self.lift - slope) @ x)

    def _needs_more(self, parts: _Parts, found: Result) -> bool:
        """Whether rows outside may improve the set by a swap, or raise the bound."""
        merits = marginal(self.linear, self.gram[found.chosen].sum(axis=0, dtype=np.float64), self.coupling)
        free = np.setdiff1d(found.chosen, self.locked)
        if (floor(merits[free], self.own[free], self.coupling) < self.supply).any():
            return True
        return parts.judge(found.slope, self.supply).total > parts.judge(found.slope, -np.inf).total

    def bound_at(self, x: Vector, further: Vector, unseen: float) -> float:
        parts = _Parts(self)
        slope = _slope(self, x)
        if len(further) or unseen > -np.inf:  # they may be of any group
            parts = parts.with_others(len(further))
        return self._half(x, slope) + parts.judge(np.concatenate((slope, further)), unseen).total


class _Parts:
    """A relaxation of the rules: of each part at most `room` rows and at least `need`, and every locked row.

    Rows that all conflict with each other are a part with room for one; the groups of the other rows are parts.
    """

    def __init__(self, block: Block) -> None:
        rules, size = block.rules, block.size
        self.k, self.locked = block.k, np.zeros(size, dtype=bool)
        self.locked[block.locked] = True
        self.part = np.zeros(size, dtype=np.int64) if rules.group is None else rules.group.astype(np.int64)
        self.room = np.array([block.k + 1]) if rules.most is None else rules.most.astype(np.int64)
        self.need = np.zeros(len(self.room), dtype=np.int64) if rules.least is None else rules.least.astype(np.int64)
        self.single = rules.group is None
        if rules.apart is not None:
            for clique in _find_cliques(rules.apart):
                np.subtract.at(self.need, self.part[clique], 1)  # it may be met inside the clique
                self.part[clique] = len(self.room)
                self.room, self.need = np.append(self.room, 1), np.append(self.need, 0)
                self.single = False
        self.need = np.maximum(self.need, 0)

    def with_others(self, count: int) -> _Parts:
        """The same with so many further rows, of which nothing is known."""
        self.part = np.concatenate((self.part, np.full(count, len(self.room))))
        self.locked = np.concatenate((self.locked, np.zeros(count, dtype=bool)))
        self.room, self.need = np.append(self.room, self.k + 1), np.zeros(len(self.room) + 1, dtype=np.int64)
        return self

    def judge(self, scores: Vector, supply: float) -> _Judged:
        order = np.lexsort((-scores, ~self.locked))
        part = self.part[order]
        rank = np.empty(len(order), dtype=np.int64)  # of each row in its part
        by_part = np.argsort(part, kind="stable")
        starts = np.searchsorted(part[by_part], np.arange(len(self.room)))
        rank[by_part] = np.arange(len(order)) - starts[part[by_part]]
        locked = self.locked[order]
        fits = locked | ((rank < self.room[part]) & (scores[order] > supply))
        needed = locked | (rank < self.need[part])
        taken = np.concatenate((np.flatnonzero(fits & needed), np.flatnonzero(fits & ~needed)))[: self.k]
        total, missing = float(scores[order[taken]].sum()), self.k - len(taken)
        if missing > 0:
            total = total + missing * supply  # -∞ where there is nothing outside
        return self._find_losses(scores, supply, order[taken], total)

    def _find_losses(self, scores: Vector, supply: float, taken: Positions, total: float) -> _Judged:
        counts = np.bincount(self.part[taken], minlength=len(self.room))
        free = taken[~self.locked[taken]]
        spare = free[(counts > self.need)[self.part[free]]]
        weakest = supply if len(taken) < self.k else float(scores[spare].min(initial=np.inf))
        weakest_of = np.full(len(self.room), np.inf)
        np.minimum.at(weakest_of, self.part[free], scores[free])
        weakest_of = np.where(counts < self.room, np.minimum(weakest_of, weakest), weakest_of)
        losses = np.maximum(weakest_of[self.part] - scores, 0.0)
        losses[taken] = 0.0
        outside = max(weakest - supply, 0.0) if supply > -np.inf else np.inf
        return _Judged(total, np.append(losses, outside), weakest)


def _find_cliques(apart: Any) -> list[Positions]:
    """Rows that all conflict with each other, found greedily in the order of the rows; two at the least."""
    left = apart.any(axis=1)
    cliques = []
    for seed in np.flatnonzero(left).tolist():
        if not left[seed]:
            continue
        clique, fitting = [seed], left & (apart[seed] > 0)
        fitting[: seed + 1] = False
        while fitting.any():
            row = int(np.argmax(fitting))
            clique.append(row)
            fitting &= apart[row] > 0
            fitting[row] = False
        left[clique] = False
        if len(clique) > 1:
            cliques.append(np.array(clique))
    return cliques


def _slope(block: Block, x: Vector) -> Vector:
    """The gradient of the relaxation, whose pairs have s_ii - d_i on the diagonal."""
    support = np.flatnonzero(x)
    pull = x[support] @ block.gram[support].astype(np.float64) + (block.lift - block.own) * x
    return np.asarray(block.linear + block.coupling * (0.5 * block.lift - pull))


def _climb(
    block: Block, parts: _Parts, x: Vector, value: float, share: float, closed: float, deadline: float
) -> tuple[Vector, Vector]:
    """Move weight between two entries, again and again, until little is open; x and its slopes."""
    x, slope = x.copy(), _slope(block, x)
    load: Vector = np.bincount(parts.part, weights=x, minlength=len(parts.room)).astype(np.float64)
    for step in range(_STEPS):
        if step % _BETWEEN_LOOKS == 0:
            now = block._half(x, slope) + float(slope @ x)
            gap = parts.judge(slope, -np.inf).total - float(slope @ x)
            if gap <= max(closed, share * (now - value)) or time.perf_counter() >= deadline:
                break
        move = _find_move(block, parts, x, slope, load)
        if move is None:
            break
        to, away, amount = move
        x[to], x[away] = min(x[to] + amount, 1.0), max(x[away] - amount, 0.0)
        load[parts.part[to]] += amount
        load[parts.part[away]] -= amount
        slope -= block.coupling * amount * (block.gram[to].astype(np.float64) - block.gram[away])
        slope[[to, away]] -= block.coupling * amount * (block.lift - block.own)[[to, away]] * (1.0, -1.0)
    return x, _slope(block, x)


def _find_move(block: Block, parts: _Parts, x: Vector, slope: Vector, load: Vector) -> tuple[int, int, float] | None:
    """The move of weight from one entry to another that promises most, and how much; None if none rises."""
    support = np.flatnonzero((x > 0.0) & ~parts.locked)
    rising = np.where(x < 1.0, slope, -np.inf)
    inside = np.where((load < parts.room - 1e-9)[parts.part], rising, -np.inf)
    part = parts.part[support]
    to = np.full(len(support), int(np.argmax(inside)))
    may = (load > parts.need + 1e-9)[part] & np.isfinite(inside[to])
    rises = np.where(may | (part == parts.part[to]), inside[to], -np.inf) - slope[support]
    if not parts.single:  # or within its own part
        order = np.lexsort((rising, parts.part))
        last = np.searchsorted(parts.part[order], np.arange(len(parts.room)), side="right") - 1
        own = order[last[part]]
        better = rising[own] - slope[support] > rises
        to, rises = np.where(better, own, to), np.maximum(rises, rising[own] - slope[support])
    if not (rises > 1e-12).any():
        return None
    bend = block.coupling * (block.lift[to] + block.lift[support] - 2.0 * block.gram[to, support])
    promised = np.where(rises > 1e-12, rises, 0.0) ** 2 / np.maximum(bend, 1e-9)
    place = int(np.argmax(promised))
    row, away = int(to[place]), int(support[place])
    amount = min(float(rises[place] / max(bend[place], 1e-9)), 1.0 - float(x[row]), float(x[away]))
    p, q = parts.part[row], parts.part[away]
    if p != q:
        amount = min(amount, float(parts.room[p] - load[p]), float(load[q] - parts.need[q]))
    return row, away, amount


def _judge_at_best_price(block: Block, parts: _Parts, scores: Vector) -> tuple[_Judged, float]:
    """The sum of scores and, with a budget, of p · (budget - cost), for the price p ≥ 0 that makes it smallest."""
    lowest = parts.judge(scores, block.supply)
    cost, spent = block.rules.cost, 0.0
    if cost is None or not (cost > 0.0).any():
        return lowest, spent
    low, high = 0.0, float(np.abs(scores).max() / cost[cost > 0.0].min())
    for _ in range(_PRICES):
        prices = (low + 0.382 * (high - low), low + 0.618 * (high - low))
        tried = [parts.judge(scores - price * cost, block.supply) for price in prices]
        sums = [one.total + price * block.rules.budget for one, price in zip(tried, prices, strict=True)]
        for one, price, total in zip(tried, prices, sums, strict=True):
            if total < lowest.total + spent:
                lowest, spent = one, price * block.rules.budget
        low, high = (low, prices[1]) if sums[0] <= sums[1] else (prices[0], high)
    return lowest, spent


# Scans


def scan(rows: Array, scales: Array | None, directions: Array, out: Array) -> None:
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        np.matmul(directions, rows[part].astype(np.float32, copy=False).T, out=out[:, part])
    if scales is not None:
        out *= scales


def scan_halves(rows: Array, scales: Array | None, directions: Array, out: Array) -> None:
    scan(rows.view(np.float16), scales, directions, out)


def sift(scores: Array, errors: Array, length: float, rounding: float, least: float) -> tuple[Positions, Array]:
    reach = np.float32(length) * errors + np.float32(rounding)
    near = np.flatnonzero(scores + reach >= np.float32(least))
    return near, reach[near]


def fill_gram(rows: Matrix, old: int, out: Array) -> None:
    size = len(rows)
    np.matmul(rows[old:], rows.T, out=out[old:size, :size])
    new = out[old:size, old:size]
    new[:] = 0.5 * (new + new.T)
    out[:old, old:size] = out[old:size, :old].T


def inner_at(rows: Matrix, where: Positions, direction: Vector) -> Vector:
    return np.asarray(np.einsum("ij,j->i", rows[where].astype(np.float64), direction))


def gather(*_: Any) -> int:
    raise NotImplementedError("CODED is 0")


def read_rows(file: int, ids: Ids, base: int, out: Array) -> bool:
    width = out.itemsize * int(np.prod(out.shape[1:]))
    for place, identity in enumerate(ids.tolist()):
        found = os.pread(file, width, base + identity * width)
        if len(found) != width:
            return False
        out[place] = np.frombuffer(found, dtype=out.dtype).reshape(out.shape[1:])
    return True
