"""From text to unit vectors. `encoder("…")` makes one from a short description."""

from __future__ import annotations

from breadth.encoders.builtin import BuiltinEncoder
from breadth.encoders.models import Model2VecEncoder, OnnxEncoder, OpenAIEncoder, SentenceTransformersEncoder
from breadth.encoders.protocol import Encoder, Kind
from breadth.errors import InputError

SPELLINGS = "builtin, sentence-transformers:MODEL, model2vec:MODEL, openai:MODEL[@URL], onnx:FOLDER"


def encoder(description: str) -> Encoder:
    """One of: builtin, sentence-transformers:MODEL, model2vec:MODEL, openai:MODEL[@URL], onnx:FOLDER."""
    family, _, model = description.partition(":")
    if family == "builtin":
        return BuiltinEncoder()
    if model and family == "sentence-transformers":
        return SentenceTransformersEncoder(model)
    if model and family == "model2vec":
        return Model2VecEncoder(model)
    if model and family == "openai":
        name, _, url = model.partition("@")
        return OpenAIEncoder(name, url or None)
    if model and family == "onnx":
        return OnnxEncoder(model.partition("#")[0])
    raise InputError(f"encoder must be one of {SPELLINGS}; got {description!r}")


__all__ = [
    "SPELLINGS",
    "BuiltinEncoder",
    "Encoder",
    "Kind",
    "Model2VecEncoder",
    "OnnxEncoder",
    "OpenAIEncoder",
    "SentenceTransformersEncoder",
    "encoder",
]
