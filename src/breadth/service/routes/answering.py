"""How routes answer, and what the OpenAPI description says about errors."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from starlette.responses import Response

from breadth.service.schemas.answers import ErrorAnswer

_REASONS = {
    400: "The body is not JSON.",
    401: "The token is missing or wrong.",
    403: "The service has no token, and the Host is not this machine.",
    404: "There is no such document or collection.",
    413: "The body is too large.",
    422: "An argument is wrong; the message says which, and what to do.",
    501: "A package is missing on the server.",
    503: "The service is busy, or its collection cannot be searched.",
}


def list_errors(*more: int) -> dict[int | str, dict[str, Any]]:
    """What a route may answer beside 200: what all may, and these."""
    statuses = sorted({401, 403, 413, 422, 503, *more})
    return {status: {"model": ErrorAnswer, "description": _REASONS[status]} for status in statuses}


def answer(model: BaseModel) -> Response:
    """An answer in JSON. Infinity, which JSON does not have, is null."""
    return Response(model.model_dump_json(), media_type="application/json")
