"""Which sets are allowed, straight from the words of the docs and by looking at every set: slow, obvious, for checking.

A `Case` is one small query with constraints as `breadth.select` takes them. It answers every question by brute force.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tests.synthetic import SHAPES, unit

NEAR = 1e-6
"""Cosines and relevances this close to a limit are decided by rounding: cases with one are not made."""


@dataclass
class Case:
    E: np.ndarray
    q: np.ndarray
    k: int
    theta: float
    sharpness: int
    constraints: dict = field(default_factory=dict)

    @property
    def n(self):
        return len(self.E)

    @cached_property
    def c(self):
        return self.E @ self.q

    @cached_property
    def cosines(self):
        return self.E @ self.E.T

    @property
    def arguments(self):
        return {"k": self.k, "theta": self.theta, "sharpness": self.sharpness, **self.constraints}

    def restricted_by(self, *names):
        """Whether nothing but these constraints is there."""
        return set(self.constraints) <= set(names)

    # One set

    def breaks(self, S):
        """Why a set is not allowed; "" if it is. Sizes are not looked at."""
        S, limits = sorted(int(i) for i in S), self.constraints
        reason = self._breaks_but_best(S)
        best = self.best_row if limits.get("keep_best") and not reason else None
        return f"row {best}, the best, is missing" if best is not None and best not in S else reason

    def _breaks_but_best(self, S):
        limits = self.constraints
        pinned = set(limits.get("pinned", ()))
        if len(set(S)) < len(S):
            return "a row stands twice"
        if not pinned <= set(S):
            return "a pinned row is missing"
        if set(limits.get("excluded", ())) & set(S):
            return "an excluded row"
        if "floor" in limits and any(self.c[i] < limits["floor"] - 1e-9 for i in S if i not in pinned):
            return "a row below the floor"
        if "groups" in limits:
            labels = [limits["groups"][i] for i in S if limits["groups"][i] is not None]
            if any(labels.count(label) > limits.get("per_group", len(S)) for label in labels):
                return "too many rows of one group"
        if "costs" in limits and sum(limits["costs"][i] for i in S) > limits["budget"] + 1e-9:
            return "over the budget"
        if "distinct" in limits and any(self.cosines[i, j] > limits["distinct"] for i in S for j in S if i < j):
            return "two rows too close to each other"
        if any(i in S and j in S for i, j in limits.get("apart", ())):
            return "two rows that may not be chosen together"
        return ""

    def lacks(self, S):
        """Whether a set has too few rows of some group."""
        labels = [self.constraints.get("groups", [None] * self.n)[int(i)] for i in S]
        return any(labels.count(label) < need for label, need in self.constraints.get("at_least", {}).items())

    @cached_property
    def best_row(self):
        """The most relevant row that may stand beside the pinned ones (or is one); None if they leave no room."""
        pinned = list(self.constraints.get("pinned", ()))
        for i in np.argsort(-self.c, kind="stable").tolist():
            together = {*pinned, i}
            if len(together) <= self.k and not self._breaks_but_best(sorted(together)) and self._leaves_room(together):
                return i
        return None

    def _leaves_room(self, S):
        """Whether the places that are left suffice for the rows that groups still need."""
        labels = [self.constraints.get("groups", [None] * self.n)[i] for i in S]
        needs = self.constraints.get("at_least", {})
        missing = {label: max(need - labels.count(label), 0) for label, need in needs.items()}
        return sum(missing.values()) <= self.k - len(S)

    # All sets

    @cached_property
    def by_size(self):
        """The allowed sets of each size up to k, as masks (sets, n)."""
        masks = ((np.arange(1 << self.n)[:, None] >> np.arange(self.n)) & 1).astype(bool)
        masks = masks[self._allow(masks)]
        sizes = masks.sum(axis=1)
        return {size: masks[sizes == size] for size in range(1, self.k + 1)}

    def _allow(self, masks):
        limits, kept = self.constraints, masks.any(axis=1) & (masks.sum(axis=1) <= self.k)
        pinned = list(limits.get("pinned", ()))
        kept &= masks[:, pinned].all(axis=1)
        kept &= ~masks[:, list(limits.get("excluded", ()))].any(axis=1)
        if "floor" in limits:
            low = self.c < limits["floor"] - 1e-9
            low[pinned] = False
            kept &= ~masks[:, low].any(axis=1)
        if "groups" in limits:
            for label in {x for x in limits["groups"] if x is not None}:
                members = [i for i in range(self.n) if limits["groups"][i] == label]
                kept &= masks[:, members].sum(axis=1) <= limits.get("per_group", self.n)
            for label, need in limits.get("at_least", {}).items():
                members = [i for i in range(self.n) if limits["groups"][i] == label]
                kept &= masks[:, members].sum(axis=1) >= need
        if "costs" in limits:
            kept &= masks @ np.asarray(limits["costs"], dtype=float) <= limits["budget"] + 1e-9
        if "distinct" in limits:
            for i, j in np.argwhere(np.triu(self.cosines > limits["distinct"], 1)):
                kept &= ~(masks[:, i] & masks[:, j])
        for i, j in limits.get("apart", ()):
            kept &= ~(masks[:, i] & masks[:, j])
        if limits.get("keep_best") and self.best_row is not None:
            kept &= masks[:, self.best_row]
        return kept

    @property
    def largest(self):
        """The size of the largest allowed sets; 0 if there is none."""
        return max((size for size, sets in self.by_size.items() if len(sets)), default=0)

    def objectives(self, masks):
        """θ·relevance - (1-θ)·redundancy of sets of one size."""
        x, size = masks.astype(float), masks[0].sum()
        relevance = x @ self.c / size
        similar = self.cosines**self.sharpness
        np.fill_diagonal(similar, 0.0)
        for i, j in self.constraints.get("unlike", ()):
            similar[i, j] = similar[j, i] = 0.0
        pairs = ((x @ similar) * x).sum(axis=1)
        redundancy = pairs / (size * (size - 1)) if size > 1 else np.full(len(x), 1.0 if self.sharpness == 1 else 0.0)
        return self.theta * relevance - (1 - self.theta) * redundancy

    def objective(self, S):
        """θ·relevance - (1-θ)·redundancy of one set."""
        S = [int(i) for i in S]
        unlike = [(S.index(i), S.index(j)) for i, j in self.constraints.get("unlike", ()) if i in S and j in S]
        part = replace(self, E=self.E[S], constraints={"unlike": unlike})
        return float(part.objectives(np.ones((1, len(S)), dtype=bool))[0])

    def optimum(self, size):
        """The largest objective of the allowed sets of a size."""
        return float(self.objectives(self.by_size[size]).max())

    def best_swap(self, S):
        """The largest gain of an allowed exchange of one member; -∞ if there is none."""
        S = [int(i) for i in S]
        swapped = [[*(j for j in S if j != out), i] for out in S for i in range(self.n) if i not in S]
        values = [self.objective(T) for T in swapped if not self.breaks(T) and not self.lacks(T)]
        return max(values, default=-np.inf) - self.objective(S)

    def can_grow(self, S):
        """The rows that could join a set as it is."""
        return [i for i in range(self.n) if i not in S and not self.breaks([*S, i])]

    @property
    def is_clear(self):
        """Whether no limit is so close to a cosine, a relevance or a cost that rounding decides."""
        limits = self.constraints
        near = [np.inf]
        if "distinct" in limits:
            near.append(np.abs(self.cosines - limits["distinct"])[np.triu_indices(self.n, 1)].min())
        if "floor" in limits:
            near.append(np.abs(self.c - limits["floor"]).min())
        ordered = np.sort(self.c)
        if limits.get("keep_best"):
            gaps = np.diff(ordered)
            near.append(gaps.min())
        return min(near) > NEAR


KINDS = ("distinct", "groups", "minimum", "pinned", "excluded", "floor", "keep_best", "costs", "apart", "unlike")


def random_case(rng, kinds, n=None, sharpness=None):
    """A query with constraints of these kinds. They can contradict each other, and leave fewer than k rows or none."""
    n = int(rng.integers(4, 13)) if n is None else n
    d = int(rng.integers(2, 7))
    E = unit(SHAPES[rng.choice(sorted(SHAPES))](rng, n, d).astype(np.float64))
    q = unit(E[rng.integers(n)] + 0.8 * unit(rng.standard_normal(d)))
    k = int(rng.integers(1, min(n, 7) + 1))
    theta = float(rng.choice([0.0, 0.2, 0.5, 0.7, 0.9, 1.0]))
    p = int(rng.choice([1, 2, 8, 16])) if sharpness is None else sharpness
    case = Case(E, q, k, theta, p)

    def draw_pairs():
        return [rng.choice(n, 2, replace=False).tolist() for _ in range(int(rng.integers(1, n)))]

    makers = {
        "distinct": lambda: {"distinct": float(rng.choice([0.3, 0.6, 0.8, 0.95]))},
        "groups": lambda: {
            "groups": [None if x == 0 else f"g{x}" for x in rng.integers(0, rng.integers(2, 6), size=n)],
            "per_group": int(rng.integers(1, 4)),
        },
        "minimum": lambda: {
            "groups": [None if x == 0 else f"g{x}" for x in rng.integers(0, 4, size=n)],
            "at_least": {
                f"g{x}": int(rng.integers(1, 3)) for x in rng.choice([1, 2, 3], int(rng.integers(1, 3)), False)
            },
        },
        "pinned": lambda: {"pinned": rng.choice(n, int(rng.integers(1, min(k, 3) + 1)), replace=False).tolist()},
        "excluded": lambda: {"excluded": rng.choice(n, int(rng.integers(1, n // 2 + 1)), replace=False).tolist()},
        "floor": lambda: {"floor": float(np.quantile(case.c, rng.uniform(0.0, 0.7))) + 1e-4},
        "keep_best": lambda: {"keep_best": True},
        "apart": lambda: {"apart": draw_pairs()},
        "unlike": lambda: {"unlike": draw_pairs()},
        "costs": lambda: {
            "costs": rng.integers(0, 9, size=n).tolist(),
            "budget": int(rng.integers(4, 5 * k + 6)),
        },
    }
    for kind in kinds:
        case.constraints |= makers[kind]()
    if "at_least" in case.constraints:  # a wish that no set of k rows can fulfil is refused before it is solved
        needs = case.constraints["at_least"]
        most = case.constraints.get("per_group", k)
        while sum(needs.values()) > k or max(needs.values()) > most:
            label = max(needs, key=needs.__getitem__)
            needs[label] -= 1
            if needs[label] == 0:
                del needs[label]
            if not needs:
                del case.constraints["at_least"]
                break
        if "per_group" not in case.constraints and "at_least" not in case.constraints:
            case.constraints["per_group"] = k
    return case
