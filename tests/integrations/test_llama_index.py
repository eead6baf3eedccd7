"""LlamaIndex: a query engine with a real embedder, embeddings that are missing, filters."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core import VectorStoreIndex, get_response_synthesizer
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.settings import Settings
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQueryMode,
)

import breadth
from breadth.errors import InputError
from breadth.filters import matches, read_filter
from breadth.integrations.candidates import KEY
from breadth.integrations.llama_index import BreadthPostprocessor, BreadthRetriever, EncoderEmbedding
from breadth.integrations.llama_index.filters import read_filters
from breadth.integrations.options import Options
from tests.integrations import corpus
from tests.integrations.adapters import index, llama_store


@pytest.fixture
def model():
    return EncoderEmbedding(corpus.encoder())


def ids(found):
    return [one.node_id for one in found]


def test_a_small_query_engine(model):
    """Retriever, synthesizer and language model of LlamaIndex; what is told stays out of the prompt."""
    synthesizer = get_response_synthesizer(llm=MockLLM(), response_mode="compact")
    engine = RetrieverQueryEngine(BreadthRetriever(llama_store(), 5), synthesizer)
    answer = engine.query(corpus.QUERY)
    assert len(answer.source_nodes) == 5
    assert all(KEY in node.metadata for node in answer.source_nodes)
    assert str(answer).count("Latimer family go to extreme lengths") == 1  # the mock repeats its prompt
    assert "redundancy" not in str(answer)
    assert "source:" in answer.source_nodes[0].node.get_content(MetadataMode.LLM)


def test_a_postprocessor_in_a_query_engine(model):
    after = BreadthPostprocessor(top_n=3, embed_model=model)
    engine = llama_store().as_query_engine(llm=MockLLM(), similarity_top_k=40, node_postprocessors=[after])
    assert len(engine.query(corpus.QUERY).source_nodes) == 3


def test_the_asynchronous_twins(model):
    retriever = BreadthRetriever(llama_store(), 5)
    assert ids(asyncio.run(retriever.aretrieve(corpus.QUERY))) == ids(retriever.retrieve(corpus.QUERY))
    over_index = BreadthRetriever(index(), 5)
    assert ids(asyncio.run(over_index.aretrieve(corpus.QUERY))) == ids(over_index.retrieve(corpus.QUERY))
    nodes = llama_store().as_retriever(similarity_top_k=40).retrieve(corpus.QUERY)
    after = BreadthPostprocessor(top_n=3, embed_model=model)
    twin = asyncio.run(after.apostprocess_nodes(nodes, query_str=corpus.QUERY))
    assert ids(twin) == ids(after.postprocess_nodes(nodes, query_str=corpus.QUERY))


def test_nodes_without_embeddings_are_embedded_or_refused(model, monkeypatch):
    nodes = llama_store().as_retriever(similarity_top_k=20).retrieve(corpus.QUERY)
    assert all(one.node.embedding is None for one in nodes)
    with pytest.raises(InputError, match="20 of 20 candidates have no embedding"):
        BreadthPostprocessor(top_n=3).postprocess_nodes(nodes, query_str=corpus.QUERY)
    monkeypatch.setattr(Settings, "_embed_model", model)
    assert len(BreadthPostprocessor(top_n=3).postprocess_nodes(nodes, query_str=corpus.QUERY)) == 3


def test_embeddings_that_are_there_are_used():
    rows = corpus.vectors()[:10].tolist()
    nodes = [NodeWithScore(node=TextNode(id_=f"n{i}", text="same text", embedding=row)) for i, row in enumerate(rows)]
    bundle = QueryBundle(corpus.QUERY, embedding=corpus.query().tolist())
    found = BreadthPostprocessor(top_n=4).postprocess_nodes(nodes, bundle)
    expected = breadth.select(corpus.vectors()[:10], corpus.query(), k=4, texts=corpus.texts()[:10]).ids
    assert ids(found) == [f"n{i}" for i in expected]


def test_nothing_to_choose_from(model):
    assert BreadthPostprocessor(embed_model=model).postprocess_nodes([], query_str=corpus.QUERY) == []


def test_without_a_query_scores_are_relevance(model):
    nodes = llama_store().as_retriever(similarity_top_k=20).retrieve(corpus.QUERY)
    assert len(BreadthPostprocessor(top_n=3, embed_model=model).postprocess_nodes(nodes)) == 3
    bare = [NodeWithScore(node=one.node) for one in nodes]
    with pytest.raises(InputError, match="pass the query"):
        BreadthPostprocessor(top_n=3, embed_model=model).postprocess_nodes(bare)


def test_over_another_retriever(model):
    inner = llama_store().as_retriever(similarity_top_k=40)
    found = BreadthRetriever(inner, 5, embed_model=model).retrieve(corpus.QUERY)
    assert ids(found) == ids(BreadthRetriever(llama_store(), 5).retrieve(corpus.QUERY))
    with pytest.raises(InputError, match="filters go to the retriever"):
        BreadthRetriever(inner, 5, filters={"a": 1}).retrieve(corpus.QUERY)


def test_its_own_mmr_penalises_only_the_last_pick(model):
    """Why the adapter does not call it: a copy of the first pick comes back two picks later."""
    nodes = [
        TextNode(id_=name, text=text, embedding=row)
        for name, text, row in (
            ("first", "one", [1.0, 0.0]),
            ("other", "another", [0.6, 0.8]),
            ("copy", "One.", [1.0, 0.001]),
        )
    ]
    store = VectorStoreIndex(nodes, embed_model=model)
    query = QueryBundle("x", embedding=[0.98, 0.2])
    inner = store.as_retriever(
        similarity_top_k=3,
        vector_store_query_mode=VectorStoreQueryMode.MMR,
        vector_store_kwargs={"mmr_threshold": 0.5},
    )
    assert set(ids(inner.retrieve(query))) == {"first", "other", "copy"}
    assert set(ids(BreadthRetriever(store, 3).retrieve(query))) & {"first", "copy"} < {"first", "copy"}


def test_an_oracle_needs_an_embedding_model(model):
    oracle = breadth.ArrayOracle(corpus.vectors())
    with pytest.raises(InputError, match="embed_model"):
        BreadthRetriever(oracle, 3).retrieve(corpus.QUERY)
    with pytest.raises(InputError, match="fetch_k=2 is below"):
        BreadthRetriever(oracle, 3, fetch_k=2)


def test_filters_mean_the_same():
    for operator, value in (
        ("==", 2005), ("!=", 2005), (">", 2005), (">=", 2005), ("<", 2005), ("<=", 2005), ("in", [2001, 2005]),
        ("nin", [2001, 2005]),
    ):  # fmt: skip
        year = MetadataFilter(key="year", value=value, operator=FilterOperator(operator))
        flood = MetadataFilter(key="source", value=corpus.FLOOD)
        for condition in FilterCondition:
            filters = MetadataFilters(filters=[year, flood], condition=condition)
            meant = read_filter(read_filters(filters))
            expected = {p.id for p in corpus.passages() if matches(meant, corpus.metadata(p))}
            theirs = llama_store().as_retriever(similarity_top_k=200, filters=filters).retrieve(corpus.QUERY)
            assert set(ids(theirs)) == expected
    nested = MetadataFilters(filters=[MetadataFilters(filters=[flood], condition=FilterCondition.NOT), year])
    assert read_filters(nested)["$and"][0] == {"$and": [{"$not": {"source": {"$eq": corpus.FLOOD}}}]}
    with pytest.raises(InputError, match="text_match"):
        read_filters(MetadataFilters(filters=[MetadataFilter(key="a", value="b", operator=FilterOperator.TEXT_MATCH)]))


def test_its_settings_are_those_of_all_adapters(model):
    own = set(BreadthPostprocessor.model_fields) - {"callback_manager", "top_n", "embed_model", "relevance"}
    assert own == set(Options.names())
    made = BreadthPostprocessor(top_n=3, distinct=0.8, theta=0.4)
    assert BreadthPostprocessor.from_dict(made.to_dict()).to_dict() == made.to_dict()
    assert BreadthPostprocessor.class_name() == "BreadthPostprocessor"
    for wrong in ({"top_n": 0}, {"per_group": 2}, {"method": "best"}, {"relevance": "distance"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            BreadthPostprocessor(**wrong)
