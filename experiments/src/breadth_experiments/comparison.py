"""Compare methods: by the area under the relevance-diversity frontier, at the same θ, and on the objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from breadth.errors import InputError
from breadth_experiments.scores import Scores
from breadth_experiments.statistics import (
    Difference,
    Estimate,
    Values,
    difference,
    estimate,
    flips_for,
    holm,
    resamples,
)

TIED = 1e-6
"""Objectives that differ by less count as equal: scores are computed in float32."""
_AREA_RESAMPLES = 1000


@dataclass(frozen=True)
class Point:
    """A method at one θ: mean recall and mean ILAD over the questions."""

    method: str
    k: int
    theta: float | None
    recall: Estimate
    ilad: Estimate
    milliseconds: float | None


def points(scores: Scores) -> list[Point]:
    """A point for every cell."""
    weights = resamples(len(scores.questions))
    return [
        Point(
            method,
            k,
            theta,
            estimate(values["recall"], weights),
            estimate(values["ilad"], weights),
            float(1000 * np.median(scores.seconds[method, k, theta])) if (method, k, theta) in scores.seconds else None,
        )
        for (method, k, theta), values in scores.cells.items()
    ]


@dataclass(frozen=True)
class Area:
    """The mean recall along a method's frontier, and how far other methods are ahead of it."""

    method: str
    k: int
    area: Estimate
    ahead: dict[str, Difference]


def area_under_frontier(ilad: Values, recall: Values, start: float, stop: float) -> float:
    """∫ R(x) dx / (stop - start) for x from `start` to `stop`, R(x) being the best recall at an ILAD of x or more.

    R is the concave hull of the points: one reaches what lies between two of them by taking one θ for some questions
    and the other θ for the rest. R is 0 beyond the last point: a frontier counts as far as it reaches.
    """
    x, y = _hull(ilad, recall)
    grid = np.unique(np.clip(np.concatenate(([start, stop], x)), start, stop))
    height = np.interp(grid, x, y, left=y[0])
    covered = (grid[:-1] + grid[1:]) / 2 <= x[-1]
    steps = np.diff(grid) * (height[:-1] + height[1:]) / 2
    return float(steps[covered].sum() / (stop - start))


def _hull(ilad: Values, recall: Values) -> tuple[Values, Values]:
    """Corners of the upper right hull, ILAD increasing, recall decreasing."""
    corners: list[tuple[float, float]] = []
    for x, y in sorted(zip(ilad.tolist(), recall.tolist(), strict=True)):
        while corners and corners[-1][1] <= y:
            corners.pop()
        while len(corners) > 1:
            (x0, y0), (x1, y1) = corners[-2:]
            if (y1 - y0) * (x - x0) > (y - y0) * (x1 - x0):
                break
            corners.pop()
        corners.append((x, y))
    hull = np.array(corners)
    return hull[:, 0], hull[:, 1]


def areas(
    scores: Scores, k: int, references: Sequence[str], practical: tuple[str, float] | None = None
) -> dict[str, Area]:
    """The area under the frontier of every method that has one.

    It goes from top-k's ILAD to the largest that any method reaches or, with `practical` (a method and a θ), to the
    ILAD of that method at that θ. Plain top-k (θ = 1) is a point of every frontier. A method without θ is a single
    point and has no frontier.

    `ahead` is a reference's area minus this method's. Its interval comes from resampled questions, the same for both.
    Its p-value is twice the share of the samples in which the difference has the other sign.
    """
    curves = {
        method: _curve(scores, method, k) for method in scores.methods if scores.curve(method, k) not in ([], [None])
    }
    stop = mean_ilad(scores, practical, k) if practical else max(_reach(curve) for curve in curves.values())
    return _areas(scores, k, references, curves, stop)


def lead(scores: Scores, k: int, method: str, other: str, practical: tuple[str, float] | None = None) -> Difference:
    """Area of one method minus that of another on the range that both reach, cut off at `practical` if given."""
    curves = {name: _curve(scores, name, k) for name in (method, other)}
    stop = min(_reach(curve) for curve in curves.values())
    if practical is not None:
        stop = min(stop, mean_ilad(scores, practical, k))
    return _areas(scores, k, [method], curves, stop)[other].ahead[method]


def ks_with_frontier(scores: Scores) -> list[int]:
    """The k at which there is a frontier: top-k, and a method that is more diverse."""
    return [
        k
        for k in scores.ks
        if ("topk", k, None) in scores.cells
        and any(
            _reach(_curve(scores, m, k)) > frontier_start(scores, k)
            for m in scores.methods
            if scores.curve(m, k) not in ([], [None])
        )
    ]


Curve = tuple[Values, Values]


def _curve(scores: Scores, method: str, k: int) -> Curve:
    """ILAD and recall of a method's points, top-k's first: a row for each point, a column for each question."""
    cells = [scores.cells["topk", k, None], *(scores.cells[method, k, t] for t in scores.curve(method, k))]
    return np.array([c["ilad"] for c in cells]), np.array([c["recall"] for c in cells])


def _reach(curve: Curve) -> float:
    return float(curve[0].mean(axis=1).max())


def frontier_start(scores: Scores, k: int) -> float:
    """The ILAD at which frontiers begin: top-k's mean."""
    return float(scores.cells["topk", k, None]["ilad"].mean())


def mean_ilad(scores: Scores, at: tuple[str, float], k: int) -> float:
    """The mean ILAD of a method at a θ."""
    return float(scores.cell(at[0], k, at[1])["ilad"].mean())


def _areas(scores: Scores, k: int, references: Sequence[str], curves: dict[str, Curve], stop: float) -> dict[str, Area]:
    start = frontier_start(scores, k)
    if stop <= start:
        raise InputError(f"no method is more diverse than top-k at k = {k}, so there is no frontier to compare")
    weights = resamples(len(scores.questions), count=_AREA_RESAMPLES)
    means = {m: area_under_frontier(i.mean(axis=1), r.mean(axis=1), start, stop) for m, (i, r) in curves.items()}
    drawn = {m: _resampled_areas(i, r, weights, start, stop) for m, (i, r) in curves.items()}
    areas = {}
    for method, values in drawn.items():
        low, high = np.percentile(values, [2.5, 97.5])
        others = [r for r in references if r != method and r in drawn]
        ahead = {r: _area_difference(means[r] - means[method], drawn[r] - values) for r in others}
        areas[method] = Area(method, k, Estimate(means[method], float(low), float(high)), ahead)
    return areas


def _area_difference(mean: float, drawn: Values) -> Difference:
    low, high = np.percentile(drawn, [2.5, 97.5])
    share = min(float((drawn <= 0).mean()), float((drawn >= 0).mean()))
    return Difference(mean, float(low), float(high), min(1.0, 2.0 * max(share, 1.0 / len(drawn))))


def _resampled_areas(ilad: Values, recall: Values, weights: Values, start: float, stop: float) -> Values:
    far, good = weights @ ilad.T, weights @ recall.T
    return np.array([area_under_frontier(x, y, start, stop) for x, y in zip(far, good, strict=True)])


@dataclass(frozen=True)
class Duel:
    """One method against another at the same θ and k."""

    method: str
    other: str
    k: int
    theta: float
    recall: Difference
    ilad: Difference

    def sign(self, measure: str) -> int:
        """1 or -1 if the method is significantly higher or lower in recall or ilad, else 0."""
        gap: Difference = getattr(self, measure)
        return 0 if not gap.significant() else (1 if gap.mean > 0 else -1)

    @property
    def dominates(self) -> bool:
        """Whether the method is significantly better in one measure, after correction, and not worse in the other."""
        signs = [self.sign("recall"), self.sign("ilad")]
        return max(signs) == 1 and min(signs) >= 0


def duels(scores: Scores, method: str, other: str, thetas: Sequence[float] | None = None) -> list[Duel]:
    """Paired tests of two methods at every θ and k, with p-values corrected (Holm) for their number."""
    cells = [
        (k, theta)
        for k in scores.ks
        for theta in thetas or scores.thetas
        if scores.has(method, k, theta) and scores.has(other, k, theta)
    ]
    weights = resamples(len(scores.questions), count=_AREA_RESAMPLES)
    flips = flips_for(2 * len(cells))
    found = []
    for k, theta in cells:
        a, b = scores.cell(method, k, theta), scores.cell(other, k, theta)
        gaps = [difference(a[name], b[name], weights, flips=flips) for name in ("recall", "ilad")]
        found.append(Duel(method, other, k, theta, gaps[0], gaps[1]))
    corrected = holm([d.p for duel in found for d in (duel.recall, duel.ilad)])
    pairs = zip(found, corrected[::2], corrected[1::2], strict=True)
    return [Duel(d.method, d.other, d.k, d.theta, _with_p(d.recall, p), _with_p(d.ilad, q)) for d, p, q in pairs]


def _with_p(difference: Difference, p: float) -> Difference:
    return Difference(difference.mean, difference.low, difference.high, p)


@dataclass(frozen=True)
class Tally:
    """How often a method's objective is above, equal to and below another's, over questions, k and θ."""

    method: str
    other: str
    better: int
    tied: int
    worse: int

    @property
    def cells(self) -> int:
        return self.better + self.tied + self.worse


def tally_objectives(scores: Scores, method: str, others: Sequence[str]) -> list[Tally]:
    """Count, for each other method, which of the two has the higher objective at every question, k and θ."""
    tallies = []
    for other in others:
        counts = np.zeros(3, dtype=int)
        for k in scores.ks:
            for theta in scores.thetas:
                if scores.has(method, k, theta) and scores.has(other, k, theta):
                    gap = scores.objective(method, k, theta) - scores.objective(other, k, theta)
                    counts += [(gap > TIED).sum(), (np.abs(gap) <= TIED).sum(), (gap < -TIED).sum()]
        tallies.append(Tally(method, other, *(int(c) for c in counts)))
    return tallies
