"""Making an index: by several at once, after an interruption, and never at the cost of somebody's files."""

from __future__ import annotations

import multiprocessing
import threading

import numpy as np
import pytest

from breadth.errors import InputError, StoreError
from breadth.index import Document, Index
from breadth.oracles import CompactOracle
from tests.index.letters import Letters, documents
from tests.synthetic import isotropic


def create_at_once(path, barrier=None):
    """Make an index where others may do the same; say what happened."""
    if barrier is not None:
        barrier.wait()
    try:
        made = Index.create(path, Letters())
    except StoreError as error:
        return str(error).removeprefix(str(path))
    with made:
        made.add(documents(3))
    return "made"


def _create(task):
    return create_at_once(*task)


def test_one_of_several_that_create_at_once_wins(tmp_path):
    for round_ in range(10):
        path = tmp_path / f"{round_}.index"
        barrier, won = threading.Barrier(6), []
        threads = [
            threading.Thread(target=lambda p=path, b=barrier, w=won: w.append(create_at_once(p, b))) for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(won) == [" exists and is not an empty folder; open it, or choose another name"] * 5 + ["made"]
        with Index.open(path, Letters()) as index:
            assert len(index) == 3
            assert index.check().ok
            assert index.check().notes == ()


def test_processes_that_create_at_once(tmp_path):
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        for round_ in range(4):
            path = tmp_path / f"{round_}.index"
            assert pool.map(_create, [(path,)] * 3, chunksize=1).count("made") == 1
            with Index.open(path, Letters()) as index:
                assert len(index) == 3


def test_what_an_interrupted_creation_left_behind_is_no_obstacle(tmp_path):
    folder = tmp_path / "my.index"
    (folder / "segments").mkdir(parents=True)
    for name in ("writer.lock", "index.0123.partial", "index.0123.partial-wal", "index.0123.partial-shm"):
        (folder / name).write_bytes(b"x")
    with Index.create(folder, Letters()) as index:
        index.add(documents(3))
    assert {path.name for path in folder.iterdir()} == {"index.sqlite", "segments", "writer.lock"}


@pytest.mark.parametrize("name", ["notes.txt", "segments/mine.txt", "index.partial.d/x"])
def test_a_folder_with_files_of_yours_is_left_alone(tmp_path, name):
    file = tmp_path / "my.index" / name
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    with pytest.raises(StoreError, match="exists and is not an empty folder"):
        Index.create(tmp_path / "my.index", Letters())
    assert file.read_text() == "mine"


def test_files_that_the_index_did_not_write_are_never_removed(tmp_path, rng):
    """Only what an interrupted writer of this index left behind is removed, and no link is followed."""
    path, elsewhere = tmp_path / "my.index", tmp_path / "elsewhere"
    elsewhere.mkdir()
    with Index.create(path, Letters()) as index:
        index.add(documents(2000), batch=1100)
    mine = ["notes.txt", "a.compact", "0" * 32 + ".compact", "." + "0" * 32 + ".compact.partial"]
    for name in mine:
        (path / "segments" / name).write_text("mine")
    foreign = path / "segments" / ("1" * 32 + ".compact")
    CompactOracle.build(isotropic(rng, 5, 26)).save(foreign)
    (elsewhere / ("2" * 32 + ".compact")).write_text("elsewhere")
    link = path / "segments" / ("3" * 32 + ".compact")
    link.symlink_to(elsewhere / ("2" * 32 + ".compact"))
    unfinished = path / "segments" / f".{'4' * 32}.compact.{'5' * 32}.partial"
    unfinished.write_bytes(b"half a file")
    with Index.open(path, Letters()) as index:
        assert "belong to no document" in index.check().notes[0]
        index.add(documents(3, start=5000))
        index.optimize()
        index.delete(["d1"])
    assert not unfinished.exists()
    assert all((path / "segments" / name).read_text() == "mine" for name in mine)
    assert foreign.exists()
    assert link.is_symlink()
    assert (elsewhere / ("2" * 32 + ".compact")).read_text() == "elsewhere"


def test_a_folder_of_segments_that_is_a_link_loses_nothing(tmp_path):
    path, other = tmp_path / "my.index", tmp_path / "other"
    with Index.create(path, Letters()) as index:
        index.add(documents(1100), batch=1100)
    (path / "segments").rename(other)
    (path / "segments").symlink_to(other)
    for name in (f".{'4' * 32}.compact.{'5' * 32}.partial", "6" * 32 + ".compact", "letter.txt"):
        (other / name).write_text("mine")
    with Index.open(path, Letters()) as index:
        index.add(documents(3, start=5000))
        index.optimize()
        assert index.search("fever", k=3).searched == 1103
        assert "is a link" in index.check().notes[0]
    assert sum(file.read_text(errors="replace") == "mine" for file in other.iterdir()) == 3


def test_vectors_of_your_own_need_no_encoder(tmp_path, rng):
    E = isotropic(rng, 40, 384)
    with Index.create(tmp_path / "my.index", dim=384) as index:
        index.add([Document(f"d{i}", "", {"i": i}) for i in range(40)], vectors=E)
        assert (index.encoder_name, index.dim, index.encoder) == ("", 384, None)
        assert index.search(E[3], k=2)[0].id == "d3"
        assert index.search(E[3], k=2, where={"i": {"$gt": 30}}).searched == 9
        with pytest.raises(InputError, match=r"has no encoder.*Pass a vector of 384 dimensions instead of a text"):
            index.search("text", k=2)
        with pytest.raises(InputError, match="'x' has no text; pass its vector"):
            index.add([Document("x", "")])
        with pytest.raises(InputError, match="has no encoder"):
            index.add([Document("x", "some text")])
    with Index.open(tmp_path / "my.index") as index:
        assert index.search(E[4], k=1).ids == ["d4"]
    with pytest.raises(StoreError, match="holds vectors of 384 dimensions, but letters makes 26"):
        Index.open(tmp_path / "my.index", Letters())
    with pytest.raises(InputError, match="dim is 30, but the encoder letters makes vectors of 26"):
        Index.create(tmp_path / "b.index", Letters(), dim=30)
    with pytest.raises(InputError, match="dim must be at least 1"):
        Index.create(tmp_path / "b.index", dim=0)
    with Index.create(tmp_path / "c.index", dim=26) as index:
        index.add([Document("a", "", {})], vectors=np.eye(26, dtype=np.float32)[:1])
    with Index.open(tmp_path / "c.index", Letters()) as index:  # your encoder, your responsibility
        assert index.search("aaa", k=1).ids == ["a"]


class Endpoint(Letters):
    """An encoder that asks a host."""

    def __init__(self, name):
        self.name = name


def test_the_encoder_that_an_index_records_is_asked_at_the_same_host(tmp_path, monkeypatch):
    """Documents must never go to another host than the one that the index was made with."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    name = "openai:small@http://localhost:8000/v1"
    Index.create(tmp_path / "my.index", Endpoint(name)).close()
    made = []
    monkeypatch.setattr("breadth.index.encoding.encoders.encoder", lambda text: made.append(text) or Endpoint(text))
    with Index.open(tmp_path / "my.index") as index:
        index.add([Document("a", "asthma")])
    assert made == [name]
    with Index.open(tmp_path / "my.index", Endpoint("openai:small@http://10.0.0.1/v1")) as index:
        index.search("asthma", k=1)  # another host for the same model, because you said so
    with pytest.raises(StoreError, match="vectors do not mix"):
        Index.open(tmp_path / "my.index", Endpoint("openai:large@http://localhost:8000/v1"))
    monkeypatch.setattr("breadth.index.encoding.encoders.encoder", lambda text: Endpoint("openai:small@https://public"))
    with Index.open(tmp_path / "my.index") as index, pytest.raises(StoreError, match="this name now means"):
        index.search("asthma", k=1)
