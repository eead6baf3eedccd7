"""How errors become answers: `{"error": {"type": …, "message": …}}`, and never a stack trace."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from breadth.errors import (
    BreadthError,
    EncoderError,
    EngineError,
    InputError,
    MissingExtraError,
    OracleError,
    StoreError,
)
from breadth.service.logs import log_event

_SHOWN = 5
"""How many wrong fields a message names."""
_LONGEST = 2000
"""Characters of the longest message."""


class UnknownError(BreadthError):
    """What the address names is not there."""


class BusyError(BreadthError):
    """The service has too much to do, or a request took too long."""


_TYPES = {
    400: "invalid_json",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    422: "invalid_request",
    500: "internal_error",
    501: "not_installed",
    503: "unavailable",
}

_OURS: dict[type[BreadthError], int] = {
    InputError: 422,
    OracleError: 422,
    UnknownError: 404,
    BusyError: 503,
    EngineError: 503,
    EncoderError: 503,
    StoreError: 503,
    MissingExtraError: 501,
}
"""The status of each error of ours. Others are mistakes of the service."""

_PRIVATE = (EngineError, EncoderError, StoreError)
"""Errors that tell where a collection is: the log shows them, clients do not see them."""


class _EscapedResponse(JSONResponse):
    """JSON in ASCII: a message may hold half a character, which UTF-8 cannot write."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False).encode("ascii")


def answer_error(error: Exception, status: int) -> Response:
    """The answer with this status that tells the message of an error."""
    return _make(status, str(error))


def _make(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    shown = message if len(message) <= _LONGEST else message[: _LONGEST - 1] + "…"
    content = {"error": {"type": _TYPES.get(status, "error"), "message": shown}}
    extra = {"Retry-After": "1"} if status == 503 else {}
    return _EscapedResponse(content, status, headers={**extra, **(headers or {})})


def answer_ours(error: BreadthError) -> Response:
    """The answer to an error of ours."""
    status = next((status for kind, status in _OURS.items() if isinstance(error, kind)), 500)
    if isinstance(error, _PRIVATE) or status == 500:
        log_event("failed", level="error", error=f"{type(error).__name__}: {error}")
        return _make(status, "the collection cannot be searched at the moment; the log of the service says why")
    return answer_error(error, status)


def answer_unforeseen() -> Response:
    """The answer to a mistake of the service."""
    return _make(500, "the service has made a mistake; its log says which")


def add_handlers(app: FastAPI) -> None:
    """Let an application answer errors this way."""

    async def handle_ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, BreadthError)
        return answer_ours(error)

    async def handle_validation(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return _answer_validation(error.errors())

    async def handle_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return _answer_http(request, error)

    app.add_exception_handler(BreadthError, handle_ours)
    app.add_exception_handler(RequestValidationError, handle_validation)
    app.add_exception_handler(HTTPException, handle_http)


def _answer_validation(problems: Sequence[Any]) -> Response:
    broken = next((p for p in problems if p["type"] == "json_invalid"), None)
    if broken is not None:
        reason = broken.get("ctx", {}).get("error", "it cannot be read")
        return _make(400, f"the body is not JSON: {reason} at character {broken['loc'][-1]}")
    told = list(dict.fromkeys(_describe(problem) for problem in problems))
    more = f"; and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return _make(422, "; ".join(told[:_SHOWN]) + more)


def _describe(problem: Any) -> str:
    """One sentence about one wrong field."""
    kind, place = problem["type"], _name(problem["loc"])
    if kind == "missing":
        return f"{place} is missing"
    if kind == "extra_forbidden":
        return f"there is no field {place}"
    if place == "the body":
        return "the body must be a JSON object, sent with Content-Type: application/json"
    reason = str(problem["msg"]).removeprefix("Value error, ")
    return f"{place}: {reason[:1].lower()}{reason[1:]}"


def _name(location: Sequence[Any]) -> str:
    parts = [part for part in location if part not in ("body", "path", "query")] if location else []
    if len(location) > 1 and location[-1] in ("body", "path", "query"):
        parts = [location[-1]]  # a field that has such a name
    if len(location) > 1 and location[1] == "query":
        parts = list(location[1:])
    name = ""
    for part in parts:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else str(part)
    return name.encode("ascii", "backslashreplace").decode() or "the body"


def _answer_http(request: Request, error: HTTPException) -> Response:
    messages = {
        400: "the body is not JSON that can be read",
        404: f"there is nothing at {request.url.path}; /openapi.json lists what there is",
        405: f"{request.method} is not possible here; /openapi.json lists what is",
    }
    headers = dict(error.headers) if error.headers else None
    return _make(error.status_code, messages.get(error.status_code, str(error.detail)), headers)
