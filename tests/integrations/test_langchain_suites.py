"""LangChain's own suites for retrievers and vector stores."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_tests.integration_tests import RetrieversIntegrationTests, VectorStoreIntegrationTests

import breadth
from breadth.integrations.langchain import BreadthRetriever, BreadthVectorStore
from tests.integrations import corpus
from tests.integrations.langchain_stores import documents, embeddings, make_index


class TestRetrieverOverStore(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BreadthRetriever]:
        return BreadthRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        store = InMemoryVectorStore(embeddings())
        store.add_documents(documents())
        return {"source": store}

    @property
    def retriever_query_example(self) -> str:
        return corpus.QUERY


class TestRetrieverOverIndex(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _index(self, tmp_path):
        with make_index(tmp_path / "index") as index:
            self.index = index
            yield

    @property
    def retriever_constructor(self) -> type[BreadthRetriever]:
        return BreadthRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"source": self.index}

    @property
    def retriever_query_example(self) -> str:
        return corpus.QUERY


class TestRetrieverOverOracle(TestRetrieverOverIndex):
    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        oracle = breadth.ArrayOracle(corpus.vectors())
        return {"source": oracle, "documents": documents(), "embeddings": embeddings()}


class TestVectorStore(VectorStoreIntegrationTests):
    @staticmethod
    def get_embeddings() -> DeterministicFakeEmbedding:
        return DeterministicFakeEmbedding(size=6)

    @pytest.fixture
    def vectorstore(self, tmp_path) -> VectorStore:
        with breadth.Index.create(tmp_path / "index", dim=6) as index:
            yield BreadthVectorStore(index, self.get_embeddings())
