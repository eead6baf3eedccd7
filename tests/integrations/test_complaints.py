"""What users of other diversity searches have complained about: each complaint has a test that names it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore

import breadth
from breadth.encoders.tokenizer import load_tokenizer
from breadth.errors import InputError
from breadth.integrations.langchain import BreadthCompressor, BreadthRetriever, BreadthVectorStore
from breadth.integrations.options import PoolWarning
from tests.integrations import corpus
from tests.integrations.adapters import ADAPTERS, haystack_store, index, llama_store
from tests.integrations.langchain_stores import documents, embeddings

every_adapter = pytest.mark.parametrize("retrieve", ADAPTERS.values(), ids=ADAPTERS.keys())


def top(k):
    """The ids of the k most relevant passages."""
    cosines = corpus.vectors() @ corpus.query()
    return [corpus.passages()[i].id for i in np.argsort(-cosines, kind="stable")[:k]]


@every_adapter
def test_lambda_is_never_inverted(retrieve):
    """langchain#39052, elasticsearch#138661: everywhere 1 is relevance alone, and less is less alike."""
    assert (
        {one.id for one in retrieve(6, method="topk")} == {one.id for one in retrieve(6, distinct=1.0)} == set(top(6))
    )
    weights = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
    told = [retrieve(6, theta=weight, sharpness=2)[0].told for weight in weights]
    relevance, redundancy = ([one[name] for one in told] for name in ("relevance", "redundancy"))
    assert all(low <= high + 1e-6 for low, high in pairwise(relevance))
    assert all(low <= high + 1e-6 for low, high in pairwise(redundancy))
    assert redundancy[0] < redundancy[-1] - 0.05


@every_adapter
def test_a_weight_of_zero_is_not_taken_for_none(retrieve):
    """llama_index#22126: 0, the most diverse set, was read as "not given" and became the default."""
    none, least, default = (retrieve(6, **given)[0].told for given in ({"theta": 0.0}, {"theta": 1e-6}, {}))
    assert none["theta"] == 0.0
    assert none["redundancy"] <= least["redundancy"] + 1e-9
    assert none["redundancy"] < default["redundancy"]


def test_one_weight_gives_one_set_in_all_frameworks():
    """The same, across backends: they all return the same documents."""
    for theta in (0.3, 0.7):
        sets = {name: [one.id for one in retrieve(6, theta=theta)] for name, retrieve in ADAPTERS.items()}
        assert len({tuple(found) for found in sets.values()}) == 1, sets


def test_lambda_mult_is_the_weight_of_relevance():
    """The same, by LangChain's name."""
    for weight in (0.0, 0.3, 1.0):
        by_name = ADAPTERS["LangChain retriever"](6, lambda_mult=weight)
        assert [one.id for one in by_name] == [one.id for one in ADAPTERS["LangChain retriever"](6, theta=weight)]


@every_adapter
def test_every_document_has_its_score(retrieve):
    """langchain#6867, langchain#9162, langchain#12666: MMR returned no scores."""
    cosines = dict(zip((p.id for p in corpus.passages()), corpus.vectors() @ corpus.query(), strict=True))
    for method in ("mmr", "certified"):
        found = retrieve(6, method=method)
        assert len(found) == 6
        for one in found:
            assert one.score == pytest.approx(cosines[one.id], abs=1e-4)
            assert one.told["score"] == one.score
        assert found[0].told["gap"] is None if method == "mmr" else found[0].told["gap"] >= 0.0


def test_mmr_search_of_the_vector_store_has_scores(tmp_path):
    """The same, in the search that LangChain's users call."""
    with breadth.Index.create(tmp_path / "index", dim=256) as made:
        store = BreadthVectorStore(made, embeddings())
        store.add_documents(documents())
        for one in store.max_marginal_relevance_search(corpus.QUERY, k=4):
            assert one.metadata["breadth"]["score"] > 0.3


class IgnoresFilters(InMemoryVectorStore):
    """A store as some are: it takes a filter and does nothing with it."""

    def similarity_search_by_vector(self, embedding, k=4, **kwargs):
        return super().similarity_search_by_vector(embedding, k)


def filtered_sets():
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

    from breadth.integrations import haystack, llama_index
    from tests.integrations.adapters import langchain_store

    before = {"year": {"$lt": 2010}}
    filters = MetadataFilters(filters=[MetadataFilter(key="year", value=2010, operator="<")])
    wanted = {"field": "meta.year", "operator": "<", "value": 2010}
    vector = corpus.query().tolist()
    pool = InMemoryEmbeddingRetriever(haystack_store(), top_k=50, filters=wanted, return_embedding=True)
    return {
        "LangChain": [
            d.metadata for d in BreadthRetriever(source=langchain_store(), filter=before).invoke(corpus.QUERY)
        ],
        "LangChain, a function": [
            d.metadata
            for d in BreadthRetriever(source=langchain_store()).invoke(
                corpus.QUERY, filter=lambda d: d.metadata["year"] < 2010
            )
        ],
        "LangChain, index": [d.metadata for d in BreadthRetriever(source=index(), filter=before).invoke(corpus.QUERY)],
        "LlamaIndex": [
            n.metadata for n in llama_index.BreadthRetriever(llama_store(), filters=filters).retrieve(corpus.QUERY)
        ],
        "LlamaIndex, index": [
            n.metadata for n in llama_index.BreadthRetriever(index(), filters=filters).retrieve(corpus.QUERY)
        ],
        "Haystack": [
            d.meta
            for d in haystack.BreadthRetriever(haystack_store(), top_k=4, filters=wanted).run(vector)["documents"]
        ],
        "Haystack, index": [
            d.meta for d in haystack.BreadthRetriever(index(), top_k=4, filters=wanted).run(vector)["documents"]
        ],
        "Haystack, ranker": [
            d.meta
            for d in haystack.BreadthRanker(top_k=4).run(corpus.QUERY, pool.run(vector)["documents"])["documents"]
        ],
    }


def test_filters_are_honoured():
    """langchain#11295, langchain#13260: the MMR search of some stores ignored the filter."""
    for name, found in filtered_sets().items():
        assert len(found) == 4, name
        assert all(one["year"] < 2010 for one in found), name


def test_a_store_that_ignores_the_filter_is_found_out():
    """The same, where the store is to blame: wrong documents never come back."""
    store = IgnoresFilters(embeddings())
    store.add_documents(documents())
    retriever = BreadthRetriever(source=store, filter={"source": corpus.FLOOD}, search_kwargs={"score": True})
    with pytest.raises(InputError, match="ignores the filter"):
        retriever.invoke(corpus.QUERY)


def test_a_pool_that_is_too_small_warns_or_is_refused():
    """A pool of 20 candidates is no choice if they are copies of one another: MMR says nothing about it."""
    store = InMemoryVectorStore(embeddings())
    store.add_documents(documents())
    plain = {"search_kwargs": {"filter": None}}  # so that the store's own search is asked
    with pytest.warns(PoolWarning, match="raise the number of candidates"):
        found = BreadthRetriever(source=store, k=6, fetch_k=10, **plain).invoke(corpus.QUERY)
    assert len(found) < 6
    with pytest.raises(InputError, match="fetch_k=3 is below k=6"):
        BreadthRetriever(source=store, k=6, fetch_k=3).invoke(corpus.QUERY)
    assert len(BreadthRetriever(source=store, k=6).invoke(corpus.QUERY)) == 6  # the whole store is searched


@every_adapter
def test_no_source_floods_the_context(retrieve):
    """SurfSense#1706, OpenGateLLM#181: one long document took all places."""
    flooded = [one.metadata["source"] for one in retrieve(8, method="topk")]
    assert max(flooded.count(source) for source in flooded) > 4
    for per_group in (1, 2):
        sources = [one.metadata["source"] for one in retrieve(8, group_by="source", per_group=per_group)]
        assert max(sources.count(source) for source in sources) <= per_group
        assert len(sources) >= 3


@every_adapter
def test_near_copies_keep_their_provenance(retrieve):
    """dify#35707: after removing duplicates nobody knew where else a passage stood."""
    found = retrieve(6)
    copies = {one["id"]: one for answer in found for one in answer.told["copies"]}
    flood = {p.id for p in corpus.passages() if p.source == corpus.FLOOD}
    assert flood <= copies.keys() | {one.id for one in found}
    for name in flood & copies.keys():
        assert copies[name]["metadata"]["source"] == corpus.FLOOD
    assert not copies.keys() & {one.id for one in found}


@pytest.mark.parametrize("named", [True, False])
def test_the_same_text_in_two_files_keeps_both_sources(named):
    """The same, where texts are equal to the letter, with ids and without: they became one."""
    text = corpus.passages()[0].text
    same = [Document(id=f"d{i}" if named else None, page_content=text, metadata={"file": f"{i}.txt"}) for i in range(3)]
    compressor = BreadthCompressor(embeddings=embeddings(), k=3)
    found = compressor.compress_documents([*same, *documents()[5:9]], text)
    files = {found[0].metadata["file"], *(one["metadata"]["file"] for one in found[0].metadata["breadth"]["copies"])}
    assert files == {"0.txt", "1.txt", "2.txt"}
    all_three = BreadthCompressor(embeddings=embeddings(), k=3, theta=1.0, distinct=1.0)
    assert {one.metadata["file"] for one in all_three.compress_documents(same, text)} == files
    again = {
        one["metadata"]["file"] for one in compressor.compress_documents(found, text)[0].metadata["breadth"]["copies"]
    }
    assert again | {found[0].metadata["file"]} == files


def test_provenance_survives_a_second_step():
    """The same, where a compressor follows a retriever: the copies of the first step are still told."""
    first = BreadthRetriever(source=index(), k=10).invoke(corpus.QUERY)
    second = BreadthCompressor(embeddings=embeddings(), k=4).compress_documents(first, corpus.QUERY)
    before = {one["id"] for one in first[0].metadata["breadth"]["copies"]}
    assert before
    assert before <= {one["id"] for one in second[0].metadata["breadth"]["copies"]}


@cache
def tokenizer():
    return load_tokenizer(str(files("breadth.encoders") / "data" / "potion-base-8M-tokenizer.json"), "text")


def count_tokens(text: str) -> int:
    return len(tokenizer().encode(text, add_special_tokens=False).ids)


@every_adapter
def test_a_budget_of_tokens_is_not_overshot(retrieve):
    """ragflow#16376: the context was larger than the budget."""
    for budget in (150, 400, 900):
        found = retrieve(10, budget=budget, count=count_tokens)
        assert 0 < sum(count_tokens(one.text) for one in found) <= budget


@given(budget=st.integers(1, 900), order=st.sampled_from(["relevance", "ends", "given"]))
def test_a_packed_context_is_never_larger_than_its_budget(budget, order):
    """The same, for the whole prompt: numbers and separators count too."""
    packed = breadth.pack(index().search(corpus.QUERY, 10), budget, count_tokens, order=order)
    assert count_tokens(packed.text) == packed.tokens <= budget
    assert len(packed.passages) + len(packed.left_out) == 10


def test_documents_of_the_user_are_not_changed():
    """Metadata are written to copies."""
    given_documents = [Document(id=d.id, page_content=d.page_content, metadata=dict(d.metadata)) for d in documents()]
    BreadthCompressor(embeddings=embeddings()).compress_documents(given_documents, corpus.QUERY)
    assert given_documents == documents()
    ADAPTERS["LlamaIndex postprocessor"](4)
    assert all("breadth" not in node.metadata for node in llama_store().docstore.docs.values())
    ADAPTERS["Haystack ranker"](4)
    assert all("breadth" not in one.meta for one in haystack_store().filter_documents())
