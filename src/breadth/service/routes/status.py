"""`/healthz`, `/readyz` and `/metrics`: for the machines that look after the service."""

from __future__ import annotations

from fastapi import APIRouter, Response
from starlette.responses import PlainTextResponse

import breadth
from breadth.service.failures import BusyError
from breadth.service.routes.answering import answer, list_errors
from breadth.service.schemas.answers import ReadyAnswer, StatusAnswer
from breadth.service.state import ServiceNow

router = APIRouter(tags=["status"])


@router.get("/healthz", response_model=StatusAnswer)
async def healthz() -> Response:
    """Say that the service runs."""
    return answer(StatusAnswer(status="ok"))


@router.get("/readyz", response_model=ReadyAnswer, responses=list_errors())
async def readyz(service: ServiceNow) -> Response:
    """Say whether the collection can be searched, and what it is. While the service stops, it is not ready."""
    if service.stopping:
        raise BusyError("the service is about to stop; ask another one")
    count, dim = await service.ask(lambda served: (served.count(), served.dim))
    name = service.settings.name
    return answer(ReadyAnswer(status="ready", name=name, documents=count, dim=dim, version=breadth.__version__))


@router.get("/metrics", response_class=PlainTextResponse, responses=list_errors())
async def metrics(service: ServiceNow) -> Response:
    """Return what all processes of the service have counted, for Prometheus."""
    return PlainTextResponse(service.render_metrics(), media_type="text/plain; version=0.0.4")
