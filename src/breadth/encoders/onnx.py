"""Transformers exported to ONNX (extra `onnx`)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from breadth.encoders.protocol import Kind, Vectors, check_texts, no_rows, unit_rows
from breadth.encoders.tokenizer import load_tokenizer
from breadth.errors import EncoderError, InputError, MissingExtraError

_MODEL, _TOKENIZER = "model.onnx", "tokenizer.json"
_TEXTS_AT_A_TIME = 32


class OnnxEncoder:
    """A transformer exported to ONNX: a folder with model.onnx and tokenizer.json.

    If the model gives a vector for each token, the vector of a text is their mean. Only the first `length` tokens of a
    text count. Documents and queries are encoded alike.
    """

    def __init__(self, folder: str, length: int = 512) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise MissingExtraError("onnxruntime", "onnx") from None
        model, tokenizer = Path(folder) / _MODEL, Path(folder) / _TOKENIZER
        for file in (model, tokenizer):
            if not file.is_file():
                raise InputError(f"encoder folder {folder!r} has no {file.name}")
        mark = hashlib.sha256(model.read_bytes()).hexdigest()[:12]
        self.name = f"onnx:{folder}#{mark}"  # another model in the same folder is another encoder
        self._tokenizer = load_tokenizer(tokenizer, "onnx")
        self._tokenizer.enable_truncation(length)
        self._tokenizer.enable_padding()
        try:
            self._session = onnxruntime.InferenceSession(str(model))
        except Exception as error:  # the package has exceptions of many kinds
            raise EncoderError(f"onnxruntime cannot load {str(model)!r}: {error}") from error
        self._inputs = {one.name for one in self._session.get_inputs()}

    @classmethod
    def from_description(cls, description: str) -> OnnxEncoder:
        """Make an encoder from FOLDER, or from the FOLDER#MARK that the name of an encoder holds."""
        marked = re.fullmatch(r"(.+)#[0-9a-f]{12}", description, re.DOTALL)
        return cls(description if marked is None else marked[1])

    @cached_property
    def dim(self) -> int:
        """The number of dimensions."""
        return int(self.encode(["dimension"]).shape[1])

    def encode(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        """Turn texts into unit rows."""
        every = check_texts(texts, kind)
        if not every:
            return no_rows(self.dim)
        starts = range(0, len(every), _TEXTS_AT_A_TIME)
        parts = [self._run(every[start : start + _TEXTS_AT_A_TIME]) for start in starts]
        return unit_rows(np.concatenate(parts), len(every), self.name)

    def _run(self, texts: list[str]) -> Any:
        tokens = self._tokenizer.encode_batch(texts)
        mask = np.array([one.attention_mask for one in tokens], dtype=np.int64)
        given = {
            "input_ids": np.array([one.ids for one in tokens], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        states = self._session.run(None, {name: given[name] for name in given if name in self._inputs})[0]
        if states.ndim == 2:
            return states
        return (states * mask[:, :, None]).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)[:, None]
