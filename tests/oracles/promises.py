"""The promises of an oracle, checked against brute force in float64. `rows` are always the rows it was built from.

Scores are compared, not ids, because two rows may tie. Every engine may compute in float32: `slack` allows for that.
"""

from __future__ import annotations

import numpy as np

_SLACK = 1e-6
"""What float32 arithmetic may add to a score, relative to the length of the direction."""


def brute_force(rows: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """All scores (b, n)."""
    return np.asarray(directions, dtype=np.float64) @ np.asarray(rows, dtype=np.float64).T


def slack(rows: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """How far a score may be off, for each direction: relative to the longest row, since relevance may be large."""
    longest = np.linalg.norm(np.asarray(rows, dtype=np.float64), axis=1).max()
    return _SLACK * longest * np.linalg.norm(np.asarray(directions, dtype=np.float64), axis=1)


def assert_top(oracle, rows: np.ndarray, directions: np.ndarray, m: int) -> None:
    """`top` returns m different rows with their scores and, if the oracle is exact, no other row scores higher."""
    ids, scores = oracle.top(directions, m)
    assert ids.dtype == np.int64
    assert ids.shape == scores.shape == (len(directions), m)
    exact = brute_force(rows, directions)
    for j, within in enumerate(slack(rows, directions)):
        assert len(set(ids[j].tolist())) == m
        assert np.all(np.diff(scores[j]) <= 0)
        np.testing.assert_allclose(scores[j], exact[j, ids[j]], rtol=0, atol=within)
        if oracle.exact:
            np.testing.assert_allclose(scores[j], np.sort(exact[j])[::-1][:m], rtol=0, atol=within)


def assert_rows(oracle, rows: np.ndarray, ids: np.ndarray) -> None:
    """`rows` returns the rows in the order of the ids, no digit changed but by the oracle's precision."""
    found = oracle.rows(ids)
    assert found.dtype in (np.float32, np.float64)
    assert found.shape == (len(ids), rows.shape[1])
    np.testing.assert_array_equal(found, np.asarray(rows)[ids].astype(found.dtype))


def assert_mean(oracle, rows: np.ndarray) -> None:
    """`mean` is the mean row."""
    np.testing.assert_allclose(oracle.mean(), np.asarray(rows, dtype=np.float64).mean(axis=0), rtol=1e-6, atol=1e-6)


def assert_scores(oracle, rows: np.ndarray, directions: np.ndarray) -> None:
    """`scores` are the inner products of all rows."""
    found = oracle.scores(directions)
    assert found.shape == (len(directions), len(rows))
    for line, exact, within in zip(found, brute_force(rows, directions), slack(rows, directions), strict=True):
        np.testing.assert_allclose(line, exact, rtol=0, atol=within)


def assert_above(
    oracle,
    rows: np.ndarray,
    directions: np.ndarray,
    thresholds: np.ndarray,
    most: np.ndarray,
    within: np.ndarray | None = None,
) -> None:
    """`above` bounds every row it finds, and its ceiling bounds all others. No slack: certificates rest on this."""
    found = oracle.above(directions, thresholds, most, within)
    assert len(found) == len(directions)
    asked = np.arange(len(rows)) if within is None else within
    for reached, exact, threshold, limit in zip(found, brute_force(rows, directions), thresholds, most, strict=True):
        assert reached.ids.dtype == np.int64
        assert len(reached.ids) == len(reached.at_most)
        assert np.all(np.diff(reached.ids) > 0)
        assert np.isin(reached.ids, asked).all()
        assert np.all(exact[reached.ids] <= reached.at_most)
        others = np.setdiff1d(asked, reached.ids)
        assert np.all(exact[others] <= reached.ceiling)
        assert reached.ceiling >= threshold
        for level in (reached.ceiling, max(reached.ceiling, np.median(exact))):
            assert np.isin(asked[exact[asked] > level], reached.above(level)).all()
        if limit >= 2 * len(asked):  # far more may be returned than there are: nothing above the threshold is left out
            assert reached.ceiling == threshold
        if reached.ceiling > threshold:  # the rows were cut: about half of what may be returned is left
            assert len(reached.ids) >= limit // 2
