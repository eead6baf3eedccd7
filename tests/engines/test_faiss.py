"""What is special to FAISS: kinds of indexes, knobs, ids and what is refused."""

from __future__ import annotations

import faiss
import numpy as np
import pytest

import breadth
from breadth import EngineError, InputError
from tests.synthetic import clustered, isotropic, query_near


@pytest.fixture
def E(rng):
    return clustered(rng, 4000, 32)


def build(E, factory, metric=faiss.METRIC_INNER_PRODUCT):
    index = faiss.index_factory(E.shape[1], factory, metric)
    index.train(E)
    index.add(E)
    return index


def test_a_knob_that_finds_too_few_rows_is_raised(E, rng):
    index = build(E, "IVF64,Flat")
    query = query_near(rng, E)[None].astype(np.float32)
    alone = index.search(query, 300)[1]
    assert (alone < 0).any()  # one list holds fewer rows
    ids, scores = breadth.oracles.faiss(index).top(query, 300)
    assert (ids >= 0).all()
    np.testing.assert_allclose(scores[0], E[ids[0]] @ query[0], atol=1e-6)


def test_knobs_are_passed_through(E, rng):
    index = build(E, "IVF64,Flat")
    query = query_near(rng, E)
    found = [
        breadth.select(breadth.oracles.faiss(index, nprobe=nprobe), query, k=10, audit=True) for nprobe in (1, 8, 64)
    ]
    recalls = [selection.stats["recall"] for selection in found]
    assert recalls == sorted(recalls)
    assert recalls[-1] == 1.0
    assert [selection.certificate.exact for selection in found] == [False, False, True]
    assert index.nprobe == 1  # the index itself stays as it was
    graph = build(E, "HNSW8")
    recalls = [
        breadth.select(breadth.oracles.faiss(graph, ef_search=ef), query, k=10, audit=True).stats["recall"]
        for ef in (1, 2000)
    ]
    assert recalls[0] <= recalls[1]
    assert recalls[1] == 1.0


@pytest.mark.parametrize("factory", ["PCA24,Flat", "PQ4x4", "LSH"])
def test_rows_that_are_too_coarse_are_refused(E, factory):
    metric = faiss.METRIC_L2 if factory == "LSH" else faiss.METRIC_INNER_PRODUCT
    with pytest.raises(InputError, match=r"decoded from its code is .* off 1; use unit rows, and finer codes"):
        breadth.oracles.faiss(build(E, factory, metric))


@pytest.mark.parametrize("metric", [faiss.METRIC_L1, faiss.METRIC_Linf])
def test_other_metrics_are_refused(E, metric):
    index = faiss.IndexFlat(32, metric)
    index.add(E)
    with pytest.raises(InputError, match=r"has metric \d+; build it with faiss.METRIC_INNER_PRODUCT on unit rows"):
        breadth.oracles.faiss(index)


def test_what_is_no_index_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        breadth.oracles.faiss(tmp_path / "missing")
    (tmp_path / "other").write_bytes(b"something else")
    with pytest.raises(EngineError, match="FAISS cannot read"):
        breadth.oracles.faiss(tmp_path / "other")
    with pytest.raises(InputError, match=r"must be a faiss.Index or the path of one, got list"):
        breadth.oracles.faiss([1, 2])
    with pytest.raises(InputError, match="where needs metadata"):
        breadth.oracles.faiss(faiss.IndexFlatIP(4), where={"year": 2000})
    with pytest.raises(InputError, match="nprobe must be at least 1, got 0"):
        breadth.oracles.faiss(faiss.IndexFlatIP(4), nprobe=0)


def test_negative_ids_are_refused_and_documents_may_name_other_rows(E):
    index = faiss.IndexIDMap(faiss.IndexFlatIP(32))
    index.add_with_ids(E[:5], np.array([4, 9, -3, 7, 1]))
    with pytest.raises(InputError, match="has the id -3; ids must be whole numbers from 0 on"):
        breadth.oracles.faiss(index)
    entries = {i: {"text": str(i), "even": i % 2 == 0} for i in range(9000)}
    oracle = breadth.oracles.faiss(build(E, "Flat"), documents=entries, where={"even": True})
    assert oracle.size == 2000
    assert [entry.text for entry in oracle.documents(np.array([8, 2]))] == ["8", "2"]


def test_a_row_of_another_length_beyond_the_sample_is_found_when_it_is_read(rng):
    E = isotropic(rng, 3001, 8)
    E[1] *= 2.0
    index = build(E, "Flat")
    oracle = breadth.oracles.faiss(index)  # every third row is looked at
    with pytest.raises(InputError, match=r"a row has length 2, not 1; call faiss.normalize_L2"):
        breadth.select(oracle, E[1] / 2.0, k=3)


def test_an_index_that_loses_rows_still_serves(E, rng):
    """Deleted rows leave the size that was read when the index was opened: fewer come back, and that is told."""
    index = build(E[:100], "Flat")

    class Shrunk(type(breadth.oracles.faiss(index))):
        size = 120

    oracle = breadth.oracles.faiss(index)
    oracle.__class__ = Shrunk
    found = breadth.select(oracle, query_near(rng, E), k=110, distinct=1.0, on_topic=0.0)
    assert len(found.ids) == 100
    assert found.stats["rows_lacking"] == 20
    assert found.stats["asked"] == 110
    assert not found.certificate.exact
