"""Haystack: a pipeline whose ranker leaves copies out.

In your clone of breadth: pip install '.[haystack,text]'
"""

import json
from dataclasses import replace
from pathlib import Path

from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from breadth.encoders import BuiltinEncoder
from breadth.integrations.haystack import BreadthRanker, BreadthRetriever

encoder = BuiltinEncoder()


@component
class TextEmbedder:  # or your own embedder
    @component.output_types(embedding=list[float])
    def run(self, text: str):
        return {"embedding": [float(x) for x in encoder.encode([text], "query")[0]]}


lines = (Path(__file__).parent / "data/wikipedia/passages.jsonl").read_text(encoding="utf-8").splitlines()
documents = [Document(id=p["id"], content=p["text"], meta={"title": p["title"]}) for p in map(json.loads, lines)]
rows = encoder.encode([one.content for one in documents])
store = InMemoryDocumentStore(embedding_similarity_function="cosine")
store.write_documents([replace(one, embedding=row.tolist()) for one, row in zip(documents, rows, strict=True)])

pipeline = Pipeline()
pipeline.add_component("embed", TextEmbedder())
pipeline.add_component("retrieve", InMemoryEmbeddingRetriever(store, top_k=50, return_embedding=True))
pipeline.add_component("rank", BreadthRanker(top_k=5, group_by="title", per_group=3))
pipeline.add_component(
    "prompt", PromptBuilder("{% for d in documents %}{{ d.content }}\n{% endfor %}", required_variables="*")
)
pipeline.connect("embed.embedding", "retrieve.query_embedding")
pipeline.connect("retrieve.documents", "rank.documents")
pipeline.connect("rank.documents", "prompt.documents")
question = "Who was the murderer in the first broadchurch?"
found = pipeline.run({"embed": {"text": question}, "rank": {"query": question}}, include_outputs_from={"rank"})
for document in found["rank"]["documents"]:
    print(f"{document.score:.3f}  {document.meta['title'][:40]:40}  {len(document.meta['breadth']['copies'])} copies")

# The whole store instead of 50 documents:
whole = BreadthRetriever(store, top_k=5)
print([one.id for one in whole.run(query_embedding=TextEmbedder().run(question)["embedding"])["documents"]])
