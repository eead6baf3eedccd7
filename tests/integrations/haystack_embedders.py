"""The built-in encoder as Haystack's embedders."""

from __future__ import annotations

from dataclasses import replace

from haystack import Document, component, default_to_dict

from tests.integrations import corpus


@component
class TextEmbedder:
    def to_dict(self):
        return default_to_dict(self)

    @component.output_types(embedding=list[float])
    def run(self, text: str):
        return {"embedding": [float(x) for x in corpus.encoder().encode([text], "query")[0]]}


@component
class DocumentEmbedder:
    def to_dict(self):
        return default_to_dict(self)

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]):
        rows = corpus.encoder().encode([one.content for one in documents])
        return {"documents": [replace(one, embedding=row.tolist()) for one, row in zip(documents, rows, strict=True)]}
