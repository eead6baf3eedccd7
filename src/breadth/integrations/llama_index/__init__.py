"""LlamaIndex (extra `llama-index`): a node postprocessor and a retriever.

nodes.py           LlamaIndex's nodes as candidates, with embeddings for those that have none
filters.py         LlamaIndex's filters as filters of breadth
embedding.py       `EncoderEmbedding`, an encoder of breadth as an embedding model
postprocessor.py   `BreadthPostprocessor`
retriever.py       `BreadthRetriever`
stores.py          the vector stores that can be searched as a whole
"""

from breadth.errors import MissingExtraError

try:
    from breadth.integrations.llama_index.embedding import EncoderEmbedding
    from breadth.integrations.llama_index.postprocessor import BreadthPostprocessor
    from breadth.integrations.llama_index.retriever import BreadthRetriever
except ModuleNotFoundError as error:
    if error.name is None or error.name.split(".")[0] != "llama_index":
        raise
    raise MissingExtraError("llama-index-core", "llama-index") from None

__all__ = ["BreadthPostprocessor", "BreadthRetriever", "EncoderEmbedding"]
