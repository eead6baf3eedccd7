"""LangChain: the chain of a small RAG application, and what the adapters refuse."""

from __future__ import annotations

import asyncio

import pytest
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

import breadth
from breadth.errors import InputError
from breadth.integrations.candidates import KEY
from breadth.integrations.langchain import BreadthCompressor, BreadthRetriever, BreadthVectorStore
from breadth.integrations.langchain.documents import Wishes
from breadth.integrations.options import Options, PoolWarning, ScoreWarning
from tests.integrations import corpus
from tests.integrations.langchain_stores import documents, embeddings, in_memory, make_index

# Deprecations of the packages themselves.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::langchain_core._api.LangChainDeprecationWarning"
)


@pytest.fixture
def store_in_memory():
    return in_memory()


@pytest.fixture(scope="module")
def expected():
    """The set of `breadth.select` on all vectors."""
    chosen = breadth.select(corpus.vectors(), corpus.query(), k=6, texts=corpus.texts())
    return [corpus.passages()[i].id for i in chosen.ids]


def ids(found):
    return [one.id for one in found]


def test_other_stores_give_fetch_k_candidates(expected):
    """A store that is not known: its own search is asked, and a pool that is too small is told."""
    from langchain_community.vectorstores import SKLearnVectorStore

    opened = SKLearnVectorStore.from_documents(documents(), embeddings())
    with pytest.warns(PoolWarning, match="the pool of 6 candidates"):
        assert len(BreadthRetriever(source=opened, k=6, fetch_k=6).invoke(corpus.QUERY)) < 6
    found = BreadthRetriever(source=opened, k=6).invoke(corpus.QUERY)
    texts = {p.id: p.text for p in corpus.passages()}
    assert [one.page_content for one in found] == [texts[one] for one in expected]
    assert len(asyncio.run(BreadthRetriever(source=opened, k=6).ainvoke(corpus.QUERY))) == 6


def test_an_empty_store():
    assert BreadthRetriever(source=InMemoryVectorStore(embeddings())).invoke(corpus.QUERY) == []


def test_settings_can_be_changed_for_one_call(store_in_memory):
    retriever = BreadthRetriever(source=store_in_memory, k=2, lambda_mult=0.9)
    assert len(retriever.invoke(corpus.QUERY, k=5)) == 5
    told = retriever.invoke(corpus.QUERY, theta=0.4)[0].metadata[KEY]
    assert told["theta"] == 0.4
    with pytest.raises(InputError, match="no option 'diversity'"):
        retriever.invoke(corpus.QUERY, diversity=0.4)


def test_wrong_settings_are_refused_at_once(store_in_memory):
    for wrong in ({"k": 0}, {"per_group": 2}, {"theta": 0.5, "lambda_mult": 0.5}, {"methode": "mmr"}):
        with pytest.raises(ValueError, match=r"k|per_group|theta|methode"):
            BreadthRetriever(source=store_in_memory, **wrong)


def test_a_wrong_relevance_is_refused_at_once():
    with pytest.raises(ValueError, match="relevance must be one of"):
        BreadthCompressor(embeddings=embeddings(), relevance="distance")


def test_the_settings_are_those_of_all_adapters():
    assert set(Options.names()) | {"k", "lambda_mult"} == set(Wishes.model_fields)


def test_an_oracle_needs_texts_and_embeddings():
    oracle = breadth.ArrayOracle(corpus.vectors())
    with pytest.raises(InputError, match="holds no texts"):
        BreadthRetriever(source=oracle, embeddings=embeddings()).invoke(corpus.QUERY)
    with pytest.raises(InputError, match="pass embeddings="):
        BreadthRetriever(source=oracle, documents=documents()).invoke(corpus.QUERY)
    with pytest.raises(InputError, match="takes no filter"):
        BreadthRetriever(source=oracle, documents=documents(), embeddings=embeddings(), filter={"a": 1}).invoke("x y")


def test_a_small_rag_chain(store_in_memory):
    """Retriever, prompt, model and parser of LangChain; the context holds no copies and names its sources."""
    prompts = []

    def pack(found):
        return breadth.pack(found, 400, str.split).text

    def keep(prompt):
        prompts.append(prompt.to_string())
        return prompt

    prompt = ChatPromptTemplate.from_template("Context:\n{context}\n\nQuestion: {question}")
    chain = (
        {"context": BreadthRetriever(source=store_in_memory, k=5) | pack, "question": RunnablePassthrough()}
        | prompt
        | RunnableLambda(keep)
        | FakeListChatModel(responses=["Joe Miller [1]"])
        | StrOutputParser()
    )
    assert chain.invoke(corpus.QUERY) == "Joe Miller [1]"
    assert "[1]" in prompts[0]
    assert prompts[0].count("Latimer family go to extreme lengths") == 1
    assert asyncio.run(chain.ainvoke(corpus.QUERY)) == "Joe Miller [1]"


def test_a_compressor_after_a_retriever(store_in_memory):
    base = store_in_memory.as_retriever(search_kwargs={"k": 60})
    compressor = BreadthCompressor(embeddings=embeddings(), k=5)
    retriever = ContextualCompressionRetriever(base_compressor=compressor, base_retriever=base)
    found = retriever.invoke(corpus.QUERY)
    assert len(found) == 5
    assert len({one.page_content[:80] for one in found}) == 5
    assert ids(asyncio.run(retriever.ainvoke(corpus.QUERY))) == ids(found)
    assert compressor.compress_documents([], corpus.QUERY) == []


def test_a_compressor_after_a_reranker_with_logits():
    """A cross-encoder writes logits into `relevance_score`; documents without one fall back to the query."""
    ranked = [
        Document(id=d.id, page_content=d.page_content, metadata={**d.metadata, "relevance_score": 8.0 - place})
        for place, d in enumerate(documents())
    ]
    with pytest.warns(ScoreWarning, match="relevance='scaled'"):
        found = BreadthCompressor(embeddings=embeddings(), k=3).compress_documents(ranked, corpus.QUERY)
    assert found[0].id == ranked[0].id
    by_name = BreadthCompressor(embeddings=embeddings(), k=3, relevance="logits").compress_documents(ranked, "?")
    assert by_name[0].id == ranked[0].id
    mixed = [*ranked[:5], *documents()[5:]]
    found = BreadthCompressor(embeddings=embeddings(), k=3).compress_documents(mixed, corpus.QUERY)
    assert found[0].metadata[KEY]["score"] == pytest.approx(max(corpus.vectors() @ corpus.query()), abs=1e-5)


@pytest.fixture
def own(tmp_path):
    with breadth.Index.create(tmp_path / "index", dim=256) as made:
        yield BreadthVectorStore(made, embeddings())


def test_mmr_of_the_vector_store_is_that_of_langchain(own, store_in_memory):
    own.add_documents(documents())
    for k, weight in ((4, 0.5), (8, 0.2), (6, 0.9)):
        theirs = store_in_memory.max_marginal_relevance_search(corpus.QUERY, k=k, fetch_k=30, lambda_mult=weight)
        ours = own.max_marginal_relevance_search(corpus.QUERY, k=k, fetch_k=30, lambda_mult=weight)
        assert ids(ours) == ids(theirs)
    some = own.max_marginal_relevance_search(corpus.QUERY, k=3, filter={"year": {"$lt": 2010}})
    assert all(one.metadata["year"] < 2010 for one in some)
    with pytest.raises(InputError, match="no argument 'diversity'"):
        own.max_marginal_relevance_search(corpus.QUERY, k=3, diversity=0.5)


def test_the_vector_store(own, expected):
    texts = [d.page_content for d in documents()]
    own.add_texts(texts, [d.metadata for d in documents()], ids=ids(documents()))
    assert ids(own.as_retriever(search_type="breadth", search_kwargs={"k": 6}).invoke(corpus.QUERY)) == expected
    assert len(own.as_retriever(search_type="mmr", search_kwargs={"k": 3}).invoke(corpus.QUERY)) == 3
    pairs = own.similarity_search_with_relevance_scores(corpus.QUERY, k=3, filter={"year": {"$lt": 2010}})
    assert all(document.metadata["year"] < 2010 and 0.0 < score < 1.0 for document, score in pairs)
    assert own.delete(["p1", "nowhere"])
    assert own.get_by_ids(["p1", "p2"])[0].id == "p2"
    with pytest.raises(InputError, match="needs ids"):
        own.delete()
    with pytest.raises(InputError, match="as many of each"):
        own.add_texts(["a", "b"], ids=["1"])
    assert own.add_texts(["old text", "new text"], ids=["x", "x"]) == ["x", "x"]
    assert own.get_by_ids(["x"])[0].page_content == "new text"


def test_a_vector_store_from_texts(tmp_path):
    made = BreadthVectorStore.from_texts(["a red apple", "a blue car"], embeddings(), path=tmp_path / "index")
    assert made.similarity_search("fruit apple", k=1)[0].page_content == "a red apple"
    made.index.close()
    with breadth.Index.open(tmp_path / "index") as opened:
        assert BreadthVectorStore(opened, embeddings()).similarity_search("car", k=1)[0].page_content == "a blue car"
    temporary = BreadthVectorStore.from_documents(documents()[:5], embeddings())
    assert len(temporary.index) == 5


def test_the_encoder_of_an_index_serves_as_embeddings(tmp_path, expected):
    with make_index(tmp_path / "index") as made:
        store = BreadthVectorStore(made)
        assert store.similarity_search(corpus.QUERY, k=1)
        assert ids(BreadthRetriever(source=store, k=6).invoke(corpus.QUERY)) == expected
