"""A language model that reads passages: any endpoint that speaks OpenAI's chat protocol (vLLM, llama.cpp, Ollama …)."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from types import TracebackType
from typing import Any

from breadth.encoders import check_address, hide_password
from breadth.errors import EndpointError, InputError, MissingExtraError
from breadth_experiments import records
from breadth_experiments.progress import Progress, report_nothing
from breadth_experiments.prompts import Messages
from breadth_experiments.records import Records

_TEMPERATURE, _SEED = 0, 0
_LONGEST_WAIT = 60.0

_ADVICE = {
    400: "if the prompt is longer than the model's context, start the server with a larger one or take a smaller k",
    401: "set OPENAI_API_KEY to a key the endpoint accepts",
    403: "set OPENAI_API_KEY to a key the endpoint accepts",
    404: "check the model's name, and that the url ends where the protocol begins (mostly in /v1)",
}


class Reader:
    """Asks a chat model at temperature 0 and keeps every answer in a file, so that it never asks for one twice.

    - `url` defaults to the environment's OPENAI_BASE_URL. The key is the environment's OPENAI_API_KEY.
    - `cache` is a file of JSON lines. An answer is identified by the SHA-256 of model, messages, max_tokens and
      temperature, but not of the url: the same model elsewhere is the same model. An answer is on the disk before `ask`
      continues.
    - At most `concurrency` requests are under way at a time.
    - After a connection error, a timeout or one of the states 408, 409, 429 and 5xx the reader tries again, up to
      `tries` times in all. It waits `wait` seconds, twice as long each time, or as long as the endpoint asks for (at
      most a minute).
    """

    def __init__(
        self,
        model: str,
        url: str | None = None,
        *,
        cache: Path,
        max_tokens: int = 256,
        concurrency: int = 4,
        timeout: float = 600.0,
        tries: int = 5,
        wait: float = 0.5,
    ) -> None:
        if not model:
            raise InputError("model must be the name of a model, got an empty string")
        for name, value in (("max_tokens", max_tokens), ("concurrency", concurrency), ("tries", tries)):
            if value < 1:
                raise InputError(f"{name} must be at least 1, got {value}")
        try:
            import openai
        except ImportError:
            raise MissingExtraError("openai", "openai") from None
        self.model, self.max_tokens, self.concurrency = model, max_tokens, concurrency
        self._tries, self._wait = tries, wait
        self._errors: Any = openai
        self._cache = Records(cache, ("key",))  # opened before it is read: opening cuts off a torn line
        self._known = {one["key"]: str(one["answer"]) for one in records.read(cache, shape="answers.jsonl")}
        self._lock = threading.Lock()
        key = os.environ.get("OPENAI_API_KEY", "none")  # local servers need none, the client insists on one
        url = check_address(url or os.environ.get("OPENAI_BASE_URL") or "")
        self._address = hide_password(url)
        self._client: Any = openai.OpenAI(base_url=url, api_key=key, timeout=timeout, max_retries=0)

    def close(self) -> None:
        self._client.close()
        self._cache.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def key(self, prompt: Messages) -> str:
        """What identifies an answer in the cache."""
        asked = json.dumps([self.model, prompt, self.max_tokens, _TEMPERATURE], sort_keys=True)
        return hashlib.sha256(asked.encode()).hexdigest()

    def ask(self, prompts: Sequence[Messages], progress: Progress = report_nothing) -> list[str]:
        """The answer to each prompt, in their order. Equal prompts are sent once, prompts in the cache not at all.

        After an error no further prompt is sent. Requests under way end first, and their answers are kept.
        """
        keys = [self.key(prompt) for prompt in prompts]
        times = Counter(keys)
        missing = {key: prompt for key, prompt in zip(keys, prompts, strict=True) if key not in self._known}
        done = len(keys) - sum(times[key] for key in missing)
        progress(done, len(keys))
        stop = threading.Event()
        with ThreadPoolExecutor(self.concurrency, thread_name_prefix="reader") as pool:
            requests = {pool.submit(self._ask_and_keep, key, prompt, stop): key for key, prompt in missing.items()}
            try:
                for future in as_completed(requests):
                    future.result()
                    done += times[requests[future]]
                    progress(done, len(keys))
            finally:
                stop.set()  # threads that wait for another try give up
                pool.shutdown(cancel_futures=True)
        return [self._known[key] for key in keys]

    def _ask_and_keep(self, key: str, prompt: Messages, stop: threading.Event) -> None:
        """Ask, and write the answer to the cache."""
        found = self._ask_until_answered(prompt, stop)
        with self._lock:
            if key in self._known:  # two threads may have called `ask`
                return
            self._cache.append({"key": key, "model": self.model, **found})
            self._cache.flush()
            self._known[key] = found["answer"]

    def _ask_until_answered(self, prompt: Messages, stop: threading.Event) -> dict[str, Any]:
        """Ask until there is an answer, all tries are used, or another thread has failed."""
        errors = self._errors
        for attempt in range(self._tries):
            if stop.is_set():
                break
            try:
                return self._request(prompt)
            except (errors.APIConnectionError, errors.APIStatusError, ValueError) as error:
                if not _is_transient(error):
                    raise EndpointError(self._refusal(error)) from error
                if attempt == self._tries - 1:
                    raise EndpointError(
                        f"the chat endpoint {self._address} failed {self._tries} times: {_cause(error)}; "
                        "is the server up? The answers so far are kept: run the same command to continue"
                    ) from error
                stop.wait(max(self._wait * 2**attempt, _requested_wait(error)))
        raise EndpointError("stopped because another request failed")

    def _request(self, prompt: Messages) -> dict[str, Any]:
        """Send one request and return the answer as a record of the cache, without its key."""
        reply = self._client.chat.completions.create(
            model=self.model, messages=prompt, max_tokens=self.max_tokens, temperature=_TEMPERATURE, seed=_SEED
        )
        try:
            choice = reply.choices[0]
            content = choice.message.content
        except (AttributeError, TypeError, LookupError):
            content = b""
        if not isinstance(content, str | None):
            raise EndpointError(f"{self._address} does not speak the chat protocol; {_ADVICE[404]}")
        # Half a surrogate pair cannot be written to a file.
        text = (content or "").encode("utf-8", "replace").decode()
        usage = reply.usage
        return {
            "answer": text,
            "finish": choice.finish_reason,
            "read": getattr(usage, "prompt_tokens", None),
            "written": getattr(usage, "completion_tokens", None),
        }

    def _refusal(self, error: Any) -> str:
        advice = _ADVICE.get(error.status_code, _ADVICE[400])
        return (
            f"the chat endpoint {self._address} refused model {self.model!r} "
            f"({error.status_code}): {_server_message(error)}; {advice}"
        )


def _is_transient(error: Any) -> bool:
    """Whether the error may go away by itself. An answer that is not JSON has no status: it broke off."""
    status = getattr(error, "status_code", None)
    return status is None or status in (408, 409, 429) or status >= 500


def _requested_wait(error: Any) -> float:
    """Seconds that the endpoint asks us to wait."""
    response = getattr(error, "response", None)
    try:
        return min(float(response.headers["retry-after"]), _LONGEST_WAIT) if response is not None else 0.0
    except (KeyError, ValueError):  # none, or a date
        return 0.0


def _server_message(error: Any) -> str:
    """The error in the server's own words."""
    body = error.body
    if isinstance(body, dict):
        body = body.get("message") or body.get("error") or body.get("detail") or body
    return str(body or error)


def _cause(error: Any) -> str:
    """The error with its cause: "Connection error." alone says little."""
    if getattr(error, "status_code", None) is not None:
        return f"{error.status_code}: {_server_message(error)}"
    return f"{error} ({error.__cause__})" if error.__cause__ else str(error)
