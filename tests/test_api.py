"""The public edge: what comes in is checked, and errors say what to do."""

from __future__ import annotations

import numpy as np
import pytest

import breadth
from breadth import ArrayOracle, BreadthError, InputError, OracleError
from tests.oracles.test_wrappers import SearchOnly
from tests.synthetic import isotropic


@pytest.fixture
def E(rng):
    return isotropic(rng, 30, 8)


BAD_CALLS = {
    "k of zero": (lambda E: {"k": 0}, "k must be at least 1, got 0"),
    "k beyond n": (lambda E: {"k": 31}, r"k must be at most the number of rows \(30\), got 31"),
    "k not whole": (lambda E: {"k": 2.0}, "k must be a whole number, got 2.0"),
    "k a truth value": (lambda E: {"k": True}, "k must be a whole number, got True"),
    "theta above one": (lambda E: {"theta": 1.1}, r"theta must be in \[0, 1\], got 1.1"),
    "theta below zero": (lambda E: {"theta": -0.1}, r"theta must be in \[0, 1\], got -0.1"),
    "theta NaN": (lambda E: {"theta": float("nan")}, r"theta must be in \[0, 1\], got nan"),
    "theta a word": (lambda E: {"theta": "high"}, r"theta must be a number in \[0, 1\] or 'auto', got 'high'"),
    "unknown method": (lambda E: {"method": "mrr"}, "method must be one of .*'mmr'.* got 'mrr'"),
    "method not a word": (lambda E: {"method": 3}, "method must be one of .* got 3"),
    "option of another method": (
        lambda E: {"method": "mmr", "step": "exact"},
        "method 'mmr' has no option 'step'; it has no options",
    ),
    "unknown option": (
        lambda E: {"method": "frank_wolfe", "stop": 3},
        "method 'frank_wolfe' has no option 'stop'; its options are init, step, penalty, max_iterations, lipschitz",
    ),
    "no query": (lambda E: {"query": None}, "pass exactly one of query and scores, got neither"),
    "query and scores": (lambda E: {"scores": np.ones(30)}, "pass exactly one of query and scores, got both"),
    "query too short": (lambda E: {"query": E[0, :7]}, r"query must have shape \(8,\).*got \(7,\)"),
    "query in two dimensions": (lambda E: {"query": E[:1]}, r"got \(1, 8\); pass one query, e.g. query\[0\]"),
    "query of zeros": (lambda E: {"query": 0 * E[0]}, "query is all zeros"),
    "query not unit": (lambda E: {"query": 2 * E[0]}, r"query has length 2, not 1; pass query / np.linalg.norm"),
    "query with NaN": (lambda E: {"query": E[0] * np.nan}, "query holds NaN or infinity"),
    "query of integers": (lambda E: {"query": np.eye(8, dtype=int)[0]}, "query must be float32.*got int64"),
    "scores too few": (lambda E: {"query": None, "scores": np.ones(29)}, r"scores must have shape \(30,\)"),
    "scores with NaN": (
        lambda E: {"query": None, "scores": np.where(np.arange(30) == 4, np.nan, 1.0)},
        "scores: entry 4 is nan; every score must be finite",
    ),
    "scores of words": (lambda E: {"query": None, "scores": ["a"] * 30}, "scores must be numbers"),
    "vectors in one dimension": (lambda E: {"vectors": E[0]}, r"vectors must be a 2-D array.*got shape \(8,\)"),
    "no vectors": (lambda E: {"vectors": E[:0]}, "vectors must have at least one row"),
    "integer vectors": (lambda E: {"vectors": np.eye(8, dtype=int)}, "vectors must be float32.*got int64; convert"),
    "complex vectors": (lambda E: {"vectors": E.astype(complex)}, "vectors must be float32.*got complex128"),
    "foreign byte order": (lambda E: {"vectors": E.astype(">f4")}, "vectors must be float32.*got >f4"),
    "columns first": (lambda E: {"vectors": np.asfortranarray(E)}, "pass np.ascontiguousarray"),
    "ragged rows": (lambda E: {"vectors": [[1.0, 0.0], [1.0]]}, "vectors must be an array of numbers; its rows"),
    "ragged query": (lambda E: {"query": [[1.0], [1.0, 0.0]]}, "query must be an array of numbers"),
    "masked array": (lambda E: {"vectors": np.ma.masked_array(E)}, "vectors is a masked array"),
    "a class": (lambda E: {"vectors": ArrayOracle}, "got the class ArrayOracle; make one"),
    "penalty of another method": (lambda E: {"method": "greedy", "penalty": 3.0}, "has no option 'penalty'"),
    "choose without auto": (lambda E: {"choose": len}, "choose takes a function and goes with theta='auto'"),
    "auto and keep": (
        lambda E: {"theta": "auto", "keep": 0.9},
        "pass theta or keep, not both; got theta='auto' and keep=0.9",
    ),
    "keep beyond one": (lambda E: {"keep": 1.2}, r"keep must be in \[0, 1\], got 1.2"),
    "keep with another method": (lambda E: {"keep": 0.9, "method": "mmr"}, "work with method='certified'"),
    "vectors not unit": (lambda E: {"vectors": 1.01 * E}, "row 0 has length 1.01, not 1; divide every row"),
}


@pytest.mark.parametrize("name", sorted(BAD_CALLS))
def test_bad_input_is_an_error_that_says_what_to_do(E, name):
    make, message = BAD_CALLS[name]
    arguments = {"vectors": E, "query": E[0], "k": 3, **make(E)}
    vectors = arguments.pop("vectors")
    with pytest.raises(InputError, match=message):
        breadth.select(vectors, arguments.pop("query"), **arguments, sharpness=1)


def test_scores_on_an_engine_that_cannot_take_them(E):
    with pytest.raises(OracleError, match=r"scores need an array or an oracle with with_scores.*SearchOnly"):
        breadth.select(SearchOnly(E), scores=np.ones(30), k=3, sharpness=1)


class Half:
    def top(self, directions, m): ...

    size, dim, exact = 30, 8, True


class Wrong(SearchOnly):
    """Breaks the protocol in a way that is told."""

    def __init__(self, E, how):
        super().__init__(E)
        self.top, self.exact = lambda directions, m: how(*self._inner.top(directions, m)), True


BROKEN = {
    "nothing": (lambda ids, scores: (ids[:, :0], scores[:, :0]), r"found 0 of the \d+ rows .* at least \d+ are needed"),
    "negative": (lambda ids, scores: (np.where(ids == ids[:, :1], -1, ids), scores), "a negative id|found 0 of the 1 "),
    "twice": (
        lambda ids, scores: (np.repeat(ids[:, :1], ids.shape[1], axis=1), scores),
        "the same id twice for one direction",
    ),
    "one dimension": (lambda ids, scores: (ids[0], scores[0]), "asked for .* answered with ids of shape"),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
@pytest.mark.parametrize("method", ["topk", "greedy", "frank_wolfe", "certified"])
def test_an_engine_that_breaks_the_protocol_is_an_error(E, name, method):
    how, message = BROKEN[name]
    with pytest.raises(OracleError, match=message):
        breadth.select(Wrong(E, how), E[0], k=3, method=method, sharpness=1)


def test_an_engine_with_long_rows_cannot_get_a_certificate(E):
    oracle = SearchOnly(E)
    oracle.exact = True
    long = ArrayOracle.over_block(3 * E, None)
    oracle.top, oracle.rows, oracle.mean = long.top, long.rows, long.mean
    with pytest.raises(OracleError, match="contradicts itself"):
        breadth.select(oracle, E[0], k=3, method="frank_wolfe")


def test_half_an_oracle_is_told_what_it_lacks(E):
    with pytest.raises(OracleError, match="Half is not an oracle: it lacks rows, mean"):
        breadth.select(Half(), E[0], k=3, sharpness=1)


def test_wrapped_oracles_take_scores(E):
    plain = breadth.select(E, scores=E @ E[0], k=3, sharpness=1)
    for wrap in (breadth.CountingOracle, breadth.CachingOracle):
        assert list(breadth.select(wrap(ArrayOracle(E)), scores=E @ E[0], k=3, sharpness=1).ids) == list(plain.ids)


def test_every_error_has_one_base():
    assert issubclass(InputError, BreadthError)
    assert issubclass(InputError, ValueError)
    assert issubclass(OracleError, BreadthError)
    assert str(breadth.MissingExtraError("thing", "extra")).endswith(
        "in your clone of breadth, run: pip install '.[extra]'"
    )


def test_arrays_lists_and_oracles_are_the_same(E):
    array = breadth.select(E.astype(np.float64), E[0], k=4, sharpness=1)
    for vectors in (E.astype(np.float64).tolist(), ArrayOracle(E.astype(np.float64))):
        assert list(breadth.select(vectors, E[0], k=4, sharpness=1).ids) == list(array.ids)


def test_float16_rows_and_queries_are_accepted(E):
    half = breadth.select(E.astype(np.float16), E[0].astype(np.float16), k=4, theta=0.5, sharpness=1)
    assert half.certificate is not None
    assert half.objective == pytest.approx(breadth.select(E, E[0], k=4, theta=0.5, sharpness=1).objective, abs=1e-3)


def test_the_input_is_never_changed(E):
    before, query = E.copy(), E[0].copy()
    for method in breadth.methods():
        breadth.select(E, query, k=3, theta=0.5, method=method, sharpness=1)
    np.testing.assert_array_equal(E, before)
    np.testing.assert_array_equal(query, before[0])


def test_what_a_selection_holds(E):
    found = breadth.select(E, E[0], k=4, theta=0.7, sharpness=1)
    assert found.ids.dtype == np.int64
    assert found.scores.dtype == np.float64
    assert {"scans", "seconds", "rows"} <= set(found.stats)
    assert "objective=" in repr(found)
    assert "gap=" in repr(found)
    assert found.objective == pytest.approx(0.7 * found.relevance + 0.3 * (found.diversity - 1))
