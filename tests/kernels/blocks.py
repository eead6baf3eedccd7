"""Small blocks of rows for the kernels, and the kernels' promises as plain loops over all pairs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from breadth.feasible import Rules, allows, find_parts, free_rules
from tests.synthetic import SHAPES


@dataclass
class Case:
    """A block: rows, their similarities with room for more rows, their weighted relevance; and a set size."""

    rows: np.ndarray
    linear: np.ndarray
    gram: np.ndarray
    k: int
    coupling: float
    rng: np.random.Generator
    rules: Rules = field(default_factory=free_rules)

    def __len__(self):
        return len(self.linear)

    def draw_set(self):
        """A set that the rules allow."""
        every = [self.rng.permutation(len(self))[: self.k] for _ in range(1 if self.rules.free else 400)]
        sets = np.array(every, dtype=np.int64)
        sets = sets[allows(self.rules, sets)]
        if len(sets) == 0:
            reject()
        return sets[0]

    @property
    def sums(self):
        return self.linear, self.gram, self.coupling

    @property
    def block(self):
        return self.linear, self.gram, self.coupling, self.rules

    @property
    def parts(self):
        return find_parts(self.rules, len(self), self.k)


@st.composite
def blocks(draw, max_n: int = 14, spare: int = 1, ruled: bool = True) -> Case:
    """With rows of any length, and copies; half of them with rules, unless `ruled` is False.

    Half of them are on a grid, where every sum is exact and many numbers tie. At least `spare` rows are outside of a
    set.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1 + spare, max_n)), draw(st.integers(1, 6))
    if draw(st.booleans()):
        rows = rng.integers(-3, 4, size=(n, d)) / 4.0
        linear, coupling = rng.integers(-8, 9, size=n) / 8.0, draw(st.sampled_from([0.0, 0.5, 1.0, 2.0]))
    else:
        rows = SHAPES[draw(st.sampled_from(sorted(SHAPES)))](rng, n, d).astype(np.float64)
        linear, coupling = (rows @ rng.standard_normal(d)), draw(st.floats(0.0, 2.0))
    room = n + draw(st.integers(0, 3))
    gram = np.full((room, room), np.nan, dtype=np.float32)  # what is not filled must not matter
    gram[:n, :n] = [[float(a @ b) for b in rows] for a in rows]
    k = draw(st.integers(1, n - spare))
    rules = draw_rules(rng, n, k) if ruled and draw(st.booleans()) else free_rules()
    return Case(rows, linear, gram, k, coupling, rng, rules)


def draw_rules(rng: np.random.Generator, n: int, k: int) -> Rules:
    """Conflicts, groups, a locked row and costs, each of them or not."""
    apart = np.zeros((n, n), dtype=np.uint8)
    if rng.random() < 0.6:
        apart = np.triu(rng.random((n, n)) < rng.uniform(0.0, 0.4), 1).astype(np.uint8)
        apart += apart.T
    groups = int(rng.integers(1, 4))
    group = rng.integers(0, groups, n)
    room = rng.integers(1, k + 2, groups)
    locked = np.zeros(n, dtype=bool)
    locked[: int(rng.random() < 0.3)] = True
    cost = rng.integers(0, 5, n).astype(np.float64)
    return Rules(
        False, apart, group, room, locked, cost, float(rng.integers(k, 5 * k)) if rng.random() < 0.5 else np.inf
    )


def value(case: Case, members) -> float:
    """F of a set."""
    total = 0.0
    for i in members:
        total += case.linear[i]
        for j in members:
            if i != j:
                total -= case.coupling / 2 * float(case.gram[i, j])
    return total


def marginals(case: Case, members) -> np.ndarray:
    out = []
    for i in range(len(case)):
        merit = case.linear[i]
        for j in members:
            merit -= case.coupling * float(case.gram[i, j])
        out.append(merit)
    return np.array(out)


def gain(case: Case, merits, row, member) -> float:
    """What an exchange gains: the row comes in, the member goes out."""
    own, similarity = float(case.gram[member, member]), float(case.gram[row, member])
    return merits[row] + case.coupling * similarity - (merits[member] + case.coupling * own)


def exchanges(case: Case, members) -> dict[tuple[int, int], float]:
    """Gains of all exchanges: (row, place of the member) → gain."""
    merits = marginals(case, members)
    outside = [i for i in range(len(case)) if i not in members]
    possible = {(i, c): gain(case, merits, i, j) for i in outside for c, j in enumerate(members)}
    return {(i, c): g for (i, c), g in possible.items() if is_allowed(case, [*members[:c], i, *members[c + 1 :]])}


def is_allowed(case: Case, members, locked: bool = True) -> bool:
    """Whether the rules allow a set; `locked`: with all locked rows."""
    rules, members = case.rules, [int(i) for i in members]
    if rules.free:
        return True
    if locked and not set(np.flatnonzero(rules.locked)) <= set(members):
        return False
    if any(rules.apart[i, j] for i in members for j in members):
        return False
    counts = [sum(rules.group[i] == g for i in members) for g in range(len(rules.room))]
    return all(c <= r for c, r in zip(counts, rules.room, strict=True)) and rules.cost[members].sum() <= rules.budget


def greedy(case: Case, first: int, count: int) -> list[int]:
    picks = [first]
    while len(picks) < count:
        merits = marginals(case, picks)
        rest = [i for i in range(len(case)) if i not in picks and is_allowed(case, [*picks, i], locked=False)]
        if not rest:
            break
        picks.append(max(rest, key=lambda i: (merits[i], -i)))
    return picks


def relaxed(case: Case, x) -> float:
    """linear'x - coupling/2 · x'Gx."""
    G = case.gram[: len(case), : len(case)].astype(np.float64)
    return float(case.linear @ x - case.coupling / 2 * (x @ G @ x))


def duality_gap(case: Case, x) -> float:
    """max over the feasible set of the slope, less the slope at x."""
    G = case.gram[: len(case), : len(case)].astype(np.float64)
    slope = case.linear - case.coupling * (G @ x)
    return float(np.sort(slope)[len(case) - case.k :].sum() - slope @ x)
