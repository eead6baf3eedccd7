"""LangChain's vector stores that can be searched as a whole. None of their packages is imported.

A vector store of LangChain gives the `fetch_k` most relevant documents, without their vectors. Where `breadth` has an
engine for what is behind the store, it chooses from all documents instead.

registry.py    the stores by the names of their classes, and `open_whole`
filters.py     which filters the engines read
in_memory.py, faiss.py, chroma.py, lancedb.py, qdrant.py, postgres.py, milvus.py    one store each

To add a store, write its file and list it in the registry; `tests/integrations/langchain_stores.py` says how documents
get into it.
"""
