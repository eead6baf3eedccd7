"""`/v1/vector_stores/NAME/search`: for programs that search a vector store of OpenAI."""

from __future__ import annotations

from fastapi import APIRouter, Response

from breadth.service.failures import UnknownError
from breadth.service.routes.answering import answer, list_errors
from breadth.service.schemas.openai import SearchPage, SearchRequest
from breadth.service.state import ServiceNow

router = APIRouter(tags=["OpenAI"])


@router.post("/v1/vector_stores/{name}/search", response_model=SearchPage, responses=list_errors(400, 404))
async def search(name: str, wanted: SearchRequest, service: ServiceNow) -> Response:
    """Search as a client of OpenAI does. The answer is the set that `/v1/select` chooses."""
    settings = service.settings
    if name != settings.name:
        raise UnknownError(f"there is no vector store {name!r}; this service has {settings.name!r}")
    settings.limits.check(k=wanted.max_num_results)
    service.admit([wanted.query], wanted.max_num_results)
    (found,) = await service.batcher.select([wanted.query], wanted.read_arguments(settings.limits.seconds))
    return answer(SearchPage.of(wanted.query, found))
