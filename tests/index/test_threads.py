"""Many threads and processes use one index at once: nothing freezes, every answer shows one committed state."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import breadth
from breadth.errors import StoreError
from breadth.index import Document, Index
from tests.index.letters import CHILD, Letters, documents

_FREEZE = """
import sys, threading, time
from tests.index.letters import Letters, documents
from breadth.index import Index

index = Index.create(sys.argv[1], Letters())
index.add(documents(400), batch=100)
until = time.monotonic() + 4.0
errors, done = [], []

def repeat(work):
    def run():
        count = 0
        while time.monotonic() < until:
            try:
                work(count)
            except Exception as error:
                errors.append(repr(error))
                return
            count += 1
        done.append(count)
    return threading.Thread(target=run)

where = {"source": "cough", "year": {"$gte": 2005}}
threads = [repeat(lambda i: index.search("fever", k=3, where=where)) for _ in range(2)]
threads += [repeat(lambda i: index.search("fever", k=3)), repeat(lambda i: len(index))]
threads += [repeat(lambda i: index.get("d7"))]
threads += [repeat(lambda i: index.lookup("fever", 3)), repeat(lambda i: index.documents(index.oracle().numbers[:3]))]
threads += [repeat(lambda i: index.add(documents(1, start=1000 + i)))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(done), len(threads), errors[:3], min(done))
"""


def test_searches_with_a_filter_beside_other_calls_do_not_freeze_the_interpreter(tmp_path):
    """In a process of its own with a time limit: a frozen interpreter would not even end its test."""
    environment = {**os.environ, **CHILD}
    command = [sys.executable, "-c", _FREEZE, str(tmp_path / "my.index")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    finished, threads, *rest = done.stdout.split(" ", 2)
    assert finished == threads, done.stdout
    assert rest[0].startswith("[] "), done.stdout
    assert int(rest[0].split()[-1]) > 0  # how often depends on what else the machine does


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "my.index", Letters()) as made:
        made.add(documents(300))
        yield made


def test_searches_do_not_wait_for_each_other_or_for_a_writer(index):
    """A search whose choosing takes long, inside a callback, lets others search and write meanwhile."""
    inside, leave = threading.Event(), threading.Event()

    def count(text):
        inside.set()
        assert leave.wait(30)
        return len(text)

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(index.search, "fever", 3, budget=1000, count=count)
        assert inside.wait(30)
        try:
            assert len(index.search("asthma", k=2, where={"source": "cough"})) == 2
            index.add(documents(5, start=300))
            index.optimize()
            assert len(index) == 305
            assert not slow.done()
        finally:
            leave.set()
        assert slow.result().searched == 300  # what was there when it began


def test_what_is_added_is_found_at_once_also_beside_other_readers(index):
    """`oracle()` in one thread used to hide what another thread had just added, until the next change."""
    stop, errors = threading.Event(), []

    def read():
        while not stop.is_set():
            try:
                index.oracle()
                index.oracle({"source": "cough"})
            except Exception as error:
                errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        for i in range(150):
            index.add([Document(f"new {i}", f"zebra number {i}", {"source": "new", "i": i})])
            assert index.oracle().size == 301 + i
            assert index.oracle({"source": "new"}).size == 1 + i
            assert index.search("zebra", k=3, where={"i": i}).ids == [f"new {i}"]
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert errors == []


def test_a_number_is_never_used_for_another_document(index):
    old = index.oracle()
    index.delete([f"d{i}" for i in range(300)])
    index.optimize()
    index.add(documents(300, start=1000))
    assert set(index.oracle().numbers.tolist()).isdisjoint(old.numbers.tolist())
    with pytest.raises(StoreError, match="was deleted or replaced"):
        index.documents(old.numbers[:3])
    found = breadth.select(old, Letters().encode(["fever"])[0], k=3)  # the old vectors are still there to be used
    assert len(found.ids) == 3
    index.update([Document("d1000", "quite another text", {})])
    assert index.documents(index.oracle().numbers[-1:])[0].text == "quite another text"


def test_a_search_begins_again_when_its_documents_were_replaced(index):
    """A writer replaces all documents while a search chooses: the answer shows one state, old or new."""
    rounds = []

    def count(text):
        if len(rounds) < 3:
            rounds.append(1)
            index.update([Document(d.id, f"{d.text} again {len(rounds)}", d.metadata) for d in documents(300)])
        return 1

    found = index.search("fever", k=4, budget=10, count=count)
    assert len(rounds) == 3
    assert all(hit.text.endswith("again 3") for hit in found)


def test_many_queries_share_what_they_read(index, rng):
    texts = ["asthma", "kidney stones", "bone and skin", "fever"]
    for options in ({}, {"where": {"source": "cough"}}, {"hybrid": 0.5}, {"group_by": "source"}, {"pinned": ["d7"]}):
        alone = [index.search(text, k=3, **options) for text in texts]
        together = index.search_many(texts, k=3, **options)
        assert [one.query for one in together] == texts
        for one, other in zip(alone, together, strict=True):
            assert one.selection.objective == pytest.approx(other.selection.objective, abs=1e-6)
            assert (one.searched, one.asked) == (other.searched, other.asked)
    vectors = Letters().encode(texts)
    assert [one.ids for one in index.search_many(vectors, k=3)] == [one.ids for one in index.search_many(texts, k=3)]
    assert [one.query for one in index.search_many([texts[0], vectors[1]])] == [texts[0], None]
    assert index.search_many([], k=3) == []
    assert [len(one) for one in index.search_many(texts, where={"source": "nowhere"})] == [0] * 4
    with pytest.raises(breadth.InputError, match=r"pass \[text\], or use search"):
        index.search_many("asthma")
    with pytest.raises(breadth.InputError, match="query is empty"):
        index.search_many(["asthma", " "])


def test_an_event_loop_goes_on_while_it_searches(index):
    ticks = []

    async def tick():
        while True:
            ticks.append(1)
            await asyncio.sleep(0.001)

    async def run():
        clock = asyncio.create_task(tick())
        found = await asyncio.gather(*(index.asearch(word, 3, where={"source": "cough"}) for word in ("fever", "skin")))
        slow = await index.asearch("fever", 3, budget=100, count=lambda text: time.sleep(0.001) or 1)
        clock.cancel()
        return [*found, slow]

    assert [len(one) for one in asyncio.run(run())] == [3, 3, 3]
    assert len(ticks) > 5


def _search(path):
    with Index.open(path, Letters()) as index:
        return index.search("fever", k=4).ids


def _search_inherited(_):
    return _INHERITED[0].search("fever", k=4, where={"source": "cough"}).ids


_INHERITED: list[Index] = []


def test_processes_search_at_once_also_after_a_fork(index):
    """A child of a fork leaves the connections of its parent alone and opens its own."""
    expected = index.search("fever", k=4).ids
    inside = index.search("fever", k=4, where={"source": "cough"}).ids
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_search, [index.path]) == [expected]
    if not hasattr(os, "fork"):
        return
    _INHERITED[:] = [index]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        running = pool.map_async(_search_inherited, range(6))
        index.add(documents(3, start=500))
        assert running.get(60) == [inside] * 6
    assert len(index) == 303
    assert index.check().ok


def test_several_processes_that_write_take_turns(tmp_path):
    path = tmp_path / "my.index"
    Index.create(path, Letters()).close()
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        acknowledged = [i for some in pool.map(_write_some, [(path, 0), (path, 1)]) for i in some]
    with Index.open(path, Letters()) as index:
        assert {d.id for d in index} >= set(acknowledged)
        assert len(acknowledged) == 40
        assert index.check().ok


def _write_some(task):
    path, own = task
    done = []
    with Index.open(path, Letters()) as index:
        while len(done) < 20:
            identity = f"{own} {len(done)}"
            try:
                index.add([Document(identity, f"fever {identity}")])
            except StoreError as error:
                assert "another process is writing" in str(error)  # noqa: PT017
                time.sleep(0.001)
            else:
                done.append(identity)
    return done


def test_threads_see_whole_batches_only(index):
    """Each batch has ten documents of one mark: a filter on the mark finds none or ten, never some."""
    stop, wrong = threading.Event(), []

    def read():
        while not stop.is_set():
            for mark in range(12):
                found = index.search("fever", k=20, where={"mark": mark}, distinct=1.0, on_topic=0, theta=1.0)
                if len(found) not in (0, 10) or found.searched != len(found):
                    wrong.append((mark, len(found)))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for mark in range(12):
        index.add([Document(f"{mark}-{i}", f"fever {mark} {i}", {"mark": mark}) for i in range(10)])
        if mark % 4 == 3:
            index.delete([f"{mark - 1}-{i}" for i in range(10)])
            index.optimize()
    stop.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert np.all(np.diff(index.oracle().numbers) > 0)
