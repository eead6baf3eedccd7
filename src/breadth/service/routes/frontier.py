"""`/v1/frontier`: the curve of relevance against redundancy."""

from __future__ import annotations

from fastapi import APIRouter, Response

from breadth.service.routes.answering import answer, list_errors
from breadth.service.schemas.answers import FrontierAnswer, PointAnswer, SetAnswer
from breadth.service.schemas.requests import FrontierRequest
from breadth.service.state import ServiceNow

router = APIRouter(tags=["select"])


@router.post("/v1/frontier", response_model=FrontierAnswer, responses=list_errors(400))
async def frontier(wanted: FrontierRequest, service: ServiceNow) -> Response:
    """Choose sets for several θ, at little more than the cost of one."""
    service.admit([wanted.query], wanted.k)
    arguments = wanted.read_arguments(service.settings.limits)
    curve = await service.ask(lambda served: served.frontier(wanted.query, arguments))
    points = [
        PointAnswer(ids=point.ids, scores=[hit.score for hit in point], **SetAnswer.describe(point.selection))
        for point in curve.points
    ]
    return answer(FrontierAnswer(points=points, knee=curve.knee, top_relevance=curve.top_relevance))
