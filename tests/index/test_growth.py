"""An index that grows document by document stays cheap, and one that shrinks gives its space back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth.index import Document, Index, merging
from tests.index.letters import documents
from tests.synthetic import isotropic


def simulate(sizes, row_bytes=1280):
    """Add files of these sizes one after the other, merging as an index does; return the files and the rows written."""
    files, written = [], 0
    for size in sizes:
        files.append(size)
        written += size
        while (run := merging.choose_merge(files, files, row_bytes)) is not None:
            merged = sum(files[run])
            written += merged
            files[run] = [merged]
    return files, written


@given(st.lists(st.sampled_from([1024, 1500, 4096, 9000]), max_size=400))
def test_files_stay_few_and_rows_are_written_a_few_times(sizes):
    files, written = simulate(sizes)
    assert sum(files) == sum(sizes)
    largest = merging.LARGEST // 1280
    assert len(files) <= merging.FANOUT * 4 + sum(sizes) // (largest // merging.FANOUT)
    assert written <= 4 * sum(sizes)
    assert all(size <= max(largest, 9000) for size in files)


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 5000)), max_size=30))
def test_files_of_which_much_was_deleted_are_chosen_first(pairs):
    live, total = [min(p) for p in pairs], [max(1, *p) for p in pairs]
    run = merging.choose_merge(live, total, 1280)
    waste = [
        i for i, (own, all_) in enumerate(zip(live, total, strict=True)) if own == 0 or all_ - own > max(1024, all_ / 2)
    ]
    if waste:
        assert run == slice(waste[0], waste[0] + 1)


def test_documents_that_come_one_by_one_write_few_files(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(merging, "FLUSH", 16)
    written = []
    keep = merging.choose_merge
    monkeypatch.setattr(merging, "choose_merge", lambda *a: written.append(1) or keep(*a))
    E = isotropic(rng, 400, 8)
    with Index.create(tmp_path / "my.index", dim=8) as index:
        for i, document in enumerate(documents(400)):
            index.add([document], vectors=E[i : i + 1])
        assert len(list((index.path / "segments").iterdir())) <= 12
        assert len(written) < 100  # files are looked at when there is a new one, not with every document
        found = index.search(E[77], k=5)
        with Index.create(tmp_path / "bulk.index", dim=8) as bulk:
            bulk.add(documents(400), vectors=E)
            assert bulk.search(E[77], k=5).ids == found.ids


def size_of(path):
    """The bytes of an index without its log, which has a size of its own."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file() and not file.name.endswith("-wal"))


@pytest.mark.parametrize("one_by_one", [False, True])
def test_deleted_space_comes_back(tmp_path, rng, one_by_one):
    text = "fever " * 300
    E = isotropic(rng, 4000, 64)
    with Index.create(tmp_path / "my.index", dim=64) as index:
        index.add([Document(f"d{i}", f"{text} {i}", {"i": i}) for i in range(4000)], vectors=E)
        index._collection.connections.writer().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        full = size_of(index.path)
        ids = [f"d{i}" for i in range(3600)]
        for some in (ids[i : i + 40] for i in range(0, 3600, 40)) if one_by_one else [ids]:
            index.delete(some)
        for i in range(40):  # space comes back with further changes, some with each
            index.update([Document("last", f"text {i}")], vectors=E[:1])
        assert size_of(index.path) < 0.6 * full
        index.optimize()
        assert size_of(index.path) < 0.25 * full
        assert (index.path / "index.sqlite-wal").stat().st_size == 0
        assert index.search(E[3700], k=1).ids == ["d3700"]
        assert index.check().ok
    assert size_of(tmp_path / "my.index") < 0.25 * full
    assert not (tmp_path / "my.index" / "index.sqlite-wal").exists()


def test_the_log_does_not_grow_without_limit(tmp_path, rng):
    E = isotropic(rng, 1, 64)
    with Index.create(tmp_path / "my.index", dim=64) as index:
        for i in range(60):
            index.add([Document(f"d{i}", "fever " * 50_000)], vectors=E)  # 300 kB each
        assert (index.path / "index.sqlite-wal").stat().st_size < 12 << 20
        assert np.isfinite(index.search(E[0], k=1).selection.objective)
