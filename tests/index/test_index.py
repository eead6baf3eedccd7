"""An index keeps what was committed, shows nothing else, and finds what it should."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

import breadth
from breadth.errors import InputError, StoreError
from breadth.index import Document, Index, merging
from tests.index.letters import CHILD, Letters, documents
from tests.synthetic import clustered, unit


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "my.index", Letters()) as made:
        yield made


def test_documents_come_back_and_searches_are_those_of_select(index):
    added = index.add(documents(300), batch=70)
    assert (added.added, added.unchanged, added.updated, added.skipped) == (300, 0, 0, ())
    assert len(index) == 300
    assert index.get("d7") == documents(300)[7]
    assert "d7" in index
    assert "x" not in index
    found = index.search("asthma and fever", k=6, theta=0.6)
    E = Letters().encode([d.text for d in documents(300)])
    direct = breadth.select(
        E, Letters().encode(["asthma and fever"])[0], k=6, theta=0.6, texts=[d.text for d in documents(300)]
    )
    assert found.selection.objective == pytest.approx(direct.objective, abs=1e-6)
    assert found.searched == 300
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
    by_vector = index.search(Letters().encode(["asthma and fever"])[0], k=6, theta=0.6)
    assert [h.id for h in by_vector] == [h.id for h in found]


def test_everything_is_there_after_opening_again(tmp_path, index):
    index.add(documents(50), batch=20)
    index.close()
    with Index.open(tmp_path / "my.index", Letters()) as again:
        assert len(again) == 50
        assert again.search("liver", k=3)[0].document in documents(50)


def test_adding_twice_changes_nothing_and_other_content_needs_update(index):
    index.add(documents(10))
    assert index.add(documents(12)).unchanged == 10
    assert len(index) == 12
    changed = Document("d3", "entirely new words", {"source": "new"})
    with pytest.raises(InputError, match="'d3' is there with other content; use update"):
        index.add([changed])
    done = index.update([changed, *documents(2, start=12)])
    assert (done.added, done.updated) == (2, 1)
    assert index.get("d3") == changed
    assert len(index) == 14
    assert index.search("entirely new words", k=1)[0].id == "d3"
    with pytest.raises(InputError, match="'a' stands twice"):
        index.add([Document("a", "b"), Document("a", "c")])


def test_deleted_documents_are_not_found(index):
    index.add(documents(40), batch=15)
    assert index.delete(["d1", "d2", "nothing"]) == 2
    assert len(index) == 38
    assert "d1" not in {h.id for h in index.search("asthma cough", k=38)}
    found = index.search("asthma", k=39, distinct=1.0, on_topic=0)
    assert (len(found), found.asked, found.selection.stats["asked"]) == (38, 39, 39)
    assert "d1" not in {h.id for h in index.lookup("number 1", 40)}


def test_merging_segments_changes_no_answer(index, monkeypatch):
    index.add(documents(90), batch=7)
    index.delete([f"d{i}" for i in range(0, 90, 9)])
    before = [h.id for h in index.search("fever kidney", k=5)]
    index.optimize()
    assert len(list((index.path / "segments").iterdir())) == 1
    assert [h.id for h in index.search("fever kidney", k=5)] == before
    assert index.lookup("kidney 44")[0].id == "d44"
    monkeypatch.setattr(merging, "FLUSH", 5)
    monkeypatch.setattr(merging, "FANOUT", 3)
    index.add(documents(400, start=90), batch=2)
    assert len(list((index.path / "segments").iterdir())) <= 8
    assert len(index) == 480
    assert index.search("fever kidney", k=5).searched == 480


def test_vectors_of_another_size_are_refused(index, rng):
    with pytest.raises(InputError, match="vectors must have 26 columns"):
        index.add(documents(3), vectors=clustered(rng, 3, 8))
    with pytest.raises(InputError, match="more rows"):
        index.add(documents(3), vectors=clustered(rng, 5, 26))
    assert len(index) == 0


def test_creation_that_failed_can_be_tried_again(tmp_path):
    class Broken(Letters):
        @property
        def dim(self):
            raise RuntimeError("no network")

    with pytest.raises(RuntimeError):
        Index.create(tmp_path / "my.index", Broken())
    (tmp_path / "my.index" / "segments").mkdir(parents=True)
    (tmp_path / "my.index" / "index.partial").write_text("")
    Index.create(tmp_path / "my.index", Letters()).close()


def test_an_emptied_index_can_be_used_again(index):
    index.add(documents(10))
    assert index.delete([f"d{i}" for i in range(10)]) == 10
    index.optimize()
    assert list((index.path / "segments").iterdir()) == []
    assert len(index.search("fever", k=1)) == 0
    with pytest.raises(InputError, match="is empty"):
        index.oracle()
    index.add(documents(4))
    assert index.search("fever", k=1).searched == 4


def test_relevance_from_words_and_from_outside(index):
    index.add(documents(64))
    assert index.lookup("heart 3", 2)[0].id == "d3"
    assert index.search("number 41", k=1, theta=1.0, hybrid=0.9)[0].id == "d41"
    chosen = index.search("asthma", k=2, theta=1.0, scores={"d5": 0.2, "d6": 0.9, "d7": 0.5})
    assert [h.id for h in chosen] == ["d6", "d7"]
    assert chosen.searched == 3
    with pytest.raises(InputError, match="no document 'x'"):
        index.search("asthma", k=1, scores={"x": 1.0})
    with pytest.raises(InputError, match=r"hybrid must be in \[0, 1\]"):
        index.search("asthma", k=1, hybrid=1.5)


def test_vectors_that_are_there_already(tmp_path, rng):
    class Mine:
        name, dim = "mine", 8

        def encode(self, texts, kind="document"):
            raise AssertionError("not asked")

    E = clustered(rng, 100, 8)
    with Index.create(tmp_path / "my.index", Mine()) as index:
        index.add(documents(100), vectors=E, batch=30)
        found = index.search(E[5], k=4, theta=0.8)
        direct = breadth.select(E, E[5], k=4, theta=0.8, texts=[d.text for d in documents(100)])
        assert found.selection.objective == pytest.approx(direct.objective, abs=1e-6)
        with pytest.raises(InputError, match="fewer rows"):
            index.add(documents(3, start=100), vectors=E[:2])
        with pytest.raises(InputError, match="has length 3"):
            index.add(documents(1, start=100), vectors=3 * unit(E[:1]))
    with pytest.raises(StoreError, match="made with the encoder mine, not letters"):
        Index.open(tmp_path / "my.index", Letters())
    with Index.open(tmp_path / "my.index") as index, pytest.raises(StoreError, match="open it with that encoder"):
        index.search("text", k=1)


def test_texts_the_encoder_does_not_know_are_reported(index):
    done = index.add([Document("a", "asthma"), Document("b", "123 456")])
    assert (done.added, done.skipped) == (1, (("b", "no word that the encoder knows"),))
    with pytest.raises(InputError, match="holds no word"):
        index.search("123", k=1)
    with pytest.raises(InputError, match="query is empty"):
        index.search(" ", k=1)
    for identity, text, metadata in (
        ("", "x", {}),
        (1, "x", {}),
        ("a", None, {}),
        ("a", "x", {"nan": float("nan")}),
        ("a", "x", {"set": {1}}),
        ("a", "x", {1: 2}),
        ("a", "x", [("b", 1)]),
        ("a", "half \ud83d", {}),
        ("half \ud83d", "x", {}),
        ("a", "x", {"half \ud83d": 1}),
    ):
        with pytest.raises(InputError):
            Document(identity, text, metadata)


def test_what_is_no_index_is_refused(tmp_path):
    with pytest.raises(StoreError, match="is not a breadth index"):
        Index.open(tmp_path)
    (tmp_path / "index.sqlite").write_bytes(b"something else entirely, and long enough to look like a file")
    with pytest.raises(StoreError, match=r"index\.sqlite is damaged"):
        Index.open(tmp_path)
    with pytest.raises(StoreError, match="exists and is not an empty folder"):
        Index.create(tmp_path)


def test_one_writer_many_readers(tmp_path, index):
    index.add(documents(200))
    errors, sizes, stop = [], set(), threading.Event()

    def read():
        with Index.open(tmp_path / "my.index", Letters()) as reader:
            while not stop.is_set():
                try:
                    sizes.add(reader.search("fever", k=3).searched)
                except Exception as error:
                    errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for round_ in range(6):
        index.add(documents(50, start=200 + 50 * round_), batch=25)
        if round_ % 2:
            index.optimize()
    stop.set()
    for reader in readers:
        reader.join()
    assert errors == []
    assert sizes <= {200 + 25 * i for i in range(13)}
    assert len(index) == 500


def test_a_second_writer_is_told(tmp_path, index):
    def slowly():
        yield from documents(2)
        with Index.open(tmp_path / "my.index", Letters()) as other, pytest.raises(StoreError, match="another process"):
            other.add(documents(1, start=5))

    index.add(slowly(), batch=1)


_KILLED = """
import sys
from tests.index.letters import Letters, documents
from breadth.index import Index
with Index.open(sys.argv[1], Letters()) as index:
    for start in range(len(index), 100_000, 20):
        index.add(documents(20, start=start), batch=20)
        print(start + 20, flush=True)
"""


def test_killed_at_any_moment_nothing_committed_is_lost(tmp_path, rng):
    """kill -9 while adding, again and again; `python -m benchmarks text --part kills` does it 200 times."""
    path = tmp_path / "my.index"
    Index.create(path, Letters()).close()
    for _ in range(8):
        assert kill_while_adding(path, float(rng.uniform(0.0, 0.15)))


def kill_while_adding(path, after):
    """Whether the index holds at least what was reported as added, and only whole batches of it."""
    command = [sys.executable, "-c", _KILLED, str(path)]
    environment = {**os.environ, **CHILD}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            reported = [process.stdout.readline()]  # it is at work
            time.sleep(after)
        finally:
            process.kill()  # SIGKILL; also if this test is stopped, so that no process is left behind
        reported += process.stdout.readlines()
    counts = [int(line) for line in reported if line.endswith("\n")]
    with Index.open(path, Letters()) as index:
        size = len(index)
        found = index.search("fever", k=size, theta=1.0)
        whole = {Frozen(h.document) for h in found} == set_of(size)
        return size >= max(counts) and size % 20 == 0 and whole


def set_of(size):
    return {Frozen(d) for d in documents(size)}


class Frozen:
    """A document that can be in a set."""

    def __init__(self, document):
        self._key = (document.id, document.text, tuple(sorted(document.metadata.items())))

    def __hash__(self):
        return hash(self._key)

    def __eq__(self, other):
        return self._key == other._key
