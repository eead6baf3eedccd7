"""PostgreSQL with pgvector: what the catalog says, connections that end, time limits, both drivers, knobs."""

from __future__ import annotations

import asyncio
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import psycopg
import pytest

import breadth
from breadth import EngineError, InputError
from tests.engines.pages import run_code
from tests.engines.servers.postgres import postgres
from tests.engines.stores.pgvector import make_table, write
from tests.synthetic import clustered

ROWS = clustered(np.random.default_rng(1), 3000, 16)
QUERY = ROWS[7].astype(np.float64)
OTHERS = "pid <> pg_backend_pid() AND datname IS NOT NULL"
"""The other connections to the server."""


@pytest.fixture(scope="module")
def server():
    with postgres() as running:
        yield running


@pytest.fixture
def run(server):
    """Execute a statement."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        yield connection.execute


@pytest.fixture
def table(server):
    """The name of a new table of `ROWS`."""
    name = f"t{uuid.uuid4().hex}"
    make_table(server.url, name, ROWS)
    return name


def open_table(server, name, **settings):
    return breadth.oracles.pgvector(server.url, name, text="body", **settings)


def best(m):
    return set(np.argsort(-(ROWS @ QUERY))[:m].tolist())


# What the catalog says


@pytest.mark.parametrize(
    ("columns", "settings", "message"),
    [
        ("id int PRIMARY KEY, body text", {}, "has no column of the type vector"),
        ("id int PRIMARY KEY, body text, a vector(3), b vector(3)", {}, "several: a, b; pass vectors=COLUMN"),
        ("id int PRIMARY KEY, body text, a vector(3)", {"vectors": "b"}, "has no column"),
        ("id int, body text, a vector(3)", {}, "has no primary key; pass key=COLUMN"),
        ("id int, body text, a vector(3), PRIMARY KEY (id, body)", {}, "a primary key of 2 columns; pass key=COLUMN"),
        ("id int PRIMARY KEY, body text, a vector(3)", {"key": "no"}, "there is no column 'no'; there are id, body, a"),
        ("id int PRIMARY KEY, body text, a vector", {}, "is empty, and its vectors have no fixed dimension"),
        ("id int PRIMARY KEY, body text, a vector(3)", {"metric": "hamming"}, "metric must be one of"),
        ("id int PRIMARY KEY, body text, a vector(3)", {"timeout": -1}, "timeout must be"),
        ("id int PRIMARY KEY, body text, a vector(3)", {"connections": 0}, "connections must be"),
        ("id int PRIMARY KEY, body text, a vector(3)", {"where": {"nothing": 1}}, "has no column 'nothing'"),
    ],
)
def test_a_table_that_cannot_be_served_says_why(server, run, columns, settings, message):
    name = f"t{uuid.uuid4().hex}"
    run(f"CREATE TABLE {name} ({columns})")
    with pytest.raises(InputError, match=message):
        open_table(server, name, **settings)


def test_a_table_that_is_not_there(server, run):
    with pytest.raises(InputError, match="no table 'nothing' that this user can see"):
        open_table(server, "nothing")


def test_a_database_without_the_extension(server, run):
    run("CREATE DATABASE bare")
    with pytest.raises(InputError, match="does not have pgvector; run CREATE EXTENSION vector"):
        breadth.oracles.pgvector(server.url.removesuffix("/postgres") + "/bare", "docs")


def test_names_are_quoted_and_values_are_bound(server, run):
    schema, name, column = 'my "schema"', "Robert'); DROP TABLE students;--", 'a "b" %s {c}'
    run("CREATE TABLE students (id int)")
    quoted = psycopg.sql.Identifier(schema, name).as_string()
    run(f"CREATE SCHEMA {psycopg.sql.Identifier(schema).as_string()}")
    v = psycopg.sql.Identifier(column).as_string()
    run(f'CREATE TABLE {quoted} ("Key" text PRIMARY KEY, {v} vector(16), "we""ird" text)')
    key = "x'; DROP TABLE students;--"
    run(psycopg.sql.SQL("INSERT INTO {} VALUES (%s, %s, %s)").format(psycopg.sql.Identifier(schema, name)),
        [key, write(ROWS[0]), "50 % of {them}"])  # fmt: skip
    with open_named(server, f"{schema}.{name}") as oracle:
        assert oracle.filtered({'we"ird': "50 % of {them}"}).size == 1
        assert oracle.filtered({'we"ird': "'; DROP TABLE students;--"}).size == 0
        ids, _, rows = oracle.top_rows(QUERY[None], 3)
        assert oracle.keys(ids[0]).tolist() == [key]
        np.testing.assert_array_equal(rows[0, 0], ROWS[0])
        assert oracle.rows(oracle.handles([key])).shape == (1, 16)
    assert run("SELECT count(*) FROM students").fetchone() == (0,)


def open_named(server, name):
    return breadth.oracles.pgvector(server.url, name)


def test_rows_without_a_vector_are_not_there(server, run, table):
    run(f"INSERT INTO {table} (key, body) VALUES (5000, 'no vector')")
    with open_table(server, table) as oracle:
        assert oracle.size == len(ROWS)
        assert oracle.top(QUERY[None], 4000)[0].shape == (1, len(ROWS))


def test_negative_keys_are_named(server, run, table):
    run(f"UPDATE {table} SET key = -1 WHERE key = 7")
    with open_table(server, table) as oracle:
        assert -1 in breadth.select(oracle, QUERY, k=5).ids.tolist()


def test_a_key_that_is_given(server, run, table):
    run(f"ALTER TABLE {table} ADD COLUMN own uuid DEFAULT gen_random_uuid()")
    with open_table(server, table, key="own") as oracle:
        chosen = breadth.select(oracle, QUERY, k=5)
        assert all(isinstance(key, uuid.UUID) for key in chosen.ids)
        pinned = breadth.select(oracle, QUERY, k=5, pinned=[str(chosen.ids[-1])])  # as text as well
        assert chosen.ids[-1] in pinned.ids.tolist()


# Metrics


def test_rows_of_another_length_are_refused_with_the_remedy(server, run, table):
    run(f"UPDATE {table} SET embedding = embedding * array_fill(2, ARRAY[16])::vector")
    message = rf"a row has length 2, not 1; divide .*UPDATE {table} SET embedding = l2_normalize\(embedding\).*cosine"
    with pytest.raises(InputError, match=message):
        open_table(server, table)
    run(f"CREATE INDEX ON {table} USING hnsw (embedding vector_l2_ops)")
    with pytest.raises(InputError, match=message):
        open_table(server, table)
    with open_table(server, table, metric="cosine") as oracle:
        assert oracle.exact  # the index is of another metric
        np.testing.assert_allclose(oracle.rows(np.array([3])), ROWS[[3]], atol=1e-6)
        np.testing.assert_allclose(oracle.mean(), ROWS.mean(axis=0), atol=1e-6)
    run(f"CREATE INDEX ON {table} USING hnsw (embedding vector_cosine_ops)")
    with open_table(server, table, metric="cosine") as oracle:
        assert not oracle.exact


def test_the_metric_of_the_index_is_used(server, run, table):
    for operators in ("vector_l2_ops", "vector_cosine_ops", "vector_ip_ops"):
        run(f"CREATE INDEX ON {table} USING hnsw (embedding {operators})")
        with open_table(server, table) as oracle:
            assert not oracle.exact
            ids, scores = oracle.top(3.0 * QUERY[None], 20)
            np.testing.assert_allclose(scores[0], 3.0 * (ROWS[ids[0]] @ QUERY), atol=1e-5)


# Indexes


@pytest.fixture
def indexed(run, table):
    run(f"CREATE INDEX ON {table} USING hnsw (embedding vector_ip_ops)")
    return table


def index_only(server):
    """An address that makes PostgreSQL use an index wherever it can."""
    return server.url + "?options=-c%20enable_seqscan%3Doff"


def test_hnsw_returns_more_rows_than_ef_search_can_be(server, indexed):
    with breadth.oracles.pgvector(index_only(server), indexed) as oracle:
        for m in (10, 500, 1000, 1500):
            ids = oracle.top(QUERY[None], m)[0][0]
            assert (ids >= 0).sum() == m
        assert len(best(100) & set(oracle.top(QUERY[None], 100)[0][0].tolist())) >= 90


def test_ef_search_is_raised_but_never_lowered(server, run, indexed):
    with breadth.oracles.pgvector(index_only(server), indexed, ef_search=800) as oracle:
        assert set(oracle.top(QUERY[None], 20)[0][0].tolist()) == best(20)
    assert run("SHOW hnsw.ef_search").fetchone() == ("40",)  # set for one request alone


def test_filters_on_an_index_bring_as_many_rows_as_are_asked_for(server, run, indexed, monkeypatch):
    from breadth.engines.pgvector import collection

    monkeypatch.setattr(collection, "FEW", 0)  # no scan of what a filter leaves
    run(f"ALTER TABLE {indexed} ADD COLUMN part int")
    run(f"UPDATE {indexed} SET part = key % 10")
    with breadth.oracles.pgvector(index_only(server), indexed) as oracle:
        inside = oracle.filtered({"part": 3})
        assert not inside.exact
        ids = inside.top(QUERY[None], 200)[0][0]
        assert len(ids) == 200
        assert (ids % 10 == 3).all()


def test_a_filter_that_leaves_few_rows_is_exact(server, run, indexed):
    run(f"ALTER TABLE {indexed} ADD COLUMN part int")
    run(f"UPDATE {indexed} SET part = key % 10")
    with open_table(server, indexed) as oracle:
        inside = oracle.filtered({"part": 3})
        assert inside.exact
        assert not oracle.exact
        assert breadth.select(inside, QUERY, k=5).certificate.exact


def test_audit_counts_what_the_index_missed(server, indexed):
    with open_table(server, indexed) as oracle:
        chosen = breadth.select(oracle, QUERY, k=10, audit=True)
        assert 0.5 <= chosen.stats["recall"] <= 1.0


# Connections


def test_one_request_brings_ids_and_rows(server, table):
    with open_table(server, table) as oracle:
        stats = breadth.select(oracle, QUERY, k=10).stats
        assert stats["requests"] == 1


def test_a_connection_that_the_server_has_closed_is_replaced(server, run, table):
    with open_table(server, table) as oracle:
        oracle.top(QUERY[None], 3)
        run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {OTHERS}")
        assert oracle.top(QUERY[None], 3)[0][0, 0] == 7


def test_connections_are_few_and_shared(server, run, table):
    with open_table(server, table, connections=2) as oracle:
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(lambda _: oracle.top(QUERY[None], 5)[0][0, 0], range(40)))
        assert set(answers) == {7}
        assert run(f"SELECT count(*) FROM pg_stat_activity WHERE {OTHERS}").fetchone()[0] <= 2


def test_a_closed_oracle_says_so(server, table):
    oracle = open_table(server, table)
    inside = oracle.filtered({"key": {"$lt": 10}})
    oracle.close()
    for closed in (oracle, inside):
        with pytest.raises(EngineError, match="this oracle was closed"):
            closed.top(QUERY[None], 3)


def test_a_slow_answer_is_an_error_within_the_time_limit(server, table):
    with open_table(server, table, timeout=0.5) as oracle, psycopg.connect(server.url) as other:
        other.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        started = time.monotonic()
        with pytest.raises(EngineError, match=r"no answer within 0.5 seconds; raise `timeout`"):
            oracle.top(QUERY[None], 3)
        assert time.monotonic() - started < 3.0
        other.rollback()
        assert oracle.top(QUERY[None], 3)[0][0, 0] == 7


def test_a_server_that_halts_is_an_error_within_the_time_limit(server, table):
    with open_table(server, table, timeout=1.0) as oracle:
        with server.halted():
            started = time.monotonic()
            with pytest.raises(EngineError, match="no answer within 1 seconds"):
                oracle.top(QUERY[None], 3)
            assert time.monotonic() - started < 4.0
        assert oracle.top(QUERY[None], 3)[0][0, 0] == 7


def test_messages_do_not_tell_the_password(server):
    url = server.url.replace("postgres@", "postgres:secret@").removesuffix("/postgres") + "/nothing"
    with pytest.raises(EngineError) as caught:
        breadth.oracles.pgvector(url, "docs")
    assert "secret" not in str(caught.value)


# Asynchronous


def test_many_selections_are_under_way_at_the_same_time(server, run, table):
    async def select_all():
        async with await breadth.oracles.apgvector(server.url, table, connections=3) as oracle:
            asked = [breadth.aselect(oracle, row, k=5) for row in ROWS[:25]]
            inside = await oracle.filtered({"key": {"$lt": 100}})
            few = await breadth.aselect(inside, QUERY, k=5)
            return await asyncio.gather(*asked), few, await oracle.mean()

    found, few, mean = asyncio.run(select_all())
    for row, selection in zip(ROWS[:25], found, strict=True):
        np.testing.assert_array_equal(selection.ids, breadth.select(ROWS, row, k=5).ids)
    assert max(few.ids.tolist()) < 100
    np.testing.assert_allclose(mean, ROWS.mean(axis=0), atol=1e-6)


def test_a_halted_server_and_a_cancelled_task_leave_the_pool_usable(server, table):
    async def ask():
        async with await breadth.oracles.apgvector(server.url, table, timeout=1.0, connections=1) as oracle:
            with server.halted():
                started = time.monotonic()
                with pytest.raises(EngineError, match="no answer within 1 seconds"):
                    await oracle.top(QUERY[None], 3)
                assert time.monotonic() - started < 4.0
            task = asyncio.create_task(oracle.top(ROWS.astype(np.float64), 100))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            found = await oracle.top(QUERY[None], 3)
            await oracle.close()
            with pytest.raises(EngineError, match="this oracle was closed"):
                await oracle.top(QUERY[None], 3)
            return found[0][0, 0]

    assert asyncio.run(ask()) == 7


# The end of the server


def test_a_server_that_is_gone_is_an_error():
    with postgres() as server:
        make_table(server.url, "docs", ROWS[:100])
        with closing(breadth.oracles.pgvector(server.url, "docs", timeout=2.0)) as oracle:
            oracle.top(QUERY[None], 3)
            server.kill()
            started = time.monotonic()
            with pytest.raises(EngineError, match="Connection refused"):
                oracle.top(QUERY[None], 3)
            with pytest.raises(EngineError):
                breadth.select(oracle, QUERY, k=5)
            assert time.monotonic() - started < 4.0
        with pytest.raises(EngineError, match="Connection refused"):
            breadth.open(f"{server.url}?table=docs")


def test_an_address_opens_a_table(server, table):
    with breadth.open(f"{server.url}?table={table}&exact=true&connect_timeout=3") as oracle:
        assert (oracle.size, oracle.dim, oracle.exact) == (len(ROWS), 16, True)


def test_the_code_of_the_page_runs(server):
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE page")
    run_code("pgvector", url=server.url.removesuffix("/postgres") + "/page")
