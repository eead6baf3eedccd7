"""`/v1/compare`: two passages beside each other, with every place where their words differ."""

from __future__ import annotations

from fastapi import APIRouter, Response

from breadth.index import Document
from breadth.service.collections.protocol import Served
from breadth.service.failures import UnknownError
from breadth.service.routes.answering import answer, list_errors
from breadth.service.schemas.answers import CompareAnswer
from breadth.service.schemas.requests import CompareRequest
from breadth.service.state import ServiceNow

router = APIRouter(tags=["documents"])


@router.post("/v1/compare", response_model=CompareAnswer, responses=list_errors(400, 404))
async def compare(wanted: CompareRequest, service: ServiceNow) -> Response:
    """Compare the texts of two passages word by word."""

    def work(served: Served) -> CompareAnswer:
        found: list[Document] = []
        for identity in (wanted.left, wanted.right):
            document = served.get(identity)
            if document is None:
                raise UnknownError(f"there is no document {identity!r}")
            found.append(document)
        return CompareAnswer.of(*found)

    return answer(await service.ask(work))
