"""Embeddings from an endpoint that speaks OpenAI's protocol (extra `openai`)."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from breadth.encoders.protocol import Kind, Vectors, check_texts, no_rows, unit_rows
from breadth.errors import EncoderError, MissingExtraError

TRIES, WAIT = 5, 0.5
"""How often a request is sent, and the seconds before the second time; the pause doubles every time."""
TEXTS_PER_REQUEST = 128


class OpenAIEncoder:
    """Any endpoint that speaks OpenAI's embeddings protocol: OpenAI, vLLM, llama.cpp, Ollama, TEI …

    `url` defaults to OPENAI_BASE_URL, or else to OpenAI itself. The key is OPENAI_API_KEY. Documents and queries are
    encoded alike.
    """

    def __init__(self, model: str, url: str | None = None) -> None:
        self.name = f"openai:{model}"
        try:
            import openai
        except ImportError:
            raise MissingExtraError("openai", "openai") from None
        self._errors: Any = openai
        key = os.environ.get("OPENAI_API_KEY", "none")  # local servers need no key, but the client insists on one
        self._client = openai.OpenAI(base_url=url, api_key=key, max_retries=0)
        self._model = model

    @classmethod
    def from_description(cls, description: str) -> OpenAIEncoder:
        """Make an encoder from MODEL or MODEL@URL."""
        model, _, url = description.partition("@")
        return cls(model, url or None)

    @cached_property
    def dim(self) -> int:
        """The number of dimensions, which the endpoint is asked for once."""
        return int(self.encode(["dimension"]).shape[1])

    def encode(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        """Turn texts into unit rows, in as many requests as it takes."""
        every = check_texts(texts, kind)
        if not every:
            return no_rows(self.dim)
        rows: list[Any] = []
        for start in range(0, len(every), TEXTS_PER_REQUEST):
            rows += self._request(every[start : start + TEXTS_PER_REQUEST])
        return unit_rows(rows, len(every), self.name)

    def _request(self, texts: list[str]) -> list[Any]:
        """Send one request, again if the endpoint is busy or away for a moment."""
        transient = (self._errors.APIConnectionError, self._errors.RateLimitError, self._errors.InternalServerError)
        for attempt in range(TRIES):
            try:
                answer = self._client.embeddings.create(model=self._model, input=texts, encoding_format="float")
                return [one.embedding for one in sorted(answer.data, key=lambda one: one.index)]
            except transient as error:
                if attempt == TRIES - 1:
                    raise EncoderError(
                        f"the embeddings endpoint {self._client.base_url} failed {TRIES} times: {error}"
                    ) from error
                time.sleep(WAIT * 2**attempt)
            except self._errors.APIStatusError as error:
                raise EncoderError(f"the embeddings endpoint refused the request: {error}") from error
        raise AssertionError("unreachable")
