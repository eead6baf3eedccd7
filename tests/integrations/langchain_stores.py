"""The corpus in every vector store of LangChain that is searched as a whole, and in an index."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

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


def in_memory() -> InMemoryVectorStore:
    store = InMemoryVectorStore(embeddings())
    store.add_documents(documents())
    return store


def named_by_uuids() -> list[Document]:
    """The documents for stores whose ids are UUIDs."""
    return [one.model_copy(update={"id": str(uuid5(NAMESPACE_URL, str(one.id)))}) for one in documents()]


@contextmanager
def open_in_memory(place: str) -> Iterator[Any]:
    yield in_memory()


@contextmanager
def open_faiss(place: str) -> Iterator[Any]:
    from langchain_community.vectorstores import FAISS

    yield FAISS.from_documents(documents(), embeddings())


@contextmanager
def open_chroma(place: str) -> Iterator[Any]:
    from langchain_chroma import Chroma

    facts = {"hnsw:space": "cosine"}
    store = Chroma("corpus", embeddings(), persist_directory=place, collection_metadata=facts)
    store.add_documents(documents())
    yield store


@contextmanager
def open_lancedb(place: str) -> Iterator[Any]:
    from langchain_community.vectorstores import LanceDB

    store = LanceDB(uri=place, embedding=embeddings(), table_name="corpus")
    store.add_documents(documents())
    yield store


@contextmanager
def open_qdrant(place: str) -> Iterator[Any]:
    from langchain_qdrant import QdrantVectorStore

    store = QdrantVectorStore.from_documents(
        named_by_uuids(), embeddings(), path=place, collection_name="corpus", ids=[one.id for one in named_by_uuids()]
    )
    yield store
    store.client.close()


@contextmanager
def open_milvus(place: str) -> Iterator[Any]:
    from langchain_milvus import Milvus

    index = {"index_type": "FLAT", "metric_type": "COSINE"}
    where = {"uri": f"{place}/milvus.db"}
    store = Milvus(embeddings(), "corpus", connection_args=where, index_params=index, consistency_level="Strong")
    store.add_documents(documents(), ids=[one.id for one in documents()])
    yield store
    store.client.close()


@contextmanager
def open_pgvector(place: str) -> Iterator[Any]:
    """Beside it, a collection in the same table whose vectors have another length."""
    from langchain_postgres import PGVector

    address = place.replace("postgresql://", "postgresql+psycopg://")
    store = PGVector(embeddings(), connection=address, collection_name="corpus")
    store.add_documents(documents())
    other = PGVector(embeddings(), connection=address, collection_name="another")
    other.add_embeddings(["elsewhere"], [corpus.query().tolist()], ids=["elsewhere"])
    yield store
    for one in (store, other):
        one._engine.dispose()


@contextmanager
def open_pgvectorstore(place: str) -> Iterator[Any]:
    """`source` is a column of the table, `year` is in its JSON."""
    from langchain_postgres import Column, PGEngine, PGVectorStore

    engine = PGEngine.from_connection_string(place.replace("postgresql://", "postgresql+psycopg://"))
    engine.init_vectorstore_table("corpus", 256, metadata_columns=[Column("source", "TEXT")])
    store = PGVectorStore.create_sync(engine, embeddings(), "corpus", metadata_columns=["source"])
    store.add_documents(named_by_uuids())
    yield store
    asyncio.run(engine.close())


STORES = {
    "InMemoryVectorStore": open_in_memory,
    "FAISS": open_faiss,
    "Chroma": open_chroma,
    "LanceDB": open_lancedb,
    "QdrantVectorStore": open_qdrant,
    "Milvus": open_milvus,
    "PGVector": open_pgvector,
    "PGVectorStore": open_pgvectorstore,
}
"""How to open a store that holds the corpus, in a folder; by the name of its class."""
SERVED = ("PGVector", "PGVectorStore")
"""Those that need a database of PostgreSQL instead of a folder."""
