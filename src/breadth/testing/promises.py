"""The promises of an oracle, checked against brute force in float64. `rows` are always the rows it was built from.

Scores are compared, not ids, because two rows may tie. Every engine may compute in float32: `slack` allows for that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Array, Ids, Mask, Vector
from breadth.errors import ContractError

SLACK = 1e-6
"""What float32 arithmetic may add to a score, relative to the length of the direction."""


def require(promise: bool | np.bool_, message: str) -> None:
    """Raise a `ContractError` unless the promise is kept."""
    if not promise:
        raise ContractError(message)


def brute_force(rows: Array, directions: Array) -> Vector:
    """All scores (b, n)."""
    return np.asarray(np.asarray(directions, dtype=np.float64) @ np.asarray(rows, dtype=np.float64).T)


def slack(rows: Array, directions: Array) -> Vector:
    """How far a score may be off, for each direction: relative to the longest row, since relevance may be large."""
    longest = np.linalg.norm(np.asarray(rows, dtype=np.float64), axis=1).max(initial=0.0)
    return np.asarray(SLACK * longest * np.linalg.norm(np.asarray(directions, dtype=np.float64), axis=1))


def assert_close(found: Any, expected: Any, within: Any, what: str) -> None:
    """Two arrays have the same shape and differ by at most `within`."""
    found, expected = np.asarray(found), np.asarray(expected)
    require(found.shape == expected.shape, f"{what} have shape {found.shape}, not {expected.shape}")
    if found.size:
        off = np.abs(found - expected) - within
        require(bool((off <= 0.0).all()), f"{what} are off by up to {np.abs(found - expected).max():.3g}")


def assert_top(oracle: Any, rows: Array, directions: Array, m: int, tolerance: float = SLACK) -> float:
    """`top` returns m different rows with their scores and, if the oracle is exact, no other row scores higher.

    `tolerance`: how far a score may be off, relative to the length of the direction. Returns the share of the m best
    rows that were found, the smallest over all directions.
    """
    ids, scores = oracle.top(directions, m)
    return assert_found(ids, scores, rows, directions, m, oracle.exact, tolerance)


def assert_found(
    ids: Ids, scores: Vector, rows: Array, directions: Array, m: int, is_exact: bool, tolerance: float = SLACK
) -> float:
    """What `assert_top` says, for an answer; the ids are numbers of `rows`."""
    ids, scores = np.asarray(ids), np.asarray(scores)
    require(ids.dtype == np.int64, f"ids must be int64, got {ids.dtype}")
    require(ids.shape == scores.shape, f"ids have shape {ids.shape}, but scores {scores.shape}")
    require(ids.ndim == 2 and len(ids) == len(directions), f"{len(directions)} directions, but shape {ids.shape}")
    most = min(m, len(rows))
    require(ids.shape[1] <= m, f"{m} rows were asked for, but {ids.shape[1]} came")
    exact, recall = brute_force(rows, directions), 1.0
    for line, own, all_scores, within in zip(ids, scores, exact, slack(rows, directions), strict=True):
        within = within * tolerance / SLACK
        there = line >= 0
        require(bool((there[:-1] >= there[1:]).all()), "a negative id stands before the end of a line")
        line, own = line[there], own[there]
        require(len(set(line.tolist())) == len(line), "an id comes twice in one line")
        require(bool((np.diff(own) <= 0.0).all()), "scores do not fall along a line")
        assert_close(own, all_scores[line], within, "scores")
        best = np.sort(all_scores)[::-1][:most]
        if is_exact:
            assert_close(own, best, within, f"the best {most} scores of an exact search")
        if most:
            recall = min(recall, float((own[:most] >= best[-1] - within).sum()) / most)
    return recall


def assert_rows(oracle: Any, rows: Array, ids: Ids, within: float = 0.0) -> None:
    """`rows` returns the rows in the order of the ids, no digit changed but by the oracle's precision."""
    found = oracle.rows(ids)
    require(found.dtype in (np.float32, np.float64), f"rows must be float32 or float64, got {found.dtype}")
    assert_close(found, np.asarray(rows)[ids].astype(found.dtype).reshape(len(ids), rows.shape[1]), within, "rows")


def assert_mean(oracle: Any, rows: Array, within: float = 2e-6) -> None:
    """`mean` is the mean row."""
    assert_close(oracle.mean(), np.asarray(rows, dtype=np.float64).mean(axis=0), within, "the mean's coordinates")


def assert_scores(oracle: Any, rows: Array, directions: Array) -> None:
    """`scores` are the inner products of all rows."""
    within = np.broadcast_to(slack(rows, directions)[:, None], (len(directions), len(rows)))
    assert_close(oracle.scores(directions), brute_force(rows, directions), within, "scores of all rows")


def assert_above(
    oracle: Any, rows: Array, directions: Array, thresholds: Vector, most: Ids, within: Ids | None = None
) -> None:
    """`above` bounds every row it finds, and its ceiling bounds all others. No slack: certificates rest on this."""
    found = oracle.above(directions, thresholds, most, within)
    require(len(found) == len(directions), f"{len(directions)} directions, but {len(found)} answers")
    asked = np.arange(len(rows)) if within is None else within
    for reached, exact, threshold, limit in zip(found, brute_force(rows, directions), thresholds, most, strict=True):
        _assert_reached(reached, exact, float(threshold), int(limit), asked)


def _assert_reached(reached: Any, exact: Vector, threshold: float, limit: int, asked: Ids) -> None:
    require(reached.ids.dtype == np.int64, f"ids must be int64, got {reached.ids.dtype}")
    require(len(reached.ids) == len(reached.at_most), "ids and bounds differ in number")
    require(bool((np.diff(reached.ids) > 0).all()), "ids do not rise")
    require(bool(np.isin(reached.ids, asked).all()), "a row came that was not asked about")
    require(bool((exact[reached.ids] <= reached.at_most).all()), "a row scores above its bound")
    others = np.setdiff1d(asked, reached.ids)
    require(bool((exact[others] <= reached.ceiling).all()), "a row that was not found scores above the ceiling")
    require(reached.ceiling >= threshold, "the ceiling is below the threshold")
    for level in (reached.ceiling, max(reached.ceiling, float(np.median(exact)))):
        above: Mask = exact[asked] > level
        require(bool(np.isin(asked[above], reached.above(level)).all()), f"a row above {level:g} is missing")
    if limit >= 2 * len(asked):  # far more may be returned than there are: nothing above the threshold is left out
        require(reached.ceiling == threshold, "rows were cut although there was room for all")
    if reached.ceiling > threshold:  # the rows were cut: about half of what may be returned is left
        require(len(reached.ids) >= limit // 2, "too many rows were cut")
