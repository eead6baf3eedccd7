"""What a sweep covers: methods, values of θ, values of k."""

from __future__ import annotations

from dataclasses import dataclass

import breadth
from breadth.errors import InputError

METHODS = ("topk", "mmr", "dpp", "greedy", "msd", "vrsd", "muss", "frank_wolfe", "certified")
THETAS = tuple(round(0.1 * step, 1) for step in range(1, 10))
KS = (25, 50, 100)
WITHOUT_THETA = frozenset({"topk", "vrsd"})

Cell = tuple[str, int, float | None]
"""Method, k and θ (None for a method without θ)."""
KEY = ("method", "k", "theta", "question")
"""The fields that identify a line of retrieved.jsonl and latency.jsonl."""


@dataclass(frozen=True)
class Grid:
    """Every method at every θ and k."""

    methods: tuple[str, ...] = METHODS
    thetas: tuple[float, ...] = THETAS
    ks: tuple[int, ...] = KS

    def __post_init__(self) -> None:
        allowed = [name for name in breadth.methods() if name != "exact"]  # which takes hours on a pool
        for method in self.methods:
            if method not in allowed:
                raise InputError(f"method must be one of {', '.join(allowed)}; got {method!r}")
        for theta in self.thetas:
            if not 0.0 <= theta <= 1.0:
                raise InputError(f"theta must be in [0, 1], got {theta!r}")
        for k in self.ks:
            if not isinstance(k, int) or k < 1:
                raise InputError(f"k must be a whole number of at least 1, got {k!r}")

    def thetas_of(self, method: str) -> list[float | None]:
        """The values of θ for a method; only None if it has no such parameter."""
        return [None] if method in WITHOUT_THETA else list(self.thetas)

    def cells(self) -> list[Cell]:
        """All combinations of method, k and θ."""
        return [(method, k, theta) for method in self.methods for k in self.ks for theta in self.thetas_of(method)]
