"""LlamaIndex over real vector stores, with a real embedding model: all nodes are searched."""

from __future__ import annotations

import asyncio
from uuid import NAMESPACE_URL, uuid5

import pytest
from llama_index.core import StorageContext, VectorStoreIndex, get_response_synthesizer
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, TextNode
from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter, MetadataFilters

import breadth
from breadth.integrations.candidates import KEY
from breadth.integrations.llama_index import BreadthPostprocessor, BreadthRetriever, EncoderEmbedding, stores
from breadth.integrations.options import PoolWarning, ScoreWarning
from tests.integrations import corpus

# Deprecations of the packages themselves, and what Qdrant's local mode says about indexes that it does without.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore:Payload indexes have no effect:UserWarning"
)


@pytest.fixture(scope="module")
def model():
    return EncoderEmbedding(corpus.encoder())


def make_node(passage) -> TextNode:
    return TextNode(
        id_=str(uuid5(NAMESPACE_URL, passage.id)),  # Qdrant takes no other ids
        text=passage.text,
        metadata=corpus.metadata(passage),
        excluded_embed_metadata_keys=["source", "year"],
    )


def make_faiss(folder):
    import faiss
    from llama_index.vector_stores.faiss import FaissVectorStore

    return FaissVectorStore(faiss.IndexFlatL2(256))


def make_chroma(folder):
    import chromadb
    from llama_index.vector_stores.chroma import ChromaVectorStore

    collection = chromadb.PersistentClient(str(folder)).create_collection("corpus", metadata={"hnsw:space": "cosine"})
    return ChromaVectorStore(chroma_collection=collection)


def make_qdrant(folder):
    from llama_index.vector_stores.qdrant import QdrantVectorStore
    from qdrant_client import QdrantClient

    return QdrantVectorStore("corpus", client=QdrantClient(path=str(folder)))


STORES = {"ChromaVectorStore": make_chroma, "FaissVectorStore": make_faiss, "QdrantVectorStore": make_qdrant}


@pytest.fixture(scope="module", params=STORES)
def opened(request, tmp_path_factory, model):
    store = STORES[request.param](tmp_path_factory.mktemp(request.param))
    context = StorageContext.from_defaults(vector_store=store)
    yield VectorStoreIndex([make_node(p) for p in corpus.passages()], storage_context=context, embed_model=model)
    if request.param == "QdrantVectorStore":
        store.client.close()


@pytest.fixture(scope="module")
def expected():
    """The texts of the set of `breadth.select` on all vectors."""
    return [
        corpus.passages()[i].text
        for i in breadth.select(corpus.vectors(), corpus.query(), k=6, texts=corpus.texts()).ids
    ]


def texts(found):
    return [one.text for one in found]


def test_every_store_is_tested():
    assert set(STORES) == {name.rpartition(".")[2] for name in stores.STORES}


def test_the_whole_store_is_searched_whatever_fetch_k(opened, expected):
    retriever = BreadthRetriever(opened, 6, fetch_k=6)
    found = retriever.retrieve(corpus.QUERY)
    assert texts(found) == expected
    assert texts(asyncio.run(retriever.aretrieve(corpus.QUERY))) == expected
    nodes = {p.text: make_node(p) for p in corpus.passages()}
    for one in found:
        assert one.node_id == nodes[one.text].node_id
        assert {name: value for name, value in one.metadata.items() if name != KEY} == nodes[one.text].metadata
        assert one.node.get_content(MetadataMode.EMBED) == one.text  # what the user has hidden stays hidden
        assert one.metadata[KEY]["searched"] == 132


def test_a_filter_restricts_the_whole_store(opened):
    year = MetadataFilters(filters=[MetadataFilter(key="year", value=2010, operator=FilterOperator.LT)])
    found = BreadthRetriever(opened, 4, filters=year).retrieve(corpus.QUERY)
    allowed = [place for place, p in enumerate(corpus.passages()) if p.year < 2010]
    chosen = breadth.select(corpus.vectors()[allowed], corpus.query(), k=4, texts=[corpus.texts()[i] for i in allowed])
    assert texts(found) == [corpus.passages()[allowed[i]].text for i in chosen.ids]
    none = MetadataFilters(filters=[MetadataFilter(key="source", value="nowhere")])
    assert BreadthRetriever(opened, 4, filters=none).retrieve(corpus.QUERY) == []


def test_a_query_engine_over_a_real_store(opened):
    """Store, embedding model, retriever, synthesizer and language model: the prompt holds no copies."""
    synthesizer = get_response_synthesizer(llm=MockLLM(), response_mode="compact")
    answer = RetrieverQueryEngine(BreadthRetriever(opened, 5), synthesizer).query(corpus.QUERY)
    assert len(answer.source_nodes) == 5
    assert str(answer).count("Latimer family go to extreme lengths") == 1
    assert "_node_content" not in str(answer)


def test_an_oracle_over_what_llama_index_wrote(tmp_path, model, expected):
    """A collection of an engine is enough; nodes come back as LlamaIndex wrote them."""
    import chromadb
    from llama_index.vector_stores.chroma import ChromaVectorStore

    client = chromadb.PersistentClient(str(tmp_path))
    store = ChromaVectorStore(chroma_collection=client.create_collection("corpus", metadata={"hnsw:space": "cosine"}))
    nodes = [make_node(p) for p in corpus.passages()]
    VectorStoreIndex(nodes, storage_context=StorageContext.from_defaults(vector_store=store), embed_model=model)
    oracle = breadth.oracles.chroma(client, "corpus")
    found = BreadthRetriever(oracle, 6, embed_model=model).retrieve(corpus.QUERY)
    assert texts(found) == expected
    assert set(found[0].metadata) == {"source", "year", KEY}


def test_a_store_that_cannot_be_opened_is_asked_and_told(model):
    """FAISS holds no texts: an index that was made from it alone does not know its nodes."""
    store = make_faiss(None)
    index = VectorStoreIndex([], storage_context=StorageContext.from_defaults(vector_store=store), embed_model=model)
    assert BreadthRetriever(index, 3).retrieve(corpus.QUERY) == []
    other = VectorStoreIndex(
        [make_node(p) for p in corpus.passages()[:9]],
        storage_context=StorageContext.from_defaults(vector_store=make_faiss(None)),
        embed_model=model,
    )
    other.vector_store.client.add(corpus.vectors()[9:10])  # a row without a node
    with pytest.warns(PoolWarning, match="does not know the nodes"):
        assert len(BreadthRetriever(other, 3, fetch_k=5).retrieve(corpus.QUERY)) == 3


def test_distances_as_scores_are_told(model):
    """LlamaIndex passes on what FAISS measures, here distances: the nearest node has the lowest score."""
    store = make_faiss(None)
    index = VectorStoreIndex(
        [make_node(p) for p in corpus.passages()],
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=model,
    )
    nodes = index.as_retriever(similarity_top_k=40).retrieve(corpus.QUERY)
    assert nodes[0].score < nodes[-1].score
    with pytest.warns(ScoreWarning) as told:
        BreadthPostprocessor(top_n=3, embed_model=model).postprocess_nodes(nodes, query_str=corpus.QUERY)
    assert "as distances do" in str(told[0].message)
    found = BreadthPostprocessor(top_n=3, embed_model=model, relevance="query").postprocess_nodes(
        nodes, query_str=corpus.QUERY
    )
    assert found[0].node_id == nodes[0].node_id
