"""`/v1/documents/ID`: a document by its id."""

from __future__ import annotations

from fastapi import APIRouter, Response

from breadth.service.failures import UnknownError
from breadth.service.routes.answering import answer, list_errors
from breadth.service.schemas.answers import DocumentAnswer
from breadth.service.state import ServiceNow

router = APIRouter(tags=["documents"])


@router.get("/v1/documents/{identity:path}", response_model=DocumentAnswer, responses=list_errors(404))
async def get_document(identity: str, service: ServiceNow) -> Response:
    """Return the document with this id. The id may hold slashes."""
    document = await service.ask(lambda served: served.get(identity)) if identity else None
    if document is None:
        raise UnknownError(f"there is no document {identity!r}")
    return answer(DocumentAnswer.of(document))
