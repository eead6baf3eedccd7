"""The benchmark of the adapters makes the sets of other frameworks itself, faster: they are the same sets."""

from __future__ import annotations

import numpy as np
import pytest
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from llama_index.core.indices.query.embedding_utils import get_top_k_mmr_embeddings

from benchmarks.frameworks import choose_by_last_pick, choose_by_mmr, prepare_langchain, prepare_llama_index
from tests.integrations import corpus


@pytest.mark.parametrize("k", [1, 5, 20])
def test_the_sets_are_those_of_the_frameworks(k):
    rows = corpus.vectors()[:120].copy()
    query = corpus.query()
    theirs = maximal_marginal_relevance(query, rows.tolist(), 0.5, k)
    assert choose_by_mmr(rows, query, k) == theirs
    _, last = get_top_k_mmr_embeddings(query.tolist(), rows.tolist(), similarity_top_k=k)
    assert choose_by_last_pick(rows, query, k) == last
    for prepare, expected in ((prepare_langchain, theirs), (prepare_llama_index, last)):
        own, adapter = prepare(rows, query)
        assert own(k) == expected
        assert len(adapter(k)) == min(k, len(np.unique(adapter(k))))
