"""Encoders from other packages, each imported only when it is used."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from breadth.encoders.protocol import Kind, Vectors, unit_rows
from breadth.errors import EncoderError, InputError, MissingExtraError

_TRIES, _WAIT = 5, 0.5
_REQUEST = 128
"""Texts in one request to an endpoint."""


class SentenceTransformersEncoder:
    """Any model of sentence-transformers, by name or folder; its own prompts for queries and documents are used."""

    def __init__(self, model: str, device: str | None = None) -> None:
        self.name = f"sentence-transformers:{model}"
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise MissingExtraError("sentence-transformers", "sentence-transformers") from None
        try:
            self._model = SentenceTransformer(model, device=device)
        except (OSError, ValueError) as error:
            raise EncoderError(f"sentence-transformers cannot load {model!r}: {error}") from error

    @property
    def dim(self) -> int:
        return int(self._model.get_sentence_embedding_dimension())

    def encode(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        prompts = getattr(self._model, "prompts", None) or {}
        prompt = kind if prompts.get(kind) else None
        rows = self._model.encode(list(texts), prompt_name=prompt, show_progress_bar=False, convert_to_numpy=True)
        return unit_rows(rows, len(texts), self.name)


class Model2VecEncoder:
    """Any static model in model2vec's format, by name or folder."""

    def __init__(self, model: str) -> None:
        self.name = f"model2vec:{model}"
        try:
            from model2vec import StaticModel
        except ImportError:
            raise MissingExtraError("model2vec", "model2vec") from None
        try:
            self._model = StaticModel.from_pretrained(model)
        except (OSError, ValueError) as error:
            raise EncoderError(f"model2vec cannot load {model!r}: {error}") from error

    @property
    def dim(self) -> int:
        return int(self._model.dim)

    def encode(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        return unit_rows(self._model.encode(list(texts)), len(texts), self.name)


class OpenAIEncoder:
    """Any endpoint that speaks OpenAI's embeddings protocol: OpenAI, vLLM, llama.cpp, Ollama, TEI …

    `url` defaults to the client's (OPENAI_BASE_URL), the key is OPENAI_API_KEY.
    """

    def __init__(self, model: str, url: str | None = None) -> None:
        self.name = f"openai:{model}"
        try:
            import openai
        except ImportError:
            raise MissingExtraError("openai", "openai") from None
        self._errors: Any = openai
        key = os.environ.get("OPENAI_API_KEY", "none")  # local servers want none, the client wants one
        self._client = openai.OpenAI(base_url=url, api_key=key, max_retries=0)
        self._model = model

    @cached_property
    def dim(self) -> int:
        return int(self.encode(["dimension"]).shape[1])

    def encode(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        rows: list[Any] = []
        for start in range(0, len(texts), _REQUEST):
            rows += self._embedded(list(texts[start : start + _REQUEST]))
        return unit_rows(rows, len(texts), self.name)

    def _embedded(self, texts: list[str]) -> list[Any]:
        transient = (self._errors.APIConnectionError, self._errors.RateLimitError, self._errors.InternalServerError)
        for attempt in range(_TRIES):
            try:
                answer = self._client.embeddings.create(model=self._model, input=texts, encoding_format="float")
                return [one.embedding for one in sorted(answer.data, key=lambda one: one.index)]
            except transient as error:
                if attempt == _TRIES - 1:
                    raise EncoderError(
                        f"the embeddings endpoint {self._client.base_url} failed {_TRIES} times: {error}"
                    ) from error
                time.sleep(_WAIT * 2**attempt)
            except self._errors.APIStatusError as error:
                raise EncoderError(f"the embeddings endpoint refused the request: {error}") from error
        raise AssertionError("unreachable")


class OnnxEncoder:
    """A transformer exported to ONNX: a folder with model.onnx and tokenizer.json; mean pooling over its tokens."""

    def __init__(self, folder: str, length: int = 512) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtraError("onnxruntime", "onnx") from None
        for file in ("model.onnx", "tokenizer.json"):
            if not (Path(folder) / file).is_file():
                raise InputError(f"encoder folder {folder!r} has no {file}")
        mark = hashlib.sha256((Path(folder) / "model.onnx").read_bytes()).hexdigest()[:12]
        self.name = f"onnx:{folder}#{mark}"  # two models in folders of one name are not the same
        self._tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
        self._tokenizer.enable_truncation(length)
        self._tokenizer.enable_padding()
        self._session = onnxruntime.InferenceSession(str(Path(folder) / "model.onnx"))
        self._inputs = {one.name for one in self._session.get_inputs()}

    @cached_property
    def dim(self) -> int:
        return int(self.encode(["dimension"]).shape[1])

    def encode(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        parts = [self._pooled(list(texts[start : start + 32])) for start in range(0, len(texts), 32)]
        return unit_rows(np.concatenate(parts), len(texts), self.name)

    def _pooled(self, texts: list[str]) -> Any:
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
