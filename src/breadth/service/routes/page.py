"""`/`: the page. Its files are in `page/`; it asks for nothing from other hosts."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter, Response

from breadth.service.failures import UnknownError

router = APIRouter(include_in_schema=False)

FILES = {
    "": ("index.html", "text/html"),
    "page.css": ("page.css", "text/css"),
    "page.js": ("page.js", "text/javascript"),
}
"""The file and its type, by the path after `/`."""

_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


@router.get("/")
@router.get("/page.{kind}")
async def page(kind: str | None = None) -> Response:
    """Return the page, or a file of it."""
    found = FILES.get("" if kind is None else f"page.{kind}")
    if found is None:
        raise UnknownError(f"there is nothing at /page.{kind}; /openapi.json lists what there is")
    name, media = found
    content = (files("breadth.service") / "page" / name).read_bytes()
    return Response(content, media_type=f"{media}; charset=utf-8", headers=_HEADERS)
