"""Haystack: a pipeline with a real embedder, serialisation, asynchronous runs, filters."""

from __future__ import annotations

import asyncio

import pytest
from haystack import Document, Pipeline
from haystack.components.builders import PromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.core.serialization import allow_deserialization_module
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils.filters import document_matches_filter

import breadth
from breadth.errors import InputError
from breadth.filters import matches, read_filter
from breadth.integrations.candidates import KEY
from breadth.integrations.haystack import BreadthRanker, BreadthRetriever
from breadth.integrations.haystack.filters import read_filters
from breadth.integrations.options import ScoreWarning
from tests.integrations import corpus
from tests.integrations.adapters import haystack_store, index
from tests.integrations.haystack_embedders import DocumentEmbedder, TextEmbedder

TRUSTED = ["breadth.*", "tests.*", "haystack.*"]
TEMPLATE = "{% for d in documents %}{{ d.content }}\n{% endfor %}Question: {{ question }}"


def ids(found):
    return [one.id for one in found["documents"]]


def make_pipeline():
    pipeline = Pipeline()
    pipeline.add_component("embed", TextEmbedder())
    pipeline.add_component("retrieve", InMemoryEmbeddingRetriever(haystack_store(), top_k=40))
    pipeline.add_component("rank", BreadthRanker(top_k=5, document_embedder=DocumentEmbedder(), distinct=0.9))
    pipeline.add_component("prompt", PromptBuilder(TEMPLATE, required_variables="*"))
    pipeline.connect("embed.embedding", "retrieve.query_embedding")
    pipeline.connect("retrieve.documents", "rank.documents")
    pipeline.connect("rank.documents", "prompt.documents")
    return pipeline


ASKED = {"embed": {"text": corpus.QUERY}, "rank": {"query": corpus.QUERY}, "prompt": {"question": corpus.QUERY}}


def test_a_small_pipeline():
    """Embedder, retriever, ranker and prompt of Haystack: the prompt holds no copies."""
    prompt = make_pipeline().run(ASKED)["prompt"]["prompt"]
    assert prompt.count("Latimer family go to extreme lengths") == 1


def test_a_pipeline_is_serialised_and_gives_the_same_set():
    made = make_pipeline()
    again = Pipeline.loads(made.dumps(), allowed_modules=TRUSTED)
    assert again.to_dict()["components"] == made.to_dict()["components"]
    assert again.get_component("rank").options == {"distinct": 0.9}


def count_letters(text: str) -> int:
    return len(text)


def test_a_ranker_with_a_function_is_serialised():
    allow_deserialization_module("tests.*")
    made = BreadthRanker(top_k=3, budget=2000, count=count_letters, text_embedder=TextEmbedder())
    again = BreadthRanker.from_dict(made.to_dict())
    assert again.options == made.options
    found = again.run(corpus.QUERY, haystack_store().filter_documents())
    assert sum(len(one.content) for one in found["documents"]) <= 2000


def test_the_retriever_is_serialised(tmp_path):
    store = haystack_store()
    again = BreadthRetriever.from_dict(BreadthRetriever(store, top_k=3, theta=0.5).to_dict())
    assert isinstance(again.document_store, InMemoryDocumentStore)
    assert (again.top_k, again.options) == (3, {"theta": 0.5})
    by_path = BreadthRetriever.from_dict(BreadthRetriever(index(), top_k=3).to_dict())
    vector = corpus.query().tolist()
    assert ids(by_path.run(vector)) == ids(BreadthRetriever(index(), top_k=3).run(vector))
    with pytest.raises(InputError, match="pass its address"):
        BreadthRetriever(breadth.ArrayOracle(corpus.vectors())).to_dict()


def test_asynchronous_runs():
    ranker = BreadthRanker(top_k=4, text_embedder=TextEmbedder())
    documents = haystack_store().filter_documents()
    assert ids(asyncio.run(ranker.run_async(corpus.QUERY, documents))) == ids(ranker.run(corpus.QUERY, documents))
    retriever = BreadthRetriever(haystack_store(), top_k=4)
    vector = corpus.query().tolist()
    assert ids(asyncio.run(retriever.run_async(vector))) == ids(retriever.run(vector))
    pipeline = Pipeline()
    pipeline.add_component("retrieve", BreadthRetriever(haystack_store(), top_k=4))
    found = asyncio.run(pipeline.run_async({"retrieve": {"query_embedding": vector}}))["retrieve"]
    assert ids(found) == ids(retriever.run(vector))


def test_the_whole_store_and_an_index_give_one_set():
    vector = corpus.query().tolist()
    expected = [
        corpus.passages()[i].id for i in breadth.select(corpus.vectors(), corpus.query(), k=6, texts=corpus.texts()).ids
    ]
    assert ids(BreadthRetriever(haystack_store(), top_k=6).run(vector)) == expected
    assert ids(BreadthRetriever(index(), top_k=6).run(query=corpus.QUERY)) == expected
    assert ids(BreadthRetriever(str(index().path), top_k=6).run(vector)) == expected


def test_filters_at_run_time():
    year = {"field": "meta.year", "operator": "<", "value": 2010}
    retriever = BreadthRetriever(haystack_store(), top_k=4, filters=year)
    assert all(one.meta["year"] < 2010 for one in retriever.run(corpus.query().tolist())["documents"])
    newer = {"field": "meta.year", "operator": ">=", "value": 2015}
    replaced = retriever.run(corpus.query().tolist(), filters=newer)["documents"]
    assert all(one.meta["year"] >= 2015 for one in replaced)
    both = BreadthRetriever(haystack_store(), top_k=4, filters=year, filter_policy="merge")
    none = {"field": "meta.source", "operator": "==", "value": "nowhere"}
    assert both.run(corpus.query().tolist(), filters=none)["documents"] == []


def test_filters_mean_the_same():
    year = {"field": "meta.year", "operator": "<", "value": 2010}
    flood = {"field": "meta.source", "operator": "==", "value": corpus.FLOOD}
    some = {"field": "meta.year", "operator": "not in", "value": [2001, 2015]}
    for filters in (year, some, *({"operator": name, "conditions": [year, flood]} for name in ("AND", "OR", "NOT"))):
        condition = read_filter(read_filters(filters))
        for document in haystack_store().filter_documents():
            assert matches(condition, document.meta) == document_matches_filter(filters, document)
    with pytest.raises(InputError, match="Haystack's form"):
        read_filters({"year": 2000})


def test_documents_without_embeddings_are_embedded_or_refused():
    bare = [Document(id=p.id, content=p.text) for p in corpus.passages()[:10]]
    with pytest.raises(InputError, match="10 of 10 candidates have no embedding"):
        BreadthRanker(top_k=3, text_embedder=TextEmbedder()).run(corpus.QUERY, bare)
    both = BreadthRanker(top_k=3, text_embedder=TextEmbedder(), document_embedder=DocumentEmbedder())
    found = both.run(corpus.QUERY, bare)["documents"]
    assert len(found) == 3
    assert all(one.embedding is None for one in found)  # documents come back as they were
    store = InMemoryDocumentStore()
    store.write_documents(bare)
    with pytest.raises(InputError, match="10 of 10 documents have no embedding"):
        BreadthRetriever(store).run(corpus.query().tolist())


def test_scores_of_bm25_are_scaled_with_a_warning():
    found = InMemoryBM25Retriever(haystack_store(), top_k=30).run(corpus.QUERY)["documents"]
    embedded = DocumentEmbedder().run(found)["documents"]
    with pytest.warns(ScoreWarning):
        ranked = BreadthRanker(top_k=4).run(corpus.QUERY, embedded)["documents"]
    assert ranked[0].id == found[0].id
    assert ranked[0].score == ranked[0].meta[KEY]["score"] == 1.0


def test_what_is_refused():
    with pytest.raises(InputError, match="pass query_embedding"):
        BreadthRetriever(haystack_store()).run()
    with pytest.raises(InputError, match="cannot be searched by an embedding"):
        BreadthRetriever(object()).run([1.0, 0.0])
    for wrong in ({"top_k": 0}, {"relevance": "distance"}, {"diversity": 1}, {"per_group": 2}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            BreadthRanker(**wrong)
    assert BreadthRanker().run(corpus.QUERY, []) == {"documents": []}
    BreadthRanker(text_embedder=TextEmbedder()).warm_up()
