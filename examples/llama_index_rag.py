"""LlamaIndex: a query engine whose nodes do not repeat each other.

In your clone of breadth: pip install '.[llama-index,text]'
"""

import json
from pathlib import Path

from llama_index.core import VectorStoreIndex, get_response_synthesizer
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode

from breadth.encoders import BuiltinEncoder
from breadth.integrations.llama_index import BreadthPostprocessor, BreadthRetriever, EncoderEmbedding

lines = (Path(__file__).parent / "data/wikipedia/passages.jsonl").read_text(encoding="utf-8").splitlines()
nodes = [TextNode(id_=p["id"], text=p["text"], metadata={"title": p["title"]}) for p in map(json.loads, lines)]
model = EncoderEmbedding(BuiltinEncoder())  # or your own embedding model
index = VectorStoreIndex(nodes, embed_model=model)

# Before: index.as_retriever(similarity_top_k=5, vector_store_query_mode="mmr")
retriever = BreadthRetriever(index, similarity_top_k=5)
engine = RetrieverQueryEngine(retriever, get_response_synthesizer(llm=MockLLM(max_tokens=20)))  # or your own model
answer = engine.query("Who was the murderer in the first broadchurch?")
for node in answer.source_nodes:
    print(f"{node.score:.3f}  {node.metadata['title'][:40]:40}  {len(node.metadata['breadth']['copies'])} near-copies")

# After any other retriever or reranker:
after = BreadthPostprocessor(top_n=3, embed_model=model, distinct=0.9)
found = index.as_retriever(similarity_top_k=50).retrieve("Who played the doctor?")
print([node.node_id for node in after.postprocess_nodes(found, query_str="Who played the doctor?")])
