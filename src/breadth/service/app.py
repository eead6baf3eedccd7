"""The application: routes, and what every request goes through."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

import breadth
from breadth.service.description import describe
from breadth.service.failures import add_handlers
from breadth.service.guard import Guard
from breadth.service.limits import BodyLimit
from breadth.service.observing import Observed
from breadth.service.routes.registry import ROUTERS
from breadth.service.state import Service

_SUMMARY = """\
Choose the k passages that together serve a query best: relevant, without copies, with a proof. Errors are
`{"error": {"type": …, "message": …}}`; the message says what to do.
"""


def make_app(service: Service) -> FastAPI:
    """Join the parts."""

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        yield
        await service.close()

    app = FastAPI(
        title="breadth",
        version=breadth.__version__,
        description=_SUMMARY,
        lifespan=live,
        docs_url=None,  # the usual pages load their scripts from another host
        redoc_url=None,
    )
    app.state.service = service
    for router in ROUTERS:
        app.include_router(router)
    add_handlers(app)
    app.openapi = describe(app, service)  # type: ignore[method-assign]  # FastAPI's own way to change the description
    # The last one that is added comes first.
    app.add_middleware(BodyLimit, most=service.settings.limits.body)
    app.add_middleware(Guard, token=service.settings.token)
    app.add_middleware(Observed, metrics=service.metrics, is_stopping=lambda: service.stopping)
    return app
