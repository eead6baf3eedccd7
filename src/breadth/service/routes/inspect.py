"""`/v1/inspect`: a query looked at closely. The page at `/` shows what it answers."""

from __future__ import annotations

from fastapi import APIRouter, Response

from breadth.service.routes.answering import answer, list_errors
from breadth.service.schemas.inspection import InspectAnswer, InspectRequest
from breadth.service.state import ServiceNow

router = APIRouter(tags=["select"])


@router.post("/v1/inspect", response_model=InspectAnswer, responses=list_errors(400))
async def inspect(wanted: InspectRequest, service: ServiceNow) -> Response:
    """Look at a query: the chosen set beside top-k and MMR, the candidates on a map, the curve.

    The service remembers the searches of the last queries, so that another θ or `distinct` takes a few milliseconds.
    """
    service.admit([wanted.query], wanted.k)
    asked = wanted.read_wanted(service.settings.limits)
    found = await service.ask(lambda served: served.inspect(wanted.query, asked))
    return answer(InspectAnswer.of(found, wanted.k))
