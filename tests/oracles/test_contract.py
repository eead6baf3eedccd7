"""One suite for all oracles: whatever the registry lists is tested here, by itself and inside every wrapper.

What is special to one engine (its file, its kernels, its devices) is tested in a file of its own.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import pkgutil
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import breadth.oracles
from breadth import InputError, MissingExtraError
from breadth.errors import hint_install
from breadth.oracles import (
    ORACLES,
    WRAPPERS,
    Oracle,
    OracleKind,
    ReachingOracle,
    RelevanceOracle,
    ScoringOracle,
    describe,
)
from breadth.testing import check_oracle
from breadth.testing.promises import assert_above, assert_mean, assert_rows, assert_scores, assert_top, brute_force
from tests.oracles.test_wrappers import SearchOnly
from tests.synthetic import SHAPES, clustered, isotropic

ROOT = Path(__file__).parents[2]
DTYPES = ("float16", "float32", "float64")

BARE = OracleKind("search only", SearchOnly, "", exact=False, scores_all=False, reaches=False, takes_scores=False)
"""An engine without any optional ability. Wrappers must not pretend that it has one."""


def wrappings(kind: OracleKind) -> list[OracleKind]:
    """The kind inside every wrapper: the same traits."""
    return [
        replace(kind, name=f"{wrapper.name} {kind.name}", build=lambda E, w=wrapper.wrap: w(kind.build(E)))
        for wrapper in WRAPPERS.values()
    ]


LISTED = [each for kind in ORACLES.values() for each in (kind, *wrappings(kind))]
EVERY = [*LISTED, BARE, *wrappings(BARE)]


def parametrize(kinds: list[OracleKind]) -> Any:
    return pytest.mark.parametrize("kind", kinds, ids=lambda kind: kind.name.replace(" ", "-"))


every_kind = parametrize(EVERY)
scoring_kinds = parametrize([kind for kind in EVERY if kind.scores_all])
reaching_kinds = parametrize([kind for kind in EVERY if kind.reaches])
relevance_kinds = parametrize([kind for kind in EVERY if kind.takes_scores])


@dataclass
class Asked:
    """Rows, and directions of any length."""

    rows: np.ndarray
    directions: np.ndarray
    rng: np.random.Generator

    @property
    def size(self) -> int:
        return len(self.rows)


@st.composite
def collections(draw, dtypes: tuple[str, ...] = DTYPES, more: int = 0) -> Asked:
    """A small collection of one of the shapes, with directions of `more` coordinates more than the rows have."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 60)), draw(st.integers(1, 12))
    rows = SHAPES[draw(st.sampled_from(sorted(SHAPES)))](rng, n, d).astype(draw(st.sampled_from(dtypes)))
    b = draw(st.sampled_from([0, 1, 2, 3, 9]))
    lengths = [draw(st.sampled_from([0.0, 0.01, 1.0, 50.0])) for _ in range(b)]
    directions = np.reshape(lengths, (b, 1)) * rng.standard_normal((b, d + more))
    return Asked(rows, directions.astype(draw(st.sampled_from(["float32", "float64"]))), rng)


@pytest.fixture(scope="module")
def large() -> Asked:
    """So many rows that sweeps run in blocks and on all cores, and searches by threshold look at a sample first."""
    rng = np.random.default_rng(11)
    return Asked(clustered(rng, 20_000, 64), rng.standard_normal((3, 64)), rng)


# Traits


def test_every_oracle_of_the_package_is_listed(rng):
    E = isotropic(rng, 5, 3)
    listed = {type(kind.build(E)) for kind in ORACLES.values()}
    listed |= {type(wrapper.wrap(SearchOnly(E))) for wrapper in WRAPPERS.values()}
    modules = [import_module(m.name) for m in pkgutil.walk_packages(breadth.oracles.__path__, "breadth.oracles.")]
    there = {
        found
        for module in modules
        for name, found in inspect.getmembers(module, inspect.isclass)
        if hasattr(found, "top") and not name.startswith("_") and not getattr(found, "_is_protocol", False)
    }
    assert listed == there


def test_the_registry_is_complete():
    for registry in (ORACLES, WRAPPERS):
        for name, kind in registry.items():
            assert kind.name == name
            assert kind.description
            assert "\n" not in kind.description


@every_kind
def test_traits_are_what_the_oracle_can_do(kind, rng):
    oracle = kind.build(isotropic(rng, 30, 4))
    assert isinstance(oracle, Oracle)
    assert isinstance(oracle, ScoringOracle) == kind.scores_all
    assert isinstance(oracle, ReachingOracle) == kind.reaches
    assert isinstance(oracle, RelevanceOracle) == kind.takes_scores
    assert (oracle.size, oracle.dim, oracle.exact) == (30, 4, kind.exact)
    facts = describe(oracle)
    assert (facts.size, facts.dim, facts.exact) == (30, 4, kind.exact)
    assert (facts.scores_all, facts.reaches) == (kind.scores_all, kind.reaches)


@parametrize([kind for kind in ORACLES.values() if kind.extra is not None])
def test_a_missing_package_is_named(kind, rng, monkeypatch):
    declared = re.search(rf"^{kind.extra} = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert declared is not None, f"pyproject.toml has no extra {kind.extra!r}"
    packages = set(re.findall(r'"([\w-]+)', declared[1]))
    modules = [m for m, found in importlib.metadata.packages_distributions().items() if packages & set(found)]
    assert modules
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=re.escape(hint_install(kind.extra))):
        kind.build(isotropic(rng, 5, 3))


@every_kind
def test_the_public_contract_is_kept(kind):
    report = check_oracle(kind.build, takes_empty=False)
    assert {"queries", "directions", "rows", "mean", "default selection", "constraints"} <= set(report.passed)
    assert ("sharpness 1" in report.passed) == kind.exact


# Searches


@every_kind
@settings(max_examples=30)
@given(data=st.data())
def test_top_is_what_brute_force_finds(kind, data):
    asked = data.draw(collections(kind.dtypes))
    oracle = kind.build(asked.rows)
    for m in (data.draw(st.integers(1, asked.size)), asked.size):
        assert_top(oracle, asked.rows, asked.directions, m)


@scoring_kinds
@settings(max_examples=20)
@given(data=st.data())
def test_scores_are_those_of_all_rows(kind, data):
    asked = data.draw(collections(kind.dtypes))
    assert_scores(kind.build(asked.rows), asked.rows, asked.directions)


@reaching_kinds
@settings(max_examples=40)
@given(data=st.data())
def test_a_search_by_threshold_misses_nothing(kind, data):
    asked = data.draw(collections(kind.dtypes))
    assert_above(kind.build(asked.rows), asked.rows, asked.directions, **threshold_searches(data, asked.rows, asked))


def threshold_searches(data, rows: np.ndarray, asked: Asked) -> dict[str, Any]:
    """Thresholds between rows and beyond all of them, room for few rows or for many, among all rows or some."""
    exact, n = brute_force(rows, asked.directions), asked.size
    places = st.sampled_from([0.0, 0.5, 0.9, 1.0, -np.inf, np.inf])
    chosen = [data.draw(places) for _ in exact]
    thresholds = [np.quantile(line, p) if np.isfinite(p) else p for line, p in zip(exact, chosen, strict=True)]
    most = [data.draw(st.one_of(st.integers(1, n), st.just(2 * n))) for _ in exact]
    within = (
        np.sort(asked.rng.choice(n, data.draw(st.integers(0, n)), replace=False)) if data.draw(st.booleans()) else None
    )
    return {
        "thresholds": np.array(thresholds, dtype=np.float64),
        "most": np.array(most, dtype=np.int64),
        "within": within,
    }


@every_kind
def test_large_collections(kind, large):
    E, W = large.rows, large.directions
    oracle = kind.build(E)
    for directions, m in ((W, 50), (W[:1], 3000), (isotropic(large.rng, 9, 64), 5)):
        assert_top(oracle, E, directions, m)
    assert_mean(oracle, E)
    if kind.scores_all:
        assert_scores(oracle, E, W)
    if kind.reaches:
        exact = brute_force(E, W)
        for quantile, most in ((0.99, 1000), (0.5, 5000), (0.0, 40_000)):
            assert_above(oracle, E, W, np.quantile(exact, quantile, axis=1), np.full(3, most))
        assert_above(oracle, E, W, np.full(3, -np.inf), np.full(3, 5000))


# Rows


@every_kind
@settings(max_examples=15)
@given(data=st.data())
def test_rows_and_their_mean(kind, data):
    asked = data.draw(collections(kind.dtypes))
    oracle = kind.build(asked.rows)
    n = asked.size
    some = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=2 * n)), dtype=np.int64)
    for ids in (some, np.arange(n), np.array([n - 1, 0, n - 1]), some[:0]):
        assert_rows(oracle, asked.rows, ids)
    assert_mean(oracle, asked.rows)


@pytest.mark.parametrize("dtype", DTYPES)
@every_kind
def test_no_row_is_longer_than_the_facts_say(kind, rng, dtype):
    if dtype not in kind.dtypes:
        with pytest.raises(InputError, match=dtype):
            kind.build(isotropic(rng, 10, 16).astype(dtype))
        return
    E = isotropic(rng, 200, 16).astype(dtype)
    error = np.abs(np.square(E.astype(np.float64)).sum(axis=1) - 1.0).max()
    facts = describe(kind.build(E))
    assert facts.length_error >= error - 1e-6
    assert facts.max_squared_norm == 1.0 + facts.length_error
    if kind in LISTED:  # measured, not assumed
        assert facts.length_error == pytest.approx(error, abs=1e-6)
        assert (facts.length_error > 1e-5) == (dtype == "float16")


# Relevance from outside


@relevance_kinds
@settings(max_examples=30)
@given(data=st.data())
def test_relevance_is_one_more_coordinate(kind, data):
    asked = data.draw(collections(kind.dtypes, more=1))
    relevance = data.draw(st.sampled_from([0.0, 1.0, 100.0])) * asked.rng.standard_normal(asked.size)
    plain = kind.build(asked.rows)
    plain.mean()  # an oracle may keep it, but it is not the mean with relevance
    oracle = plain.with_scores(np.zeros(asked.size)).with_scores(relevance)  # the last ones count
    rows = np.column_stack((asked.rows.astype(np.float64), relevance))
    assert describe(oracle) == replace(describe(plain), dim=plain.dim + 1)
    assert isinstance(oracle, RelevanceOracle)
    assert_top(oracle, rows, asked.directions, data.draw(st.integers(1, asked.size)))
    assert_mean(oracle, rows)
    ids = asked.rng.integers(asked.size, size=5)
    np.testing.assert_allclose(oracle.rows(ids), rows[ids], atol=1e-7)
    np.testing.assert_array_equal(
        oracle.rows(ids)[:, -1], relevance[ids]
    )  # in full, whatever the precision of the rows
    if kind.scores_all:
        assert_scores(oracle, rows, asked.directions)
    if kind.reaches:
        assert_above(oracle, rows, asked.directions, **threshold_searches(data, rows, asked))
    assert plain.dim == asked.rows.shape[1]
    assert_top(plain, asked.rows, asked.directions[:, :-1], 1)


@relevance_kinds
def test_wrong_relevance_is_refused(kind, rng):
    oracle = kind.build(isotropic(rng, 10, 4))
    for scores, message in (
        (np.ones(9), r"scores must have shape \(10,\).*got \(9,\)"),
        (np.ones((10, 1)), r"scores must have shape \(10,\)"),
        (np.where(np.arange(10) == 6, np.nan, 1.0), "scores: entry 6 is nan"),
        (np.full(10, "high"), "scores must be numbers"),
    ):
        with pytest.raises(InputError, match=message):
            oracle.with_scores(scores)


# What is refused, and who may ask


@every_kind
def test_wrong_rows_are_refused(kind, rng):
    E = isotropic(rng, 30, 4)
    seventh = np.arange(30)[:, None] == 7
    for wrong, message in (
        (np.where(seventh, np.float32(np.nan), E), "vectors: row 7 holds NaN"),
        (np.where(seventh, np.float32(np.inf), E), "vectors: row 7 holds NaN, infinity"),
        (np.where(seventh, np.float32(0.0), E), "vectors: row 7 is all zeros"),
        (np.where(seventh, 2 * E, E), "vectors: row 7 has length 2, not 1; divide every row"),
        (1.01 * E, r"vectors: row 0 has length 1\.01, not 1"),
        (np.eye(3, dtype=np.int64), "vectors must be float32, .*got int64"),
        (E[0], r"vectors must be a 2-D array .*got shape \(4,\)"),
        (E[None], "vectors must be a 2-D array"),
        (E[:0], r"vectors must have at least one row .*got shape \(0, 4\)"),
        (E[:, :0], r"vectors must have at least one row .*got shape \(30, 0\)"),
        (np.asfortranarray(E), "vectors must have its rows contiguous"),
        (np.ma.masked_array(E), "vectors is a masked array"),
    ):
        with pytest.raises(InputError, match=message):
            kind.build(wrong)


@every_kind
def test_threads_may_ask_at_once(kind, rng):
    E = clustered(rng, 3000, 16)
    oracle = kind.build(E)
    questions = [(rng.standard_normal((3, 16)), int(rng.integers(1, 200))) for _ in range(12)]

    def ask(question: tuple[np.ndarray, int]) -> list[np.ndarray]:
        W, m = question
        ids, scores = oracle.top(W, m)
        answers = [ids, scores, oracle.rows(ids[0]), oracle.mean()]
        if kind.scores_all:
            answers.append(oracle.scores(W))
        if kind.reaches:
            for reached in oracle.above(W, scores[:, -1], np.full(3, 6000)):
                answers += [reached.ids, reached.at_most]
        return answers

    for W, m in questions:
        assert_top(oracle, E, W, m)
    alone = [ask(question) for question in questions]
    oracle = kind.build(E)
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(ask, 4 * questions))
    for ours, theirs in zip(together, 4 * alone, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)
