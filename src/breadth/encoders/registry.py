"""The encoders that a short description can name, such as `openai:text-embedding-3-small`.

A new encoder is a file with a class that fits the protocol and a line in `ENCODERS`. The command line and its
reference follow, and `tests/encoders/test_contract.py` tests it once it is told how to make one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from breadth.encoders.address import without_password
from breadth.encoders.builtin import BuiltinEncoder
from breadth.encoders.model2vec import Model2VecEncoder
from breadth.encoders.onnx import OnnxEncoder
from breadth.encoders.openai import OpenAIEncoder
from breadth.encoders.protocol import Encoder
from breadth.encoders.sentence_transformers import SentenceTransformersEncoder
from breadth.errors import InputError


@dataclass(frozen=True)
class Entry:
    """How to make an encoder from its description, which is `NAME:REST`, or `NAME` alone if `form` is empty.

    make   gets REST and returns the encoder.
    form   what REST looks like, for the help.
    extra  the extra of this package that brings what the encoder needs.
    """

    make: Callable[[str], Encoder]
    form: str
    extra: str


ENCODERS: dict[str, Entry] = {
    "builtin": Entry(BuiltinEncoder.from_description, "", "text"),
    "sentence-transformers": Entry(SentenceTransformersEncoder, "MODEL", "sentence-transformers"),
    "model2vec": Entry(Model2VecEncoder, "MODEL", "model2vec"),
    "openai": Entry(OpenAIEncoder.from_description, "MODEL[@URL]", "openai"),
    "onnx": Entry(OnnxEncoder.from_description, "FOLDER", "onnx"),
}

SPELLINGS = ", ".join(f"{name}:{entry.form}" if entry.form else name for name, entry in ENCODERS.items())
"""All forms of a description, for help and messages."""


def encoder(description: str) -> Encoder:
    """Make an encoder from a description; `SPELLINGS` lists their forms. The `name` of an encoder is one, too."""
    name, _, rest = description.partition(":")
    entry = ENCODERS.get(name)
    if entry is None or (entry.form and not rest):
        raise InputError(f"encoder must be one of {SPELLINGS}; got {without_password(description)!r}")
    return entry.make(rest)
