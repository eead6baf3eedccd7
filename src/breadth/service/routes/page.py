"""`/`: the page. Its files are in `page/`; it asks for nothing from other hosts."""

from __future__ import annotations

from importlib.resources import files
from pathlib import PurePosixPath

from fastapi import APIRouter, Response

from breadth.service.failures import UnknownError

router = APIRouter(include_in_schema=False)

_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".LICENSE": "text/plain"}
_NAMES = (
    "page.css",
    "page.js",
    "asking.js",
    "address.js",
    "bars.js",
    "curve.js",
    "diff.js",
    "elements.js",
    "lists.js",
    "map.js",
    "markdown.js",
    "matrices.js",
    "words.js",
    "vendor/uPlot.iife.min.js",
    "vendor/uPlot.min.css",
    "vendor/uPlot.LICENSE",
)

FILES = {"": "index.html", **{f"page/{name}": name for name in _NAMES}}
"""The file by the path after `/`."""

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "img-src": "data:",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    "require-trusted-types-for": "'script'",
}
"""What browsers let the page do: run its own scripts and ask its own host. No text can become a script."""

_HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in _POLICY.items()),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


@router.get("/")
@router.get("/page/{name:path}")
async def page(name: str | None = None) -> Response:
    """Return the page, or a file of it."""
    path = "" if name is None else f"page/{name}"
    if path not in FILES:
        raise UnknownError(f"there is nothing at /{path}; /openapi.json lists what there is")
    file = FILES[path]
    content = (files("breadth.service") / "page" / file).read_bytes()
    media = _TYPES[PurePosixPath(file).suffix]
    return Response(content, media_type=f"{media}; charset=utf-8", headers=_HEADERS)
