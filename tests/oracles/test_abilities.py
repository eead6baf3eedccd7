"""Optional abilities of an oracle, as `breadth.select` uses them: rows with ids, limits, keys, audits, fewer rows."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

import breadth
from breadth import ArrayOracle, CachingOracle, CountingOracle, InputError, OracleError
from breadth.engines.keys import KeyBook
from tests.oracles.test_wrappers import SearchOnly
from tests.synthetic import clustered, query_near


@pytest.fixture
def E(rng):
    return clustered(rng, 3000, 24)


@pytest.fixture
def query(rng, E):
    return query_near(rng, E)


class WithRows(SearchOnly):
    """Rows come with ids."""

    exact = True

    def top_rows(self, directions, m):
        ids, scores = self.top(directions, m)
        return ids, scores, self.rows(ids.ravel()).reshape(*ids.shape, -1)


class Named(WithRows):
    """Its ids are texts."""

    def __init__(self, E):
        super().__init__(E)
        book = KeyBook()
        self.keys, self.handles = book.keys, book.handles
        self._handles = book.handles(f"row {i}" for i in range(len(E)))
        places = {handle: place for place, handle in enumerate(self._handles.tolist())}
        inner_top, inner_rows = self.top, self.rows
        self.top = lambda directions, m: (self._handles[inner_top(directions, m)[0]], inner_top(directions, m)[1])
        self.rows = lambda ids: inner_rows(np.array([places[i] for i in ids.tolist()], dtype=np.int64))


class Forgetful(SearchOnly):
    """Never returns more than so many rows, and misses every third one."""

    def __init__(self, E, most=40):
        super().__init__(E)
        self._most = most
        self.exact_top = self._inner.top
        self.top = self._find

    def _find(self, directions, m):
        ids, scores = self._inner.top(directions, min(m + m // 2, self.size))
        kept = np.arange(ids.shape[1]) % 3 != 2
        return ids[:, kept][:, : min(m, self._most)], scores[:, kept][:, : min(m, self._most)]


class Padded(Forgetful):
    """The same, but lines are filled with -1."""

    def _find(self, directions, m):
        ids, scores = super()._find(directions, m)
        more = ((0, 0), (0, m - ids.shape[1]))
        return np.pad(ids, more, constant_values=-1), np.pad(scores, more, constant_values=-3e38)


def test_rows_with_ids_take_one_request(E, query):
    ours, plain = breadth.select(WithRows(E), query, k=10), breadth.select(ArrayOracle(E), query, k=10)
    assert (ours.stats["requests"], plain.stats["requests"]) == (1, 2)
    assert ours.stats["rows"] == 64
    assert ours.objective == pytest.approx(plain.objective, abs=1e-9)
    # The direction and, of each row, its id, its score and 24 numbers.
    assert ours.stats["bytes"] == 24 * 8 + 64 * (8 + 8 + 24 * 4)
    assert breadth.select(WithRows(E), query, k=10, theta=1.0).stats["requests"] == 1


def test_many_queries_share_a_request(E, rng):
    oracle = CountingOracle(WithRows(E))
    queries = np.array([query_near(rng, E) for _ in range(7)])
    together = breadth.select_many(oracle, queries, k=10)
    assert oracle.searches == 1
    assert oracle.rows_fetched == 7 * 64
    for found, q in zip(together, queries, strict=True):
        assert found.objective == pytest.approx(breadth.select(E, q, k=10).objective, abs=1e-9)


def test_what_was_sent_once_is_cached(E, query):
    counting = CountingOracle(WithRows(E))
    caching = CachingOracle(counting)
    first, second = (breadth.select(caching, query, k=10) for _ in range(2))
    assert first.ids.tolist() == second.ids.tolist()
    assert (counting.searches, counting.rows_fetched) == (1, 64)


def test_wrong_answers_of_top_rows_are_errors(E, query):
    class Wrong(WithRows):
        def top_rows(self, directions, m):
            ids, scores, rows = super().top_rows(directions, m)
            return ids, scores, rows[:, 1:]

    with pytest.raises(OracleError, match=r"top_rows\(\) answered with ids of shape \(1, 64\), but rows of shape"):
        breadth.select(Wrong(E), query, k=10)


def test_a_limit_ends_the_search_with_what_is_proved_by_then(E, rng):
    rows = np.repeat(E[:60], 50, axis=0)  # every row fifty times: many rows are needed for ten different ones
    query = query_near(rng, E[:60])

    class Limited(WithRows):
        limit = 100

        def top_rows(self, directions, m):
            assert m <= 100
            return super().top_rows(directions, m)

    ours, array = breadth.select(Limited(rows), query, k=10), breadth.select(rows, query, k=10)
    assert ours.stats["stopped"] == "rows"
    assert ours.stats["asked"] == 10
    assert len(ours.ids) == 2  # a hundred rows are two different ones
    assert len(array.ids) == 10
    assert "rows_lacking" not in ours.stats


@pytest.mark.parametrize("engine", [Forgetful, Padded])
@pytest.mark.parametrize("k", [10, 60])
def test_fewer_rows_than_asked_are_told(E, query, engine, k):
    found = breadth.select(engine(E), query, k=k, distinct=1.0, on_topic=0.0)
    assert len(found.ids) == min(k, 40)
    assert found.stats["rows_lacking"] == max(256, 4 * k) - 40
    assert not found.certificate.exact
    assert ("asked" in found.stats) == (k > 40)
    top = breadth.select(engine(E), query, k=k, theta=1.0)
    assert len(top.ids) == min(k, 40)


@pytest.mark.parametrize("method", ["frank_wolfe", "certified"])
def test_methods_that_need_k_rows_name_the_knobs(E, query, method):
    with pytest.raises(OracleError, match=r"found 40 of the \d+ rows .* at least 50 are needed; let the engine search"):
        breadth.select(Forgetful(E), query, k=50, method=method, sharpness=1, **_start(method))


def _start(method):
    return {"init": "topk"} if method == "frank_wolfe" else {}


def test_an_audit_measures_the_searches_of_the_query(E, query):
    found = breadth.select(Forgetful(E, most=10_000), query, k=10, audit=True)
    assert found.stats["recall"] == pytest.approx(2 / 3, abs=0.01)
    assert breadth.select(WithRows(E), query, k=10, audit=True).stats["recall"] == 1.0
    assert "recall" not in breadth.select(WithRows(E), query, k=10).stats
    with pytest.raises(OracleError, match="SearchOnly cannot be audited: it has no exact scan"):
        breadth.select(SearchOnly(E), query, k=10, audit=True)


def test_an_engines_own_ids_everywhere(E, query):
    oracle, array = Named(E), breadth.select(E, query, k=8, theta=0.5)
    expected = [f"row {i}" for i in array.ids]
    assert breadth.select(oracle, query, k=8, theta=0.5).ids.tolist() == expected
    assert breadth.select_many(oracle, query[None], k=8, theta=0.5)[0].ids.tolist() == expected
    assert asyncio.run(breadth.aselect(oracle, query, k=8, theta=0.5)).ids.tolist() == expected
    curve = breadth.frontier(oracle, query, k=8, thetas=[0.5])
    assert curve[0].ids.tolist() == expected
    seen = []
    breadth.select(oracle, query, k=8, theta="auto", choose=lambda s: seen.extend(s.ids) or s.relevance)
    assert all(isinstance(name, str) and name.startswith("row ") for name in seen)
    text = str(breadth.select(oracle, query, k=8).explain())
    assert "row " in text


def test_wrong_names_are_refused(E, query):
    oracle = Named(E)
    with pytest.raises(InputError, match="pinned must be a list of ids of the engine, got 'row 3'"):
        breadth.select(oracle, query, k=4, pinned="row 3")
    with pytest.raises(InputError, match="pinned names row 'row 3' twice"):
        breadth.select(oracle, query, k=4, pinned=["row 3", "row 3"])
    with pytest.raises(InputError, match="groups has no entry for row 'row "):
        breadth.select(oracle, query, k=4, groups={"row 1": "a"}, per_group=1)


def test_handles_depend_on_the_key_alone():
    first, second = KeyBook(), KeyBook()
    names = ["b", "a", 1, "1", ("x", 2)]
    handles = first.handles(names)
    assert len(set(handles.tolist())) == 5
    assert (handles >= 0).all()
    np.testing.assert_array_equal(second.handles(names[::-1])[::-1], handles)
    assert second.keys(handles).tolist() == names
    with pytest.raises(InputError, match="5 is no row that this oracle has returned"):
        first.keys(np.array([5]))


def test_a_book_forgets_keys_that_nobody_asks_for_any_more():
    book = KeyBook(remembered=100)
    (mine,) = book.handles(["mine"])
    for number in range(1000):
        book.handles([f"unknown {number}"])
        book.handles(["mine"])
        assert book.keys(np.array([mine])).tolist() == ["mine"]
    assert len(book) <= 200
    many = [f"row {number}" for number in range(500)]
    assert book.keys(book.handles(many)).tolist() == many
    gone = KeyBook(remembered=1)
    (first,) = gone.handles(["first"])
    gone.handles(["second"])
    gone.handles(["third"])
    with pytest.raises(InputError, match="is no row that this oracle has returned"):
        gone.keys(np.array([first]))
    assert gone.handles(["first"]) == [first]


def test_an_empty_collection_and_a_filter_without_matches(E, query):
    class Empty(WithRows):
        def __init__(self, E, where):
            super().__init__(E)
            self.size, self.where = 0, where

    with pytest.raises(InputError, match="the collection is empty"):
        breadth.select(Empty(E, None), query, k=3)
    with pytest.raises(InputError, match=r"no row of the collection matches \{'year': 3000\}"):
        breadth.select(Empty(E, {"year": 3000}), query, k=3)
