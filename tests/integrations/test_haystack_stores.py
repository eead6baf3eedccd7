"""Haystack over real document stores, with a real embedder."""

from __future__ import annotations

import asyncio

import pytest
from haystack import Pipeline
from haystack.components.builders import PromptBuilder

import breadth
from breadth.errors import InputError
from breadth.integrations.candidates import KEY
from breadth.integrations.haystack import BreadthRanker, BreadthRetriever, stores
from breadth.integrations.options import PoolWarning, ScoreWarning
from tests.integrations import corpus
from tests.integrations.adapters import haystack_store
from tests.integrations.haystack_embedders import DocumentEmbedder, TextEmbedder

TRUSTED = ["breadth.*", "tests.*", "haystack.*", "haystack_integrations.*"]

# Deprecations of the packages themselves.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def make_chroma(folder):
    from haystack_integrations.document_stores.chroma import ChromaDocumentStore

    return ChromaDocumentStore(persist_path=str(folder), distance_function="cosine")


def make_qdrant(folder):
    from haystack_integrations.document_stores.qdrant import QdrantDocumentStore

    return QdrantDocumentStore(path=str(folder), embedding_dim=256, progress_bar=False)


STORES = {"ChromaDocumentStore": make_chroma, "QdrantDocumentStore": make_qdrant}


@pytest.fixture(scope="module", params=STORES)
def store(request, tmp_path_factory):
    made = STORES[request.param](tmp_path_factory.mktemp(request.param))
    assert BreadthRetriever(made).run(corpus.query().tolist()) == {"documents": []}
    made.write_documents(haystack_store().filter_documents())
    yield made
    if request.param == "QdrantDocumentStore":
        made._client.close()


@pytest.fixture(scope="module")
def chroma(tmp_path_factory):
    made = make_chroma(tmp_path_factory.mktemp("chroma"))
    made.write_documents(haystack_store().filter_documents()[:40])
    return made


@pytest.fixture(scope="module")
def expected():
    return [
        corpus.passages()[i].id for i in breadth.select(corpus.vectors(), corpus.query(), k=6, texts=corpus.texts()).ids
    ]


def ids(found):
    return [one.id for one in found["documents"]]


def test_every_store_is_tested():
    assert set(STORES) == {name.rpartition(".")[2] for name in stores.STORES}


def test_the_whole_store_is_searched_whatever_fetch_k(store, expected):
    vector = corpus.query().tolist()
    retriever = BreadthRetriever(store, top_k=6, fetch_k=6)
    found = retriever.run(vector)
    assert ids(found) == ids(asyncio.run(retriever.run_async(vector))) == expected
    known = {p.id: p for p in corpus.passages()}
    for one in found["documents"]:
        assert one.content == known[one.id].text
        assert {name: value for name, value in one.meta.items() if name != KEY} == corpus.metadata(known[one.id])
        assert one.meta[KEY]["searched"] == 132


def test_a_filter_restricts_the_whole_store(store):
    year = {"field": "meta.year", "operator": "<", "value": 2010}
    found = BreadthRetriever(store, top_k=4, filters=year).run(corpus.query().tolist())
    allowed = [place for place, p in enumerate(corpus.passages()) if p.year < 2010]
    chosen = breadth.select(corpus.vectors()[allowed], corpus.query(), k=4, texts=[corpus.texts()[i] for i in allowed])
    assert ids(found) == [corpus.passages()[allowed[i]].id for i in chosen.ids]
    none = {"operator": "AND", "conditions": [year, {"field": "meta.source", "operator": "==", "value": "nowhere"}]}
    assert BreadthRetriever(store, top_k=4).run(corpus.query().tolist(), filters=none) == {"documents": []}


def test_a_pipeline_over_a_real_store(store):
    """Embedder, store, retriever and prompt: the prompt holds no copies."""
    template = "{% for d in documents %}{{ d.content }}\n{% endfor %}"
    pipeline = Pipeline()
    pipeline.add_component("embed", TextEmbedder())
    pipeline.add_component("retrieve", BreadthRetriever(store, top_k=5))
    pipeline.add_component("prompt", PromptBuilder(template, required_variables="*"))
    pipeline.connect("embed.embedding", "retrieve.query_embedding")
    pipeline.connect("retrieve.documents", "prompt.documents")
    prompt = pipeline.run({"embed": {"text": corpus.QUERY}})["prompt"]["prompt"]
    assert prompt.count("Latimer family go to extreme lengths") == 1
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=TRUSTED)
    assert type(again.get_component("retrieve").document_store) is type(store)


def test_a_retriever_of_haystack_as_the_source(expected):
    """How any other store is served: its embedding retriever is asked for `fetch_k` documents."""
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever

    vector = corpus.query().tolist()
    source = InMemoryEmbeddingRetriever(haystack_store(), return_embedding=True)
    retriever = BreadthRetriever(source, top_k=6)
    assert ids(retriever.run(vector)) == expected
    assert retriever.run(vector)["documents"][0].meta[KEY]["searched"] == 100
    assert ids(BreadthRetriever.from_dict(retriever.to_dict()).run(vector)) == expected
    year = {"field": "meta.year", "operator": "<", "value": 2010}
    assert all(one.meta["year"] < 2010 for one in retriever.run(vector, filters=year)["documents"])
    with pytest.warns(PoolWarning, match="the pool of 6 candidates"):
        assert len(BreadthRetriever(source, top_k=6, fetch_k=6).run(vector)["documents"]) < 6
    bare = InMemoryEmbeddingRetriever(haystack_store(), return_embedding=False)
    with pytest.raises(InputError, match="return_embedding=True"):
        BreadthRetriever(bare, top_k=6).run(vector)
    for wrong in ({"top_k": 6, "fetch_k": 5}, {"fetch_k": 0}):
        with pytest.raises(InputError, match="fetch_k"):
            BreadthRetriever(source, **wrong)
    with pytest.raises(InputError, match="fetch_k=8 is below top_k=9"):
        BreadthRetriever(source, top_k=6, fetch_k=8).run(vector, top_k=9)


def test_distances_as_scores_are_told(chroma):
    """Chroma's retriever writes distances into the scores: the nearest document has the lowest one."""
    from haystack_integrations.components.retrievers.chroma import ChromaEmbeddingRetriever

    found = ChromaEmbeddingRetriever(chroma, top_k=20).run(corpus.query().tolist())["documents"]
    assert found[0].score < found[-1].score
    embedders = {"text_embedder": TextEmbedder(), "document_embedder": DocumentEmbedder()}
    with pytest.warns(ScoreWarning, match="as distances do"):
        BreadthRanker(top_k=3, **embedders).run(corpus.QUERY, found)
    ranked = BreadthRanker(top_k=3, relevance="query", **embedders).run(corpus.QUERY, found)
    assert ids(ranked)[0] == found[0].id


def test_a_store_that_cannot_be_opened_says_what_can(tmp_path):
    """Chroma measures Euclidean distances unless it is told otherwise; the rows must then have unit length."""
    from haystack_integrations.document_stores.chroma import ChromaDocumentStore

    made = ChromaDocumentStore(persist_path=str(tmp_path))
    some = haystack_store().filter_documents()[:3]
    made.write_documents([type(one)(content=one.content, embedding=[2.0 * x for x in one.embedding]) for one in some])
    with pytest.raises(InputError, match=r"cannot be searched as a whole: .* Its own retriever with BreadthRanker can"):
        BreadthRetriever(made).run(corpus.query().tolist())
