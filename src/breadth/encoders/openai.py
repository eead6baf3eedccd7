"""Embeddings from an endpoint that speaks OpenAI's protocol (extra `openai`)."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from breadth.encoders.address import check_address, hide_password, split_description
from breadth.encoders.protocol import Kind, Vectors, check_texts, no_rows, unit_rows
from breadth.errors import EncoderError, MissingExtraError

TRIES, WAIT = 5, 0.5
"""How often a request is sent, and the seconds before the second time; the pause doubles every time."""
TEXTS_PER_REQUEST = 128
_OPENAI = "https://api.openai.com/v1"


class OpenAIEncoder:
    """Any endpoint that speaks OpenAI's embeddings protocol: OpenAI, vLLM, llama.cpp, Ollama, TEI …

    `url` defaults to OPENAI_BASE_URL, or else to OpenAI itself. The key is OPENAI_API_KEY. Documents and queries are
    encoded alike.

    `name` holds the address, so an encoder that is made from it asks the same host. It never holds a password: if the
    address needs one, have it in OPENAI_BASE_URL when the encoder is made from its name.
    """

    def __init__(self, model: str, url: str | None = None) -> None:
        asked = check_address(url or os.environ.get("OPENAI_BASE_URL") or _OPENAI)
        self.url = hide_password(asked)
        self.name = f"openai:{model}@{self.url}"
        try:
            import openai
        except ImportError:
            raise MissingExtraError("openai", "openai") from None
        self._errors: Any = openai
        key = os.environ.get("OPENAI_API_KEY", "none")  # local servers need no key, but the client insists on one
        self._client = openai.OpenAI(base_url=_add_password(asked), api_key=key, max_retries=0)
        self._model = model

    @classmethod
    def from_description(cls, description: str) -> OpenAIEncoder:
        """Make an encoder from MODEL or MODEL@URL."""
        return cls(*split_description(description))

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
            except transient as error:
                if attempt == TRIES - 1:
                    raise EncoderError(
                        f"the embeddings endpoint {self.url} failed {TRIES} times: {error}; check that it runs"
                    ) from error
                time.sleep(WAIT * 2**attempt)
            except self._errors.APIStatusError as error:
                raise EncoderError(f"the embeddings endpoint {self.url} refused the request: {error}") from error
            except (self._errors.OpenAIError, ValueError) as error:  # what it answers is not JSON, or holds no data
                raise self._not_embeddings(str(error)) from error
            else:
                return self._read(answer, len(texts))
        raise AssertionError("unreachable")

    def _read(self, answer: Any, wanted: int) -> list[Any]:
        """The embeddings of an answer, in the order of the texts."""
        try:
            entries = {int(one.index): one.embedding for one in answer.data}
        except (AttributeError, TypeError, ValueError):
            raise self._not_embeddings("it holds no list of embeddings") from None
        if sorted(entries) != list(range(wanted)) or len(answer.data) != wanted:
            raise self._not_embeddings(f"it holds {len(answer.data)} embeddings for {wanted} texts")
        return [entries[place] for place in range(wanted)]

    def _not_embeddings(self, reason: str) -> EncoderError:
        return EncoderError(
            f"the endpoint {self.url} does not answer as an embeddings endpoint does ({reason}); check that the URL "
            "ends where the protocol begins (mostly in /v1) and that the model makes embeddings"
        )


def _add_password(address: str) -> str:
    """The address with the password that OPENAI_BASE_URL has for it, if it is the same address."""
    other = os.environ.get("OPENAI_BASE_URL")
    if other and hide_password(address) == address and hide_password(check_address(other)) == address:
        return check_address(other)
    return address
