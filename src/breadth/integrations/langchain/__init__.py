"""LangChain (extra `langchain`): a retriever, a document compressor and a vector store.

documents.py     LangChain's documents and embeddings, and the settings that the adapters share
retriever.py     `BreadthRetriever`
compressor.py    `BreadthCompressor`
vectorstore.py   `BreadthVectorStore`
"""

from breadth.errors import MissingExtraError

try:
    from breadth.integrations.langchain.compressor import BreadthCompressor
    from breadth.integrations.langchain.documents import EncoderEmbeddings
    from breadth.integrations.langchain.retriever import BreadthRetriever
    from breadth.integrations.langchain.vectorstore import BreadthVectorStore
except ModuleNotFoundError as error:
    if error.name is None or error.name.split(".")[0] not in ("langchain_core", "pydantic"):
        raise
    raise MissingExtraError("langchain-core", "langchain") from None

__all__ = ["BreadthCompressor", "BreadthRetriever", "BreadthVectorStore", "EncoderEmbeddings"]
