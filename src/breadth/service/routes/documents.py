"""`/v1/collection`: what is served. `/v1/documents/ID`: a document by its id."""

from __future__ import annotations

from fastapi import APIRouter, Response

from breadth.service.collections.protocol import Served
from breadth.service.examples import LOOKED_AT, make_examples
from breadth.service.failures import UnknownError
from breadth.service.routes.answering import answer, list_errors
from breadth.service.schemas.answers import CollectionAnswer, DocumentAnswer
from breadth.service.state import ServiceNow

router = APIRouter(tags=["documents"])


@router.get("/v1/collection", response_model=CollectionAnswer)
async def describe_collection(service: ServiceNow) -> Response:
    """Return what is served, with a few queries to begin with."""

    def work(served: Served) -> CollectionAnswer:
        examples = make_examples(served.sample(LOOKED_AT))
        return CollectionAnswer(name=service.settings.name, documents=served.count(), examples=examples)

    return answer(await service.ask(work))


@router.get("/v1/documents/{identity:path}", response_model=DocumentAnswer, responses=list_errors(404))
async def get_document(identity: str, service: ServiceNow) -> Response:
    """Return the document with this id. The id may hold slashes."""
    document = await service.ask(lambda served: served.get(identity)) if identity else None
    if document is None:
        raise UnknownError(f"there is no document {identity!r}")
    return answer(DocumentAnswer.of(document))
