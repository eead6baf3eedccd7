"""Every adapter, asked in the same way: which documents it returns, with scores and metadata."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from haystack import Document as HaystackDocument
from haystack.document_stores.in_memory import InMemoryDocumentStore
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import TextNode

from breadth.integrations import haystack, langchain, llama_index
from tests.integrations import corpus
from tests.integrations.haystack_embedders import DocumentEmbedder, TextEmbedder
from tests.integrations.langchain_stores import documents, embeddings, in_memory, make_index


@dataclass(frozen=True)
class Answer:
    id: str
    text: str
    score: float
    told: dict[str, Any]
    metadata: dict[str, Any]


@cache
def index() -> Any:
    return make_index(Path(mkdtemp()) / "index")


@cache
def langchain_store() -> Any:
    return in_memory()


@cache
def llama_store() -> VectorStoreIndex:
    nodes = [
        TextNode(
            id_=p.id,
            text=p.text,
            metadata=corpus.metadata(p),
            excluded_embed_metadata_keys=["source", "year"],
        )
        for p in corpus.passages()
    ]
    return VectorStoreIndex(nodes, embed_model=llama_index.EncoderEmbedding(corpus.encoder()))


@cache
def haystack_store() -> InMemoryDocumentStore:
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    made = [HaystackDocument(id=p.id, content=p.text, meta=corpus.metadata(p)) for p in corpus.passages()]
    store.write_documents(DocumentEmbedder().run(made)["documents"])
    return store


def _from_langchain(found: list[Any]) -> list[Answer]:
    told = [one.metadata["breadth"] for one in found]
    return [Answer(d.id, d.page_content, t["score"], t, d.metadata) for d, t in zip(found, told, strict=True)]


def _from_llama(found: list[Any]) -> list[Answer]:
    return [Answer(n.node_id, n.text, n.score, n.metadata["breadth"], n.metadata) for n in found]


def _from_haystack(found: list[Any]) -> list[Answer]:
    return [Answer(d.id, d.content, d.score, d.meta["breadth"], d.meta) for d in found]


def langchain_retriever(k: int, **options: Any) -> list[Answer]:
    retriever = langchain.BreadthRetriever(source=langchain_store(), k=k, **options)
    return _from_langchain(retriever.invoke(corpus.QUERY))


def langchain_index_retriever(k: int, **options: Any) -> list[Answer]:
    return _from_langchain(langchain.BreadthRetriever(source=index(), k=k, **options).invoke(corpus.QUERY))


def langchain_compressor(k: int, **options: Any) -> list[Answer]:
    compressor = langchain.BreadthCompressor(embeddings=embeddings(), k=k, **options)
    return _from_langchain(compressor.compress_documents(documents(), corpus.QUERY))


def llama_retriever(k: int, **options: Any) -> list[Answer]:
    return _from_llama(llama_index.BreadthRetriever(llama_store(), k, **options).retrieve(corpus.QUERY))


def llama_postprocessor(k: int, **options: Any) -> list[Answer]:
    nodes = llama_store().as_retriever(similarity_top_k=len(corpus.passages())).retrieve(corpus.QUERY)
    model = llama_index.EncoderEmbedding(corpus.encoder())
    made = llama_index.BreadthPostprocessor(top_n=k, embed_model=model, **options)
    return _from_llama(made.postprocess_nodes(nodes, query_str=corpus.QUERY))


def haystack_retriever(k: int, **options: Any) -> list[Answer]:
    vector = TextEmbedder().run(corpus.QUERY)["embedding"]
    made = haystack.BreadthRetriever(haystack_store(), top_k=k, **options)
    return _from_haystack(made.run(query_embedding=vector)["documents"])


def haystack_ranker(k: int, **options: Any) -> list[Answer]:
    ranker = haystack.BreadthRanker(top_k=k, text_embedder=TextEmbedder(), **options)
    return _from_haystack(ranker.run(corpus.QUERY, haystack_store().filter_documents())["documents"])


ADAPTERS: dict[str, Callable[..., list[Answer]]] = {
    "LangChain retriever": langchain_retriever,
    "LangChain retriever over an index": langchain_index_retriever,
    "LangChain compressor": langchain_compressor,
    "LlamaIndex retriever": llama_retriever,
    "LlamaIndex postprocessor": llama_postprocessor,
    "Haystack retriever": haystack_retriever,
    "Haystack ranker": haystack_ranker,
}
