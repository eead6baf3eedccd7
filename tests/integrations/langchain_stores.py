"""The corpus in LangChain's own vector stores, and in an index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore

import breadth
from breadth.integrations.langchain import EncoderEmbeddings
from tests.integrations import corpus


def embeddings() -> EncoderEmbeddings:
    return EncoderEmbeddings(corpus.encoder())


def documents() -> list[Document]:
    return [Document(id=p.id, page_content=p.text, metadata=corpus.metadata(p)) for p in corpus.passages()]


def make_index(path: Path) -> breadth.Index:
    index = breadth.Index.create(path)
    index.add(breadth.Document(p.id, p.text, corpus.metadata(p)) for p in corpus.passages())
    return index


def in_memory(path: Path) -> Any:
    store = InMemoryVectorStore(embeddings())
    store.add_documents(documents())
    return store


def faiss(path: Path) -> Any:
    from langchain_community.vectorstores import FAISS

    return FAISS.from_documents(documents(), embeddings())


def chroma(path: Path) -> Any:
    from langchain_chroma import Chroma

    facts = {"hnsw:space": "cosine"}
    store = Chroma("corpus", embeddings(), persist_directory=str(path), collection_metadata=facts)
    store.add_documents(documents())
    return store


def lancedb(path: Path) -> Any:
    from langchain_community.vectorstores import LanceDB

    store = LanceDB(uri=str(path), embedding=embeddings(), table_name="corpus")
    store.add_documents(documents())
    return store


STORES = {"in_memory": in_memory, "faiss": faiss, "chroma": chroma, "lancedb": lancedb}
