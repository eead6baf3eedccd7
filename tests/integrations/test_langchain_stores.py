"""LangChain's vector stores that are searched as a whole: each of them, real, with the corpus in it."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore

import breadth
from breadth.filters import matches, read_filter
from breadth.integrations.candidates import KEY
from breadth.integrations.langchain import BreadthRetriever
from breadth.integrations.langchain.stores import registry
from breadth.integrations.options import PoolWarning
from tests.engines.servers.postgres import postgres
from tests.integrations import corpus
from tests.integrations.langchain_stores import SERVED, STORES, embeddings, in_memory

# Deprecations of the packages themselves.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning",
    "ignore::PendingDeprecationWarning",
    "ignore::langchain_core._api.LangChainDeprecationWarning",
)


@pytest.fixture(scope="module")
def database():
    with postgres() as server:
        yield server.url


def with_marks(names):
    """What needs a server is marked so."""
    return [pytest.param(name, marks=pytest.mark.engine if name in SERVED else ()) for name in names]


@pytest.fixture(scope="module", params=with_marks(STORES))
def store(request, tmp_path_factory):
    served = request.param in SERVED
    place = request.getfixturevalue("database") if served else str(tmp_path_factory.mktemp(request.param))
    with STORES[request.param](place) as opened:
        yield opened


@pytest.fixture(scope="module")
def expected():
    """The texts of the set of `breadth.select` on all vectors."""
    chosen = breadth.select(corpus.vectors(), corpus.query(), k=6, texts=corpus.texts())
    return [corpus.passages()[i].text for i in chosen.ids]


def texts(found):
    return [one.page_content for one in found]


def test_every_store_is_tested():
    assert set(STORES) == {name.rpartition(".")[2] for name in registry.STORES}


def test_the_whole_store_is_searched_whatever_fetch_k(store, expected):
    retriever = BreadthRetriever(source=store, k=6, fetch_k=6)
    found = retriever.invoke(corpus.QUERY)
    assert texts(found) == expected
    assert found[0].metadata[KEY]["searched"] == 132
    assert found[0].metadata[KEY]["copies"]
    known = {p.text: corpus.metadata(p) for p in corpus.passages()}
    for one in found:
        assert {name: value for name, value in one.metadata.items() if name != KEY} == known[one.page_content]
        assert one.id


def test_the_asynchronous_twin(store, expected):
    assert texts(asyncio.run(BreadthRetriever(source=store, k=6).ainvoke(corpus.QUERY))) == expected


@pytest.mark.parametrize(
    "where",
    [
        {"source": "Broadchurch (series 1)"},
        {"year": {"$gte": 2005, "$lt": 2012}},
        {"$or": [{"source": {"$in": [corpus.FLOOD]}}, {"year": 2007}]},
    ],
)
def test_a_filter_means_the_same_in_every_store(store, where):
    """langchain#11295, langchain#13260: the MMR of `PGVector` ignored it."""
    found = BreadthRetriever(source=store, k=6, filter=where).invoke(corpus.QUERY)
    allowed = [place for place, p in enumerate(corpus.passages()) if matches(read_filter(where), corpus.metadata(p))]
    chosen = breadth.select(
        corpus.vectors()[allowed], corpus.query(), k=min(6, len(allowed)), texts=[corpus.texts()[i] for i in allowed]
    )
    assert texts(found) == [corpus.passages()[allowed[i]].text for i in chosen.ids]
    assert found[0].metadata[KEY]["searched"] == len(allowed)


def test_the_weight_is_not_inverted_in_any_store(store):
    """langchain#39052: that of `QdrantVectorStore` ran the other way. langchain#12666: Chroma gave no scores."""
    cosines = corpus.vectors() @ corpus.query()
    top = [corpus.passages()[i].text for i in np.argsort(-cosines, kind="stable")[:6]]
    relevant = BreadthRetriever(source=store, k=6, lambda_mult=1.0, distinct=1.0).invoke(corpus.QUERY)
    assert set(texts(relevant)) == set(top)
    scores = sorted((one.metadata[KEY]["score"] for one in relevant), reverse=True)
    assert scores == pytest.approx(sorted(cosines, reverse=True)[:6], abs=1e-4)
    varied = BreadthRetriever(source=store, k=6, lambda_mult=0.1, sharpness=2).invoke(corpus.QUERY)
    assert varied[0].metadata[KEY]["redundancy"] < 0.5


def test_no_document_matches(store):
    assert BreadthRetriever(source=store, filter={"source": "nowhere"}).invoke(corpus.QUERY) == []


def qdrant_filter():
    from qdrant_client import models

    match = models.MatchValue(value="Broadchurch (series 1)")
    return models.Filter(must=[models.FieldCondition(key="metadata.source", match=match)])


OWN = {
    "FAISS": lambda metadata: metadata["source"] == "Broadchurch (series 1)",
    "LanceDB": "metadata.source = 'Broadchurch (series 1)'",
    "Milvus": "source == 'Broadchurch (series 1)'",
    "PGVector": {"source": {"$ilike": "Broadchurch (SERIES 1)"}},
    "PGVectorStore": {"source": {"$ilike": "Broadchurch (SERIES 1)"}},
    "QdrantVectorStore": qdrant_filter(),
}
"""Filters that only the store itself understands."""


@pytest.mark.parametrize("store", with_marks(OWN), indirect=True)
def test_a_filter_of_the_stores_own_is_asked_of_the_store_and_told(store):
    name = type(store).__name__
    with pytest.warns(PoolWarning, match=f"{name} is not searched as a whole"):
        found = BreadthRetriever(source=store, k=3, filter=OWN[name]).invoke(corpus.QUERY)
    assert len(found) == 3
    assert {one.metadata["source"] for one in found} == {"Broadchurch (series 1)"}


@pytest.mark.engine
def test_a_field_that_is_also_a_column_is_asked_of_the_store(database):
    """`PGVector` has a column `id`; users have a field `id` as well."""
    with STORES["PGVector"](database) as store:
        store.add_documents([Document(id="pond", page_content="ducks in the pond", metadata={"id": 7})])
        with pytest.warns(PoolWarning, match="also a column"):
            found = BreadthRetriever(source=store, filter={"id": {"$in": [7, 8]}}).invoke("ducks")
        assert [one.id for one in found] == ["pond"]
        store.delete(["pond"])


@pytest.mark.engine
def test_collections_with_vectors_of_different_lengths_share_a_table(database, expected):
    """`PGVector` keeps all collections in one table, whose vectors have no length of their own."""
    with STORES["PGVector"](database) as store:
        model = DeterministicFakeEmbedding(size=2)
        short = type(store)(model, connection=store._engine, collection_name="short")
        short.add_documents([Document(id="short", page_content="short")])
        assert texts(BreadthRetriever(source=store, k=6).invoke(corpus.QUERY)) == expected
        with pytest.warns(PoolWarning, match="vectors have 256 dimensions, and the query 2"):
            found = BreadthRetriever(source=short).invoke("short")
        assert texts(found) == ["short"]
        short.delete_collection()
        short.session_maker.remove()


def test_an_empty_store_and_one_with_a_vector_of_zeros():
    store = InMemoryVectorStore(embeddings())
    assert BreadthRetriever(source=store).invoke(corpus.QUERY) == []
    store = in_memory()
    store.store["zero"] = {"id": "zero", "text": "…", "metadata": {}, "vector": [0.0] * 256}
    with pytest.warns(PoolWarning, match="'zero' is all zeros"):
        assert len(BreadthRetriever(source=store, k=6).invoke(corpus.QUERY)) == 6
