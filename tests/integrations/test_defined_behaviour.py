"""What docs/frameworks.md defines under "What happens when", in every framework."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from haystack import Document as HaystackDocument
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode

from breadth.errors import InputError
from breadth.integrations.haystack import BreadthRanker
from breadth.integrations.langchain import BreadthCompressor
from breadth.integrations.llama_index import BreadthPostprocessor, EncoderEmbedding
from breadth.integrations.options import ScoreWarning
from tests.integrations import corpus
from tests.integrations.adapters import ADAPTERS
from tests.integrations.haystack_embedders import DocumentEmbedder, TextEmbedder
from tests.integrations.langchain_stores import embeddings

Entry = tuple[str, str, float | None]
"""The id, the text and the score of a document."""


def rank_langchain(entries: list[Entry], k: int, **options: Any) -> list[Entry]:
    given = [
        Document(id=name, page_content=text, metadata={} if score is None else {"relevance_score": score})
        for name, text, score in entries
    ]
    found = BreadthCompressor(embeddings=embeddings(), k=k, **options).compress_documents(given, corpus.QUERY)
    return [(one.id, one.page_content, one.metadata["breadth"]["score"]) for one in found]


def rank_llama_index(entries: list[Entry], k: int, **options: Any) -> list[Entry]:
    given = [NodeWithScore(node=TextNode(id_=name, text=text), score=score) for name, text, score in entries]
    made = BreadthPostprocessor(top_n=k, embed_model=EncoderEmbedding(corpus.encoder()), **options)
    return [(one.node_id, one.text, one.score) for one in made.postprocess_nodes(given, query_str=corpus.QUERY)]


def rank_haystack(entries: list[Entry], k: int, **options: Any) -> list[Entry]:
    given = [HaystackDocument(id=name, content=text, score=score) for name, text, score in entries]
    made = BreadthRanker(top_k=k, text_embedder=TextEmbedder(), document_embedder=DocumentEmbedder(), **options)
    return [(one.id, one.content, one.score) for one in made.run(corpus.QUERY, given)["documents"]]


RANKERS = {"LangChain": rank_langchain, "LlamaIndex": rank_llama_index, "Haystack": rank_haystack}
every_ranker = pytest.mark.parametrize("rank", RANKERS.values(), ids=RANKERS.keys())
every_adapter = pytest.mark.parametrize("retrieve", ADAPTERS.values(), ids=ADAPTERS.keys())


def entries(count: int, scores: Any = None) -> list[Entry]:
    some = corpus.passages()[:count]
    return [(p.id, p.text, None if scores is None else scores[place]) for place, p in enumerate(some)]


@every_adapter
def test_a_flood_of_near_copies_takes_one_place(retrieve):
    found = retrieve(6)
    assert len(found) == 6
    assert sum(one.metadata["source"] == corpus.FLOOD for one in found) <= 1


@every_adapter
def test_fewer_documents_than_asked_for(retrieve):
    """All that are allowed are returned, and how many there should have been is told."""
    found = retrieve(500, on_topic=0.0)
    assert len(found) < 132
    assert found[0].told["asked"] == 500
    assert len({one.id for one in found}) == len(found)


@every_adapter
def test_no_document_reaches_the_floor(retrieve):
    assert retrieve(6, floor=0.99) == []


@every_ranker
def test_fewer_candidates_than_asked_for(rank):
    assert {name for name, _, _ in rank(entries(3), 10, on_topic=0.0)} == {"p0", "p1", "p2"}
    assert rank([], 10) == []


@every_ranker
def test_a_repeated_document_counts_once_with_its_best_score(rank):
    (name, text, _), *others = entries(4)
    given = [(name, text, 0.2), (name, text, 0.9), (name, others[0][1], 0.4), *((n, t, 0.1) for n, t, _ in others[1:])]
    found = rank(given, 10, on_topic=0.0)
    assert [(n, score) for n, t, score in found if t == text] == [(name, 0.9)]
    assert (name, others[0][1]) in {(n, t) for n, t, _ in found}  # one id, another text: another document


@every_ranker
def test_without_scores_the_query_is_the_relevance(rank):
    cosines = dict(zip((p.id for p in corpus.passages()), corpus.vectors() @ corpus.query(), strict=True))
    for given in (entries(20), [*entries(10, [0.5] * 10), *entries(20)[10:]]):  # none has one; some have one
        found = rank(given, 5)
        assert [score for _, _, score in found] == pytest.approx([cosines[name] for name, _, _ in found], abs=1e-4)


@every_ranker
def test_logits_are_scaled_with_a_warning_or_as_they_are_named(rank):
    logits = [8.0 - place for place in range(20)]
    with pytest.warns(ScoreWarning, match="relevance='scaled'"):
        assert rank(entries(20, logits), 5)[0] == (*entries(1)[0][:2], 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for relevance, best in (("scaled", 1.0), ("logits", 0.99966), ("scores", 8.0)):
            name, _, score = rank(entries(20, logits), 5, relevance=relevance)[0]
            assert (name, score) == ("p0", pytest.approx(best, abs=1e-4))


@every_ranker
def test_distances_are_told(rank):
    with pytest.warns(ScoreWarning, match="as distances do"):
        rank(entries(20, [0.1 + 0.01 * place for place in range(20)]), 5)


@every_ranker
def test_a_relevance_that_is_not_there_is_refused(rank):
    with pytest.raises((InputError, ValueError), match="relevance"):
        rank(entries(5), 3, relevance="distance")
    with pytest.raises(InputError, match="has the score None"):
        rank(entries(5), 3, relevance="scores")
