"""From text to unit vectors. `encoder("…")` makes an encoder from a short description."""

from breadth.encoders.address import check_address, hide_password
from breadth.encoders.builtin import BuiltinEncoder
from breadth.encoders.model2vec import Model2VecEncoder
from breadth.encoders.onnx import OnnxEncoder
from breadth.encoders.openai import OpenAIEncoder
from breadth.encoders.protocol import Encoder, Kind, Vectors, unit_rows
from breadth.encoders.registry import ENCODERS, SPELLINGS, Entry, encoder
from breadth.encoders.sentence_transformers import SentenceTransformersEncoder

__all__ = [
    "ENCODERS",
    "SPELLINGS",
    "BuiltinEncoder",
    "Encoder",
    "Entry",
    "Kind",
    "Model2VecEncoder",
    "OnnxEncoder",
    "OpenAIEncoder",
    "SentenceTransformersEncoder",
    "Vectors",
    "check_address",
    "encoder",
    "hide_password",
    "unit_rows",
]
