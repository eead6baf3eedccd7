"""The relevance-diversity curve of one query: a selection for each θ, and ways to choose one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from breadth.checks import check_number
from breadth.display import list_briefly, make_html_table
from breadth.errors import InputError
from breadth.frames import Columns, make_pandas, make_polars
from breadth.selection import Selection


@dataclass(frozen=True, eq=False)
class Frontier:
    """Selections in the order of θ, smallest first. Along them neither relevance nor redundancy falls.

    `top_relevance` is the mean relevance of plain top-k, among the rows that the constraints allow.
    """

    selections: tuple[Selection, ...]
    top_relevance: float

    def __iter__(self) -> Iterator[Selection]:
        return iter(self.selections)

    def __len__(self) -> int:
        return len(self.selections)

    def __getitem__(self, place: int) -> Selection:
        return self.selections[place]

    def __repr__(self) -> str:
        return f"Frontier(thetas={[s.theta for s in self]}, sizes={[len(s) for s in self]}, knee={self.knee().theta:g})"

    def _repr_html_(self) -> str:
        """Show the curve as a table in a notebook."""
        columns = self._columns()
        rows = (
            (f"{cells[0]:g}", *cells[1:-1], list_briefly(cells[-1])) for cells in zip(*columns.values(), strict=True)
        )
        return make_html_table(list(columns), rows, f"The knee of the curve is at θ = {self.knee().theta:g}.")

    def to_dict(self) -> dict[str, Any]:
        """Return the frontier as plain data, fit for JSON."""
        return {
            "top_relevance": self.top_relevance,
            "knee": self.knee().theta,
            "selections": [selection.to_dict() for selection in self],
        }

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with a row for each θ (extra `pandas`)."""
        return make_pandas(self._columns())

    def to_polars(self) -> Any:
        """Return a polars DataFrame with a row for each θ (extra `polars`)."""
        return make_polars(self._columns())

    def _columns(self) -> Columns:
        return {
            "theta": [s.theta for s in self],
            "relevance": [s.relevance for s in self],
            "redundancy": [s.redundancy for s in self],
            "diversity": [s.diversity for s in self],
            "objective": [s.objective for s in self],
            "gap": [None if s.certificate is None else s.certificate.gap for s in self],
            "ids": [s.ids.tolist() for s in self],
        }

    def keep(self, share: float) -> Selection:
        """Return the least redundant selection that keeps this share of top-k's mean relevance."""
        floor = relevance_floor(self.top_relevance, share)
        for selection in self.selections:
            if selection.relevance >= floor:
                return selection
        raise InputError(
            f"no selection of this frontier keeps {share:g} of top-k's relevance {self.top_relevance:.4f}; "
            "include a larger theta (theta = 1.0 always keeps it)"
        )

    def knee(self) -> Selection:
        """Return the selection farthest above the straight line between the two ends of the curve.

        Both axes are scaled to [0, 1]. Beyond the knee, more diversity costs more relevance than on average.
        """
        relevance = np.array([s.relevance for s in self.selections])
        diversity = np.array([1.0 - s.redundancy for s in self.selections])
        if np.ptp(relevance) <= 1e-9 or np.ptp(diversity) <= 1e-9:
            return self.selections[-1]
        height = (relevance - relevance.min()) / np.ptp(relevance) + (diversity - diversity.min()) / np.ptp(diversity)
        # If selections tie, or the curve has no bend, take the most relevant one.
        return self.selections[len(height) - 1 - int(np.argmax(height[::-1]))]

    def choose(self, judge: Callable[[Selection], float]) -> Selection:
        """Return the selection that the judge scores highest; of equal scores the more relevant one.

        `judge` takes a `Selection` and returns a number. It is called once for each different set.
        """
        best_score, chosen = -np.inf, None
        seen: set[frozenset[int]] = set()
        for selection in reversed(self.selections):
            key = frozenset(selection.ids.tolist())
            if key in seen:
                continue
            seen.add(key)
            score = check_number(judge(selection), "the score that choose returned", -np.finfo(float).max)
            if score > best_score:
                best_score, chosen = score, selection
        assert chosen is not None
        return chosen

    def with_stats(self, **more: Any) -> Frontier:
        """Return the same frontier with further entries in the stats of every selection."""
        return replace(self, selections=tuple(s.with_stats(**more) for s in self.selections))

    def after_lacking_rows(self, count: int) -> Frontier:
        """Return the same frontier, found on an engine that returned so many rows fewer than it was asked for."""
        return replace(self, selections=tuple(s.after_lacking_rows(count) for s in self.selections))


def relevance_floor(top: float, share: float) -> float:
    """Return the smallest relevance that keeps this share of top-k's relevance `top`, which may be negative."""
    return top - (1.0 - share) * abs(top) - 1e-12
