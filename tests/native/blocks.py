"""Small blocks of rows with rules, and what the core promises of them as plain loops over all sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from types import ModuleType

import numpy as np
from hypothesis import strategies as st

from breadth.feasible import NO_RULES, Rules, allows
from tests.synthetic import SHAPES


@dataclass
class Case:
    """Weighted relevance, pair costs with room for more rows, a set size; some pairs may cost nothing."""

    linear: np.ndarray
    gram: np.ndarray
    k: int
    coupling: float
    rng: np.random.Generator
    rules: Rules = NO_RULES
    shift: np.ndarray | None = None
    supply: float = -np.inf
    _sets: np.ndarray | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.linear)

    def block(self, core: ModuleType):
        return core.Block.make(
            self.linear,
            self.gram,
            self.k,
            self.coupling,
            *self.rules,
            self.shift,
            self.supply,
            bool(self.rng.integers(2)),
        )

    @property
    def sets(self) -> np.ndarray:
        """All allowed sets of k rows."""
        if self._sets is None:
            every = np.array(list(combinations(range(len(self)), self.k)), dtype=np.int64).reshape(-1, self.k)
            self._sets = every[allows(self.rules, every)]
        return self._sets

    def value(self, members) -> float:
        """F of a set."""
        pairs = self.gram[np.ix_(members, members)].astype(np.float64)
        return float(self.linear[members].sum() - self.coupling / 2 * (pairs.sum() - pairs.trace()))

    @property
    def best(self) -> float:
        return max(self.value(members) for members in self.sets)

    def best_swap(self, chosen) -> float:
        """The largest value of an allowed set that differs in one row."""
        inside = np.isin(self.sets, chosen).sum(axis=1)
        return max((self.value(members) for members in self.sets[inside == self.k - 1]), default=-np.inf)


@st.composite
def cases(draw, max_n: int = 10, ruled: bool = True) -> Case:
    """Rows with copies and ties; half of them on a grid, half with rules, some pairs that cost nothing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, max_n))
    k = draw(st.integers(1, n))
    if draw(st.booleans()):
        rows = rng.integers(-3, 4, size=(n, draw(st.integers(1, 4)))) / 4.0
        linear, coupling = rng.integers(-8, 9, size=n) / 8.0, draw(st.sampled_from([0.0, 0.5, 2.0]))
    else:
        rows = SHAPES[draw(st.sampled_from(sorted(SHAPES)))](rng, n, draw(st.integers(1, 6))).astype(np.float64)
        linear, coupling = rows @ rng.standard_normal(rows.shape[1]), draw(st.floats(0.0, 2.0))
    room = n + draw(st.integers(0, 3))
    gram = np.full((room, room), np.nan, dtype=np.float32)  # what is not filled must not matter
    sharpness = draw(st.sampled_from([1, 2, 8]))
    pairs = (rows @ rows.T) ** sharpness
    shift = None
    if draw(st.booleans()):
        free = np.triu(rng.random((n, n)) < 0.3, 1)
        free |= free.T
        shift = -np.where(free, np.abs(pairs), 0.0).sum(axis=1)
        pairs = np.where(free, 0.0, pairs)
    gram[:n, :n] = pairs
    case = Case(linear, gram, k, coupling, rng, NO_RULES, shift)
    if ruled and draw(st.booleans()):
        case.rules = draw_rules(rng, n, k)
    return case


def draw_rules(rng: np.random.Generator, n: int, k: int) -> Rules:
    """Conflicts, groups with the most and the least rows, a locked row and costs, each of them or not."""
    some = rng.random(5)
    rules = NO_RULES
    if some[0] < 0.5:
        apart = np.triu(rng.random((n, n)) < rng.uniform(0.0, 0.4), 1).astype(np.uint8)
        rules = rules._replace(apart=apart + apart.T)
    if some[1] < 0.5:
        groups = int(rng.integers(1, 4))
        most = rng.integers(1, k + 2, groups).astype(np.int32)
        rules = rules._replace(group=rng.integers(0, groups, n).astype(np.int32), most=most)
        if some[2] < 0.5:
            least = np.minimum(rng.integers(0, 3, groups), most).astype(np.int32)
            while least.sum() > k:  # such wishes are refused before
                least[np.argmax(least)] -= 1
            rules = rules._replace(least=least)
    if some[3] < 0.3:
        locked = np.zeros(n, dtype=np.uint8)
        locked[0] = 1
        rules = rules._replace(locked=locked)
    if some[4] < 0.4:
        cost = rng.integers(0, 5, n).astype(np.float64)
        cost[0] = 0.0  # the locked row can be paid for
        rules = rules._replace(cost=cost, budget=float(rng.integers(k, 5 * k)))
    return rules
