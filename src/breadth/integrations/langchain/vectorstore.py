"""`BreadthVectorStore`: LangChain's vector store over a `breadth.Index`."""

from __future__ import annotations

import shutil
import uuid
import weakref
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever

from breadth.errors import InputError
from breadth.index import Document as Entry
from breadth.index import Index
from breadth.index.documents import Hit
from breadth.integrations.langchain.documents import EncoderEmbeddings, make_documents
from breadth.integrations.langchain.retriever import BreadthRetriever
from breadth.integrations.options import Options
from breadth.integrations.vectors import unit
from breadth.integrations.whole import choose_from_index


class BreadthVectorStore(VectorStore):
    """A vector store over a `breadth.Index`.

    index       an index made with vectors from outside (`Index.create(path, dim=…)`), or with an encoder
    embedding   what turns texts into vectors; without it, the encoder of the index does

    `filter=` of all searches is a dict, see `breadth.filters`. Vectors are divided by their lengths.
    Documents come back as they were added; those of `max_marginal_relevance_search` and of
    `as_retriever(search_type="breadth")` say in `metadata["breadth"]` how they were chosen.
    """

    def __init__(self, index: Index, embedding: Embeddings | None = None) -> None:
        self.index = index
        self._embedding: Embeddings = EncoderEmbeddings(index) if embedding is None else embedding

    @property
    def embeddings(self) -> Embeddings:
        """What turns texts into vectors."""
        return self._embedding

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        path: str | Path | None = None,
        **kwargs: Any,
    ) -> BreadthVectorStore:
        """Make an index of texts in a new folder, or in a temporary one that is gone with the store."""
        dim = len(embedding.embed_query("dimensions"))
        if path is None:
            folder = Path(mkdtemp())
            store = cls(Index.create(folder / "index", dim=dim), embedding)
            weakref.finalize(store, shutil.rmtree, folder, ignore_errors=True)
        else:
            store = cls(Index.create(path, dim=dim), embedding)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Add texts, and replace those whose id is there. Texts without an id get one."""
        every = list(texts)
        facts = [{} for _ in every] if metadatas is None else metadatas
        names: Sequence[str | None] = [None] * len(every) if ids is None else ids
        if not len(every) == len(facts) == len(names):
            raise InputError(
                f"got {len(every)} texts, {len(facts)} metadatas and {len(names)} ids; pass as many of each"
            )
        chosen = [str(uuid.uuid4()) if name is None else name for name in names]
        last = {name: place for place, name in enumerate(chosen)}  # of a repeated id, the last text stays
        kept = sorted(last.values())
        entries = [Entry(chosen[place], every[place], facts[place]) for place in kept]
        if entries:
            rows = self._embedding.embed_documents([one.text for one in entries])
            self.index.update(
                entries, [unit(row, f"the vector of {e.id!r}") for e, row in zip(entries, rows, strict=True)]
            )
        return chosen

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Delete documents by id; ids that are not there are ignored."""
        if ids is None:
            raise InputError("delete needs ids; to delete everything, remove the folder of the index")
        self.index.delete(ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents with these ids; ids that are not there are left out."""
        return [_plain(self.index.get(name)) for name in ids if name in self.index]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """The k most relevant documents."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def similarity_search_by_vector(self, embedding: list[float], k: int = 4, **kwargs: Any) -> list[Document]:
        """The k documents most relevant to a vector."""
        return [_plain(hit.document) for hit in self._search(embedding, k, **kwargs)]

    def similarity_search_with_score(self, query: str, k: int = 4, **kwargs: Any) -> list[tuple[Document, float]]:
        """The k most relevant documents with their cosines."""
        return [
            (_plain(hit.document), hit.score) for hit in self._search(self._embedding.embed_query(query), k, **kwargs)
        ]

    def _select_relevance_score_fn(self) -> Any:
        return lambda cosine: cosine

    def _search(self, vector: Any, k: int, filter: Any = None) -> Sequence[Hit]:
        found = self.index.search(unit(vector, "the vector of the query"), k, 1.0, where=filter, method="topk")
        return found.hits

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """Maximal marginal relevance among the `fetch_k` most relevant documents, at least k."""
        vector = self._embedding.embed_query(query)
        return self.max_marginal_relevance_search_by_vector(vector, k, fetch_k, lambda_mult, **kwargs)

    def max_marginal_relevance_search_by_vector(
        self, embedding: list[float], k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """Maximal marginal relevance among the `fetch_k` documents, at least k, most relevant to a vector."""
        where = kwargs.pop("filter", None)
        if kwargs:
            raise InputError(f"there is no argument {next(iter(kwargs))!r}; besides k, fetch_k, lambda_mult: filter")
        options = Options.read({"method": "mmr", "lambda_mult": lambda_mult})
        return make_documents(choose_from_index(self.index, embedding, k, options, where, fetch_k))

    def as_retriever(self, **kwargs: Any) -> Any:
        """A retriever; `search_type="breadth"` makes a `BreadthRetriever`, whose settings are `search_kwargs`."""
        if kwargs.get("search_type") != "breadth":
            return VectorStoreRetriever(vectorstore=self, tags=self._get_retriever_tags(), **kwargs)
        given = {name: value for name, value in kwargs.items() if name not in ("search_type", "search_kwargs")}
        return BreadthRetriever(source=self, **given, **kwargs.get("search_kwargs", {}))


def _plain(entry: Entry) -> Document:
    return Document(id=entry.id, page_content=entry.text, metadata=dict(entry.metadata))
