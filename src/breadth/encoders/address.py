"""The address of an endpoint in the description of an encoder: MODEL@URL."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

from breadth.errors import InputError


def split_description(description: str) -> tuple[str, str | None]:
    """Split MODEL or MODEL@URL. A model may have an @ in its name: only what begins with http is an address."""
    found = re.fullmatch(r"(.+?)@(https?://.*)", description, re.IGNORECASE | re.DOTALL)
    if found is not None:
        return found[1], found[2]
    if re.search(r".@(localhost|[\w.-]+:\d+)", description):
        model, _, rest = description.partition("@")
        raise InputError(f"an address begins with http:// or https://; write {model}@http://{_after_user(rest)}")
    return description, None


def check_address(url: str) -> str:
    """Return the address of an endpoint, without a slash at its end."""
    try:
        parts = urlsplit(url)
        complete = parts.scheme.lower() in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        complete = False
    if not complete or re.search(r"[\s\x00-\x1f]", url):
        raise InputError("url must be the address of an endpoint, like http://localhost:8000/v1")
    if parts.query or parts.fragment:
        raise InputError("url must end before ? and #; put the key into the environment variable OPENAI_API_KEY")
    host = parts.netloc.rpartition("@")
    netloc = f"{host[0]}{host[1]}{host[2].lower()}"
    return urlunsplit((parts.scheme.lower(), netloc, parts.path.rstrip("/"), "", ""))


def hide_password(address: str) -> str:
    """Return the address without user and password: this may be printed and stored."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, _after_user(parts.netloc), parts.path, "", ""))


def without_password(text: str) -> str:
    """Return any text without the users and passwords of addresses in it."""
    return re.sub(r"//[^/\s]*@", "//", text)


def _after_user(netloc: str) -> str:
    return netloc.rpartition("@")[2]
