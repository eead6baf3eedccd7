"""`/v1/select` and `/v1/select/batch`: the set that serves a query best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Response

from breadth.index import Results
from breadth.service.routes.answering import answer, list_errors
from breadth.service.schemas.answers import BatchAnswer, SelectAnswer
from breadth.service.schemas.requests import BatchRequest, Choice, SelectRequest
from breadth.service.state import Service, ServiceNow

router = APIRouter(tags=["select"])


@router.post("/v1/select", response_model=SelectAnswer, responses=list_errors(400, 501))
async def select(wanted: SelectRequest, service: ServiceNow) -> Response:
    """Choose the k passages that together serve a query best: relevant, without copies."""
    (found,) = await choose(service, [wanted.query], wanted)
    return answer(SelectAnswer.of(found, wanted.text, wanted.near_text))


@router.post("/v1/select/batch", response_model=BatchAnswer, responses=list_errors(400, 501))
async def select_batch(wanted: BatchRequest, service: ServiceNow) -> Response:
    """Choose a set for each of several queries. They share searches."""
    service.settings.limits.check(batch=len(wanted.queries))
    found = await choose(service, wanted.queries, wanted)
    return answer(BatchAnswer(results=[SelectAnswer.of(one, wanted.text, wanted.near_text) for one in found]))


async def choose(service: Service, queries: Sequence[Any], choice: Choice) -> list[Results]:
    """Choose a set for each query."""
    service.admit(queries, choice.k)
    return await service.batcher.select(queries, choice.read_arguments(service.settings.limits))
