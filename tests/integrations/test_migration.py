"""What docs/migration.md says about other libraries is true of those that can be installed: what a weight of 1 is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import breadth
from tests.integrations import corpus

PAGE = (Path(__file__).parents[2] / "docs" / "migration.md").read_text(encoding="utf-8")
ROWS = corpus.vectors()[:40]
QUERY = corpus.query()


def choose_langchain(k, theta):
    from langchain_core.vectorstores.utils import maximal_marginal_relevance

    return maximal_marginal_relevance(QUERY, ROWS.tolist(), lambda_mult=theta, k=k)


def choose_llama_index(k, theta):
    from llama_index.core.indices.query.embedding_utils import get_top_k_mmr_embeddings

    return get_top_k_mmr_embeddings(QUERY.tolist(), ROWS.tolist(), similarity_top_k=k, mmr_threshold=theta)[1]


def choose_pyversity(k, theta):
    import pyversity

    scores = ROWS @ QUERY
    return pyversity.diversify(ROWS, scores, k=k, strategy=pyversity.Strategy.MMR, diversity=1 - theta).indices


def choose_qdrant(k, theta):
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    client.create_collection("rows", models.VectorParams(size=ROWS.shape[1], distance=models.Distance.COSINE))
    client.upload_collection("rows", ROWS, ids=range(len(ROWS)))
    asked = models.NearestQuery(nearest=QUERY.tolist(), mmr=models.Mmr(diversity=1 - theta, candidates_limit=len(ROWS)))
    found = [point.id for point in client.query_points("rows", query=asked, limit=k).points]
    client.close()
    return found


LIBRARIES = {
    "LangChain": choose_langchain,
    "LlamaIndex": choose_llama_index,
    "pyversity": choose_pyversity,
    "Qdrant": choose_qdrant,
}
"""The MMR of a library, with the weight of relevance as the page says how to pass it."""


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_weight_of_one_is_top_k_as_the_page_says(name):
    """elasticsearch#138661: a documentation that had the two ends the wrong way round."""
    assert f"| {name}" in PAGE
    top = np.argsort(-(ROWS @ QUERY), kind="stable")[:8].tolist()
    chosen = {theta: [int(i) for i in LIBRARIES[name](8, theta)] for theta in (1.0, 0.3)}
    assert set(chosen[1.0]) == set(top)
    relevance = {theta: float((ROWS[ids] @ QUERY).mean()) for theta, ids in chosen.items()}
    assert relevance[0.3] < relevance[1.0] - 0.01


@pytest.mark.parametrize("name", ["LangChain", "pyversity", "Qdrant"])
@pytest.mark.parametrize("theta", [0.3, 0.5, 0.8])
def test_the_method_mmr_gives_the_same_set_with_the_same_number(name, theta):
    ours = breadth.select(ROWS, QUERY, k=8, theta=theta, method="mmr").ids.tolist()
    assert [int(i) for i in LIBRARIES[name](8, theta)] == ours
