"""The Ray oracle on a real cluster: the contract, and workers that are killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest

import breadth
from breadth import EngineError, InputError
from breadth.testing import check_oracle
from tests.engines.contract import keep_contract
from tests.engines.pages import run_code
from tests.engines.servers.ray import cluster
from tests.engines.stores import STORES
from tests.synthetic import clustered

ENCLOSED = sorted(name for name, store in STORES.items() if store.enclosed)


@pytest.fixture(scope="module")
def ray():
    with cluster():
        yield breadth.oracles.ray


@pytest.mark.parametrize("store", ENCLOSED, indirect=True)
def test_the_contract_is_kept(store, ray, tmp_path):
    """All checks of the same rows share an oracle, because a worker takes seconds to start."""
    with ExitStack() as stack:
        kept: dict[bytes, Kept] = {}

        def fill(place, rows, **more):
            if rows.tobytes() not in kept:
                kept[rows.tobytes()] = Kept(stack.enter_context(store.fill(place, rows, **more)))
            return kept[rows.tobytes()]

        keep_contract(replace(store, fill=fill), None, tmp_path)
    check_oracle(lambda rows: store.fill(store.place(tmp_path, None), rows), only=("closed",))


class Kept:
    """An oracle that is not closed by those who share it."""

    def __init__(self, oracle):
        self._oracle = oracle

    def __getattr__(self, name):
        if name == "close":
            raise AttributeError(name)
        return getattr(self._oracle, name)


@pytest.fixture(scope="module")
def rows():
    return clustered(np.random.default_rng(3), 20_000, 32)


def test_a_worker_that_is_killed_in_the_middle_of_a_search_is_started_again(ray, rows, rng):
    directions = rng.standard_normal((400, 32))
    expected = breadth.ArrayOracle(rows).top(directions, 50)
    with ray(rows, shards=3) as oracle:
        first = oracle.processes()
        killer = threading.Timer(0.05, os.kill, (first[1], signal.SIGKILL))
        killer.start()
        answers = [oracle.top(directions, 50)]
        while killer.is_alive() or len(answers) < 2:  # at least one search after the death
            answers.append(oracle.top(directions, 50))
        for ids, scores in answers:
            np.testing.assert_array_equal(ids, expected[0])
            np.testing.assert_allclose(scores, expected[1], atol=1e-5)
        later = oracle.processes()
        assert later[1] != first[1], "the worker was not killed"
        assert (later[0], later[2]) == (first[0], first[2])


def test_a_worker_that_is_not_started_again_is_an_error(ray, rows):
    with ray(rows, shards=2, restarts=0) as oracle:
        os.kill(oracle.processes()[1], signal.SIGKILL)
        with pytest.raises(EngineError, match="a shard is lost, so the search has no complete answer"):
            oracle.top(rows[:1], 10)
        with pytest.raises(EngineError, match="a shard is lost"):
            breadth.select(oracle, rows[0], k=5)


def test_a_worker_that_does_not_answer_is_an_error_within_the_time_limit(ray, rows):
    with ray(rows, shards=2, timeout=2.0) as oracle:
        halted = oracle.processes()[0]
        os.kill(halted, signal.SIGSTOP)
        started = time.monotonic()
        with pytest.raises(EngineError, match="2 shards did not all answer within 2 seconds"):
            oracle.top(rows[:1], 10)
        assert time.monotonic() - started < 10.0
        os.kill(halted, signal.SIGCONT)
        assert oracle.top(rows[:1], 1)[0][0, 0] == 0


def test_rows_that_were_not_sent_are_asked_for(ray, rng):
    """All the best rows are in one shard: it sends fewer vectors than are needed."""
    rows = clustered(rng, 3000, 16)
    rows = rows[np.argsort(-(rows @ rows[0]))]
    with ray(rows, shards=2) as oracle:
        ids, _, vectors = oracle.top_rows(rows[:1].astype(np.float64), 600)
        np.testing.assert_array_equal(np.sort(ids[0]), np.arange(600))
        np.testing.assert_array_equal(vectors[0], rows[ids[0]])


def test_files_are_shards(ray, rows, tmp_path):
    np.save(tmp_path / "first.npy", rows[:500])
    breadth.CompactOracle.build(rows[500:1200]).save(tmp_path / "second.compact")
    with ray([tmp_path / "first.npy", tmp_path / "second.compact"]) as oracle:
        found = oracle.top(rows[:3].astype(np.float64), 40)
        np.testing.assert_array_equal(found[0], breadth.ArrayOracle(rows[:1200]).top(rows[:3], 40)[0])
    np.save(tmp_path / "wider.npy", clustered(np.random.default_rng(0), 50, 16))
    with pytest.raises(InputError, match="different dimensions"):
        ray([tmp_path / "first.npy", tmp_path / "wider.npy"])


@pytest.mark.parametrize(
    ("vectors", "settings", "message"),
    [
        (np.eye(4, dtype=np.float32), {"shards": 5}, "shards must be at most the number of rows"),
        (
            2 * np.eye(4, dtype=np.float32),
            {"shards": 2},
            r"the shard of the rows \d to \d: vectors: row 0 has length 2",
        ),
        ("not/there.npy", {}, "there is no file"),
        (["a.npy", "b.npy"], {"shards": 3}, "2 files are as many shards"),
        (np.eye(4, dtype=np.float32), {"cpus": 0.0}, "cpus must be"),
        (np.eye(4, dtype=np.float32), {"timeout": "long"}, "timeout must be a number"),
    ],
)
def test_what_is_wrong_is_said(ray, vectors, settings, message):
    with pytest.raises(InputError, match=message):
        ray(vectors, **settings)


def test_an_address_opens_a_file(ray, rows, tmp_path):
    np.save(tmp_path / "rows.npy", rows[:200])
    with breadth.open(f"ray:{tmp_path / 'rows.npy'}?shards=1") as oracle:
        assert (oracle.size, oracle.dim, oracle.exact) == (200, 32, True)
        np.testing.assert_array_equal(oracle.rows(np.array([7, 3, 7])), rows[[7, 3, 7]])


def test_the_code_of_the_page_runs(ray, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_code("ray")
