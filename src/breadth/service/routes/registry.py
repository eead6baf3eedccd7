"""All routes. To add some, write a file with a `router` and list it here."""

from __future__ import annotations

from fastapi import APIRouter

from breadth.service.routes import compare, documents, frontier, inspect, page, select, status, vector_stores

ROUTERS: tuple[APIRouter, ...] = (
    select.router,
    frontier.router,
    inspect.router,
    documents.router,
    compare.router,
    vector_stores.router,
    status.router,
    page.router,
)
